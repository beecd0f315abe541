"""Logistic regression on mixed tables, against scikit-learn's own pipeline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from suffice import InputError
from suffice.lab import evaluate_logistic
from suffice.lab.encoded import encode_columns


@pytest.fixture
def table():
    rng = np.random.default_rng(8)
    stays = rng.random(400) < 0.6
    X = pd.DataFrame(
        {
            "plan": np.where(rng.random(400) < np.where(stays, 0.7, 0.3), "yearly", "monthly"),
            "months": rng.normal(np.where(stays, 20.0, 10.0), 8.0),
        }
    )
    return X, np.where(stays, "yes", "no")


def test_its_answers_are_those_of_the_usual_pipeline(table):
    X, y = table
    found = evaluate_logistic(X, y)
    encode = make_column_transformer((OneHotEncoder(), ["plan"]), (StandardScaler(), ["months"]))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    usual = cross_val_predict(
        make_pipeline(encode, LogisticRegression()), X, y, cv=folds, method="predict_proba"
    )
    # Numbers are standardised by all rows here, and by training rows there.
    np.testing.assert_allclose(np.exp(found.log_proba), usual, atol=0.01)


def test_missing_numbers_and_rare_levels_do_no_harm(table):
    X, y = table
    X.loc[::7, "months"] = np.nan
    X.loc[0, "plan"] = "weekly"
    X["constant"], X["empty"] = 1.0, np.nan
    cells = encode_columns(X)
    assert cells.shape == (400, 4)  # two levels, the number, and where it is missing
    assert evaluate_logistic(X, y).accuracy > 0.6


def test_documents_become_tf_idf(table):
    docs = ["cheap pills", "lunch at noon"] * 20
    found = evaluate_logistic(docs, ["spam", "ham"] * 20)
    assert found.accuracy == 1.0


def test_texts_without_words_and_tables_without_variation_are_refused():
    with pytest.raises(InputError, match="no column that varies"):
        encode_columns({"size": [1.0, 1.0, 1.0]})
    with pytest.raises(InputError, match="no column that varies"):
        encode_columns(["!", "?"])


def test_a_class_of_one_row_is_wrong_and_has_no_loss(table):
    X, y = table
    y = y.copy()
    y[0] = "rare"
    with pytest.warns(UserWarning, match="least populated class"):
        found = evaluate_logistic(X, y)
    assert found.unknown == 1
    assert np.isfinite(found.log_loss)
