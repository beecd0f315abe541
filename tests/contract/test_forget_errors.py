"""Forgetting rows under a wrong label says which word, level or column, and which class."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)
from suffice.errors import DebtError

SIZE = 20
LABELS = np.array(["ham"] * SIZE + ["spam"] * SIZE)
RNG = np.random.default_rng(0)
# Column "free" distinguishes the classes, "size" and "lunch" do not.
PRESENT = np.column_stack([RNG.integers(0, 2, 2 * SIZE), LABELS == "spam"]).astype(int)
WORDS = pd.DataFrame({"lunch": PRESENT[:, 0], "free": 3 * PRESENT[:, 1]})
NUMBERS = pd.DataFrame(
    {
        "size": RNG.normal(size=2 * SIZE),
        "price": RNG.normal(scale=0.1, size=2 * SIZE) + 100.0 * (LABELS == "spam"),
    }
)
MAILS = ["free offer money", "lunch at noon"]
DOCUMENTS = [MAILS[0] if label == "spam" else MAILS[1] for label in LABELS]
CURE = "those rows were not all learned, or under other labels. Forget only rows that were learned"


def check(model, rows, wrong, message, learned=LABELS):
    """Learn rows, forget one of class spam as ham, and expect an error that names it."""
    model.fit(rows, learned)
    before, answers = dict(vars(model)), model.predict(rows)
    with pytest.raises(DebtError, match=message) as caught:
        model.forget(wrong, ["ham"] * len(wrong))
    assert CURE in str(caught.value)
    assert all(vars(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict(rows), answers)


COUNTED = {
    "MultinomialNB": (
        MultinomialNB(),
        "Column 1 .'free'. was counted 0 times in class 'ham', and 3 are to be forgotten",
    ),
    "ComplementNB": (
        ComplementNB(),
        "Column 1 .'free'. was counted 0 times in class 'ham', and 3 are to be forgotten",
    ),
    "BernoulliNB": (
        BernoulliNB(),
        "Column 1 .'free'. present was counted 0 times in class 'ham', and 1 are",
    ),
    "CategoricalNB": (
        CategoricalNB(),
        "Level 3 of column 1 .'free'. was counted 0 times in class 'ham', and 1 are",
    ),
    "PoissonNB": (PoissonNB(), "Column 1 .'free'. was counted 0 times in class 'ham', and 3 are"),
}


@pytest.mark.parametrize("case", COUNTED)
def test_counts_name_the_column_the_level_and_the_class(case):
    model, message = COUNTED[case]
    spam = WORDS[LABELS == "spam"].assign(lunch=0)[:1]
    check(model, WORDS, spam, message)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_without_names_have_numbers(form):
    model = MultinomialNB().fit(form(WORDS.to_numpy()), LABELS)
    with pytest.raises(DebtError, match=r"^Column 1 was counted 0 times in class 'ham', and 3 "):
        model.forget(form(np.array([[0, 3]])), ["ham"])


GAUSSIAN = {
    "GaussianNB": GaussianNB(),
    "GaussianNB, predictive": GaussianNB(estimate="predictive"),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "LinearDiscriminantAnalysis, auto": LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
    "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis(),
    "GaussianDiscriminant": GaussianDiscriminant(),
    "GaussianDiscriminant, diagonal": GaussianDiscriminant("diagonal"),
}


@pytest.mark.parametrize("case", GAUSSIAN)
def test_numbers_name_the_column_and_the_class(case):
    message = "Column 1 .'price'. would be left with a sum of squares of -.* in class 'ham'"
    check(GAUSSIAN[case], NUMBERS, NUMBERS[LABELS == "spam"][:1], message)


def test_missing_values_that_no_row_has_are_named_by_their_columns():
    missing = pd.DataFrame({"size": [np.nan], "price": [0.0]})
    model = QuadraticDiscriminantAnalysis().fit(NUMBERS, LABELS)
    message = (
        r"There are 0 rows with missing values in column 0 \('size'\) in class 'ham', and 1 are"
    )
    with pytest.raises(DebtError, match=message):
        model.forget(missing, ["ham"])
    naive = GaussianNB().fit(pd.concat([NUMBERS, missing]), [*LABELS, "ham"])
    many = pd.concat([NUMBERS[LABELS == "ham"], NUMBERS[:1]])
    with pytest.raises(DebtError, match=r"Column 0 .'size'. was seen in 20 rows in class 'ham'"):
        naive.forget(many, ["ham"] * 21)


def test_too_many_rows_name_the_class_and_how_many_it_has():
    for model in (GaussianNB(), LinearDiscriminantAnalysis()):
        model.fit(NUMBERS, LABELS)
        twice = pd.concat([NUMBERS[:SIZE]] * 2)
        with pytest.raises(DebtError, match="Class 'ham' has 20 rows, and 40 are to be forgotten"):
            model.forget(twice, ["ham"] * 2 * SIZE)


def test_a_class_that_was_never_learned_is_named():
    with pytest.raises(DebtError, match="class 'eggs', of which none was learned"):
        GaussianNB().fit(NUMBERS, LABELS).forget(NUMBERS[:1], ["eggs"])


TEXTS = {
    "multinomial": {},
    "bernoulli": {"event": "bernoulli"},
    "complement": {"event": "complement"},
    "polya": {"event": "polya"},
    "tf-idf": {"weighting": "tfidf"},
    "unknown": {"unknown": "smooth"},
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_name_the_word_and_the_class(case):
    model = TextClassifier(calibrate=None, **TEXTS[case])
    message = "The word '(free|offer|money)' was counted 0 times in class 'ham', and .* forgotten"
    check(model, DOCUMENTS, [MAILS[0]], message)


def test_of_many_words_one_that_the_class_lacks_is_named():
    documents = ["lunch at noon", "lunch at noon today", "lunch free today", "free offer"]
    model = TextClassifier(calibrate=None).fit(documents, ["ham", "ham", "spam", "spam"])
    with pytest.raises(DebtError, match="The word 'offer' was counted 0 times in class 'ham'"):
        model.forget(["lunch at noon today offer"], ["ham"])


@pytest.mark.parametrize("form", [list, iter, lambda texts: np.array(texts, object), pd.Series])
def test_a_word_that_was_never_learned_is_named(form):
    model = TextClassifier(calibrate=None, ngrams=2).fit(DOCUMENTS, LABELS)
    texts = ["lunch at noon", "Lunch at the Ritz"]
    message = "Document 1 has 4 terms that were never learned, 'the' the first"
    with pytest.raises(DebtError, match=message):
        model.forget(form(texts), ["ham", "ham"])


TABLE = pd.DataFrame(
    {
        "price": NUMBERS.price,
        "calls": np.where(LABELS == "spam", 40, 0),
        "colour": np.where(LABELS == "spam", "red", "blue"),
        "rooms": np.where(LABELS == "spam", 5.0, 2.0),
        "paid": LABELS == "spam",
        "note": DOCUMENTS,
    }
)
FAMILIES = {
    "normal": ("price", "Column 'price' would be left with a sum of squares of -.*"),
    "normal:tied": ("price", "Column 'price' would be left with a sum of squares of -.*"),
    "binned": ("price", "Column 'price' from .* to .* was counted 0 times"),
    "student": ("price", "Column 'price' "),
    "poisson": ("calls", "Column 'calls' was counted 0 times"),
    "categorical": ("colour", "'red' in column 'colour' was counted 0 times"),
    "categorical of numbers": ("rooms", "5 in column 'rooms' was counted 0 times"),
    "bernoulli": ("paid", "1 in column 'paid' was counted 0 times"),
    "joint": (
        ("colour", "rooms"),
        "'red' in column 'colour' and 5 in column 'rooms' was counted 0 times",
    ),
    "mvn": (("price", "calls"), "Column '(price|calls)' would be left with a sum of squares"),
    "text": ("note", "The word '(free|offer|money)' in column 'note' was counted 0 times"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_name_the_column_its_level_or_word_and_the_class(family):
    columns, message = FAMILIES[family]
    name = family.partition(" of")[0]
    several = list(columns) if isinstance(columns, tuple) else [columns]
    model = GenerativeClassifier({columns: name}, combine="naive")
    spam = TABLE[several][LABELS == "spam"][:1]
    check(model, TABLE[several], spam, f"{message}.* in class 'ham'")


def test_a_level_that_no_row_has_is_named():
    rows = TABLE[["colour", "calls"]]
    model = GenerativeClassifier({"colour": "categorical", "calls": "poisson"}, combine="naive")
    check(
        model,
        rows,
        rows[:1].assign(colour="green"),
        "'green' in column 'colour' was counted 0 times",
    )


def test_labels_that_are_numbers_are_named_as_they_are():
    model = GaussianNB().fit(NUMBERS, (LABELS == "spam").astype(int))
    with pytest.raises(DebtError, match=r"in class 0: those rows"):
        model.forget(NUMBERS[LABELS == "spam"][:1], [0])


@pytest.mark.parametrize(
    "model", [LinearRegression(), BayesianLinearRegression()], ids=lambda m: type(m).__name__
)
def test_regressions_name_the_column_or_the_target(model):
    target = pd.Series(NUMBERS["size"] + RNG.normal(scale=0.1, size=2 * SIZE), name="rent")
    model.fit(NUMBERS, target)
    with pytest.raises(DebtError, match=r"Target 0 \('rent'\) would be left with a sum of squares"):
        model.forget(NUMBERS[:1], [1e4])
    far = NUMBERS[:1].assign(size=-1e4)
    with pytest.raises(DebtError, match=r"Column 0 \('size'\) would be left with a sum of squares"):
        model.forget(far, target[:1])
    with pytest.raises(DebtError, match="Every column was seen in 40 rows, and 80 are to be"):
        model.forget(pd.concat([NUMBERS] * 2), pd.concat([target] * 2))


def test_rows_that_were_learned_under_their_label_are_forgotten():
    model = GenerativeClassifier(combine="naive").fit(TABLE, LABELS)
    with pytest.warns(UserWarning, match="refresh_weights"):
        model.forget(TABLE[:5], LABELS[:5])
    assert model.tally_.weights.tolist() == [15.0, 20.0]
