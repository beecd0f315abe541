"""The most likely normal of rows: against numpy, repeats, other frames, likelihoods and peers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis

import reference
from gaussian_cases import assert_same_normal, normal_of
from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.errors import ConvergenceWarning, InputError, ShapeError
from suffice.gaussian import MultivariateNormal, maximum_likelihood
from suffice.gaussian.factor_analysis import factor_analysis
from suffice.tally import Moments, Patterns


def rows_of(n=40, d=3, seed=0):
    return np.random.default_rng(seed).multivariate_normal(
        np.arange(d), normal_of("full", d, seed).covariance, n
    )


def with_missing(X, share=0.2, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# ---- whole rows


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_fit_is_the_mean_and_the_covariance_over_n(offset):
    X = np.round(rows_of(), 4)
    normal = MultivariateNormal.fit(X + offset)
    assert normal.structure == "full"
    # numpy centres by a mean that is rounded at 1e8, so it is asked for that of X
    np.testing.assert_allclose(normal.mean - offset, X.mean(axis=0), atol=1e-7)
    np.testing.assert_allclose(normal.covariance, np.cov(X.T, bias=True), rtol=1e-6)


def test_a_diagonal_fit_is_the_variance_of_each_column():
    X = rows_of()
    normal = MultivariateNormal.fit(X, covariance="diagonal")
    assert normal.structure == "diagonal"
    np.testing.assert_allclose(normal.mean, X.mean(axis=0))
    np.testing.assert_allclose(normal.variances, X.var(axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("covariance", ["full", "diagonal", "low_rank"])
@pytest.mark.parametrize("missing", [False, True])
def test_a_weight_is_a_repeat(covariance, missing):
    X = with_missing(rows_of()) if missing else rows_of()
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = MultivariateNormal.fit(X, covariance, weights=weights)
    repeated = MultivariateNormal.fit(np.repeat(X, weights, axis=0), covariance)
    assert_same_normal(weighted, repeated, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "batch"])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_a_frame_gives_its_names(kind, covariance):
    X = rows_of()
    columns = {name: X[:, i].tolist() for i, name in enumerate(["a", "b", "c"])}
    columns["b"][3] = None
    make = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "arrow": pa.table,
        "batch": pa.RecordBatch.from_pydict,
    }[kind]
    frame = make(columns)
    normal = MultivariateNormal.fit(frame, covariance)
    X[3, 1] = np.nan
    assert normal.names == ("a", "b", "c")
    np.testing.assert_array_equal(normal.mean, MultivariateNormal.fit(X, covariance).mean)
    np.testing.assert_array_equal(normal.log_density(frame), normal.log_density(X))


def test_a_frame_with_numbered_columns_has_no_names():
    assert MultivariateNormal.fit(pd.DataFrame(rows_of())).names is None


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_sparse_rows_are_the_same_as_dense_ones(covariance):
    X = rows_of()
    X[np.random.default_rng(2).random(X.shape) < 0.5] = 0
    for made in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        found = MultivariateNormal.fit(made(X), covariance)
        assert_same_normal(found, MultivariateNormal.fit(X, covariance), atol=1e-9)


def test_whole_numbers_lists_and_masked_arrays_are_rows():
    X = [[1, 2], [3, 5], [4, 4]]
    for rows in (X, np.array(X, dtype=np.int8), np.array(X, dtype=object), np.ma.array(X)):
        assert_same_normal(MultivariateNormal.fit(rows), MultivariateNormal.fit(np.array(X, float)))
    none = MultivariateNormal.fit([[1, 2], [3, None], [4, 4]], "diagonal")
    np.testing.assert_allclose(none.mean, [8 / 3, 3.0])
    hidden = np.ma.array(X, mask=[[0, 0], [0, 1], [0, 0]])
    seen = MultivariateNormal.fit(hidden, "diagonal")
    np.testing.assert_allclose(seen.mean, [8 / 3, 3.0])


# ---- tallies


def test_a_tally_with_and_without_a_class_axis_gives_the_normal():
    X = rows_of()
    wanted = MultivariateNormal.fit(X)
    tally = reference.full_moments(X)
    for one in (tally, reference.stacked([tally]), reference.patterns(X)):
        assert_same_normal(MultivariateNormal.from_tally(one), wanted)
    cells = MultivariateNormal.from_tally(tally, "diagonal")
    assert_same_normal(cells, MultivariateNormal.from_tally(reference.moments(X), "diagonal"))
    assert MultivariateNormal.from_tally(tally, names=["a", "b", "c"]).names == ("a", "b", "c")


def test_patterns_with_and_without_a_class_axis_give_the_same():
    tally = reference.patterns(with_missing(rows_of())[:30])
    one = MultivariateNormal.from_tally(tally)
    assert_same_normal(one, MultivariateNormal.from_tally(reference.stacked([tally])))


def test_fewer_rows_than_features_give_a_singular_covariance():
    X = rows_of(n=3, d=6)
    normal = MultivariateNormal.fit(X)
    np.testing.assert_allclose(normal.covariance, np.cov(X.T, bias=True), atol=1e-12)
    assert np.linalg.matrix_rank(normal.sample(np.random.default_rng(0), 9) - normal.mean) == 2
    alone = MultivariateNormal.fit(X[:1])
    np.testing.assert_array_equal(alone.sample(np.random.default_rng(0), 2), X[[0, 0]])


@pytest.mark.parametrize("covariance", ["full", "diagonal", "low_rank"])
def test_a_constant_column_has_variance_zero(covariance):
    X = rows_of(d=4)
    X[:, 2] = 0.1
    normal = MultivariateNormal.fit(X, covariance, rank=1 if covariance == "low_rank" else None)
    assert normal.variances[2] == 0
    assert normal.mean[2] == 0.1
    rest = normal.marginal([0, 1, 3])
    assert np.isfinite(rest.log_density(X[:, [0, 1, 3]])).all()


@pytest.mark.parametrize("constant", np.random.default_rng(6).normal(size=20))
def test_a_constant_column_far_from_its_origin_has_no_negative_variance(constant):
    X = np.column_stack([np.full(40, constant), rows_of()])
    normal = MultivariateNormal.from_tally(reference.full_moments(X, origin=np.zeros(4)))
    assert 0 <= normal.variances[0] < 1e-14
    assert np.isfinite(normal.sample(np.random.default_rng(0))).all()


# ---- missing values


def test_a_diagonal_fit_leaves_missing_values_out():
    X = with_missing(rows_of())
    normal = MultivariateNormal.fit(X, "diagonal")
    np.testing.assert_allclose(normal.mean, np.nanmean(X, axis=0))
    np.testing.assert_allclose(normal.variances, np.nanvar(X, axis=0))


def test_missing_values_are_filled_to_the_maximum_of_the_observed_likelihood():
    X = with_missing(rows_of(n=60), 0.3)
    normal = MultivariateNormal.fit(X)
    d, step = 3, 1e-4

    def likelihood(mean, covariance):
        return MultivariateNormal(mean, covariance).log_density(X).sum()

    top = likelihood(normal.mean, normal.covariance)
    sd = np.sqrt(normal.variances)
    for i in range(d):
        shift = step * sd * np.eye(d)[i]
        ahead = likelihood(normal.mean + shift, normal.covariance)
        behind = likelihood(normal.mean - shift, normal.covariance)
        assert abs(ahead - behind) / (2 * step) < 1e-3
        assert max(ahead, behind) < top
        for j in range(i + 1):
            change = np.zeros((d, d))
            change[i, j] = change[j, i] = step * sd[i] * sd[j]
            ahead = likelihood(normal.mean, normal.covariance + change)
            behind = likelihood(normal.mean, normal.covariance - change)
            assert abs(ahead - behind) / (2 * step) < 1e-3
            assert max(ahead, behind) < top


def test_missing_values_are_filled_as_the_discriminant_fills_them():
    X = with_missing(rows_of(n=80))
    normal = MultivariateNormal.fit(X)
    model = GaussianDiscriminant(covariance="full", estimate="mle", max_iter=1000, tol=1e-10)
    with pytest.warns(UserWarning, match="one class"):
        model.fit(X, np.zeros(len(X), int))
    np.testing.assert_allclose(normal.mean, model.means_[0], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(normal.covariance, model.covariance_[0], rtol=1e-6, atol=1e-7)


def test_an_em_that_runs_out_of_iterations_is_reported(monkeypatch):
    monkeypatch.setattr(maximum_likelihood, "MAX_ITER", 2)
    with pytest.warns(ConvergenceWarning, match="EM over the missing values moved by"):
        MultivariateNormal.fit(with_missing(rows_of(), 0.4))


# ---- factor analysis


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_few_factors_are_at_least_as_likely_as_the_peers(rank):
    X = np.random.default_rng(3).normal(size=(200, 3)) @ np.random.default_rng(4).normal(
        size=(3, 8)
    ) + np.random.default_rng(5).normal(size=(200, 8))
    X *= np.logspace(-3, 3, 8)
    normal = MultivariateNormal.fit(X, "low_rank", rank=rank)
    assert normal.structure == "low_rank"
    peer = FactorAnalysis(rank, tol=1e-10, max_iter=20_000, svd_method="lapack").fit(
        X / X.std(axis=0)
    )
    theirs = peer.score(X / X.std(axis=0)) - np.log(X.std(axis=0)).sum()
    assert normal.log_density(X).mean() >= theirs - 1e-7


@pytest.mark.filterwarnings("ignore:FactorAnalysis did not converge")
def test_low_rank_is_factor_analysis_by_maximum_likelihood():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(400, 6))
    theirs = FactorAnalysis(2, tol=1e-9, max_iter=5000, svd_method="lapack").fit(X)
    covariance = np.cov(X.T, bias=True)
    found = factor_analysis(covariance, 2, 20_000, 1e-12)
    assert found.converged
    ours = found.loadings @ found.loadings.T + np.diag(found.noise)
    mine = multivariate_normal(X.mean(axis=0), ours).logpdf(X).mean()
    assert mine == pytest.approx(theirs.score(X), abs=1e-6)


def test_the_number_of_factors_has_a_default():
    normal = MultivariateNormal.fit(rows_of(d=5), "low_rank")
    assert normal._structure.loadings.shape == (5, 3)


def test_few_factors_of_incomplete_rows_are_those_of_their_covariance():
    X = with_missing(rows_of(n=200, d=5), 0.1)
    found = MultivariateNormal.fit(X, "low_rank", rank=2)
    full = MultivariateNormal.fit(X)
    np.testing.assert_allclose(found.variances, full.variances, rtol=1e-4)
    assert found.log_density(X).mean() <= full.log_density(X).mean()


def test_factors_that_do_not_converge_are_reported(monkeypatch):
    monkeypatch.setattr(maximum_likelihood, "MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="Factor analysis did not converge"):
        MultivariateNormal.fit(rows_of(n=100, d=6), "low_rank", rank=2)


# ---- refusals


@pytest.mark.parametrize(
    ("message", "kind", "arguments"),
    [
        (r"Rows of shape \(3,\)", ShapeError, {"X": [1.0, 2.0, 3.0]}),
        (r"Rows of shape \(0, 2\)", ShapeError, {"X": np.empty((0, 2))}),
        ("Input X contains infinity", InputError, {"X": [[np.inf, 1.0], [0.0, 1.0]]}),
        (r"no table of numbers \(could not convert", InputError, {"X": [["a", 1.0]]}),
        (r"no table of numbers \(cells are complex", InputError, {"X": [[1j]]}),
        (r"no table of numbers \(setting an array", InputError, {"X": [[1.0], [1.0, 2.0]]}),
        ("Weights of shape", ShapeError, {"X": np.eye(2), "weights": [1.0]}),
        ("Row 1 has weight -1", InputError, {"X": np.eye(2), "weights": [1.0, -1.0]}),
        ("Feature 0 has no weight", InputError, {"X": np.eye(2), "weights": [0.0, 0.0]}),
        ("covariance='round'", InputError, {"X": np.eye(2), "covariance": "round"}),
        ("rank=2 of a full", InputError, {"X": np.eye(2), "rank": 2}),
        ("rank=3 for 2", InputError, {"X": np.eye(2), "covariance": "low_rank", "rank": 3}),
    ],
)
def test_rows_that_make_no_normal_are_refused(message, kind, arguments):
    with pytest.raises(kind, match=message):
        MultivariateNormal.fit(**arguments)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_a_feature_that_was_never_seen_is_named(covariance):
    X = rows_of()
    X[:, 1] = np.nan
    with pytest.raises(InputError, match=r"Feature 1 has no weight of rows\. Leave it out"):
        MultivariateNormal.fit(X, covariance)


def test_tallies_that_make_no_normal_are_refused():
    cells = Moments([2.0, 2.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0])
    with pytest.raises(ShapeError, match="Diagonal moments for a covariance between features"):
        MultivariateNormal.from_tally(cells)
    several = reference.stacked([cells, cells])
    with pytest.raises(ShapeError, match=r"A tally of several classes, \(2,\)"):
        MultivariateNormal.from_tally(several, "diagonal")
    with pytest.raises(InputError, match="No rows"):
        MultivariateNormal.from_tally(Patterns(2, {}))
