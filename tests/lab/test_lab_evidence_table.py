"""Models beside each other by evidence and by left-out rows."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.linear_model import Ridge

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    TextClassifier,
    evidence_table,
)
from suffice.errors import InputError

IRIS = load_iris(return_X_y=True)


def test_a_line_says_what_the_model_itself_says():
    models = {"full": GaussianDiscriminant("full"), "naive": GaussianNB(estimate="predictive")}
    table = evidence_table(models, *IRIS)
    assert list(table.log_evidence) == sorted(table.log_evidence, reverse=True)
    for at, name in enumerate(table.names):
        fitted = models[name].fit(*IRIS)
        left_out = fitted.leave_one_out(*IRIS)
        assert table.log_evidence[at] == pytest.approx(fitted.log_evidence_)
        assert table.loss[at] == pytest.approx(left_out.log_loss)
        assert table.accuracy[at] == pytest.approx(left_out.accuracy)


def test_probabilities_are_ratios_of_evidence():
    models = [GaussianNB(tie=tie, estimate="predictive") for tie in (None, "class")]
    table = evidence_table(models, IRIS[0][:, :1], IRIS[1])
    odds = np.exp(table.log_evidence[0] - table.log_evidence[1])
    assert table.probability[0] / table.probability[1] == pytest.approx(odds)
    assert table.probability.sum() == pytest.approx(1.0)


def test_models_that_learned_other_rows_are_refused():
    X, y = IRIS
    with pytest.raises(InputError, match="'late' cannot be compared: These are not the rows"):
        evidence_table({"late": GaussianNB().fit(X[:-1], y[:-1])}, X, y)
    other = GaussianNB().fit(X + 1e-3, y)
    with pytest.raises(InputError, match="not the rows"):
        evidence_table([other], X, y)


def test_evidence_of_counts_is_not_compared_with_evidence_of_densities():
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    models = [GaussianNB(), MultinomialNB(), MultinomialNB(alpha=0.1), PoissonNB(), BernoulliNB()]
    table = evidence_table(models, X, y)
    assert len(set(table.evidence_of)) == 4
    for kind in set(table.evidence_of):
        mine = [k == kind for k in table.evidence_of]
        assert table.probability[mine].sum() == pytest.approx(1.0)


def test_regressions_are_compared_by_the_density_of_left_out_targets():
    X, y = load_diabetes(return_X_y=True)
    models = {"all": BayesianLinearRegression(), "weak": BayesianLinearRegression(100.0)}
    table = evidence_table(models, X, y)
    assert table.names[0] == "all"
    loo = BayesianLinearRegression().fit(X, y).leave_one_out(X, y)
    assert table.loss[0] == pytest.approx(-loo.mean_log_density)
    assert np.isnan(table.accuracy).all()


def test_what_has_no_evidence_is_refused():
    with pytest.raises(InputError, match="a Ridge, which has no evidence"):
        evidence_table({"ridge": Ridge()}, *IRIS)
    with pytest.raises(InputError, match="No models to compare"):
        evidence_table({}, *IRIS)
    with pytest.raises(InputError, match="Two models print as"):
        evidence_table([GaussianNB(), GaussianNB()], *IRIS)


def test_it_prints_a_line_a_model_and_gives_columns():
    table = evidence_table({"one": GaussianNB()}, *IRIS)
    assert str(table).splitlines()[1].startswith("one")
    assert table.to_dict()["model"] == ["one"]


def test_tables_texts_and_logistic_regressions_have_lines_of_their_own_kinds():
    X, y = IRIS
    models = {
        "chosen": GenerativeClassifier(),
        "normal": GenerativeClassifier({f"x{at}": "normal" for at in range(4)}),
        "narrow": GenerativeClassifier({"x0": "ignore"}),
        "weak": LogisticRegression(C=100.0),
        "strong": LogisticRegression(C=0.01),
        "no intercept": LogisticRegression(fit_intercept=False),
    }
    table = evidence_table(models, X, y)
    kinds = dict(zip(table.names, table.evidence_of, strict=True))
    assert kinds["chosen"] == kinds["normal"] == "cells"
    assert kinds["narrow"] == "cells without x0"
    assert kinds["weak"] == kinds["strong"] != kinds["no intercept"]
    chances = dict(zip(table.names, table.probability, strict=True))
    assert chances["weak"] > 0.99
    assert chances["no intercept"] == 1.0
    again = evidence_table({name: model.fit(X, y) for name, model in models.items()}, X, y)
    assert np.array_equal(again.log_evidence, table.log_evidence)
    documents = ["cheap pills", "lunch at noon", "cheap watches", "see you at lunch"] * 3
    texts = {event: TextClassifier(event=event, calibrate=None) for event in TEXT_EVENTS}
    found = evidence_table(texts, documents, ["spam", "ham"] * 6)
    assert set(found.evidence_of) == {"words given lengths, 8 terms", "presence, 8 terms"}


TEXT_EVENTS = ("multinomial", "bernoulli")


def test_a_logistic_regression_without_evidence_is_refused_by_name():
    with pytest.raises(InputError, match=r"'flat' cannot be compared: .* no evidence"):
        evidence_table({"flat": LogisticRegression(C=np.inf)}, IRIS[0][50:, :2], IRIS[1][50:])
