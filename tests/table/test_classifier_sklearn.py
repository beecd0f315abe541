"""GenerativeClassifier keeps scikit-learn's contract."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.table import GenerativeClassifier


@parametrize_with_checks([GenerativeClassifier()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_clone_has_the_parameters_and_has_learned_nothing():
    X, y = load_iris(return_X_y=True)
    model = GenerativeClassifier({0: "binned"}, combine="temperature", budget=0).fit(X, y)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert not hasattr(other, "tally_")
    second = clone(GenerativeClassifier(model.families_)).fit(X, y)
    assert [f.name for f in second.blocks_] == [f.name for f in model.blocks_]


def test_it_takes_part_in_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(FunctionTransformer(), GenerativeClassifier(budget=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    grid = GridSearchCV(GenerativeClassifier(budget=0), {"combine": ["naive", "blocks"]}, cv=2)
    assert grid.fit(X, y).best_score_ > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"combine": "sum"}, "'combine' parameter of GenerativeClassifier must be a str among"),
        ({"missing": "impute"}, "'missing' parameter of GenerativeClassifier must be a str among"),
        ({"budget": -1}, "'budget' parameter of GenerativeClassifier must be an int in the range"),
        ({"families": "normal"}, "'families' parameter of GenerativeClassifier must be"),
    ],
)
def test_settings_that_are_none_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GenerativeClassifier(**settings).fit(np.eye(2), [0, 1])
