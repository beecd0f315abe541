"use strict";
// The models of the Play page. Each function of `Play` takes the state of one panel and returns numbers:
// no drawing, so that tests can compare them with Python's. The special functions are those of the
// report (`Suffice.math`); sections are those of docs/mathematics.md.

const Play = (() => {
  const { betaCdf, betaLogDensity, cholesky, dot, logBeta, sigmoid, softplus, solveLower, solveUpper } = Suffice.math;

  // A coin: prior Beta(a, b), h heads and t tails (section 1).

  // The x with P(X < x) = share, by bisection: half of the doubles between 0 and 1 are below 1e-154, but
  // sliders give no such distributions.
  function betaQuantile(share, a, b) {
    let low = 0, high = 1;
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (betaCdf(middle, a, b) < share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  function coin({ a, b, heads, tails }) {
    const after = { a: a + heads, b: b + tails };
    const total = after.a + after.b;
    const mean = after.a / total;
    return {
      posterior: after,
      mean,
      sd: Math.sqrt((mean * (1 - mean)) / (total + 1)),
      interval: [0.025, 0.975].map((share) => betaQuantile(share, after.a, after.b)),
      mle: heads + tails ? heads / (heads + tails) : null,
      // The most probable value is inside only where the density has its peak there.
      mode: after.a > 1 && after.b > 1 ? (after.a - 1) / (total - 2) : null,
      logEvidence: logBeta(after.a, after.b) - logBeta(a, b),
      logDensity: (x) => betaLogDensity(x, after.a, after.b),
      logPrior: (x) => betaLogDensity(x, a, b),
    };
  }

  // A normal in two dimensions: its axes, and x2 given x1 (section 4).

  function normal({ mean, sd, rho, given }) {
    const variance = [sd[0] ** 2, sd[1] ** 2], covariance = rho * sd[0] * sd[1];
    const slope = covariance / variance[0];
    return {
      covariance: [[variance[0], covariance], [covariance, variance[1]]],
      axes: eigen2(variance[0], covariance, variance[1]),
      conditionalMean: mean[1] + slope * (given - mean[0]),
      conditionalSd: Math.sqrt(variance[1] - slope * covariance),
    };
  }

  // Eigenvalues, largest first, and unit eigenvectors of [[p, q], [q, r]].
  function eigen2(p, q, r) {
    const middle = (p + r) / 2, distance = Math.hypot((p - r) / 2, q), angle = Math.atan2(2 * q, p - r) / 2;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return [
      { variance: middle + distance, direction: [c, s] },
      { variance: middle - distance, direction: [-s, c] },
    ];
  }

  // Random numbers that are the same in every browser: xorshift of 32 bits, and Box and Muller's normals.

  function generator(seed) {
    let state = (seed * 2654435761) >>> 0 || 1;
    const uniform = () => {
      state ^= state << 13; state >>>= 0;
      state ^= state >>> 17;
      state ^= state << 5; state >>>= 0;
      return (state + 0.5) / 4294967296;
    };
    for (let k = 0; k < 8; k++) uniform();
    return { uniform, normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) };
  }

  // Rows of two classes of normals: the state of the panel with classes.
  function drawClasses({ classes, rows, seed }) {
    const random = generator(seed), X = [], y = [];
    for (let i = 0; i < rows; i++) {
      const label = i % 2, { mean, sd, rho } = classes[label];
      const [u, v] = [random.normal(), random.normal()];
      X.push([mean[0] + sd[0] * u, mean[1] + sd[1] * (rho * u + Math.sqrt(1 - rho * rho) * v)]);
      y.push(label);
    }
    return { X, y };
  }

  // The tally: of each class the number of rows, their sum, and the sums of products about the means.
  function count(X, y) {
    const d = X[0].length;
    const tally = [0, 1].map(() => ({ n: 0, mean: Array(d).fill(0), scatter: zeros(d, d) }));
    X.forEach((x, i) => { const t = tally[y[i]]; t.n++; x.forEach((value, j) => { t.mean[j] += value; }); });
    tally.forEach((t) => { t.mean = t.mean.map((sum) => sum / t.n); });
    X.forEach((x, i) => {
      const { mean, scatter } = tally[y[i]];
      for (let j = 0; j < d; j++) for (let k = 0; k < d; k++) scatter[j][k] += (x[j] - mean[j]) * (x[k] - mean[k]);
    });
    return tally;
  }

  const zeros = (n, m) => Array.from({ length: n }, () => Array(m).fill(0));
  const subtract = (u, v) => u.map((value, j) => value - v[j]);

  // log p(x | class) + log p(class) of normals given their means, covariances and shares (section 5).
  function gaussianClassifier(means, covariances, shares) {
    const factors = covariances.map(cholesky);
    const constants = factors.map((L, c) => Math.log(shares[c]) - L.reduce((sum, row, j) => sum + Math.log(row[j]), 0));
    const score = (x, c) => {
      const z = solveLower(factors[c], subtract(x, means[c]));
      return constants[c] - dot(z, z) / 2;
    };
    return (x) => score(x, 1) - score(x, 0);
  }

  // Maximum likelihood of four classifiers; each is a function from a row to its log-odds of class 1.

  const sharesOf = (tally) => tally.map((t) => t.n / (tally[0].n + tally[1].n));
  const scaled = (matrix, factor) => matrix.map((row) => row.map((value) => value * factor));
  const diagonal = (matrix) => matrix.map((row, j) => row.map((value, k) => (j === k ? value : 0)));
  const pooled = ([a, b]) => a.scatter.map((row, j) => row.map((value, k) => (value + b.scatter[j][k]) / (a.n + b.n)));

  const FITS = {
    gda: (tally) => gaussianClassifier(tally.map((t) => t.mean), [pooled(tally), pooled(tally)], sharesOf(tally)),
    qda: (tally) =>
      gaussianClassifier(tally.map((t) => t.mean), tally.map((t) => scaled(t.scatter, 1 / t.n)), sharesOf(tally)),
    naiveBayes: (tally) =>
      gaussianClassifier(tally.map((t) => t.mean), tally.map((t) => diagonal(scaled(t.scatter, 1 / t.n))), sharesOf(tally)),
    tiedNaiveBayes: (tally) => {
      const shared = diagonal(pooled(tally));
      return gaussianClassifier(tally.map((t) => t.mean), [shared, shared], sharesOf(tally));
    },
  };

  // Logistic regression: Newton's method on the log-likelihood minus |w|^2 / (2 C), without a penalty on
  // the intercept (section 6). Steps are halved until they gain.
  const SMALL_STEP = 1e-14;
  function logistic(X, y, C = 1) {
    const rows = X.map((x) => Float64Array.of(1, ...x)), d = rows[0].length;
    const scoreOf = (x, w) => { let score = 0; for (let j = 0; j < d; j++) score += x[j] * w[j]; return score; };
    const objective = (w) => {
      const logLikelihood = rows.reduce((total, x, i) => total - softplus((y[i] ? -1 : 1) * scoreOf(x, w)), 0);
      return logLikelihood - dot(w.slice(1), w.slice(1)) / (2 * C);
    };
    let weights = Array(d).fill(0), value = objective(weights);
    for (let step = 0; step < 100; step++) {
      const gradient = weights.map((w, j) => (j ? -w / C : 0)), hessian = zeros(d, d);
      for (let j = 1; j < d; j++) hessian[j][j] = 1 / C;
      rows.forEach((x, i) => {
        const p = sigmoid(scoreOf(x, weights)), weight = p * (1 - p);
        for (let j = 0; j < d; j++) {
          gradient[j] += (y[i] - p) * x[j];
          for (let k = 0; k <= j; k++) hessian[j][k] += weight * x[j] * x[k];
        }
      });
      const root = cholesky(hessian), move = solveUpper(root, solveLower(root, gradient)), decrement = dot(move, gradient);
      let rate = 1, next, gained;
      do {
        next = weights.map((w, j) => w + rate * move[j]);
        gained = objective(next);
        rate /= 2;
      } while (gained < value && rate > 1e-10);
      weights = next;
      value = gained;
      // The step was taken: what is left is of the order of its square.
      if (decrement < SMALL_STEP) break;
    }
    const slopes = weights.slice(1);
    return { weights, logOdds: (x) => weights[0] + dot(x, slopes) };
  }

  function classes(state) {
    const { X, y } = drawClasses(state), tally = count(X, y);
    const models = { logistic: logistic(X, y).logOdds };
    for (const name of ["gda", "qda", "naiveBayes"]) models[name] = FITS[name](tally);
    const accuracy = {};
    for (const [name, logOdds] of Object.entries(models))
      accuracy[name] = X.filter((x, i) => (logOdds(x) > 0) === (y[i] === 1)).length / X.length;
    return { X, y, tally, models, accuracy };
  }

  // Learning curves: error on new rows of naive Bayes (variances shared by the classes) and of logistic
  // regression, the mean of some repeats. Columns share a correlation, which naive Bayes ignores.

  function drawRows(random, rows, { columns, correlation, distance }) {
    const X = [], y = [], shift = distance / (2 * Math.sqrt(columns));
    for (let i = 0; i < rows; i++) {
      const label = i % 2, common = Math.sqrt(correlation) * random.normal();
      const x = [];
      for (let j = 0; j < columns; j++)
        x.push((label ? shift : -shift) * (j % 2 ? 0.5 : 1.3) + common + Math.sqrt(1 - correlation) * random.normal());
      X.push(x);
      y.push(label);
    }
    return { X, y };
  }

  function curves({ columns, correlation, distance, sizes, repeats, seed, newRows = 400 }) {
    const random = generator(seed), settings = { columns, correlation, distance };
    const found = sizes.map((rows) => ({ rows, naiveBayes: [], logistic: [] }));
    for (let repeat = 0; repeat < repeats; repeat++) {
      const test = drawRows(random, newRows, settings);
      const all = drawRows(random, sizes[sizes.length - 1], settings);
      for (const point of found) {
        const X = all.X.slice(0, point.rows), y = all.y.slice(0, point.rows);
        const error = (logOdds) => test.X.filter((x, i) => (logOdds(x) > 0) !== (test.y[i] === 1)).length / newRows;
        point.naiveBayes.push(error(FITS.tiedNaiveBayes(count(X, y))));
        point.logistic.push(error(logistic(X, y).logOdds));
      }
    }
    return found.map(({ rows, naiveBayes, logistic }) => ({ rows, naiveBayes: summary(naiveBayes), logistic: summary(logistic) }));
  }

  // The mean of repeats and its standard error.
  function summary(values) {
    const n = values.length, mean = values.reduce((sum, value) => sum + value, 0) / n;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return { mean, error: n > 1 ? Math.sqrt(squares / (n - 1) / n) : 0 };
  }

  return { coin, normal, classes, curves, drawClasses, drawRows, generator, count, logistic, FITS };
})();
