"""Which features tell the classes apart: against brute force, and as a scikit-learn transformer."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    Gamma,
    GaussianDiscriminant,
    GaussianNB,
    InputError,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NormalInverseGamma,
    NormalInverseWishart,
    PoissonNB,
    PriorError,
    QuadraticDiscriminantAnalysis,
)
from suffice.lab import FeatureRanking, SelectFeatures, rank_features, select_features
from suffice.lab.dependence import dependence
from suffice.tally import Counts, Events, Moments


def labelled(seed=0, rows=120, classes=3):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, classes, rows)


def cells(seed=1):
    """Return present/absent cells of which the first column depends on the class."""
    rng, y = labelled(seed)
    X = rng.random((len(y), 4)) < 0.4
    X[:, 0] = rng.random(len(y)) < np.array([0.1, 0.5, 0.9])[y]
    return X.astype(float), y


def numbers(seed=2, rows=120):
    """Return numbers of which column 0 moves, column 1 widens, and the others know nothing."""
    rng, y = labelled(seed, rows)
    X = rng.normal(size=(len(y), 4)) * [1.0, 1.0, 50.0, 0.01] + [0.0, 0.0, 1e4, 3.0]
    X[:, 0] += y
    X[:, 1] *= 1 + 2 * y
    return X, y


# Mutual information.


def test_information_of_present_and_absent_cells_is_that_of_their_table():
    X, y = cells()
    ranking = rank_features(BernoulliNB().fit(X, y))
    expected = [mutual_info_score(y, column) for column in X.T]
    np.testing.assert_allclose(ranking.mutual_information, expected, rtol=1e-10)


def test_information_of_levels_is_that_of_their_table():
    rng, y = labelled(3)
    X = np.column_stack([rng.integers(0, 5, len(y)), (y + (rng.random(len(y)) < 0.2)) % 3])
    ranking = rank_features(CategoricalNB(min_categories=7).fit(X, y))
    expected = [mutual_info_score(y, column) for column in X.T]
    np.testing.assert_allclose(ranking.mutual_information, expected, rtol=1e-10)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB])
def test_information_of_a_word_is_that_of_a_word_and_the_class_of_its_row(kind):
    rng, y = labelled(4)
    X = rng.poisson(np.array([[3, 1, 1], [1, 3, 1], [1, 1, 1]])[y])
    ranking = rank_features(kind().fit(X, y))
    which, words = np.nonzero(X)
    times = X[which, words]
    of_class, word = np.repeat(y[which], times), np.repeat(words, times)
    expected = [mutual_info_score(of_class, word == k) for k in range(3)]
    np.testing.assert_allclose(ranking.mutual_information, expected, rtol=1e-9)


# Bayes factors, each beside the evidence of tallies built by hand.


def test_bayes_factor_of_cells_compares_a_coin_a_class_with_one_coin():
    X, y = cells()
    found = rank_features(BernoulliNB(alpha=Beta(2.0, 3.0)).fit(X, y)).log_bayes_factor
    prior = Beta(2.0, 3.0)
    for j, column in enumerate(X.T.astype(int)):
        apart = sum(prior.log_evidence(Counts.of(column[y == c], 2)) for c in range(3))
        assert found[j] == pytest.approx(apart - prior.log_evidence(Counts.of(column, 2)))


def test_bayes_factor_of_levels_compares_dirichlets():
    rng, y = labelled(6)
    X = rng.integers(0, 4, (len(y), 2))
    X[:, 1] = (X[:, 1] > 2) + y
    found = rank_features(CategoricalNB(alpha=0.5).fit(X, y)).log_bayes_factor
    prior = Dirichlet.symmetric(0.5, 4)
    for j, column in enumerate(X.T):
        apart = sum(prior.log_evidence(Counts.of(column[y == c], 4)) for c in range(3))
        assert found[j] == pytest.approx(apart - prior.log_evidence(Counts.of(column, 4)))


def test_bayes_factor_of_a_word_is_that_of_the_dirichlets_share():
    """The evidence of word k against the rest, by draws of whole Dirichlets."""
    rng = np.random.default_rng(7)
    X, y, alpha = np.array([[3, 1, 0], [1, 2, 2]]), [0, 1], np.array([1.0, 2.0, 0.5])
    found = rank_features(MultinomialNB(alpha=alpha).fit(X, y)).log_bayes_factor
    share = rng.dirichlet(alpha, 400_000)[:, 0]

    def chances(tokens, others):
        return share**tokens * (1 - share) ** others

    first, second, both = chances(3, 1), chances(1, 4), chances(4, 5)
    expected = np.log(first.mean()) + np.log(second.mean()) - np.log(both.mean())
    error = sum((part.std() / part.mean()) ** 2 for part in (first, second, both)) / len(share)
    assert abs(found[0] - expected) < 5 * np.sqrt(error)


def test_bayes_factor_of_rates_compares_gammas():
    rng, y = labelled(8)
    X = rng.poisson(np.column_stack([1.0 + y, np.full(len(y), 3.0)]))
    found = rank_features(PoissonNB(alpha=2.0, prior_rows=0.5).fit(X, y)).log_bayes_factor
    prior = Gamma(2.0, 0.5)
    for j, column in enumerate(X.T):
        apart = sum(prior.log_evidence(Events.of(column[y == c])) for c in range(3))
        assert found[j] == pytest.approx(float(apart - prior.log_evidence(Events.of(column))))


def test_bayes_factor_of_numbers_compares_normals_under_the_prior_that_was_given():
    X, y = numbers()
    prior = NormalInverseGamma(0.0, 0.1, 2.0, 3.0)
    found = rank_features(GaussianNB(prior=prior).fit(X, y)).log_bayes_factor
    for j, column in enumerate(X.T):
        apart = sum(prior.log_evidence(Moments.of(column[y == c])) for c in range(3))
        together = prior.log_evidence(Moments.of(column))
        assert found[j] == pytest.approx(float((apart - together)[0]), rel=1e-9)


def test_a_prior_that_is_left_to_evidence_is_worth_one_row_of_all_classes():
    X, y = numbers()
    found = rank_features(GaussianNB().fit(X, y)).log_bayes_factor
    for j, column in enumerate(X.T):
        prior = NormalInverseGamma(column.mean(), 1.0, 0.5, column.var() / 2)
        alone = rank_features(GaussianNB(prior=prior).fit(X[:, [j]], y)).log_bayes_factor
        assert found[j] == pytest.approx(alone[0], rel=1e-9)


def test_a_tied_variance_is_one_variance_in_the_bayes_factor_too():
    """The evidence of three means and one variance, by integration over the variance."""
    X, y = numbers(rows=12)
    prior = NormalInverseGamma(0.0, 0.5, 2.0, 3.0)
    found = rank_features(GaussianNB(tie="class", prior=prior).fit(X[:, :1], y)).log_bayes_factor
    x = X[:, 0]
    variance = np.geomspace(1e-3, 1e4, 501)

    def evidence(groups):
        log_joint = stats.invgamma.logpdf(variance, 2.0, scale=3.0)
        for part in groups:
            n = len(part)
            for at, s2 in enumerate(variance):
                inside = s2 * (np.eye(n) + np.ones((n, n)) / 0.5)
                log_joint[at] += log_normal(part, inside)
        return np.log(integrate.trapezoid(np.exp(log_joint) * variance, np.log(variance)))

    def log_normal(part, covariance):
        root = np.linalg.cholesky(covariance)
        z = np.linalg.solve(root, part)
        return -z @ z / 2 - np.log(np.diag(root)).sum() - len(part) / 2 * np.log(2 * np.pi)

    expected = evidence([x[y == c] for c in range(3)]) - evidence([x])
    assert found[0] == pytest.approx(expected, abs=1e-4)


def test_a_wishart_prior_is_read_a_feature_at_a_time():
    X, y = numbers()
    X = X[:, :2]
    wishart = NormalInverseWishart([0.0, 0.0], 0.1, 5.0, np.diag([4.0, 6.0]))
    found = rank_features(GaussianDiscriminant("full", prior=wishart).fit(X, y)).log_bayes_factor
    one = [NormalInverseWishart([0.0], 0.1, 4.0, [[s]]) for s in (4.0, 6.0)]
    for j, prior in enumerate(one):
        tallies = [Moments.of(X[y == c][:, [j]], full=True) for c in range(3)]
        apart = sum(prior.log_evidence(tally) for tally in tallies)
        together = prior.log_evidence(Moments.of(X[:, [j]], full=True))
        assert found[j] == pytest.approx(float(apart - together))


@pytest.mark.parametrize(
    ("model", "draw"),
    [
        (BernoulliNB(), lambda rng, n: (rng.random((n, 40)) < 0.3).astype(float)),
        (CategoricalNB(), lambda rng, n: rng.integers(0, 3, (n, 40))),
        (MultinomialNB(), lambda rng, n: rng.poisson(1.0, (n, 40))),
        (PoissonNB(), lambda rng, n: rng.poisson(2.0, (n, 40))),
        (GaussianNB(), lambda rng, n: rng.normal(size=(n, 40))),
        (GaussianDiscriminant("tied_diagonal"), lambda rng, n: rng.normal(size=(n, 40))),
    ],
    ids=lambda part: type(part).__name__,
)
def test_rows_speak_against_features_that_know_nothing_and_for_one_that_does(model, draw):
    rng, y = labelled(9, rows=300)
    X = np.array(draw(rng, len(y)))
    X[:, 7] = X[:, 7] + y if type(model) is not BernoulliNB else y > 0
    ranking = rank_features(model.fit(X, y))
    assert ranking.order[0] == 7
    assert ranking.log_bayes_factor[7] > 5
    assert np.delete(ranking.log_bayes_factor, 7).mean() < 0


# What all rankings share.


def rankings():
    X, y = numbers()
    counts = np.abs(X - X.mean(axis=0)).round()
    yield from ((kind(), counts, y) for kind in (MultinomialNB, ComplementNB, PoissonNB))
    yield from ((kind(), np.minimum(counts, 9), y) for kind in (BernoulliNB, CategoricalNB))
    yield GaussianNB(), X, y
    yield from ((GaussianDiscriminant(kind), X, y) for kind in ("tied", "diagonal", "spherical"))
    yield LinearDiscriminantAnalysis(), X, y
    yield LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), X, y
    yield QuadraticDiscriminantAnalysis(), X[:, :2], y


@pytest.mark.parametrize(
    ("model", "X", "y"), list(rankings()), ids=[type(case[0]).__name__ for case in rankings()]
)
def test_what_was_forgotten_has_no_part_in_a_ranking(model, X, y):
    fresh = rank_features(type(model)(**model.get_params()).fit(X[30:], y[30:]))
    found = rank_features(model.fit(X, y).forget(X[:30], y[:30]))
    for kind in ("mutual_information", "log_bayes_factor"):
        np.testing.assert_allclose(getattr(found, kind), getattr(fresh, kind), rtol=1e-8, atol=1e-8)


def test_what_stands_beside_a_feature_has_no_part_in_what_is_said_of_it():
    X, y = numbers()
    beside = np.random.default_rng(11).normal(size=(len(y), 200))
    alone = rank_features(GaussianNB().fit(X, y)).log_bayes_factor
    among = rank_features(GaussianNB().fit(np.hstack([X, beside]), y)).log_bayes_factor
    np.testing.assert_allclose(among[:4], alone)


def test_the_unit_of_a_feature_has_no_part_in_what_is_said_of_it():
    X, y = numbers()
    here, there = (rank_features(GaussianNB().fit(Z, y)) for Z in (X, 1e3 * X + 5))
    np.testing.assert_allclose(there.log_bayes_factor, here.log_bayes_factor, rtol=1e-6)
    np.testing.assert_allclose(there.mutual_information, here.mutual_information, rtol=1e-6)


def test_a_missing_value_leaves_a_row_out_of_its_column_only():
    X, y = numbers()
    prior = NormalInverseGamma(0.0, 0.1, 2.0, 3.0)
    incomplete = X.copy()
    incomplete[::3, 1] = np.nan
    found = rank_features(GaussianNB(prior=prior).fit(incomplete, y))
    seen = np.arange(len(y)) % 3 != 0
    alone = rank_features(GaussianNB(prior=prior).fit(X[seen], y[seen]))
    whole = rank_features(GaussianNB(prior=prior).fit(X, y))
    for kind in ("mutual_information", "log_bayes_factor"):
        assert getattr(found, kind)[1] == pytest.approx(getattr(alone, kind)[1])
        assert getattr(found, kind)[0] == pytest.approx(getattr(whole, kind)[0])


def test_a_column_that_never_varies_knows_nothing():
    X, y = numbers()
    X[:, 2] = 7.0
    ranking = rank_features(GaussianNB(var_smoothing=1e-9).fit(X, y))
    assert ranking.mutual_information[2] == pytest.approx(0.0, abs=1e-9)
    assert ranking.log_bayes_factor[2] <= 0


def test_features_have_the_names_of_their_columns_or_numbers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert rank_features(GaussianNB().fit(X, y)).names == tuple(X.columns)
    assert rank_features(GaussianNB().fit(X.to_numpy(), y)).names == ("x0", "x1", "x2", "x3")


def test_a_ranking_tells_its_numbers_best_first():
    X, y = load_iris(return_X_y=True, as_frame=True)
    ranking = rank_features(GaussianNB().fit(X, y))
    columns = ranking.to_dict()
    assert list(columns) == [ranking.names[j] for j in ranking.order]
    assert columns["petal width (cm)"]["mutual_information"] == ranking.mutual_information[3]
    assert ranking.table(1).splitlines()[1:] == [str(ranking).splitlines()[1], "and 3 more"]
    with pytest.raises(ValueError, match="read-only"):
        ranking.mutual_information[0] = 1.0


def test_equal_features_stay_in_order():
    ranking = FeatureRanking(("a", "b", "c"), np.array([0.1, 0.1, 0.1]), np.array([1.0, 2.0, 1.0]))
    assert ranking.order.tolist() == [1, 0, 2]
    assert ranking.by("mutual_information").tolist() == [0, 1, 2]


def test_the_only_word_tells_nothing():
    ranking = rank_features(MultinomialNB().fit([[1], [5], [2]], [0, 1, 1]))
    assert ranking.mutual_information.tolist() == ranking.log_bayes_factor.tolist() == [0.0]


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (BernoulliNB(alpha=[[1.0, 1.0], [1.0, 2.0]]), PriorError, r"feature 1 .* \(\[1.0, 2.0\]\)"),
        (BernoulliNB(alpha=0.0), PriorError, "Beta has successes 0"),
        (PoissonNB(prior_rows=0.0), PriorError, "Gamma has rate 0"),
    ],
)
def test_a_prior_without_evidence_is_refused(model, error, message):
    fitted = model.fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    with pytest.raises(error, match=message):
        rank_features(fitted)


def test_only_fitted_classifiers_are_ranked():
    with pytest.raises(NotFittedError):
        rank_features(GaussianNB())
    with pytest.raises(InputError, match="BayesianLinearRegression keeps no tally of classes"):
        rank_features(BayesianLinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]))


def test_a_tally_of_no_known_kind_is_refused():
    with pytest.raises(InputError, match="A GaussianNB tallies list, whose features cannot"):
        dependence([], GaussianNB())


# The transformer.

SELECTORS = [
    SelectFeatures(),
    SelectFeatures(k=1, by="mutual_information"),
    SelectFeatures(k=2, model=BernoulliNB()),
    SelectFeatures(k=2, model=MultinomialNB()),
    SelectFeatures(k=2, model=GaussianDiscriminant("full")),
]


@pytest.mark.slow
@parametrize_with_checks(SELECTORS)
def test_the_transformer_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_best_features_are_kept_in_their_order():
    X, y = numbers()
    best = select_features(k=2).fit(X, y)
    assert best.get_support().tolist() == [True, True, False, False]
    np.testing.assert_array_equal(best.transform(X), X[:, :2])
    assert best.inverse_transform(X[:, :2])[:, 2:].tolist() == np.zeros((len(X), 2)).tolist()


def test_the_score_decides_what_is_kept():
    X, y = numbers()
    ranking = rank_features(GaussianNB().fit(X, y))
    chosen = SelectFeatures(k=1, by="mutual_information").fit(X, y).get_support(indices=True)
    assert chosen.tolist() == [int(np.argmax(ranking.mutual_information))]


def test_names_come_out_of_frames():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd"))
    best = SelectFeatures(k=2).fit(frame, y)
    assert best.get_feature_names_out().tolist() == ["a", "b"]
    assert not hasattr(best.fit(X, y), "feature_names_in_")


def test_a_transformer_works_in_a_pipeline():
    X, y = numbers(rows=400)
    kept = make_pipeline(select_features(k=2), GaussianNB()).fit(X[:200], y[:200])
    alone = GaussianNB().fit(X[:200, :2], y[:200])
    np.testing.assert_array_equal(kept.predict(X[200:]), alone.predict(X[200:, :2]))


def test_learning_in_parts_is_learning_at_once_and_forgetting_undoes_it():
    X, y = numbers()
    parts = SelectFeatures(k=2).partial_fit(X[:50], y[:50])
    early = parts.model_
    parts.partial_fit(X[50:], y[50:])
    once = SelectFeatures(k=2).fit(X, y)
    factors = [each.ranking_.log_bayes_factor for each in (parts, once)]
    np.testing.assert_allclose(*factors, rtol=1e-6)
    assert early.tally_.weights.sum() == 50
    parts.forget(X[50:], y[50:])
    assert parts.model_.tally_.allclose(early.tally_, 1e-6)


def test_rows_that_are_refused_change_nothing():
    X, y = numbers()
    best = SelectFeatures(k=2).fit(X, y)
    before = best.ranking_
    with pytest.raises(ValueError, match="infinity"):
        best.partial_fit([[np.inf, 0.0, 0.0, 0.0]], [0])
    assert best.ranking_ is before
    assert best.model_.tally_.weights.sum() == len(y)
