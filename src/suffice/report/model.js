// The model of a page, computed from its sums: what `suffice.report.browser_model` wrote.
//
// A plain script without imports that defines one name, `Suffice`. Numbers of sections are those of
// docs/mathematics.md, and the order is theirs: special functions, the class prior, conjugate
// families, regression, texts, combination, contributions. The families are those of
// `suffice.families.columns`, and answers are those of `predict_proba` and `explain`.
//
//   const model = Suffice.model(await Suffice.decompress(base64));
//   model.predict({ age: "39", city: null }).probabilities
//
// A posterior is computed when a model is made of an object: change a count in the object, make the
// model again, and its answers are those of Python on that tally under the same prior.

var Suffice = (function () {
  "use strict";

  // ---- Special functions ------------------------------------------------------------------------

  const LOG_TWO_PI = Math.log(2 * Math.PI);
  // From here on Stirling's series, to the eleventh power, has all digits.
  const LARGE = 20;

  // log Gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, of a large z.
  function stirlingRest(z) {
    const w = 1 / (z * z);
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - (w * 691) / 360360))))) / z;
  }

  // log Gamma(z), z > 0: by Gamma(z + 1) = z Gamma(z) up to where Stirling's series has all digits.
  function logGamma(z) {
    if (!(z > 0)) return z === 0 ? Infinity : NaN;
    if (z === Infinity) return Infinity;
    let product = 1;
    for (; z < LARGE; z += 1) product *= z;
    return (z - 0.5) * Math.log(z) - z + LOG_TWO_PI / 2 + stirlingRest(z) - Math.log(product);
  }

  // log Gamma(z + step) - log Gamma(z), whose digits cancel if both are large.
  function logGammaStep(z, step) {
    if (z < LARGE) return logGamma(z + step) - logGamma(z);
    const growth = (z + step - 0.5) * Math.log1p(step / z) + step * (Math.log(z) - 1);
    return growth + stirlingRest(z + step) - stirlingRest(z);
  }

  function logSumExp(values) {
    const most = Math.max(...values);
    if (!Number.isFinite(most)) return most;
    return most + Math.log(sum(values.map((value) => Math.exp(value - most))));
  }

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const sigmoid = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
  const logit = (p) => Math.log(p) - Math.log1p(-p);
  // log(1 + e^x).
  const softplus = (x) => (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)));

  // Section 1: log p(class | x) of scores. Where no class is possible, all are as probable.
  function logSoftmax(scores) {
    const total = logSumExp(scores);
    if (total === -Infinity) return scores.map(() => -Math.log(scores.length));
    if (total === Infinity) {
      const best = scores.map((score) => (score === Infinity ? 0 : -Infinity));
      return logSoftmax(best);
    }
    return scores.map((score) => score - total);
  }

  const softmax = (scores) => logSoftmax(scores).map(Math.exp);

  // The error function: its series near 0, a continued fraction far out.
  function erf(x) {
    const away = Math.abs(x);
    if (away > 6) return Math.sign(x);
    if (away < 3) {
      let term = x, total = x;
      for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(total); n += 1) {
        term *= (-x * x) / n;
        total += term / (2 * n + 1);
        if (n > 200) break;
      }
      return (2 / Math.sqrt(Math.PI)) * total;
    }
    let fraction = away;
    for (let n = 60; n > 0; n -= 1) fraction = away + n / 2 / fraction;
    return Math.sign(x) * (1 - Math.exp(-away * away) / (fraction * Math.sqrt(Math.PI)));
  }

  // Densities, section 2.
  const normalLogDensity = (x, mean, variance) =>
    -0.5 * (LOG_TWO_PI + Math.log(variance)) - (0.5 * (x - mean) ** 2) / variance;
  const normalCdf = (x, mean = 0, variance = 1) => 0.5 * (1 + erf((x - mean) / Math.sqrt(2 * variance)));
  const studentLogDensity = (x, degrees, location, squaredScale) =>
    logGammaStep(degrees / 2, 0.5) - 0.5 * Math.log(Math.PI * degrees * squaredScale) -
    ((degrees + 1) / 2) * Math.log1p((x - location) ** 2 / squaredScale / degrees);
  const logBeta = (a, b) => logGamma(Math.min(a, b)) - logGammaStep(Math.max(a, b), Math.min(a, b));
  const xlogy = (x, y) => (x === 0 ? 0 : x * Math.log(y));
  const betaLogDensity = (x, a, b) => xlogy(a - 1, x) + (b === 1 ? 0 : (b - 1) * Math.log1p(-x)) - logBeta(a, b);
  const gammaLogDensity = (x, shape, rate) =>
    shape * Math.log(rate) + xlogy(shape - 1, x) - rate * x - logGamma(shape);
  const poissonLogProbability = (x, rate) => xlogy(x, rate) - rate - logGamma(x + 1);
  // Of events whose rate ~ Gamma(shape, rate): negative binomial.
  const negativeBinomialLogProbability = (x, shape, rate) =>
    logGammaStep(shape, x) - logGamma(x + 1) - shape * Math.log1p(1 / rate) - x * Math.log1p(rate);
  const betaBinomialLogProbability = (x, n, a, b) =>
    logGamma(n + 1) - logGamma(x + 1) - logGamma(n - x + 1) +
    logGammaStep(a, x) + logGammaStep(b, n - x) - logGammaStep(a + b, n);

  // The share of Beta(a, b) below x: a continued fraction on the side where it converges.
  function betaCdf(x, a, b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - x, b, a);
    const tiny = 1e-300;
    let c = 1, d = 1 / Math.max(1 - ((a + b) * x) / (a + 1), tiny), found = d;
    for (let m = 1; m < 10000; m += 1) {
      let last = 1;
      for (const term of [
        (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
        (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
      ]) {
        d = 1 + term * d;
        c = 1 + term / c;
        d = 1 / (Math.abs(d) < tiny ? tiny : d);
        if (Math.abs(c) < tiny) c = tiny;
        last = c * d;
        found *= last;
      }
      if (Math.abs(last - 1) < 1e-16) break;
    }
    return (Math.exp(xlogy(a, x) + b * Math.log1p(-x) - logBeta(a, b)) * found) / a;
  }

  // Lower factor L of a positive definite matrix, L L^T = matrix.
  function cholesky(matrix) {
    const size = matrix.length, root = matrix.map(() => new Array(size).fill(0));
    for (let i = 0; i < size; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let rest = matrix[i][j];
        for (let k = 0; k < j; k += 1) rest -= root[i][k] * root[j][k];
        root[i][j] = i === j ? Math.sqrt(rest) : rest / root[j][j];
      }
    }
    return root;
  }

  // L^-1 right, of a lower factor L.
  function solveLower(root, right) {
    const found = [];
    for (let i = 0; i < root.length; i += 1) {
      let rest = right[i];
      for (let k = 0; k < i; k += 1) rest -= root[i][k] * found[k];
      found.push(rest / root[i][i]);
    }
    return found;
  }

  // L^-T right.
  function solveUpper(root, right) {
    const found = new Array(root.length);
    for (let i = root.length - 1; i >= 0; i -= 1) {
      let rest = right[i];
      for (let k = i + 1; k < root.length; k += 1) rest -= root[k][i] * found[k];
      found[i] = rest / root[i][i];
    }
    return found;
  }

  const dot = (a, b) => a.reduce((total, value, at) => total + value * b[at], 0);

  // Nodes and weights of Gauss and Legendre on (-1, 1), by Newton's method.
  function gaussLegendre(size) {
    const nodes = [], weights = [];
    for (let i = 0; i < size; i += 1) {
      let x = Math.cos((Math.PI * (i + 0.75)) / (size + 0.5)), slope = 1;
      for (let step = 0; step < 100; step += 1) {
        let before = 1, here = x;
        for (let k = 2; k <= size; k += 1) [before, here] = [here, ((2 * k - 1) * x * here - (k - 1) * before) / k];
        slope = (size * (x * here - before)) / (x * x - 1);
        const move = here / slope;
        x -= move;
        if (Math.abs(move) < 1e-16) break;
      }
      nodes.push(x);
      weights.push(2 / ((1 - x * x) * slope * slope));
    }
    return { nodes, weights };
  }

  // ---- Numbers as JSON has them -----------------------------------------------------------------

  // What JSON has no word for was written as a string that Number() reads.
  const numbers = (values) => values.map((value) => (Array.isArray(value) ? numbers(value) : Number(value)));
  // The entry of a class; of one entry, all classes have it.
  const entry = (values, c) => values[values.length === 1 ? 0 : c];

  // ---- Section 1: the class prior ---------------------------------------------------------------

  function logClassPrior(prior) {
    if (prior.given !== null) return numbers(prior.given).map(Math.log);
    const added = numbers(prior.added), counts = numbers(prior.weights).map((weight, c) => weight + added[c]);
    const total = sum(counts);
    return counts.map((count) => Math.log(count / total));
  }

  // ---- Section 2: conjugate families of one column ----------------------------------------------

  // Mean and scatter of a tally of moments about an origin (section 3).
  function meanAndScatter(weight, origin, sumX, sumXX) {
    const shift = weight > 0 ? sumX / weight : sumX;
    return [origin + shift, Math.max(sumXX - shift * sumX, 0)];
  }

  // Normal and lognormal: NIG(m, k, a, b) and the moments of each class make NIG(m', k', a', b'), whose
  // predictive is a Student t of 2a' degrees. Plugged in, its expectations or its mode make a normal;
  // maximum likelihood does without a prior.
  function normalBlock(block) {
    const { tally } = block, estimate = block.estimate || (block.plug_in ? "mean" : "predictive");
    const [weight, origin, sumX, sumXX] = ["weight", "origin", "sum_x", "sum_xx"].map((name) => numbers(tally[name]));
    const moments = weight.map((n, c) => [n, ...meanAndScatter(n, origin[c], sumX[c], sumXX[c])]);
    const densities = estimate === "mle"
      ? mostLikelyNormals(moments, block)
      : posteriorNormals(moments, block, estimate);
    return ofOneColumn(block, (cell) => {
      const x = block.logarithm ? (cell > 0 ? Math.log(cell) : NaN) : cell;
      return densities.map((density) => (Number.isNaN(x) ? 0 : density(x)));
    });
  }

  function posteriorNormals(moments, { prior, tied }, estimate) {
    const [location, pseudoRows, shape, scale] = ["location", "pseudo_rows", "shape", "scale"].map((name) =>
      numbers(prior[name]));
    const classes = moments.map(([n, mean, scatter], c) => {
      const k = pseudoRows[c] + n, shift = ((mean - location[c]) * n) / k;
      return { n, k, m: location[c] + shift, squares: scatter + (mean - location[c]) * pseudoRows[c] * shift };
    });
    const rows = sum(classes.map(({ n }) => n)), squares = sum(classes.map((one) => one.squares));
    return classes.map((one, c) => {
      const a = entry(shape, c) + (tied ? rows : one.n) / 2;
      const b = entry(scale, c) + (tied ? squares : one.squares) / 2;
      if (estimate === "predictive") return (x) => studentLogDensity(x, 2 * a, one.m, (b / a) * (1 + 1 / one.k));
      const sharing = tied ? classes.length : 1;
      const variance = estimate === "map" ? b / (a + 1 + sharing / 2) : b / a;
      return (x) => normalLogDensity(x, one.m, variance);
    });
  }

  // A class that shows nothing of the column is like the others.
  function mostLikelyNormals(moments, { tied, variance_floor: floor }) {
    const rows = sum(moments.map(([n]) => n)), within = sum(moments.map(([, , scatter]) => scatter)) / rows;
    const pooled = sum(moments.map(([n, mean]) => n * mean)) / rows;
    return moments.map(([n, mean, scatter]) => {
      const variance = (tied || !(n > 0) ? within : scatter / n) + Number(floor);
      return (x) => normalLogDensity(x, n > 0 ? mean : pooled, variance);
    });
  }

  // Student: rows x ~ N(mu, s^2 / u), u ~ Gamma(v/2, v/2), by variational EM over cells of the number
  // line. It begins with all rows at full weight, and ends where the library's ends.
  const STILL = 1e-13, MAX_EM_STEPS = 5000, FAR = 1e10;

  function fitStudent(cells, prior) {
    const { k, a, b, degrees } = prior;
    const rows = sum(cells.map(({ weight }) => weight));
    if (!(rows > 0)) return { m: 0, k, a, b };
    let mean = sum(cells.map(({ weight, centre }) => (weight / rows) * centre));
    let squares = sum(cells.map((one) => one.weight * ((one.centre - mean) ** 2 + one.variance)));
    const shape = a + 0.5 * rows;
    let total = rows, m = (mean * total) / (k + total);
    let scale = b + 0.5 * (squares + ((k * total) / (k + total)) * mean * mean);
    for (let step = 0; step < MAX_EM_STEPS; step += 1) {
      const before = m, width = scale;
      const precision = shape / scale, least = degrees + 1 / (k + total);
      let weight = 0, first = 0, second = 0;
      for (const one of cells) {
        const d = one.centre - m, square = d * d + one.variance;
        const u = (one.weight * (degrees + 1)) / (least + square * precision);
        weight += u;
        first += u * d;
        second += u * square;
      }
      const shift = first / weight;
      total = weight;
      mean = m + shift;
      m = (mean * total) / (k + total);
      squares = Math.max(second - shift * first, 0);
      scale = b + 0.5 * (squares + ((k * total) / (k + total)) * mean * mean);
      const moves = Math.abs(m - before) > STILL * Math.sqrt(scale / shape) + 4 * Number.EPSILON * Math.abs(mean);
      if (!moves && !(Math.abs(scale - width) > STILL * scale)) break;
    }
    return { m, k: k + total, a: shape, b: scale };
  }

  function studentBlock(block) {
    const { tally, prior } = block, location = Number(prior.location), rowDegrees = Number(prior.degrees);
    const [weight, origin, sumX, sumXX] = ["weight", "origin", "sum_x", "sum_xx"].map((name) => numbers(tally[name]));
    const start = {
      k: Number(prior.pseudo_rows),
      a: Number(prior.shape),
      b: Number(prior.shape) * Number(prior.variance),
      degrees: rowDegrees,
    };
    const densities = weight.map((own, c) => {
      const cells = [];
      own.forEach((n, j) => {
        if (!(n > 0)) return;
        const centre = origin[c][j] - location + sumX[c][j] / n;
        const scatter = Math.max(sumXX[c][j] - (sumX[c][j] / n) * sumX[c][j], 0);
        cells.push({ weight: n, centre, variance: scatter / n });
      });
      const { m, k, a, b } = fitStudent(cells, start);
      const scale = Math.sqrt((b / a) * (block.plug_in ? 1 : 1 + 1 / k));
      const degrees = block.plug_in ? rowDegrees : rowDegrees / (1 + (0.5 * rowDegrees) / a);
      const norm = logGammaStep(0.5 * degrees, 0.5) - 0.5 * Math.log(Math.PI * degrees) - Math.log(scale);
      return (x) => {
        const away = x - m, z = away / scale;
        const tail = Math.abs(z) > FAR
          ? 2 * (Math.log(Math.abs(away)) - Math.log(scale)) - Math.log(degrees)
          : Math.log1p((z * z) / degrees);
        return norm - 0.5 * (degrees + 1) * tail;
      };
    });
    return ofOneColumn(block, (x) => densities.map((density) => (Number.isNaN(x) ? 0 : density(x - location))));
  }

  // Poisson: Gamma(shape, rate) and the events of each class predict a negative binomial; the expected
  // rate plugged in makes a Poisson. log x! is the same in all classes, and left out.
  function poissonBlock(block) {
    const [rows, events] = ["weight", "sum_x"].map((name) => numbers(block.tally[name]));
    const [shape, rate] = ["shape", "rate"].map((name) => numbers(block.prior[name]));
    const pooled = sum(events) / sum(rows);
    const scores = rows.map((n, c) => {
      const a = shape[c] + events[c], b = rate[c] + n;
      if (block.plug_in) return (x) => xlogy(x, b > 0 ? a / b : pooled) - (b > 0 ? a / b : pooled);
      return (x) => logGammaStep(a, x) - a * Math.log1p(1 / b) - x * Math.log1p(b);
    });
    return ofOneColumn(block, (x) => {
      const valid = x >= 0 && x === Math.floor(x);
      return scores.map((score) => (valid ? score(x) : 0));
    });
  }

  // Binned: a Polya tree. Each half of a range of bins has a Beta prior centred on the half's share of
  // all classes together, of one sample size for each depth.
  function binnedBlock(block) {
    const edges = numbers(block.edges), counts = numbers(block.tally.counts);
    const sizes = numbers(block.prior.sample_sizes);
    const pooled = numbers(block.prior.pooled).map((rows) => rows + Number(block.prior.pseudo_count));
    const within = (values, low, high) => sum(values.slice(low, high));
    const logShares = counts.map((own) => {
      const logs = own.map(() => 0);
      let ranges = [[0, own.length]];
      for (let depth = 0; depth < sizes.length; depth += 1) {
        const size = sizes[depth], next = [];
        for (const [low, high] of ranges) {
          if (high - low < 2) continue;
          const middle = Math.floor((low + high + 1) / 2);
          for (const [from, to] of [[low, middle], [middle, high]]) {
            const share = within(pooled, from, to) / within(pooled, low, high);
            const log = Math.log((within(own, from, to) + size * share) / (within(own, low, high) + size));
            for (let bin = from; bin < to; bin += 1) logs[bin] += log;
            next.push([from, to]);
          }
        }
        ranges = next;
      }
      return logs;
    });
    return ofOneColumn(block, (x) => {
      if (Number.isNaN(x)) return logShares.map(() => 0);
      const bin = edges.filter((edge) => edge <= x).length;
      return logShares.map((logs) => logs[bin]);
    });
  }

  // Categorical and Bernoulli: Dirichlet shares (n_ck + a_k) / (n_c + a). A level that nobody has
  // learned is "other", with its share of the prior; where there is no other, it says nothing.
  function categoricalBlock(block) {
    const counts = numbers(block.tally.counts), { prior } = block;
    // The prior is one for all classes, or each class has its own.
    const own = (values, c) => (Array.isArray(values) ? Number(values[c]) : Number(values));
    const logs = counts.map((held, c) => {
      const each = Array.isArray(prior.pseudocounts[0]);
      const pseudocounts = numbers(each ? prior.pseudocounts[c] : prior.pseudocounts);
      // Levels that the page has no room for count in the total.
      const total = sum(held) + Number(block.tally.left_out[c]) + own(prior.sample_size, c);
      const whole = total > 0 ? total : 1;
      const other = prior.other === null ? 0 : Math.log(own(prior.other, c) / whole);
      return [...held.map((count, k) => Math.log((count + pseudocounts[k]) / whole)), other];
    });
    const levels = levelPlaces(block.levels), known = counts[0].length;
    return ofOneColumn(block, (cell) => {
      const code = levels(cell);
      return logs.map((log) => (code < 0 ? 0 : log[Math.min(code, known)]));
    });
  }

  // Presence of a column, with a Beta prior: cells above a threshold are present. Without a threshold
  // cells are 0, 1 or fractions between them.
  function presenceBlock(block) {
    const { tally, prior } = block, [absent, present] = ["absent", "present"].map((name) =>
      numbers(tally[name]).map((count, c) => count + Number(prior[name][c])));
    const whole = present.map((count, c) => count + absent[c]);
    const logs = [absent, present].map((side) =>
      side.map((count, c) => (whole[c] > 0 ? Math.log(count / whole[c]) : 0)));
    const linear = block.threshold === null && logs.flat().every(Number.isFinite);
    return ofOneColumn(block, (x) => whole.map((_, c) => {
      if (Number.isNaN(x)) return 0;
      if (linear) return x * (logs[1][c] - logs[0][c]) + logs[0][c];
      return logs[x > (block.threshold === null ? 0.5 : block.threshold) ? 1 : 0][c];
    }));
  }

  // The code of a cell: its own, of a category; the place of a number among the levels, or their number.
  function levelPlaces(levels) {
    if (levels === null) return (code) => code;
    const places = new Map(numbers(levels).map((level, at) => [level, at]));
    return (x) => (Number.isNaN(x) ? -1 : places.has(x) ? places.get(x) : levels.length);
  }

  function ofOneColumn(block, scores) {
    const [column] = block.columns;
    const of = (cells) => scores(cells[column]);
    return { scores: of, parts: (cells, show) => [{ name: column, value: show(column), scores: of(cells) }] };
  }

  // ---- Section 2: conjugate families of several columns -----------------------------------------

  // What is seen of a row, column by column: log p(x1), log p(x2 | x1), ...
  function ofColumns(block, scores) {
    const size = block.columns.length;
    const of = (cells) => scores(cells, size);
    const parts = (cells, show) => {
      const upto = [...Array(size + 1).keys()].map((width) => scores(cells, width));
      return block.columns.map((name, at) => ({
        name, value: show(name), scores: upto[at + 1].map((score, c) => score - upto[at][c]),
      }));
    };
    return { scores: of, parts };
  }

  // Joint: shares (n_cx + s prod_j p_j(x_j)) / (n_c + s) of combinations, and of parts of them.
  function jointBlock(block) {
    const counts = numbers(block.tally.counts), seen = numbers(block.seen);
    const shares = numbers(block.prior.shares), size = Number(block.prior.sample_size);
    const totals = counts.map(sum), places = block.levels.map(levelPlaces);
    return ofColumns(block, (cells, width) => {
      const codes = block.columns.map((name, at) => (at < width ? places[at](cells[name]) : -1));
      const shown = codes.map((_, at) => at).filter((at) => codes[at] >= 0);
      if (!shown.length) return counts.map(() => 0);
      const supposed = shown.reduce(
        (product, at) => product * shares[at][Math.min(codes[at], shares[at].length - 1)], 1);
      const same = seen.map((_, m) => m).filter((m) => shown.every((at) => seen[m][at] === codes[at]));
      return counts.map((own, c) => {
        const held = same.reduce((total, m) => total + own[m], 0);
        return Math.log((held + size * supposed) / (totals[c] + size));
      });
    });
  }

  // Rows of counts: the event models of words, a column a word (sections 2 and 8). Where a word is
  // missing, the others share its probability.
  function countsBlock(block) {
    const counts = numbers(block.tally.counts), alpha = Number(block.alpha), size = block.columns.length;
    const pooled = block.columns.map((_, v) => sum(counts.map((own) => own[v]))), all = sum(pooled);
    const pieces = (cells) => {
      const x = block.columns.map((name) => cells[name]), places = x.map((_, v) => v);
      const seen = places.filter((v) => !Number.isNaN(x[v])), held = seen.filter((v) => x[v] !== 0);
      const length = sum(held.map((v) => x[v]));
      const scores = new Map(held.map((v) => [v, counts.map((own) => {
        const over = (values) => sum(values.map((at) => own[at])) + alpha * values.length;
        if (block.event === "complement") {
          return -x[v] * Math.log((pooled[v] - own[v] + alpha) / (all - sum(own) + alpha * size));
        }
        if (block.event === "polya") {
          return logGammaStep(own[v] + alpha, x[v]) - (x[v] / length) * logGammaStep(over(seen), length);
        }
        return x[v] * Math.log((own[v] + alpha) / over(seen));
      })]));
      const nothing = counts.map(() => 0);
      return places.filter((v) => x[v] !== 0).map((v) => (
        { name: block.columns[v], scores: scores.get(v) || nothing }));
    };
    return {
      scores: (cells) => {
        const found = pieces(cells);
        return counts.map((_, c) => sum(found.map((piece) => piece.scores[c])));
      },
      parts: (cells, show) => pieces(cells).map((piece) => ({ ...piece, value: show(piece.name) })),
    };
  }

  // Logistic regression (section 5): scores are linear in the columns, and were fitted as such.
  function linearBlock(block) {
    const coefficients = numbers(block.coefficients);
    const parts = (cells) => block.columns.map((name, j) => coefficients.map((own) => own[j] * (cells[name] || 0)));
    return {
      scores: (cells) => {
        const found = parts(cells);
        return coefficients.map((_, c) => sum(found.map((part) => part[c])));
      },
      parts: (cells, show) => parts(cells).map((scores, j) => (
        { name: block.columns[j], value: show(block.columns[j]), scores })),
    };
  }

  // Multivariate normal: NIW(m, k, v, S) and full moments make NIW(m', k', v', S'), whose predictive is
  // a t of v' - d + 1 degrees (section 6); of an incomplete row, the marginal of what is seen.
  function multivariateBlock(block) {
    const { tally, prior, tied } = block;
    const [weight, origin, sumX, sumXX] = ["weight", "origin", "sum_x", "sum_xx"].map((name) => numbers(tally[name]));
    const [location, pseudoRows, degrees, scale] = ["location", "pseudo_rows", "degrees", "scale_matrix"].map(
      (name) => numbers(prior[name]));
    const d = location[0].length, places = [...Array(d).keys()];
    const classes = weight.map((n, c) => {
      const shift = sumX[c].map((x) => (n > 0 ? x / n : x));
      const away = shift.map((x, j) => origin[c][j] + x - location[c][j]), k = pseudoRows[c] + n;
      const squares = places.map((i) => places.map((j) => {
        const scatter = sumXX[c][i][j] - (shift[i] * sumX[c][j] + shift[j] * sumX[c][i]) / 2;
        return scatter + (away[i] * pseudoRows[c] * away[j] * n) / k;
      }));
      return { n, k, m: away.map((x, j) => location[c][j] + (x * n) / k), squares };
    });
    const add = (matrices) => places.map((i) => places.map((j) => sum(matrices.map((one) => one[i][j]))));
    const rows = sum(weight), together = tied ? add(classes.map((one) => one.squares)) : null;
    const laws = classes.map((one, c) => {
      const v = entry(degrees, c) + (tied ? rows : one.n);
      const S = add([entry(scale, c), tied ? together : one.squares]);
      const divisor = block.plug_in ? v : v - d + 1, factor = block.plug_in ? 1 : 1 + 1 / one.k;
      return { m: one.m, degrees: divisor, matrix: S.map((row) => row.map((x) => (x / divisor) * factor)) };
    });
    const roots = new Map();
    const rootOf = (c, shown) => {
      const key = `${c}:${shown}`;
      if (!roots.has(key)) {
        roots.set(key, cholesky(shown.map((i) => shown.map((j) => laws[c].matrix[i][j]))));
      }
      return roots.get(key);
    };
    return ofColumns(block, (cells, width) => {
      const x = block.columns.map((name) => cells[name]);
      const shown = places.filter((j) => j < width && !Number.isNaN(x[j])), s = shown.length;
      return laws.map((law, c) => {
        if (!s) return 0;
        const root = rootOf(c, shown), white = solveLower(root, shown.map((j) => x[j] - law.m[j]));
        const square = dot(white, white), half = sum(root.map((row, i) => Math.log(row[i])));
        if (block.plug_in) return (-s * LOG_TWO_PI) / 2 - half - square / 2;
        const v = law.degrees;
        return logGammaStep(v / 2, s / 2) - (s / 2) * Math.log(Math.PI * v) - half -
          ((v + s) / 2) * Math.log1p(square / v);
      });
    });
  }

  // Discriminants (section 4): normals of the most likely means and covariances. With one covariance for
  // all classes scores are linear in the columns, about the mean of the class means.
  function gaussianBlock(block) {
    const { tally } = block, shares = block.class_shares === null ? null : numbers(block.class_shares);
    const [weight, origin, sumX, sumXX] = ["weight", "origin", "sum_x", "sum_xx"].map((name) => numbers(tally[name]));
    const places = block.columns.map((_, j) => j), d = places.length, matrix = (of) => places.map((i) =>
      places.map((j) => of(i, j)));
    const shift = sumX.map((own, c) => own.map((x) => x / weight[c]));
    const means = shift.map((own, c) => own.map((x, j) => origin[c][j] + x));
    const scatters = weight.map((_, c) => matrix((i, j) =>
      sumXX[c][i][j] - (shift[c][i] * sumX[c][j] + shift[c][j] * sumX[c][i]) / 2));
    const shrink = (S, part, size) => matrix((i, j) => (1 - part) * S[i][j] + (i === j ? part * size : 0));
    const covariances = scatters.map((S, c) => {
      const plain = matrix((i, j) => S[i][j] / weight[c]);
      const average = sum(places.map((j) => plain[j][j])) / d;
      return shrink(shrink(plain, block.shrinkage, average), block.unit_share, 1);
    });
    const seenOf = (cells) => places.filter((j) => !Number.isNaN(cells[block.columns[j]]));
    if (shares === null) {
      return ofColumns(block, (cells, width) => {
        const seen = seenOf(cells).filter((j) => j < width);
        return covariances.map((S, c) => {
          const root = cholesky(seen.map((i) => seen.map((j) => S[i][j])));
          const white = solveLower(root, seen.map((j) => cells[block.columns[j]] - means[c][j]));
          const half = sum(root.map((row, i) => Math.log(row[i])));
          return (-seen.length * LOG_TWO_PI) / 2 - half - dot(white, white) / 2;
        });
      });
    }
    const centre = places.map((j) => dot(shares, means.map((own) => own[j]))), rows = sum(weight);
    const within = matrix((i, j) => (block.pooled
      ? sum(scatters.map((S) => S[i][j])) / rows
      : dot(shares, covariances.map((S) => S[i][j]))));
    // Of a row that lacks cells, the regression on the others.
    const pieces = (cells) => {
      const seen = seenOf(cells), root = cholesky(seen.map((i) => seen.map((j) => within[i][j])));
      const found = means.map((own) => {
        const away = seen.map((j) => own[j] - centre[j]), w = solveUpper(root, solveLower(root, away));
        return { bias: -dot(away, w) / 2, parts: seen.map((j, at) => w[at] * (cells[block.columns[j]] - centre[j])) };
      });
      const part = (j) => found.map(({ parts }) => (seen.includes(j) ? parts[seen.indexOf(j)] : 0));
      return { base: found.map(({ bias }) => bias), parts: places.map(part) };
    };
    return {
      base: (cells) => pieces(cells).base,
      scores: (cells) => {
        const { base, parts } = pieces(cells);
        return base.map((bias, c) => bias + sum(parts.map((part) => part[c])));
      },
      parts: (cells, show) => pieces(cells).parts.map((scores, j) => (
        { name: block.columns[j], value: show(block.columns[j]), scores })),
    };
  }

  // ---- Section 7: linear regression -------------------------------------------------------------

  // Sums of products of columns and targets, about the means if there is an intercept.
  function productsOf(object) {
    const { tally } = object, n = Number(tally.weight);
    const [origin, sumX, sumXX] = [tally.origin, tally.sum_x, tally.sum_xx].map(numbers);
    const shift = sumX.map((x) => (n > 0 ? x / n : x)), mean = origin.map((x, j) => x + shift[j]);
    const sums = sumXX.map((row, i) => row.map((product, j) => (object.intercept
      ? product - (shift[i] * sumX[j] + shift[j] * sumX[i]) / 2
      : product + origin[i] * sumX[j] + (sumX[i] + n * origin[i]) * origin[j])));
    return { n, mean, sums, rows: object.intercept ? n - 1 : n };
  }

  const inverse = (matrix) => {
    const root = cholesky(matrix);
    return matrix.map((_, j) => solveUpper(root, solveLower(root, matrix.map((__, i) => (i === j ? 1 : 0)))));
  };

  // The prior of some coefficients: their marginal, which is a part of the covariance.
  function priorOfSome(precision, shown) {
    const part = (matrix) => shown.map((i) => shown.map((j) => matrix[i][j]));
    const diagonal = precision.every((row, i) => row.every((value, j) => i === j || value === 0));
    return diagonal || shown.length === precision.length ? part(precision) : inverse(part(inverse(precision)));
  }

  // s2 ~ InvGamma(a, b), w | s2 ~ N(m, s2 P^-1) and the products make the posterior of the
  // coefficients of the columns that a row shows. Where the noise is known, all is normal.
  function coefficientsOf(object, products, shown) {
    const { prior } = object, d = object.columns.length, { sums } = products;
    const known = prior.noise_variance === null ? 1 : Number(prior.noise_variance);
    const precision = priorOfSome(numbers(prior.precision), shown), location = numbers(prior.location);
    const xx = shown.map((i) => shown.map((j) => sums[i][j]));
    const P = precision.map((row, i) => row.map((value, j) => value + xx[i][j] / known));
    const root = cholesky(P), flat = precision.filter((row) => row.every((value) => value === 0)).length;
    const shape = Number(prior.noise_shape) + (products.rows - flat) / 2;
    const targets = object.targets.map((_, t) => {
      const m = shown.map((j) => location[t][j]), y = d + t, xy = shown.map((j) => sums[y][j]);
      const rest = xy.map((value, i) => value - dot(xx[i], m));
      const shift = solveUpper(root, solveLower(root, rest.map((value) => value / known)));
      const w = m.map((value, i) => value + shift[i]);
      if (prior.noise_variance !== null) return { w, unit: known };
      const yy = sums[y][y] - dot(xy.map((value, i) => value + rest[i]), m);
      // What coefficients leave of a target is never known to be less than rounding.
      const size = Math.hypot(products.mean[y], Math.sqrt(Math.max(sums[y][y], 0) / Math.max(products.n, 1))) || 1;
      const least = Math.max(object.rounding.share * sums[y][y], products.n * (size * object.rounding.precision) ** 2);
      const lost = Math.max(yy - dot(rest, shift), least);
      return { w, unit: (Number(entry(numbers(prior.noise_scale), t)) + lost / 2) / shape };
    });
    return { root, targets, known, degrees: prior.noise_variance === null ? 2 * shape : Infinity };
  }

  function regressionModel(object) {
    const products = productsOf(object), read = rowReader(object.columns), write = cellWriter(object.columns);
    const d = object.columns.length, solved = new Map();
    const mean = object.intercept ? products.mean : products.mean.map(() => 0);
    const answer = (w, x, shown, t, show) => {
      const parts = shown.map((j, i) => w[i] * (x[j] - mean[j]));
      const pieces = object.columns.map(({ name }) => ({ name, value: show(name) }));
      const shares = pieces.map((_, j) => (shown.includes(j) ? parts[shown.indexOf(j)] : 0));
      return { prediction: mean[d + t] + sum(parts), ...orderReasons(pieces, shares, mean[d + t] + sum(shares)) };
    };
    const predict = (row) => {
      const { cells, unreadable } = read(row), show = write(cells);
      const x = object.columns.map(({ name }) => cells[name]);
      const shown = x.map((_, j) => j).filter((j) => !Number.isNaN(x[j])), key = shown.join();
      let found;
      if (object.reason !== null) {
        // Coefficients alone: nothing is known of rows with missing values.
        const complete = shown.length === d;
        found = numbers(object.coefficients).map((w, t) => {
          const level = Number(object.intercepts[t]) + dot(w, mean.slice(0, d)) - mean[d + t];
          const one = answer(w, x, shown, t, show);
          return { ...one, prediction: complete ? one.prediction + level : NaN, standard_deviation: NaN };
        });
      } else {
        if (!solved.has(key)) solved.set(key, coefficientsOf(object, products, shown));
        const { root, targets, known, degrees } = solved.get(key);
        const white = solveLower(root, shown.map((j) => x[j] - mean[j]));
        const factor = 1 + dot(white, white) / known + (object.intercept ? 1 / products.n : 0);
        const wider = degrees === Infinity ? 1 : degrees > 2 ? degrees / (degrees - 2) : Infinity;
        found = targets.map(({ w, unit }, t) => ({
          ...answer(w, x, shown, t, show), degrees, standard_deviation: Math.sqrt(unit * factor * wider),
        }));
      }
      return { ...found[0], targets: found, unreadable };
    };
    return { classes: null, targets: object.targets, columns: object.columns, read, predict };
  }

  // ---- Texts: letters, words and runs of words --------------------------------------------------

  const CODE_POINTS = 0x110000, SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2, CASED = 1, PASSED_OVER = 2;

  // What each code point is written as in a word, 0 outside of words, by the library's own table.
  function letterTable(letters) {
    const plain = new Uint32Array(CODE_POINTS), cases = new Uint8Array(CODE_POINTS);
    for (const [first, many] of letters.words) for (let at = first; at < first + many; at += 1) plain[at] = at;
    const lower = plain.slice();
    for (const [first, step, many, added] of letters.lower) {
      for (let n = 0; n < many; n += 1) lower[first + n * step] = first + n * step + added;
    }
    for (const [first, many] of letters.cased) cases.fill(CASED, first, first + many);
    for (const [first, many] of letters.passed_over) cases.fill(PASSED_OVER, first, first + many);
    return { plain, lower, cases, gapAfter: new Set(letters.gap_after), byPlace: new Set(letters.by_place) };
  }

  // Whether a sigma is the last letter of its word: after something cased, and not before it.
  function isFinalSigma(points, at, cases) {
    let before = at - 1, after = at + 1;
    while (before >= 0 && cases[points[before]] === PASSED_OVER) before -= 1;
    if (before < 0 || cases[points[before]] !== CASED) return false;
    while (after < points.length && cases[points[after]] === PASSED_OVER) after += 1;
    return after === points.length || cases[points[after]] !== CASED;
  }

  function wordsOf(text, table, { lowercase, letters }) {
    const points = Array.from(text, (letter) => letter.codePointAt(0));
    const found = [];
    let word = "", size = 0;
    const end = () => {
      if (size >= letters) found.push(word);
      word = "";
      size = 0;
    };
    points.forEach((point, at) => {
      let letter = (lowercase ? table.lower : table.plain)[point];
      if (lowercase && table.byPlace.has(point)) letter = isFinalSigma(points, at, table.cases) ? FINAL_SIGMA : SIGMA;
      if (letter === 0) return end();
      word += String.fromCodePoint(letter);
      size += 1;
      if (lowercase && table.gapAfter.has(point)) end();
    });
    end();
    return found;
  }

  // How often a document has each known term, and how many terms are unknown.
  function termCounter(block, table) {
    const places = new Map(block.terms.map((term, at) => [term, at])), stopped = new Set(block.words.stop_words);
    return (text) => {
      const words = wordsOf(text, table, block.words).filter((word) => !stopped.has(word));
      const counts = new Map();
      let unknown = 0;
      for (let size = block.words.shortest; size <= block.words.longest; size += 1) {
        for (let at = 0; at + size <= words.length; at += 1) {
          const place = places.get(words.slice(at, at + size).join(" "));
          if (place === undefined) unknown += 1;
          else counts.set(place, (counts.get(place) || 0) + 1);
        }
      }
      const terms = [...counts.keys()].sort((a, b) => a - b);
      return { terms, counts: terms.map((term) => counts.get(term)), unknown };
    };
  }

  // ---- Texts: event models (sections 2 and 8) ---------------------------------------------------

  // What each term of a document adds to the scores, and what is added whatever terms there are.
  // Totals are those of all terms. Those that the page has no room for are there in groups: sums of
  // their counts, and how many they are.
  function eventModel(block) {
    const { tally } = block, alpha = Number(block.alpha);
    const documents = numbers(tally.documents);
    let counts = numbers(tally.counts), others = numbers(tally.other_counts);
    const times = numbers(tally.other_terms);
    let rarity = null;
    if (tally.document_counts !== undefined) {
      // tf-idf: counts times ln((1 + documents) / (1 + documents with the term)) + 1.
      const whole = sum(documents);
      const idf = (held) => Math.log((1 + whole) / (1 + held)) + 1;
      rarity = numbers(tally.document_counts).map(idf);
      const rest = numbers(tally.other_document_counts).map(idf);
      counts = counts.map((own) => own.map((count, v) => count * rarity[v]));
      others = others.map((own) => own.map((count, g) => count * rest[g]));
    }
    const classes = documents.length, known = block.terms.length;
    const size = known + sum(times) + (block.unknown ? 1 : 0);
    // An unknown term, where it counts as one, is a last term without counts.
    const count = (c, v) => (v < known ? counts[c][v] : 0);
    const totals = documents.map((_, c) => sum(counts[c]) + sum(others[c]));
    const all = sum(totals);
    const of = (make) => documents.map((_, c) => make(c));

    if (block.event === "bernoulli") {
      const present = (n, c) => Math.log((n + alpha) / (Math.max(documents[c] - n, 0) + n + 2 * alpha));
      const absent = (n, c) => {
        const without = Math.max(documents[c] - n, 0);
        return Math.log((without + alpha) / (without + n + 2 * alpha));
      };
      const bias = of((c) => sum([
        ...counts[c].map((n) => absent(n, c)),
        ...others[c].map((n, g) => times[g] * absent(n / times[g], c)),
        ...(block.unknown ? [absent(0, c)] : []),
      ]));
      return {
        rarity, bias,
        parts: ({ terms, counts: held }) => terms.map((v, j) =>
          of((c) => (held[j] ? present(count(c, v), c) - absent(count(c, v), c) : 0))),
      };
    }
    const zeros = of(() => 0);
    if (block.event === "complement") {
      // Each class is judged by the words of all the others.
      const pooled = (v) => sum(of((c) => count(c, v)));
      return {
        rarity, bias: zeros,
        parts: ({ terms, counts: held }) => terms.map((v, j) => of((c) =>
          -held[j] * Math.log((pooled(v) - count(c, v) + alpha) / (all - totals[c] + alpha * size)))),
      };
    }
    if (block.event === "polya") {
      return {
        rarity, bias: zeros,
        parts: ({ terms, counts: held }) => {
          const length = sum(held);
          const taken = of((c) => logGammaStep(totals[c] + alpha * size, length));
          return terms.map((v, j) => of((c) =>
            logGammaStep(count(c, v) + alpha, held[j]) - (held[j] / (length || 1)) * taken[c]));
        },
      };
    }
    return {
      rarity, bias: zeros,
      parts: ({ terms, counts: held }) => terms.map((v, j) => of((c) =>
        held[j] * Math.log((count(c, v) + alpha) / (totals[c] + alpha * size)))),
    };
  }

  // Terms of a document as its event model counts them.
  function prepare(block, rarity, { terms, counts, unknown }) {
    let held = counts;
    if (block.event === "bernoulli") held = counts.map(() => 1);
    else if (rarity !== null) {
      const logs = counts.map((count) => Math.log1p(count)), length = Math.sqrt(dot(logs, logs));
      held = logs.map((log, j) => (log / length) * rarity[terms[j]]);
    }
    if (!block.unknown || !unknown) return { terms, counts: held };
    const one = block.event === "bernoulli" ? 1 : unknown;
    return { terms: [...terms, block.terms.length], counts: [...held, one] };
  }

  const discount = (length, rate) => 1 / Math.hypot(1, rate * length);

  // A text among the columns of a table: long documents are discounted.
  function textBlock(block, table) {
    const [column] = block.columns, nothing = block.tally.documents.map(() => 0);
    if (block.reason !== null) {
      const none = () => nothing;
      return { scores: none, parts: (_, show) => [{ name: column, value: show(column), scores: nothing }] };
    }
    const count = termCounter(block, table), model = eventModel(block);
    const pieces = (cells) => {
      const text = cells[column];
      if (text === null) return { terms: [], counts: [], parts: [], base: nothing };
      const counted = prepare(block, model.rarity, count(text));
      const share = discount(sum(counted.counts), Number(block.length_discount));
      const parts = model.parts(counted).map((part) => part.map((score) => share * score));
      return { ...counted, parts, base: model.bias.map((score) => share * score) };
    };
    return {
      scores: (cells) => {
        const { parts, base } = pieces(cells);
        return base.map((score, c) => score + sum(parts.map((part) => part[c])));
      },
      parts: (cells) => {
        const found = pieces(cells);
        const terms = found.terms.map((v, j) => termPiece(block, v, found.counts[j], found.parts[j]));
        // What a text says by the terms it lacks stands under the name of its column.
        return [...terms, { name: column, value: `${column}: other terms`, scores: found.base }];
      },
    };
  }

  function termPiece(block, v, count, scores) {
    const name = v < block.terms.length ? block.terms[v] : "(unknown)";
    return { name, value: `${name} x${general(count)}`, scores };
  }

  // ---- Cells, read as the library reads them ----------------------------------------------------

  const DAY = 86400, TICKS = 1000000;

  // A number with so many digits, as C's %g writes it.
  function general(x, digits = 6) {
    if (Number.isNaN(x)) return "nan";
    if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
    const sign = x < 0 || Object.is(x, -0) ? "-" : "";
    if (x === 0) return `${sign}0`;
    let [mantissa, exponent] = Math.abs(x).toExponential(60).split("e");
    let whole = mantissa.replace(".", ""), power = Number(exponent);
    const kept = whole.slice(0, digits), rest = whole.slice(digits);
    const half = "5" + "0".repeat(rest.length - 1);
    const up = rest > half || (rest === half && Number(kept[digits - 1]) % 2 === 1);
    let rounded = (BigInt(kept) + (up ? 1n : 0n)).toString();
    if (rounded.length > digits) {
      rounded = rounded.slice(0, digits);
      power += 1;
    }
    const strip = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (power < -4 || power >= digits) {
      const size = String(Math.abs(power)).padStart(2, "0");
      return `${sign}${strip(`${rounded[0]}.${rounded.slice(1)}`)}e${power < 0 ? "-" : "+"}${size}`;
    }
    if (power < 0) return sign + strip(`0.${"0".repeat(-power - 1)}${rounded}`);
    return sign + strip(`${rounded.slice(0, power + 1)}.${rounded.slice(power + 1)}`);
  }

  const whole = (pattern, flags = "") => new RegExp(`^(?:${pattern})$`, flags);

  function numberReader(format) {
    const pattern = whole(format.pattern), removed = new RegExp(format.removed, "g");
    return (text) => {
      if (!pattern.test(text)) return NaN;
      const plain = (format.unit ? text.replaceAll(format.unit, "") : text)
        .replace(removed, "").replaceAll(format.minus, "-").replaceAll(format.decimal, ".");
      const found = Number(plain);
      return Number.isFinite(found) ? found : NaN;
    };
  }

  // Microseconds since midnight; NaN for no such time.
  function ticksOfDay({ hour, minute, second, half }) {
    let h = Number(hour);
    const m = Number(minute), s = second ? Number(second) : 0, mark = half ? half.toUpperCase() : "";
    if (!(h < 24 && m < 60 && s < 60) || (mark && !(h >= 1 && h <= 12))) return NaN;
    if (mark) h = (h % 12) + (mark === "P" ? 12 : 0);
    return Math.round(((h * 60 + m) * 60 + s) * TICKS);
  }

  // Days since 1970, NaN for days that no calendar has.
  function moment(year, month, day, ticks) {
    if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= 31) || Number.isNaN(ticks)) return NaN;
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    if (date.getUTCMonth() !== month - 1) return NaN;
    // Whole numbers: floats would round twice.
    const all = BigInt(date.getTime() / 1000) * BigInt(TICKS) + BigInt(ticks);
    return Number(all) / (DAY * TICKS);
  }

  function dateReader(format) {
    const [plain, ...named] = format.patterns.map((pattern) => whole(pattern, "i"));
    const century = (year) => year + (year < format.pivot ? 2000 : 1900);
    return (text) => {
      const ticks = (parts) => (parts.hour === undefined ? 0 : ticksOfDay(parts));
      const parts = plain.exec(text)?.groups;
      if (parts !== undefined && parts.mark === parts.mark_too) {
        const [first, second, last] = [parts.first, parts.second_part, parts.last];
        const [a, b, c] = [first, second, last].map(Number);
        if (first.length === 4 && last.length <= 2) return moment(a, b, c, ticks(parts));
        if (first.length <= 2 && (last.length === 2 || last.length === 4)) {
          const year = last.length === 2 ? century(c) : c;
          if (format.day_first === null) return NaN;
          return format.day_first ? moment(year, b, a, ticks(parts)) : moment(year, a, b, ticks(parts));
        }
      }
      for (const pattern of named) {
        const found = pattern.exec(text)?.groups;
        if (found === undefined) continue;
        const month = format.months.indexOf(found.month.slice(0, 3).toLowerCase()) + 1;
        const year = found.year.length === 2 ? century(Number(found.year)) : Number(found.year);
        const read = moment(year, month, Number(found.day), ticks(found));
        if (!Number.isNaN(read)) return read;
      }
      return NaN;
    };
  }

  function timeReader(format) {
    const pattern = whole(format.patterns[0], "i");
    return (text) => {
      const parts = pattern.exec(text)?.groups;
      return parts === undefined ? NaN : ticksOfDay(parts) / (DAY * TICKS);
    };
  }

  // Cells of numbers, NaN if missing; what holds something and does not read is named.
  function numericColumn(column) {
    const format = column.strings, nothing = whole(format.nothing);
    const read = { number: numberReader, date: dateReader, time: timeReader }[format.kind](format);
    const truths = column.kind === "boolean" ? { true: 1, false: 0 } : {};
    return (cell, unreadable) => {
      if (cell === null || cell === undefined) return NaN;
      if (typeof cell === "boolean") return cell ? 1 : 0;
      let found = NaN;
      if (typeof cell === "number") found = Number.isFinite(cell) ? cell : NaN;
      else if (cell.trim().toLowerCase() in truths) found = truths[cell.trim().toLowerCase()];
      else found = read(cell);
      const holds = typeof cell === "string" ? !nothing.test(cell) : !Number.isNaN(cell);
      if (Number.isNaN(found) && holds) unreadable.push(column.name);
      return found;
    };
  }

  // Codes of levels: -1 if missing, their number for a level that was never learned.
  function categoryColumn(column) {
    const { levels } = column, places = new Map(levels.map((level, at) => [level, at]));
    const words = new Map(levels.filter((level) => typeof level === "string").map((one) => [one.toLowerCase(), one]));
    return (cell) => {
      if (cell === null || cell === undefined || Number.isNaN(cell)) return -1;
      let level = cell;
      if (words.size && typeof cell === "boolean" && (words.has("true") || words.has("false"))) {
        level = words.get(String(cell)) ?? String(cell);
      } else if (words.size && typeof cell !== "string") level = general(Number(cell), 17);
      else if (!words.size && typeof cell === "string") {
        // Levels that are numbers or truth values, typed into a form.
        const truth = { true: true, false: false }[cell.trim().toLowerCase()];
        level = truth !== undefined && places.has(truth) ? truth : cell.trim() === "" ? cell : Number(cell);
      }
      return places.has(level) ? places.get(level) : levels.length;
    };
  }

  const textColumn = () => (cell) => (cell === null || cell === undefined ? null : String(cell));

  // Reads a row as it was typed: cells of all columns, those that follow from others among them.
  function rowReader(columns) {
    const readers = columns.filter((column) => column.used).map((column) => {
      const make = column.kind === "category" ? categoryColumn : column.kind === "text" ? textColumn : numericColumn;
      return [column, make(column)];
    });
    return (row) => {
      const cells = {}, unreadable = [];
      for (const [column, read] of readers) {
        const cell = read(row[column.name], unreadable);
        cells[column.name] = cell;
        if (column.kind === "date") {
          const days = Math.floor(cell), known = !Number.isNaN(cell);
          const weekday = ((days + column.first_weekday) % 7 + 7) % 7;
          cells[column.calendar.weekday.column] = known ? weekday : -1;
          cells[column.calendar.month.column] = known ? new Date(days * DAY * 1000).getUTCMonth() : -1;
        }
        if (column.missing_column !== null) {
          cells[column.missing_column] = isMissing(column, cell) ? 1 : 0;
        }
      }
      return { cells, unreadable };
    };
  }

  const isMissing = (column, cell) =>
    column.kind === "text" ? cell === null : column.kind === "category" ? cell === -1 : Number.isNaN(cell);

  // How a cell is shown in an explanation.
  function cellWriter(columns) {
    const known = new Map();
    for (const column of columns) {
      known.set(column.name, (cell) => showCell(column, cell));
      if (column.missing_column) known.set(column.missing_column, (cell) => (cell ? "True" : "False"));
      for (const { column: name, levels } of Object.values(column.calendar || {})) {
        known.set(name, (cell) => (cell < 0 ? null : String(levels[cell])));
      }
    }
    return (cells) => (name) => {
      const shown = known.get(name)(cells[name]);
      return shown === null ? `${name} missing` : `${name} = ${shown}`;
    };
  }

  function showCell(column, cell) {
    if (isMissing(column, cell)) return null;
    if (column.kind === "category") {
      const levels = column.shown_levels || column.levels;
      return cell < levels.length ? String(levels[cell]) : "(other)";
    }
    if (column.kind === "boolean") return cell ? "True" : "False";
    if (column.kind === "date") {
      const [day, clock] = new Date(Math.round(cell * DAY) * 1000).toISOString().split("T");
      return clock.startsWith("00:00:00") ? day : `${day} ${clock.slice(0, 8)}`;
    }
    if (column.kind === "time") return clockOf((((cell % 1) + 1) % 1) * DAY % DAY, true);
    if (column.kind === "span") {
      const seconds = Math.round(Math.abs(cell) * DAY * TICKS) / TICKS, days = Math.floor(seconds / DAY);
      const clock = clockOf(seconds - days * DAY, false);
      return `${cell < 0 ? "-" : ""}${days ? `${days} day${days === 1 ? "" : "s"}, ` : ""}${clock}`;
    }
    return general(cell);
  }

  function clockOf(seconds, padded) {
    const ticks = Math.round(seconds * TICKS) % (DAY * TICKS), rest = ticks % TICKS;
    const two = (value) => String(value).padStart(2, "0"), all = Math.floor(ticks / TICKS);
    const hour = Math.floor(all / 3600), clock = `${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
    const fraction = rest ? `.${String(rest).padStart(6, "0")}` : "";
    return `${padded ? two(hour) : hour}:${clock}${fraction}`;
  }

  // ---- Section 10: combination ------------------------------------------------------------------

  // log((1 - rate) p + rate / C).
  function mixWithUniform(logProba, rate) {
    if (rate === 0) return logProba;
    const uniform = Math.log(rate / logProba.length);
    return logProba.map((log) => logSumExp([log + Math.log1p(-rate), uniform]));
  }

  // What a residual coefficient adds: that of a level, or of a number in standard deviations.
  function residualScores(residual) {
    const coefficients = numbers(residual.coefficients), zeros = coefficients[0].map(() => 0);
    if (residual.levels) {
      return (cell) => (cell >= 0 && cell < residual.levels ? coefficients[cell] : zeros);
    }
    return (cell) => {
      const x = residual.logarithm ? (cell > 0 ? Math.log(cell) : NaN) : cell;
      const far = (x - residual.centre) / residual.scale;
      if (Number.isNaN(far)) return zeros;
      const here = Math.min(Math.max(far, -residual.most), residual.most);
      return coefficients[0].map((slope) => here * slope);
    };
  }

  // ---- Section 10: contributions ----------------------------------------------------------------

  const { nodes: NODES, weights: NODE_WEIGHTS } = gaussLegendre(16);
  const GRADIENT_ERROR = 1e-13, MAX_HALVINGS = 60;
  // Scores may change so much over an interval that 16 nodes see it all; and by this much a class
  // has to lead for its share to be 1 to the last digit.
  const MAX_CHANGE = 8, LEAD = 40;

  // The mean over (0, 1) of a function with several values. An interval is halved until halves agree
  // with the whole; `isSmooth` says where no node can have missed a sharp change.
  function meanOver(f, cuts, isSmooth) {
    const integral = (low, high) => {
      const half = (high - low) / 2, middle = (high + low) / 2;
      let total = null;
      NODES.forEach((node, at) => {
        const values = f(middle + half * node);
        if (total === null) total = values.map(() => 0);
        values.forEach((value, c) => { total[c] += half * NODE_WEIGHTS[at] * value; });
      });
      return total;
    };
    const add = (a, b) => a.map((value, at) => value + b[at]);
    const refine = (low, high, before, halvings) => {
      const middle = (low + high) / 2, left = integral(low, middle), right = integral(middle, high);
      const now = add(left, right);
      const off = Math.max(...now.map((value, at) => Math.abs(value - before[at])));
      const agree = off <= Math.max(GRADIENT_ERROR * (high - low), 1e-16);
      if ((agree && isSmooth(low, high)) || halvings === MAX_HALVINGS || middle <= low || middle >= high) return now;
      return add(refine(low, middle, left, halvings + 1), refine(middle, high, right, halvings + 1));
    };
    const ends = [0, ...cuts, 1];
    return ends.slice(1).map((high, at) => refine(ends[at], high, integral(ends[at], high), 0)).reduce(add);
  }

  // Whether softmax of base + t slope, over some classes, hardly changes or is 0 and 1 between two t.
  function smoothSoftmax(base, slope, classes, lead) {
    return (low, high) => {
      const some = classes.map((c) => slope[c]);
      if ((high - low) * (Math.max(...some) - Math.min(...some)) <= MAX_CHANGE) return true;
      const at = (t) => classes.map((c) => base[c] + t * slope[c]);
      const [first, last] = [at(low), at(high)], best = argmax(first);
      return [first, last].every((scores) =>
        scores.every((score, c) => c === best || scores[best] - score > lead));
    };
  }

  // The derivatives of log p(target) - log p(against) by the scores.
  function logOddsGradient(scores, target, against, rate) {
    const logShares = logSoftmax(scores), logProba = mixWithUniform(logShares, rate);
    const known = logShares.map((log, c) => (rate ? (1 - rate) * Math.exp(log - logProba[c]) : 1));
    const total = logSumExp(against.map((c) => logProba[c])), others = scores.map(() => 0);
    for (const c of against) others[c] = Math.exp(logProba[c] - total);
    const back = known[target] - dot(others, known);
    return scores.map((_, c) =>
      (c === target ? known[c] : 0) - others[c] * known[c] - Math.exp(logShares[c]) * back);
  }

  // What each part adds to the log-odds (Aumann and Shapley): its share of the gradient along the way.
  function attribute(base, parts, target, against, rate) {
    if (against.length === 1 && rate === 0) return parts.map((part) => part[target] - part[against[0]]);
    const total = base.map((_, c) => sum(parts.map((part) => part[c])));
    const ties = new Set();
    for (let a = 0; a < base.length; a += 1) {
      for (let b = 0; b < base.length; b += 1) {
        const at = -(base[a] - base[b]) / (total[a] - total[b]);
        if (at > 0 && at < 1) ties.add(at);
      }
    }
    const gradient = meanOver(
      (t) => logOddsGradient(base.map((score, c) => score + t * total[c]), target, against, rate),
      [...ties].sort((a, b) => a - b),
      rate === 0
        ? smoothSoftmax(base, total, against, LEAD)
        : smoothSoftmax(base, total, base.map((_, c) => c), LEAD + Math.log(base.length / rate)));
    return parts.map((part) => dot(part, gradient));
  }

  const argmax = (values) => values.reduce((best, value, at) => (value > values[best] ? at : best), 0);

  // The reasons of one row: what each piece adds to the log-odds of a class against the others.
  // Classes that the row cannot be of are left out.
  function explain(classes, base, pieces, rate, { target, against } = {}) {
    const scores = base.map((score, c) => score + sum(pieces.map((piece) => piece.scores[c])));
    const at = target === undefined ? argmax(scores) : classes.indexOf(target);
    let others = classes.map((_, c) => c).filter((c) => c !== at);
    if (against !== undefined) others = [classes.indexOf(against)];
    const possible = classes.map((_, c) => c).filter((c) => Number.isFinite(scores[c]));
    others = others.filter((c) => possible.includes(c));
    if (!possible.includes(at) || !others.length) {
      return { target: classes[at], log_odds: null, base: null, reasons: [] };
    }
    const place = new Map(possible.map((c, number) => [c, number])), take = (values) => possible.map((c) => values[c]);
    const sides = [place.get(at), others.map((c) => place.get(c))];
    const shares = attribute(take(base), pieces.map((piece) => take(piece.scores)), ...sides, rate);
    const logProba = mixWithUniform(logSoftmax(take(scores)), rate);
    const odds = logProba[sides[0]] - logSumExp(sides[1].map((c) => logProba[c]));
    return { target: classes[at], log_odds: odds, ...orderReasons(pieces, shares, odds) };
  }

  // The largest contribution first; what they do not add up to is the log-odds before any of them.
  function orderReasons(pieces, shares, odds) {
    const reasons = pieces.map(({ name, value }, at) => ({ name, value, contribution: shares[at] }));
    reasons.sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
    return { base: odds - sum(shares), reasons };
  }

  // ---- Models -----------------------------------------------------------------------------------

  const FAMILIES = {
    normal: normalBlock, lognormal: normalBlock, student: studentBlock, poisson: poissonBlock,
    binned: binnedBlock, categorical: categoricalBlock, bernoulli: categoricalBlock,
    joint: jointBlock, mvn: multivariateBlock, text: textBlock,
    presence: presenceBlock, counts: countsBlock, linear: linearBlock, gaussian: gaussianBlock,
  };

  function tableModel(object) {
    const { classes, combination } = object, table = object.letters ? letterTable(object.letters) : null;
    const blocks = object.blocks.map((block) => FAMILIES[block.family.split(":")[0]](block, table));
    const weights = numbers(combination.weights), offsets = numbers(combination.offsets);
    // A calibration divides what stands before the columns by its temperature, too.
    const priorWeight = combination.prior_weight === undefined ? 1 : Number(combination.prior_weight);
    const base = logClassPrior(object.class_prior).map((log, c) => priorWeight * log + offsets[c]);
    const rate = Number(combination.noise_rate);
    const residuals = combination.residuals.map((one) => [one.column, residualScores(one)]);
    const read = rowReader(object.columns), write = cellWriter(object.columns);
    const predict = (row, sides) => {
      const { cells, unreadable } = read(row), show = write(cells);
      const scores = base.slice();
      blocks.forEach((block, k) => block.scores(cells).forEach((score, c) => { scores[c] += weights[k] * score; }));
      for (const [column, residual] of residuals) {
        residual(cells[column]).forEach((score, c) => { scores[c] += score; });
      }
      const probabilities = mixWithUniform(logSoftmax(scores), rate).map(Math.exp);
      const pieces = blocks.flatMap((block, k) => block.parts(cells, show).map((piece) => {
        const own = piece.scores.map((score) => weights[k] * score);
        const { columns } = object.blocks[k];
        const residual = residuals.find(([column]) => column === piece.name && columns.includes(column));
        if (residual) residual[1](cells[piece.name]).forEach((score, c) => { own[c] += score; });
        return { ...piece, scores: own };
      }));
      // What a block adds whatever the cells are stands before them.
      const before = base.slice();
      blocks.forEach((block, k) => block.base?.(cells).forEach((score, c) => { before[c] += weights[k] * score; }));
      const why = explain(classes, before, pieces, rate, sides);
      return { probabilities, label: classes[argmax(probabilities)], ...why, unreadable };
    };
    return { classes, columns: object.columns, read, predict };
  }

  // Documents (docs: text): log p(class) + f l + inverse_temperature (1 - f) l + g offset.
  function documentModel(object) {
    const { classes, calibration } = object, [block] = object.blocks, [column] = object.columns;
    if (block.reason !== null) {
      return { classes, columns: object.columns, predict: () => { throw new Error(block.reason); } };
    }
    const count = termCounter(block, letterTable(object.letters)), model = eventModel(block);
    const prior = logClassPrior(object.class_prior);
    const predict = (row, sides) => {
      const cell = row[column.name], counted = count(cell === null || cell === undefined ? "" : String(cell));
      if (object.refinement_bias !== null) return refinedAnswer(object, counted, sides);
      const held = prepare(block, model.rarity, counted), parts = model.parts(held);
      let weight = 1, base = prior.map((log, c) => log + model.bias[c]), rate = 0;
      if (calibration !== null) {
        const length = block.event === "bernoulli" ? Infinity : sum(held.counts);
        const full = discount(length, Number(block.length_discount));
        // No offset without words, half of it at 32 of them.
        const share = length === Infinity ? 1 : 1 - 1 / (1 + (length / Number(block.offset_words)) ** 2);
        weight = full + (1 - full) * Number(calibration.inverse_temperature);
        const offsets = numbers(calibration.offsets);
        base = prior.map((log, c) => log + weight * model.bias[c] + share * offsets[c]);
        rate = Number(calibration.noise_rate);
      }
      const pieces = parts.map((part, j) =>
        termPiece(block, held.terms[j], held.counts[j], part.map((score) => weight * score)));
      const scores = base.map((score, c) => score + sum(pieces.map((piece) => piece.scores[c])));
      const probabilities = mixWithUniform(logSoftmax(scores), rate).map(Math.exp);
      const why = explain(classes, base, pieces, rate, sides);
      return { probabilities, label: classes[argmax(probabilities)], ...why, unreadable: [] };
    };
    return { classes, columns: object.columns, predict };
  }

  // Refinement (docs: text): each class has log-odds of its own, made to add up to 1.
  function refinedAnswer(object, { terms }, { target, against } = {}) {
    const { classes } = object, [block] = object.blocks;
    const weights = numbers(block.refinement), bias = numbers(object.refinement_bias);
    const pieces = terms.map((v) => termPiece(block, v, 1, weights.map((own) => own[v])));
    const scores = bias.map((score, c) => score + sum(pieces.map((piece) => piece.scores[c])));
    const logs = classes.length === 2
      ? [-softplus(scores[1]), -softplus(-scores[1])]
      : logSoftmax(scores.map((score) => -softplus(-score)));
    const probabilities = logs.map(Math.exp);
    const at = target === undefined ? argmax(scores) : classes.indexOf(target);
    let rest = classes.map((_, c) => c).filter((c) => c !== at);
    if (against !== undefined) rest = [classes.indexOf(against)];
    let shares, odds;
    if (classes.length === 2) {
      const sign = at === 1 ? 1 : -1;
      shares = pieces.map((piece) => sign * piece.scores[1]);
      odds = sign * scores[1];
    } else {
      const slope = (t) => {
        const here = bias.map((score, c) => sigmoid(score + t * (scores[c] - score)));
        const total = sum(rest.map((c) => here[c]));
        return here.map((p, c) => (c === at ? 1 - p : rest.includes(c) ? (-p * (1 - p)) / total : 0));
      };
      const steepest = Math.max(...scores.map((score, c) => Math.abs(score - bias[c])));
      const mean = meanOver(slope, [], (low, high) => (high - low) * steepest <= MAX_CHANGE);
      shares = pieces.map((piece) => dot(piece.scores, mean));
      odds = -softplus(-scores[at]) - Math.log(sum(rest.map((c) => sigmoid(scores[c]))));
    }
    const why = { target: classes[at], log_odds: odds, ...orderReasons(pieces, shares, odds) };
    return { probabilities, label: classes[argmax(probabilities)], ...why, unreadable: [] };
  }

  const MODELS = { table: tableModel, documents: documentModel, regression: regressionModel };

  function model(object) {
    if (object.format !== 1) throw new Error(`This page cannot read a model of format ${object.format}.`);
    return MODELS[object.kind](object);
  }

  // JSON, deflated, in base64.
  async function decompress(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  const math = {
    argmax, attribute, betaBinomialLogProbability, betaCdf, betaLogDensity, cholesky, dot, erf, gammaLogDensity,
    gaussLegendre, logBeta, logGamma, logGammaStep, logSoftmax, logSumExp, logit, meanOver, mixWithUniform,
    negativeBinomialLogProbability, normalCdf, normalLogDensity, poissonLogProbability, sigmoid, softmax, softplus,
    solveLower, solveUpper, studentLogDensity,
  };

  return { decompress, model, math };
})();
