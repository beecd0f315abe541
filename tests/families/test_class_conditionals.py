"""Distributions of rows in every class: what is computed, and when."""

import numpy as np
import pytest

from left_out_cases import measured
from suffice.families.categorical import IndependentCategories
from suffice.naive_bayes import CategoricalNB, GaussianNB


@pytest.mark.parametrize(("fewest", "anew"), [(None, 2), (9, 0)])
def test_only_rows_that_take_a_level_with_them_are_scored_anew(fewest, anew, monkeypatch):
    """All others have a closed form, those of constant columns too."""
    X, y = measured("digits")
    X = np.floor(X / 4)
    X[:, 3] = 0.0
    X[1, 10], X[2, 11] = 6.0, 8.0
    model = CategoricalNB(min_categories=fewest).fit(X, y)
    levels = [np.unique(column, return_counts=True) for column in X.T]
    alone = {int(np.argmax(X[:, j])) for j, (_, times) in enumerate(levels) if times[-1] == 1}
    seen = []
    real = IndependentCategories.refit_scores
    monkeypatch.setattr(
        IndependentCategories, "refit_scores", lambda *terms: seen.append(terms) or real(*terms)
    )
    model.leave_one_out(X, y)
    assert len(seen) == (len(alone) if anew else 0)
    assert len(alone) >= anew


def test_the_strength_is_chosen_when_the_tally_changes_and_not_for_every_answer(monkeypatch):
    X, y = np.random.default_rng(5).normal(size=(9, 2)) * [1, 2] + 1, np.arange(9) % 2
    X[1, 0] = X[4, 1] = np.nan
    model = GaussianNB(estimate="predictive").fit(X, y)
    before = model.predict_proba(X), model.log_evidence_

    def once_more(*_):
        raise AssertionError("the prior was chosen again")

    monkeypatch.setattr("suffice.families.gaussians.normal_prior", once_more)
    np.testing.assert_array_equal(model.predict_proba(X), before[0])
    assert model.log_evidence_ == before[1]
    with pytest.raises(AssertionError, match="chosen again"):
        model.partial_fit(X, y)
