"use strict";
// The panels of the Play page: sliders, pictures and sentences. What is computed is in play.js.

(() => {
  const WIDTH = 520, HEIGHT = 340, LEFT = 52, RIGHT = 12, TOP = 12, BOTTOM = 44;
  const number = (value, digits = 3) => (value === null ? "none" : Number(value).toFixed(digits));
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const range = (from, to, steps) => Array.from({ length: steps + 1 }, (_, k) => from + ((to - from) * k) / steps);

  // An area with axes, from data to points of the picture.
  function plane(xs, ys, { x = "", y = "", title, ticks = 5, logX = false }) {
    const toX = logX ? Math.log : (value) => value;
    const u = (value) => LEFT + ((toX(value) - toX(xs[0])) / (toX(xs[1]) - toX(xs[0]))) * (WIDTH - LEFT - RIGHT);
    const v = (value) => HEIGHT - BOTTOM - ((value - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - TOP - BOTTOM);
    const parts = [];
    const place = (value) => value.toFixed(1);
    const path = (points, kind) => {
      const inside = points.filter((p) => p.every(Number.isFinite));
      parts.push(`<path class="${kind}" d="M${inside.map(([a, b]) => `${place(u(a))},${place(v(b))}`).join("L")}"/>`);
    };
    const svg = () => {
      const xTicks = Array.isArray(ticks) ? ticks : range(xs[0], xs[1], ticks), yTicks = range(ys[0], ys[1], 4);
      const shown = (value) => Number(value.toPrecision(2)).toString();
      const marks = [
        ...xTicks.map((t) => `<line class="grid" x1="${u(t)}" x2="${u(t)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>` +
          `<text x="${u(t)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${shown(t)}</text>`),
        ...yTicks.map((t) => `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${v(t)}" y2="${v(t)}"/>` +
          `<text x="${LEFT - 6}" y="${v(t) + 4}" text-anchor="end">${shown(t)}</text>`),
      ];
      return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}"><title>${title}</title>` +
        `${marks.join("")}<svg x="${LEFT}" y="${TOP}" width="${WIDTH - LEFT - RIGHT}" height="${HEIGHT - TOP - BOTTOM}" ` +
        `viewBox="${LEFT} ${TOP} ${WIDTH - LEFT - RIGHT} ${HEIGHT - TOP - BOTTOM}">${parts.join("")}</svg>` +
        `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${x}</text>` +
        `<text transform="translate(13 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${y}</text></svg>`;
    };
    return { u, v, parts, path, svg, xs, ys };
  }

  // The circle of radius r, stretched along the axes of a normal and shifted to its mean.
  function ellipse(mean, axes, r) {
    return range(0, 2 * Math.PI, 90).map((angle) => {
      const [a, b] = [Math.cos(angle) * r * Math.sqrt(axes[0].variance), Math.sin(angle) * r * Math.sqrt(axes[1].variance)];
      return [0, 1].map((j) => mean[j] + a * axes[0].direction[j] + b * axes[1].direction[j]);
    });
  }

  // The line where a function of the plane is zero: the crossings of the sides of small triangles.
  function zeroLine(area, f, steps = 60) {
    const xs = range(...area.xs, steps), ys = range(...area.ys, steps);
    const values = ys.map((y) => xs.map((x) => f([x, y])));
    const crossings = (a, b, c) => [[a, b], [b, c], [c, a]].flatMap(([p, q]) => {
      if (p.value > 0 === q.value > 0) return [];
      const share = p.value / (p.value - q.value);
      return [[p.x + share * (q.x - p.x), p.y + share * (q.y - p.y)]];
    });
    // From each crossing the one or two that it is joined with: neighbouring triangles share a side.
    const place = ([x, y]) => `${area.u(x).toFixed(1)},${area.v(y).toFixed(1)}`, joined = new Map();
    const join = (p, q) => joined.set(p, [...(joined.get(p) || []), q]);
    for (let i = 0; i < steps; i++)
      for (let j = 0; j < steps; j++) {
        const corner = (di, dj) => ({ x: xs[j + dj], y: ys[i + di], value: values[i + di][j + dj] });
        for (const side of [crossings(corner(0, 0), corner(0, 1), corner(1, 1)), crossings(corner(0, 0), corner(1, 1), corner(1, 0))]) {
          const [p, q] = side.map(place);
          if (side.length === 2 && p !== q) { join(p, q); join(q, p); }
        }
      }
    const ends = [...joined.keys()].sort((p, q) => joined.get(p).length - joined.get(q).length);
    const seen = new Set(), lines = [];
    for (const start of ends) {
      const line = [];
      for (let here = start; here !== undefined && !seen.has(here); here = joined.get(here).find((next) => !seen.has(next))) {
        seen.add(here);
        line.push(here);
      }
      if (line.length > 1) lines.push(`M${line.join("L")}`);
    }
    return lines.join("");
  }

  const DRAW = {
    coin(state) {
      const found = Play.coin(state), inner = range(0.002, 0.998, 300);
      const prior = inner.map((x) => [x, Math.exp(found.logPrior(x))]);
      const posterior = inner.map((x) => [x, Math.exp(found.logDensity(x))]);
      const top = Math.min(30, 1.1 * Math.max(2, ...posterior.map(([, p]) => p), ...prior.slice(15, -15).map(([, p]) => p)));
      const area = plane([0, 1], [0, top], { x: "probability of heads", y: "density", title: "Prior and posterior of a coin" });
      area.path(prior, "line dashed first");
      area.path(posterior, "line second");
      area.path([[found.mean, 0], [found.mean, top]], "line thin second");
      const flips = state.heads + state.tails;
      const estimate = flips ? `The share of heads is ${number(found.mle)}; the posterior mean is ${number(found.mean)}.`
        : `Before any flip the mean is ${number(found.mean)}.`;
      return {
        svg: area.svg(),
        legend: [["dashed first", `prior Beta(${state.a}, ${state.b})`], ["second", `posterior Beta(${found.posterior.a}, ${found.posterior.b})`]],
        text: `${estimate} 95 % of the posterior lies between ${number(found.interval[0])} and ${number(found.interval[1])}. The next flip is heads with probability ${number(found.mean)}. ` +
          `Log evidence of these flips in this order: ${number(found.logEvidence)}.`,
      };
    },

    normal(state) {
      const shape = { mean: [0, 0], sd: [state.sd1, state.sd2], rho: state.rho, given: state.given };
      const found = Play.normal(shape);
      const area = plane([-6, 6], [-4, 4], { x: "x1", y: "x2", title: "Contours of a normal in two dimensions", ticks: 6 });
      for (const r of [1, 2]) area.path(ellipse(shape.mean, found.axes, r), "line first");
      for (const { variance, direction } of found.axes)
        area.path([[0, 0], direction.map((value) => value * Math.sqrt(variance))], "line thin first");
      area.path([[state.given, -4], [state.given, 4]], "line dashed second");
      const bell = range(-4, 4, 120).map((y) => {
        const z = (y - found.conditionalMean) / found.conditionalSd;
        return [state.given + (1.5 / found.conditionalSd) * Math.exp(-z * z / 2) * 0.5, y];
      });
      area.path(bell, "line second");
      return {
        svg: area.svg(),
        legend: [["first", "1 and 2 standard deviations, and the axes"], ["second", "x2 given x1"]],
        text: `Given x1 = ${number(state.given, 1)}, x2 has mean ${number(found.conditionalMean)} and standard deviation ` +
          `${number(found.conditionalSd)}; without x1 it has mean 0 and standard deviation ${number(state.sd2)}. ` +
          `Half axes: ${found.axes.map((axis) => number(Math.sqrt(axis.variance))).join(" and ")}.`,
      };
    },

    classes(state) {
      const settings = {
        classes: [
          { mean: [-state.distance / 2, 0], sd: [state.sdA, 1], rho: state.rhoA },
          { mean: [state.distance / 2, state.height], sd: [state.sdB, 1], rho: state.rhoB },
        ],
        rows: state.rows, seed: state.seed,
      };
      const found = Play.classes(settings);
      const area = plane([-6, 6], [-4, 4], { x: "x1", y: "x2", title: "Two classes and four boundaries", ticks: 6 });
      found.X.slice(0, 300).forEach(([x, y], i) => {
        const [u, v] = [area.u(x), area.v(y)];
        area.parts.push(found.y[i] ? `<path class="mark" d="M${u - 3},${v - 3}l6,6m-6,0l6,-6"/>`
          : `<circle class="mark" cx="${u.toFixed(1)}" cy="${v.toFixed(1)}" r="2.6"/>`);
      });
      for (const [name, kind] of [["gda", "line gda"], ["qda", "line qda"], ["naiveBayes", "line bayes"], ["logistic", "line logistic"]])
        area.parts.push(`<path class="${kind}" d="${zeroLine(area, found.models[name])}"/>`);
      const rate = (name) => percent(found.accuracy[name]);
      return {
        svg: area.svg(),
        legend: [["none", "o class 0, x class 1"], ["gda", "GDA (one covariance)"], ["qda", "QDA"], ["bayes", "naive Bayes"], ["logistic", "logistic regression"]],
        text: `Right on these ${state.rows} rows: GDA ${rate("gda")}, QDA ${rate("qda")}, naive Bayes ${rate("naiveBayes")}, ` +
          `logistic regression ${rate("logistic")}. GDA and logistic regression draw straight lines, QDA conics; naive Bayes is a ` +
          `QDA that ignores the correlations.`,
      };
    },

    curves(state) {
      const sizes = [6, 10, 16, 26, 40, 64, 100, 160, 260, 400].filter((size) => size <= state.rows);
      const points = Play.curves({ columns: state.columns, correlation: state.correlation, distance: 2, sizes, repeats: state.repeats, seed: 1 });
      const area = plane([5, 450], [0, 0.5], {
        x: "rows to learn from (logarithmic)", y: "error on new rows", title: "Learning curves", ticks: [6, 16, 40, 100, 260], logX: true,
      });
      for (const [name, kind] of [["naiveBayes", "first"], ["logistic", "second"]]) {
        area.path(points.map((p) => [p.rows, p[name].mean]), `line ${kind}`);
        for (const p of points) area.path([[p.rows, p[name].mean - 2 * p[name].error], [p.rows, p[name].mean + 2 * p[name].error]], `line thin ${kind}`);
      }
      const last = points[points.length - 1], first = points[0];
      const better = (p) => (p.naiveBayes.mean < p.logistic.mean ? "naive Bayes" : p.naiveBayes.mean > p.logistic.mean ? "logistic regression" : "neither");
      return {
        svg: area.svg(),
        legend: [["first", "naive Bayes"], ["second", "logistic regression"]],
        text: `With ${first.rows} rows ${better(first)} makes fewer errors (${percent(first.naiveBayes.mean)} and ` +
          `${percent(first.logistic.mean)}); with ${last.rows} rows ${better(last)} (${percent(last.naiveBayes.mean)} and ` +
          `${percent(last.logistic.mean)}). Bars: two standard errors of ${state.repeats} repeats.`,
      };
    },
  };

  function connect(panel) {
    const draw = DRAW[panel.dataset.panel], picture = panel.querySelector(".picture");
    const legend = panel.querySelector(".legend"), text = panel.querySelector("output");
    const inputs = [...panel.querySelectorAll("input")];
    const update = () => {
      const state = Object.fromEntries(inputs.map((input) => [input.name, Number(input.value)]));
      inputs.forEach((input) => { panel.querySelector(`[data-value="${input.name}"]`).textContent = input.value; });
      const found = draw(state);
      picture.innerHTML = found.svg;
      legend.innerHTML = found.legend.map(([kind, name]) => `<span><i class="${kind}"></i>${name}</span>`).join("");
      text.textContent = found.text;
    };
    // Many moves of a slider are one picture.
    let waits = false;
    const later = () => {
      if (waits) return;
      waits = true;
      requestAnimationFrame(() => { waits = false; update(); });
    };
    inputs.forEach((input) => input.addEventListener("input", later));
    update();
  }

  document.querySelectorAll("[data-panel]").forEach(connect);
})();
