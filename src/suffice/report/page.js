// What the report does in the browser: theme, sorting, threshold, costs, and the what-if form.
// A plain script; everything from the data enters the page as text, never as markup.
"use strict";

(function () {
  const byId = (id) => document.getElementById(id);
  const readJson = (id) => (byId(id) ? JSON.parse(byId(id).textContent) : {});

  function make(name, attributes, ...content) {
    const svg = ["svg", "rect", "line"].includes(name);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    node.append(...content);
    return node;
  }

  const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u202f%`;
  const shown = (value) => {
    const rounded = Math.round(value * 10) / 10;
    return rounded.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(rounded) || value >= 1000 ? 0 : 1 });
  };

  // Wilson's interval of a share, 95 %.
  function wilson(right, total, z = 1.96) {
    if (total <= 0) return [0, 1];
    const share = right / total, whole = 1 + (z * z) / total, middle = share + (z * z) / (2 * total);
    const half = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
    return [Math.max(0, (middle - half) / whole), Math.min(1, (middle + half) / whole)];
  }

  // ---- Theme and print --------------------------------------------------------------------------

  function theme() {
    const button = byId("theme"), root = document.documentElement;
    const isDark = () => root.dataset.theme
      ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const say = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
      button.setAttribute("aria-pressed", String(isDark()));
    };
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; say(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
    byId("print").addEventListener("click", () => window.print());
    window.addEventListener("beforeprint", () => {
      for (const one of document.querySelectorAll("details")) { one.dataset.was = String(one.open); one.open = true; }
    });
    window.addEventListener("afterprint", () => {
      for (const one of document.querySelectorAll("details")) one.open = one.dataset.was === "true";
    });
    say();
  }

  // ---- Tables that sort -------------------------------------------------------------------------

  function sortable(table) {
    const heads = [...table.querySelectorAll("thead th")], body = table.tBodies[0];
    heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending" && head.classList.contains("number")
        || head.getAttribute("aria-sort") === "ascending";
      const key = (row) => {
        const cell = row.cells[at];
        return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
      };
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (typeof x === "string" || typeof y === "string") return String(x).localeCompare(String(y));
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return x - y;
      };
      const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b));
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...rows);
    }));
  }

  // ---- Threshold and costs ----------------------------------------------------------------------

  function decisions(data) {
    const menu = byId("class-menu"), slider = byId("threshold");
    const total = data.totals.reduce((sum, one) => sum + one, 0);
    const cost = (id) => Math.max(0, Number(byId(id).value) || 0);

    function update() {
      const at = menu.value, threshold = Number(slider.value), scale = data.rowsAWeight;
      const [found, alarm] = data.above[at].map((side) => side[threshold]);
      const mine = data.totals[Number(at)], missed = mine - found, rest = total - mine - alarm;
      const name = data.classes[Number(at)];
      byId("threshold-shown").textContent = percent(threshold / 100);
      slider.setAttribute("aria-valuetext", `${threshold} percent`);
      byId("class-shown").textContent = name;
      for (const [id, value] of [["found", found], ["missed", missed], ["alarm", alarm], ["left", rest]]) {
        byId(`cell-${id}`).textContent = shown(value);
      }
      const headline = byId("headline"), strong = (text) => make("strong", {}, text);
      if (found + alarm <= 0) {
        headline.replaceChildren("Names no row as ", strong(name), " at this threshold.");
      } else {
        const [low, high] = wilson(found * scale, mine * scale);
        const [below, above] = wilson(found * scale, (found + alarm) * scale);
        const n = (share) => (100 * share).toFixed(0);
        headline.replaceChildren(
          "Finds ", strong(mine > 0 ? percent(found / mine) : "–"), " of ", strong(name), "; of 100 rows it names, ",
          strong(n(found / (found + alarm))), " are.",
          make("span", { class: "interval" },
            ` (95 % intervals: ${n(low)} to ${n(high)} % found, ${n(below)} to ${n(above)} of 100 right)`));
      }
      const spent = missed * cost("cost-miss") + alarm * cost("cost-alarm");
      byId("expected-cost").textContent = `Cost of 100 rows: ${((100 * spent) / total).toPrecision(3)}.`;
      for (const one of document.querySelectorAll("figure.calibration")) {
        const own = document.querySelector(`figure.calibration[data-class="${at}"]`);
        if (own) one.hidden = one !== own;
      }
    }

    // The cheapest threshold of calibrated probabilities: an alarm is worth it from there on.
    function byCosts() {
      const miss = cost("cost-miss"), alarm = cost("cost-alarm");
      if (miss + alarm > 0) slider.value = String(Math.round((100 * alarm) / (miss + alarm)));
      update();
    }

    menu.addEventListener("change", update);
    slider.addEventListener("input", update);
    byId("by-costs").addEventListener("click", byCosts);
    for (const id of ["cost-miss", "cost-alarm"]) byId(id).addEventListener("input", update);
    update();
  }

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

  // All classes: each row is named as the class of least expected cost.
  function costMatrix(data) {
    const table = byId("all-classes");
    if (!table || !data.rows) return;
    const size = data.classes.length;
    const p = new Uint16Array(bytes(data.rows.proba)), codes = new Uint8Array(bytes(data.rows.codes));
    const weights = new Float32Array(bytes(data.rows.weights)), inputs = [...document.querySelectorAll("[data-cost]")];

    function update(changed) {
      const costs = Array.from({ length: size }, () => new Array(size).fill(0));
      for (const input of inputs) {
        const [from, to] = input.dataset.cost.split(",").map(Number);
        costs[from][to] = Math.max(0, Number(input.value) || 0);
      }
      const counts = Array.from({ length: size }, () => new Array(size).fill(0));
      let spent = 0, total = 0;
      for (let row = 0; row < codes.length; row++) {
        let best = 0, least = Infinity;
        for (let to = 0; to < size; to++) {
          let expected = 0;
          for (let c = 0; c < size; c++) expected += p[row * size + c] * costs[c][to];
          if (expected < least - 1e-9) { least = expected; best = to; }
        }
        counts[codes[row]][best] += weights[row] * data.rows.scale;
        spent += weights[row] * costs[codes[row]][best];
        total += weights[row];
      }
      byId("matrix-cost").textContent = `Cost of 100 rows by this matrix: ${((100 * spent) / total).toPrecision(3)}.`;
      if (!changed) return;
      for (const cell of table.querySelectorAll("[data-cell]")) {
        const [from, to] = cell.dataset.cell.split(",").map(Number);
        cell.textContent = shown(counts[from][to]);
      }
    }

    for (const input of inputs) input.addEventListener("input", () => update(true));
    update(false);
  }

  // ---- What if ----------------------------------------------------------------------------------

  const bar = (share, colour) => make("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("rect", { x: 0, y: 2, height: 10, width: (100 * Math.min(1, Math.abs(share))).toFixed(2), class: `bar ${colour}` }));

  const amount = (name, share, figure, colour) => make("div", { class: "amount" },
    make("span", {}, name), bar(share, colour), make("span", { class: "figure" }, figure));

  // Fields of a form, and reasons that are listed.
  const MAX_FIELDS = 60, MAX_REASONS = 12;
  const MISSING = "", OTHER = "\u0000other";

  function levelField(column) {
    const field = make("select", { "data-column": column.name });
    field.append(make("option", { value: MISSING }, "(missing)"));
    column.levels.forEach((level, at) => field.append(make("option", { value: String(at) }, String(column.shown_levels?.[at] ?? level))));
    field.append(make("option", { value: OTHER }, "(another level)"));
    const typical = column.levels.indexOf(column.typical);
    field.value = typical >= 0 ? String(typical) : MISSING;
    const read = () => (field.value === MISSING ? null : field.value === OTHER ? OTHER : column.levels[Number(field.value)]);
    return [field, read];
  }

  const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value));

  // A number to a thousandth of the range that its column mostly has.
  function rounded(value, column) {
    const step = typeof value === "number" && column.high > column.low
      ? 10 ** Math.floor(Math.log10((column.high - column.low) / 500)) : 0;
    return step ? Math.round(value / step) * step : value;
  }

  function textField(column) {
    const area = column.kind === "text";
    const field = make(area ? "textarea" : "input", { "data-column": column.name, ...(area ? { rows: "5" } : { type: "text" }) });
    if (!area && ["number", "integer"].includes(column.kind)) field.setAttribute("inputmode", "decimal");
    const typical = column.typical;
    if (!area && typical !== null && typical !== undefined) {
      field.value = column.kind === "integer" ? String(Math.round(typical)) : short(rounded(typical, column));
    }
    return [field, () => (field.value.trim() === "" && !(area && field.value !== "") ? null : field.value)];
  }

  function truthField(column) {
    const field = make("select", { "data-column": column.name },
      make("option", { value: MISSING }, "(missing)"), make("option", { value: "0" }, "no"), make("option", { value: "1" }, "yes"));
    field.value = column.typical === null || column.typical === undefined ? MISSING : String(Math.round(Number(column.typical)));
    return [field, () => (field.value === MISSING ? null : field.value === "1")];
  }

  function fieldOf(column) {
    if (column.kind === "category") return levelField(column);
    return column.kind === "boolean" ? truthField(column) : textField(column);
  }

  function labelled(column, field) {
    const label = make("label", column.kind === "text" ? { class: "whole" } : {}, make("span", {}, column.name), field);
    if (column.low !== null && column.low !== undefined && column.kind !== "text" && column.kind !== "category" && column.kind !== "boolean") {
      label.append(make("span", { class: "range" }, `mostly ${short(column.low)} to ${short(column.high)}`));
    }
    return label;
  }

  const unreadable = (found) => (found.unreadable || []).map((name) =>
    make("p", { class: "note" }, `${String(name)} cannot be read, and counts as missing.`));

  // The answer of a classifier: probabilities of the classes, and reasons.
  function classAnswer(model) {
    return (row) => {
      const found = model.predict(row), order = found.probabilities.map((p, c) => [p, c]).sort((a, b) => b[0] - a[0]);
      const parts = [make("p", { class: "big" }, `${String(found.label)}, ${percent(order[0][0], 1)}`)];
      for (const [p, c] of order.slice(0, 8)) parts.push(amount(String(model.classes[c]), p, percent(p, 1), c === order[0][1] ? "c0" : "c1"));
      if (order.length > 8) parts.push(make("p", { class: "note" }, `and ${order.length - 8} classes that are less probable`));
      parts.push(...unreadable(found));
      const reasons = found.reasons.filter((one) => one.contribution !== 0).slice(0, MAX_REASONS);
      return { parts, reasons, label: `log-odds of ${String(found.target ?? found.label)}` };
    };
  }

  // The answer of a regression: the mean of a new target, and its standard deviation.
  function numberAnswer(model) {
    return (row) => {
      const found = model.predict(row), parts = [];
      found.targets.forEach((one, t) => {
        const name = String(model.targets[t]);
        parts.push(make("p", { class: "big" }, `${name}: ${short(one.prediction)}`));
        if (Number.isFinite(one.standard_deviation)) {
          parts.push(make("p", {}, `A new row like this has ${short(one.prediction)} ± ${short(one.standard_deviation)}`
            + " (one standard deviation)."));
        }
      });
      parts.push(...unreadable(found));
      const reasons = found.reasons.filter((one) => one.contribution !== 0).slice(0, MAX_REASONS);
      return { parts, reasons, label: `${String(model.targets[0])}, against the mean row` };
    };
  }

  function form(columns, answer) {
    const place = byId("what-if-form"), fields = [];
    const used = columns.filter((one) => one.used !== false);
    if (used.length > MAX_FIELDS) {
      place.append(make("p", { class: "note whole" },
        `The first ${MAX_FIELDS} of ${used.length.toLocaleString("en-US")} columns; the others are taken as missing.`));
    }
    for (const column of used.slice(0, MAX_FIELDS)) {
      const [field, read] = fieldOf(column);
      fields.push([column, read]);
      place.append(labelled(column, field));
    }
    function update() {
      const row = {};
      for (const [column, read] of fields) row[column.name] = read();
      try {
        const { parts, reasons, label } = answer(row);
        byId("answer").replaceChildren(...parts);
        const most = Math.max(1e-12, ...reasons.map((one) => Math.abs(one.contribution)));
        byId("reasons").replaceChildren(
          make("p", { class: "note" }, reasons.length ? `What each value adds to ${label}.` : "Nothing speaks for or against."),
          ...reasons.map((one) => amount(one.value || one.name, one.contribution / most,
            `${one.contribution >= 0 ? "+" : "−"}${Math.abs(one.contribution).toPrecision(3)}`, one.contribution >= 0 ? "c0" : "c1")));
      } catch (error) {
        byId("answer").replaceChildren(make("p", {}, `No answer: ${error.message}`));
        byId("reasons").replaceChildren();
      }
    }
    place.addEventListener("input", update);
    place.addEventListener("submit", (event) => event.preventDefault());
    update();
    document.documentElement.dataset.ready = "true";
  }

  async function whatIf() {
    const data = byId("model-data");
    if (!data || !byId("what-if-form")) return;
    const object = await Suffice.decompress(data.textContent);
    const model = Suffice.model(object);
    if (object.kind === "regression") {
      if (object.reason) byId("what-if-note").textContent = String(object.reason);
      form(model.columns, numberAnswer(model));
      return;
    }
    const texts = object.blocks.filter((block) => block.left_out !== undefined || block.reason);
    const words = [];
    for (const block of texts) {
      if (block.reason) words.push(String(block.reason));
      else if (block.left_out > 0) words.push(`${block.left_out.toLocaleString("en-US")} words that say least were left out of this page; the form takes them as unknown.`);
    }
    for (const column of object.columns.filter((one) => one.left_out > 0)) {
      words.push(`${column.left_out.toLocaleString("en-US")} rare levels of ${column.name} were left out of this page.`);
    }
    byId("what-if-note").textContent = words.join(" ");
    form(model.columns, classAnswer(model));
    const disabled = texts.filter((block) => block.reason).flatMap((block) => block.columns || ["document"]);
    for (const name of disabled) {
      const field = [...document.querySelectorAll("[data-column]")].find((one) => one.dataset.column === name);
      if (field) field.disabled = true;
    }
  }

  theme();
  document.querySelectorAll("table.sortable").forEach(sortable);
  const data = readJson("report-data");
  if (data.classes && byId("threshold")) { decisions(data); costMatrix(data); }
  whatIf();
})();
