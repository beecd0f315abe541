"""Refusals: bad input is named by its place and changes nothing."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from naive_bayes_histories import MODELS, state
from suffice.errors import InputError, PriorError
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.prior import Beta, Dirichlet, Gamma, NormalInverseGamma


@pytest.fixture(params=list(MODELS))
def make(request):
    return MODELS[request.param]


def bad_inputs(model):
    """Yield (what, method, arguments, message) of everything the issue lists."""
    name = type(model).__name__
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    learn = ("fit", "partial_fit", "forget")
    answer = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")
    answer = (*answer, "score_samples", "decide")

    def changed(row, column, value):
        cells = X.copy()
        cells[row, column] = value
        return cells

    for act in learn:
        yield act, (X, ["ham", None, "ham", "spam"]), r"Input y contains NaN or None \(row 1\)"
        yield act, (X, [0.0, np.nan, 1.0, 0.0]), r"Input y contains NaN \(row 1\)"
        yield act, (X, None), "requires y to be passed"
        yield act, (X, y[:3]), "inconsistent numbers of samples"
        yield act, (X, y, None, [1, 1, -1, 1]), "Weight -1 in row 2"
        yield act, (X, y, None, [0, 0, 0, 0]), "All sample weights are zero"
        yield act, (changed(2, 1, np.inf), y), "infinity: inf in row 2, column 1"
        yield act, (changed(2, 1, -np.inf), y), "infinity: -inf in row 2, column 1"
        yield act, (X.astype(str), y), r"bytes/strings"
        text = X.astype(object)
        text[3, 2] = "red"
        yield act, (text, y), "Column 2 holds 'red' in row 3"
        if name not in ("GaussianNB", "BernoulliNB"):
            pattern = rf"Negative values in data passed to {name}.*-1 in row 1, column 0"
            yield act, (changed(1, 0, -1.0), y), pattern
        if name == "CategoricalNB":
            yield act, (sp.csr_matrix(X), y), "[Ss]parse"
        else:
            yield act, (sp.csr_matrix(changed(2, 1, np.inf)), y), "inf in row 2, column 1"
    for act in answer:
        yield act, (changed(2, 1, np.inf),), "infinity: inf in row 2, column 1"
        yield act, (changed(2, 1, -np.inf),), "infinity: -inf in row 2, column 1"
        yield act, (X[:, :2],), rf"X has 2 features, but {name} is expecting 3"
        yield act, (X[0],), "Expected 2D array"
        if name in ("CategoricalNB", "PoissonNB"):
            yield act, (changed(1, 0, -1.0),), r"Negative values.*-1 in row 1, column 0"
    for act in ("partial_fit", "forget"):
        yield act, (X[:, :2], y), rf"X has 2 features, but {name} is expecting 3"
        yield act, (X, [1, 2, 1, 2]), "are of different types"
    yield "forget", (X, ["ham", "Spam"] * 2), "rows of class 'Spam', of which none was learned"
    yield "forget", (X, y, None, [9.0] * 4), "those rows were not all learned"
    yield "fit", (X[:0], []), r"Found array with 0 sample\(s\)"
    yield "fit", (X, y, None, [1.0, 2.0]), r"sample_weight.shape == \(2,\), expected \(4,\)"


def test_bad_input_is_refused_with_its_place_and_changes_nothing(make):
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    model = make().fit(X, y)
    before = state(model)
    tried = 0
    for act, (*data, weights), text in (
        (act, data if len(data) == 4 else [*data, None], text)
        for act, data, text in bad_inputs(model)
    ):
        named = {}
        if len(data) == 3:
            data = data[:2]
            named = {"sample_weight": weights}
        with pytest.raises((ValueError, TypeError), match=text):
            getattr(model, act)(*data, **named)
        assert state(model) == before, (act, text)
        tried += 1
    assert tried > 60


def test_wrong_feature_names_are_refused_and_change_nothing(make):
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    model = make().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    before = state(model)
    wrong = pd.DataFrame(X, columns=["a", "b", "d"])
    for act, data in [("partial_fit", (wrong, y)), ("forget", (wrong, y)), ("predict", (wrong,))]:
        with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen.*- d"):
            getattr(model, act)(*data)
        assert state(model) == before
    infinite = pd.DataFrame(X, columns=["a", "b", "c"])
    infinite.loc[2, "b"] = np.inf
    for act in ("partial_fit", "forget", "predict"):
        with pytest.raises(InputError, match=r"inf in row 2, column 1 \('b'\)"):
            getattr(model, act)(*((infinite,) if act == "predict" else (infinite, y)))
        assert state(model) == before


def test_a_first_call_that_fails_leaves_an_empty_model(make):
    X = np.ones((2, 3))
    X[1, 2] = np.inf
    for act in ("fit", "partial_fit"):
        model = make()
        with pytest.raises(InputError, match="inf in row 1, column 2"):
            getattr(model, act)(X, ["ham", "spam"])
        assert vars(model).keys() == make().get_params().keys()
        with pytest.raises(NotFittedError):
            model.predict(X)
    for act in (model.forget, lambda *_: model.merge(model)):
        with pytest.raises(NotFittedError):
            act(X, ["ham", "spam"])


def test_parameters_that_do_not_fit_change_nothing():
    X, y = np.arange(12.0).reshape(4, 3) % 4, [0, 1, 0, 1]
    for model, parameters, text in [
        (GaussianNB(), {"priors": [0.2, 0.3, 0.5]}, "Got 3 priors for 2 classes"),
        (GaussianNB(), {"priors": [0.2, 0.3]}, r"sum of the priors should be 1. It is 0.5"),
        (GaussianNB(), {"priors": [-0.2, 1.2]}, r"Priors must be non-negative. Got -0.2"),
        (GaussianNB(), {"tie": "rows"}, "'tie' parameter of GaussianNB must be"),
        (MultinomialNB(), {"class_prior": [1.0]}, "Got 1 priors for 2 classes"),
        (MultinomialNB(), {"alpha": [1.0, 2.0]}, "Got 2 elements instead of 3"),
        (MultinomialNB(), {"alpha": np.ones((3, 3))}, "alpha has 3 rows for 2 classes"),
        (MultinomialNB(), {"alpha": [1.0, -2.0, 1.0]}, "must be greater than 0. Got -2"),
        (MultinomialNB(), {"alpha": 0.5, "estimate": "map"}, r"below 1 \(alpha=0.5\)"),
        (MultinomialNB(), {"alpha": [1.0, np.nan, 1.0]}, "must be greater than 0. Got nan"),
        (MultinomialNB(), {"alpha": [1.0, np.inf, 1.0]}, "must be greater than 0. Got inf"),
        (MultinomialNB(), {"class_prior": [-0.5, 1.5]}, "class_prior holds -0.5"),
        (MultinomialNB(), {"class_prior": [np.nan, 1.5]}, "class_prior holds nan"),
        (MultinomialNB(), {"alpha": Dirichlet([1.0, 2.0])}, r"of shape \(2,\) for 2 classes and 3"),
        (BernoulliNB(), {"alpha": Beta([1.0, 2.0], 1.0)}, r"Beta has a successes of shape \(2,\)"),
        (PoissonNB(), {"alpha": Gamma(np.ones((4, 3)), 1.0)}, r"Gamma has a shape of shape \(4, 3"),
        (
            GaussianNB(),
            {"estimate": "map", "prior": NormalInverseGamma([0.0, 1.0], 1.0, 1.0, 1.0)},
            r"location of shape \(2,\) for 2 classes and 3 features",
        ),
        (CategoricalNB(), {"min_categories": [2, 3]}, r"shape \(3,\).*Got \(2,\)"),
        (CategoricalNB(), {"min_categories": [2.0, 3.0, 1.0]}, "integral type. Got float64"),
    ]:
        model.fit(X, y)
        before = state(model)
        for act in ("fit", "partial_fit"):
            changed = clone(model)
            vars(changed).update(vars(model))
            changed.set_params(**parameters)
            after = state(changed)
            with pytest.raises((PriorError, ValueError), match=text):
                getattr(changed, act)(X, y)
            assert state(changed) == after
        assert state(model) == before


def test_a_predictive_without_a_prior_is_refused_where_nothing_was_seen():
    X, y = np.array([[2.0, 0.0], [3.0, 0.0], [1.0, 4.0]]), ["ham", "ham", "spam"]
    unseen = PoissonNB(alpha=0.0, estimate="predictive").fit(X, y)
    X_missing = np.where(X > 0, X, np.nan)
    unknown = PoissonNB(prior_rows=0.0, estimate="predictive").fit(X_missing, y)
    for model in (unseen, unknown):
        with pytest.raises(PriorError, match="needs alpha > 0 and prior_rows > 0 where nothing"):
            model.predict_proba(X)
        model.set_params(alpha=1.0, prior_rows=1.0).fit(X_missing, y)
        assert np.isfinite(model.predict_log_proba(X)).all()
