"""GaussianDiscriminant: every covariance and reading against plain numpy and scipy."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, multivariate_t, norm
from scipy.stats import t as student
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQuadratic
from sklearn.metrics import log_loss

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.errors import (
    ConvergenceWarning,
    InputError,
    PriorError,
    SufficeWarning,
)
from suffice.prior import NormalInverseGamma, NormalInverseWishart

KINDS = ("tied", "full", "diagonal", "tied_diagonal", "spherical", "low_rank")
READINGS = [
    (kind, estimate)
    for kind in KINDS
    for estimate in ("mle", "map", "predictive")
    if (kind, estimate) != ("low_rank", "predictive")
]
D, K, V = 3, 2.0, 7.0
LOCATION = np.array([0.5, -0.5, 1.0])
SCALE = np.diag([1.0, 2.0, 0.5]) + 0.2


def rows(seed=0, n=50, features=D, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    mix = rng.normal(size=(features, features))
    X = rng.normal(size=(n, features)) @ mix + rng.normal(size=(classes, features))[y]
    return X, y


def given(kind):
    if kind in ("tied", "full", "low_rank"):
        return NormalInverseWishart(LOCATION, K, V, SCALE)
    shape = {"diagonal": (1, D), "tied_diagonal": (1, D), "spherical": (1, 1)}[kind]
    scale = np.broadcast_to(np.array([1.0, 2.0, 0.5])[: shape[1]], shape)
    return NormalInverseGamma(LOCATION, K, np.full(shape, V / 2), scale)


def by_hand(kind, estimate, X, y):
    """Return a function from a row and its seen features to log p(x | c), (C,)."""
    parts = [X[y == c] for c in np.unique(y)]
    n = np.array([len(part) for part in parts], float)
    means = np.array([part.mean(axis=0) for part in parts])
    scatters = np.array([(p - m).T @ (p - m) for p, m in zip(parts, means, strict=True)])
    tied, C = kind == "tied", len(n)
    if kind in ("tied", "full"):
        if estimate == "mle":
            sigma = scatters.sum(0) / n.sum() if tied else scatters / n[:, None, None]
            sigma = np.broadcast_to(sigma, scatters.shape)
            return lambda x, o: [
                multivariate_normal(m[o], s[np.ix_(o, o)]).logpdf(x[o])
                for m, s in zip(means, sigma, strict=True)
            ]
        k, m = K + n, (K * LOCATION + n[:, None] * means) / (K + n)[:, None]
        away = means - LOCATION
        S = scatters + (K * n / k)[:, None, None] * away[:, :, None] * away[:, None, :]
        S = np.broadcast_to(SCALE + S.sum(0), S.shape) if tied else SCALE + S
        v = V + (np.full(C, n.sum()) if tied else n)
        if estimate == "map":
            sigma = S / (v + D + 1 + (C if tied else 1))[:, None, None]
            return lambda x, o: [
                multivariate_normal(a[o], s[np.ix_(o, o)]).logpdf(x[o])
                for a, s in zip(m, sigma, strict=True)
            ]
        f = v - D + 1
        sigma = S * ((k + 1) / (k * f))[:, None, None]
        return lambda x, o: [
            multivariate_t(a[o], s[np.ix_(o, o)], df=g).logpdf(x[o])
            for a, s, g in zip(m, sigma, f, strict=True)
        ]
    axes = {"diagonal": (), "tied_diagonal": (0,), "spherical": (1,)}[kind]

    def shared(values):
        return values.sum(axis=axes, keepdims=True) if axes else values

    squares = np.array([np.diag(s) for s in scatters])
    count = np.broadcast_to(n[:, None], squares.shape)
    if estimate == "mle":
        variance = np.broadcast_to(shared(squares) / shared(count), squares.shape)
        return lambda x, o: norm(means[:, o], np.sqrt(variance[:, o])).logpdf(x[o]).sum(axis=1)
    prior = given(kind)
    k, m = K + count, (K * LOCATION + count * means) / (K + count)
    pulls = squares + K * count / k * (means - LOCATION) ** 2
    a = np.broadcast_to(prior.shape + shared(count) / 2, squares.shape)
    b = np.broadcast_to(prior.scale + shared(pulls) / 2, squares.shape)
    if estimate == "map":
        sharers = {"diagonal": 1, "tied_diagonal": C, "spherical": D}[kind]
        variance = b / (a + 1 + sharers / 2)
        return lambda x, o: norm(m[:, o], np.sqrt(variance[:, o])).logpdf(x[o]).sum(axis=1)
    scale = b / a * (k + 1) / k
    if kind == "spherical":
        return lambda x, o: [
            multivariate_t(m[c, o], np.diag(scale[c, o]), df=2 * a[c, 0]).logpdf(x[o])
            for c in range(C)
        ]
    law = student(2 * a, m, np.sqrt(scale))
    return lambda x, o: law.logpdf(np.where(np.isnan(x), 0, x))[:, o].sum(axis=1)


@pytest.mark.parametrize(("kind", "estimate"), [r for r in READINGS if r[0] != "low_rank"])
def test_every_reading_of_every_covariance_is_the_density_it_claims(kind, estimate):
    X, y = rows()
    model = GaussianDiscriminant(kind, estimate=estimate, prior=given(kind)).fit(X, y)
    asked = rows(1, n=12)[0]
    asked[::3, 1] = np.nan
    asked[1::4, [0, 2]] = np.nan
    law = by_hand(kind, estimate, X, y)
    seen = [np.flatnonzero(~np.isnan(x)) for x in asked]
    wanted = np.array(
        [law(x, o) if o.size else np.zeros(3) for x, o in zip(asked, seen, strict=True)]
    )
    counts = np.bincount(y) + (1.0 if estimate == "predictive" else 0.0)
    wanted = wanted + np.log(counts / counts.sum())
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), wanted, rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(asked), logsumexp(wanted, axis=1), rtol=1e-9)
    posterior = wanted - logsumexp(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(asked), posterior, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(model.predict(asked), wanted.argmax(axis=1))


@pytest.mark.parametrize(("kind", "estimate"), READINGS)
def test_what_a_model_draws_fits_its_own_density(kind, estimate):
    X, y = rows(2, n=80)
    model = GaussianDiscriminant(kind, estimate=estimate).fit(X, y)
    drawn, labels = model.sample(20_000, random_state=0)
    shares = np.array([(labels == c).mean() for c in model.classes_])
    np.testing.assert_allclose(shares, model.priors_, atol=0.02)
    # Under its own density, the average log-likelihood ratio to a shifted one is a divergence.
    shifted = drawn + 0.5 * drawn.std(axis=0)
    assert model.score_samples(drawn).mean() > model.score_samples(shifted).mean()
    middle = np.array([np.median(drawn[labels == c], axis=0) for c in model.classes_])
    np.testing.assert_allclose(middle, model.means_, atol=0.15)


@pytest.mark.parametrize(("kind", "estimate"), READINGS)
def test_few_rows_flat_columns_and_lone_rows_give_a_usable_model(kind, estimate):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(7, 9)), np.full(7, 4.0), np.arange(7.0) // 3])
    y = np.array([0, 0, 0, 1, 1, 1, 2])
    model = GaussianDiscriminant(kind, estimate=estimate)
    if estimate == "mle" and kind != "spherical":
        with pytest.warns(SufficeWarning, match="is singular: too few rows"):
            model.fit(X, y)
        assert model.prior_ is not None
    elif estimate == "mle":
        with pytest.warns(SufficeWarning):
            model.fit(X, y)
    else:
        model.fit(X, y)
    asked = np.vstack([X, rng.normal(size=(5, 11)), np.full((1, 11), np.nan)])
    for answer in (model.predict_proba(asked), model.score_samples(asked)):
        assert np.isfinite(answer).all()
    assert np.isfinite(model.log_evidence_)
    np.testing.assert_allclose(model.predict_proba(asked[-1:])[0], model.priors_)


def test_the_prior_by_evidence_beats_plugging_in_and_ledoit_wolf_on_few_rows():
    losses = {"plug-in": [], "ledoit-wolf": [], "evidence": []}
    for seed in range(40):
        rng = np.random.default_rng(seed)

        def draw(n, rng=rng):
            y = np.arange(n) % 2
            return rng.normal(size=(n, 8)) + 0.6 * y[:, None], y

        X, y = draw(30)
        asked, truth = draw(500)
        models = {
            "plug-in": TheirQuadratic(),
            "ledoit-wolf": TheirQuadratic(solver="eigen", shrinkage="auto"),
            "evidence": GaussianDiscriminant("full"),
        }
        for name, model in models.items():
            losses[name].append(log_loss(truth, model.fit(X, y).predict_proba(asked)))
    mean = {name: np.mean(values) for name, values in losses.items()}
    assert mean["evidence"] < 0.56
    assert mean["evidence"] < 0.85 * mean["ledoit-wolf"]
    assert mean["evidence"] < 0.25 * mean["plug-in"]


def test_the_evidence_of_a_model_is_that_of_its_labels_and_rows():
    X, y = rows(4)
    model = GaussianDiscriminant("full", prior=given("full")).fit(X, y)
    log_labels = np.sum(np.log(np.arange(1, 51)))  # Dir(1): B(n + 1) / B(1)
    counts = np.bincount(y)
    log_labels = sum(np.sum(np.log(np.arange(1, c + 1))) for c in counts) + np.log(2)
    log_labels -= np.sum(np.log(np.arange(1, len(y) + 3)))
    chain = 0.0
    for c in range(3):
        mine = X[y == c]
        for i, x in enumerate(mine):
            before = mine[:i]
            k, v = K + i, V + i
            mean = before.mean(axis=0) if i else np.zeros(D)
            away = mean - LOCATION if i else np.zeros(D)
            S = SCALE + (before - mean).T @ (before - mean) + K * i / k * np.outer(away, away)
            centre = (K * LOCATION + i * mean) / k
            f = v - D + 1
            chain += multivariate_t(centre, S * (k + 1) / (k * f), df=f).logpdf(x)
    assert model.log_evidence_ == pytest.approx(chain + log_labels, rel=1e-10)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("tied", 2 + 9 + 6),
        ("full", 2 + 9 + 18),
        ("diagonal", 2 + 9 + 9),
        ("tied_diagonal", 2 + 9 + 3),
        ("spherical", 2 + 9 + 3),
    ],
)
def test_parameters_are_counted(kind, parameters):
    assert GaussianDiscriminant(kind, estimate="map").fit(*rows()).n_parameters_ == parameters


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_parameters_of_low_rank_are_the_directions_its_covariances_can_move_in(rank):
    features = 9
    rng = np.random.default_rng(rank)
    X, y = np.repeat([[0.0], [3.0]], 60, axis=0) + rng.normal(size=(120, features)), [0] * 60
    model = GaussianDiscriminant("low_rank", rank=rank, estimate="map", max_iter=5000)
    model.fit(X, y + [1] * 60)
    loadings = rng.normal(size=(features, rank))
    moves = [np.diag(row) for row in np.eye(features)]  # of the noise
    for at in np.ndindex(loadings.shape):
        step = np.zeros(loadings.shape)
        step[at] = 1.0
        moves.append(loadings @ step.T + step @ loadings.T)
    directions = np.linalg.matrix_rank(np.reshape(moves, (len(moves), -1)))
    assert model.n_parameters_ == 1 + 2 * (features + directions)


def test_shrinkage_keeps_variances_and_ledoit_wolf_chooses_it():
    X, y = rows(5, n=60)
    plain = GaussianDiscriminant("full", estimate="mle").fit(X, y).covariance_
    half = GaussianDiscriminant("full", estimate="mle", shrinkage=0.5).fit(X, y).covariance_
    off = ~np.eye(D, dtype=bool)
    np.testing.assert_allclose(half[:, off], plain[:, off] / 2, rtol=1e-12)
    np.testing.assert_allclose(half[:, ~off], plain[:, ~off], rtol=1e-12)
    auto = GaussianDiscriminant("full", estimate="mle", shrinkage="auto").fit(X, y)
    theirs = TheirQuadratic(solver="eigen", shrinkage="auto", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(auto.covariance_, theirs.covariance_, rtol=1e-9)
    tied = GaussianDiscriminant("tied", estimate="mle", shrinkage="auto").fit(X, y)
    whole = GaussianDiscriminant("tied", estimate="mle").fit(X, y).covariance_
    ratio = tied.covariance_[off] / whole[off]
    assert 0 < ratio[0] < 1
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


# Factor analysis.


def test_low_rank_follows_a_change_of_units():
    X, y = rows(7, n=90, features=5)
    units = np.array([1.0, 1e3, 1e-3, 5.0, 0.2])
    settings = {"rank": 2, "estimate": "mle", "max_iter": 5000}
    plain = GaussianDiscriminant("low_rank", **settings).fit(X, y)
    scaled = GaussianDiscriminant("low_rank", **settings).fit(X * units, y)
    np.testing.assert_allclose(scaled.noise_variance_, plain.noise_variance_ * units**2, rtol=1e-4)
    np.testing.assert_allclose(plain.predict_proba(X), scaled.predict_proba(X * units), atol=1e-5)


def test_low_rank_scores_as_the_dense_covariance_would_with_gaps_too():
    X, y = rows(8, n=80, features=5)
    model = GaussianDiscriminant("low_rank", rank=2, estimate="map", max_iter=5000).fit(X, y)
    asked = X[:10].copy()
    asked[::2, [1, 3]] = np.nan
    for x, joint in zip(asked, model.predict_joint_log_proba(asked), strict=True):
        o = np.flatnonzero(~np.isnan(x))
        for c in range(3):
            W, psi = model.loadings_[c], model.noise_variance_[c]
            sigma = (W @ W.T + np.diag(psi))[np.ix_(o, o)]
            wanted = multivariate_normal(model.means_[c, o], sigma).logpdf(x[o])
            assert joint[c] == pytest.approx(wanted + np.log(model.priors_[c]), rel=1e-9)


def test_factor_analysis_that_runs_out_of_iterations_says_so():
    X, y = rows(9, n=60, features=5)
    with pytest.warns(ConvergenceWarning, match="did not converge to 1e-06 within 2 iterations"):
        model = GaussianDiscriminant("low_rank", rank=2, estimate="mle", max_iter=2).fit(X, y)
    assert not model.converged_


# Gaps.


def gappy(seed=10, n=80, features=3):
    X, y = rows(seed, n=n, features=features)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tied", "full"])
def test_map_with_gaps_is_a_maximum_of_the_observed_posterior(kind):
    X, y = gappy()
    prior = given(kind)
    model = GaussianDiscriminant(kind, estimate="map", prior=prior, max_iter=5000, tol=1e-12).fit(
        X, y
    )
    assert model.converged_
    assert model.n_iter_ > 1
    shared = (0,) if kind == "tied" else ()
    spread = NormalInverseWishart(np.tile(LOCATION, (3, 1)), np.full(3, K), V, SCALE, shared)

    def log_posterior(means, covariances):
        total = float(np.sum(spread.log_density((means, covariances))))
        covariances = np.broadcast_to(covariances, (3, D, D))
        for x, c in zip(X, y, strict=True):
            o = np.flatnonzero(~np.isnan(x))
            if o.size:
                law = multivariate_normal(means[c, o], covariances[c][np.ix_(o, o)])
                total += law.logpdf(x[o])
        return total

    covariances = np.reshape(model.covariance_, (-1, D, D))
    top = log_posterior(model.means_, covariances)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=covariances.shape)
        moved = covariances + step + np.swapaxes(step, 1, 2)
        assert log_posterior(model.means_ + 1e-3 * rng.normal(size=(3, D)), covariances) < top
        assert log_posterior(model.means_, moved) < top


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "estimate"), READINGS)
def test_forgetting_all_rows_with_gaps_leaves_a_model_that_never_saw_them(kind, estimate):
    X, y = gappy(11)
    whole = ~np.isnan(X).any(axis=1)
    settings = {"estimate": estimate, "max_iter": 5000}
    model = GaussianDiscriminant(kind, **settings).fit(X, y).forget(X[~whole], y[~whole])
    never = GaussianDiscriminant(kind, **settings).fit(X[whole], y[whole])
    np.testing.assert_allclose(model.predict_proba(X), never.predict_proba(X), rtol=1e-8)
    assert model.n_iter_ == never.n_iter_


def test_em_that_runs_out_of_iterations_says_so():
    X, y = gappy(12)
    with pytest.warns(ConvergenceWarning, match="in its last of 2 iterations. Raise max_iter"):
        model = GaussianDiscriminant("full", estimate="mle", max_iter=2, tol=1e-12).fit(X, y)
    assert (model.n_iter_, model.converged_) == (2, False)


def test_gaps_cost_little_where_features_repeat_each_other():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    signal = rng.normal(size=2000) + 2 * y
    X = np.column_stack([signal, signal + 0.1 * rng.normal(size=2000)])
    gappy = X.copy()
    gappy[np.arange(2000), rng.integers(0, 2, 2000)] = np.nan
    full = GaussianDiscriminant().fit(X, y).score(X, y)
    assert GaussianDiscriminant().fit(gappy, y).score(gappy, y) > full - 0.02


# Settings that do not go together.


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"covariance": "low_rank"}, InputError, "no predictive distribution in closed form. Use"),
        ({"rank": 2}, InputError, "rank=2 says nothing about covariance='tied'"),
        ({"shrinkage": 0.1}, InputError, "shrinkage=0.1 shrinks what estimate='mle' finds"),
        (
            {"covariance": "diagonal", "estimate": "mle", "shrinkage": "auto"},
            InputError,
            "not covariance='diagonal'",
        ),
        (
            {"prior": given("diagonal")},
            PriorError,
            "covariance='tied' takes a NormalInverseWishart",
        ),
        (
            {"covariance": "spherical", "prior": given("full")},
            PriorError,
            "takes a NormalInverseGamma, not a NormalInverseWishart",
        ),
        ({"covariance": "low_rank", "estimate": "map", "rank": 9}, InputError, "rank=9 for 3"),
        ({"covariance": "round"}, ValueError, "The 'covariance' parameter"),
        ({"max_iter": 0}, ValueError, "The 'max_iter' parameter"),
        ({"priors": [0.5, 0.5]}, InputError, "Number of priors must match number of classes"),
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_refused(settings, error, text):
    with pytest.raises(error, match=text):
        GaussianDiscriminant(**settings).fit(*rows())


@pytest.mark.parametrize("rows", [5, 8, 20, 40])
def test_few_rows_of_many_features_do_not_make_evidence_deny_the_classes(rows):
    X, y = load_digits(return_X_y=True)
    two = y < 2
    X, y = X[two], y[two]
    model = GaussianDiscriminant("tied").fit(X[:rows], y[:rows])
    assert np.all(model.prior_.pseudo_rows <= rows / 2 + 1e-9)
    assert np.isfinite(model.predict_log_proba(X)).all()
    if rows >= 20:
        assert model.score(X[rows:], y[rows:]) > 0.8
