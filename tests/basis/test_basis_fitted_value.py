"""Expansions that are interrupted, or asked while they learn: the old one or the new, whole."""

import numpy as np
import pytest
from sklearn.base import clone

from fitted_values import PassThrough, assert_read_whole, assert_unchanged_at_any_line, files_of
from suffice import basis
from suffice.basis import expansion

RNG = np.random.default_rng(5)
CELLS = RNG.normal(size=(20, 2))
SETTINGS = {
    "RandomHinge": {"n_features": 3, "random_state": 0},
    "LearnedHinge": {"n_features": 1, "restarts": 1, "max_iter": 2, "random_state": 0},
}
EXPANSIONS = {name: getattr(basis, name)(**SETTINGS.get(name, {})) for name in basis.__all__}
TARGETS = CELLS[:, 0] ** 2
FILES = files_of("basis", "estimators")


@pytest.mark.parametrize("model", EXPANSIONS.values(), ids=EXPANSIONS)
def test_an_expansion_that_is_interrupted_at_any_line_is_as_it_was(model, monkeypatch):
    monkeypatch.setattr(expansion, "one_blas_thread", PassThrough())
    one = clone(model).fit(CELLS[:, :1], TARGETS)
    assert_unchanged_at_any_line(one, lambda one: one.fit(CELLS, TARGETS), FILES)
    assert_unchanged_at_any_line(clone(model), lambda one: one.fit(CELLS, TARGETS), FILES)


@pytest.mark.parametrize("name", ["Fourier", "Hinge", "Radial"])
def test_an_expansion_that_learns_is_asked_whole(name):
    def read(model):
        return model.transform(CELLS[:3]).tobytes()

    states = [CELLS, 3 * CELLS + 1]
    assert_read_whole(clone(EXPANSIONS[name]), lambda one, cells: one.fit(cells), read, states)


@pytest.mark.parametrize("model", EXPANSIONS.values(), ids=EXPANSIONS)
def test_attributes_are_there_once_an_expansion_is_fitted(model):
    one = clone(model)
    names = [name for name in type(model)._saved if not name.startswith("_")]
    assert not [name for name in names if hasattr(one, name)]
    one.fit({"a": [0.0, 1.0, 2.0, 3.0], "b": [3.0, 1.0, 0.0, 0.5]}, [0.0, 1.0, 0.0, 2.0])
    assert not [name for name in names if not hasattr(one, name)]
    assert not hasattr(one.fit(CELLS, TARGETS), "feature_names_in_")


def test_few_classes_stand_above_an_expansion():
    for model in EXPANSIONS.values():
        ours = [cls for cls in type(model).__mro__ if cls.__module__.startswith("suffice.")]
        assert len(ours) == 3
