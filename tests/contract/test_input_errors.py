"""What people try first and cannot have: the error says what is wrong and what to do instead."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.multioutput import MultiOutputClassifier

from suffice import (
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    CountVectorizer,
    Dirichlet,
    Gamma,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    InverseWishart,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    MultivariateNormal,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
    Wishart,
)
from suffice.errors import InputError
from suffice.text.mail import read_mail

ROWS = np.random.default_rng(0).integers(0, 3, (30, 3))
LABELS = np.array(["a", "b", "c"])[np.arange(30) % 3]
DOCUMENTS = ["offer money now", "lunch at noon", "quarterly report"] * 10
TABLES = [
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    ComplementNB(),
    CategoricalNB(),
    PoissonNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianDiscriminant(),
    LogisticRegression(),
    GenerativeClassifier(),
]
CLASSIFIERS = [(model, ROWS) for model in TABLES] + [(TextClassifier(), DOCUMENTS)]


def names(thing):
    return type(thing).__name__ if hasattr(thing, "get_params") else ""


# ---- drawing with a seed

PRIORS = [
    Beta(successes=1, failures=2),
    Dirichlet([1.0, 2.0]),
    Gamma(shape=1, rate=2),
    NormalInverseGamma(location=0, pseudo_rows=1, shape=2, scale=1),
    NormalInverseWishart(location=[0, 0], pseudo_rows=1, degrees=4, scale_matrix=np.eye(2)),
    PointMasses([0.2, 0.5], [0.5, 0.5]),
    Wishart(degrees=4, scale_matrix=np.eye(2)),
    InverseWishart(degrees=4, scale_matrix=np.eye(2)),
    MultivariateNormal([0.0, 0.0], np.eye(2)),
]
DRAWN = [*PRIORS, *(prior.predictive() for prior in PRIORS[:5])]


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda thing: type(thing).__name__)
@pytest.mark.parametrize("given", [(0, 3), (3,), ("seed",), (None,)], ids=str)
def test_a_seed_given_as_generator_is_refused_with_the_cure(drawn, given):
    message = f"and {re.escape(repr(given[0]))} is none. Call sample\\(numpy.random.default_rng"
    with pytest.raises(InputError, match=message):
        drawn.sample(*given)


def test_the_seed_is_refused_on_the_class_too():
    with pytest.raises(InputError, match="3 is none"):
        Beta.sample(0, 3)


@pytest.mark.parametrize("size", ["3", 1.5, -1, (2, -1), (1.0,)], ids=str)
def test_sizes_are_whole_numbers(size):
    with pytest.raises(InputError, match="Give a whole number of 0 or more"):
        Beta(successes=1, failures=1).sample(np.random.default_rng(0), size)


def test_old_and_new_generators_draw_and_no_size_gives_one_draw():
    coin = Beta(successes=1, failures=1)
    assert coin.sample(np.random.default_rng(0), 0).shape == (0,)
    assert coin.sample(np.random.default_rng(0), (2, 3)).shape == (2, 3)
    assert coin.sample(np.random.RandomState(0), np.int64(4)).shape == (4,)
    assert coin.sample(np.random.default_rng(0)).shape == ()


# ---- losses

LOSSES = {
    "a name": ("quadratic", "loss='quadratic' is no table of costs. Give an array"),
    "words": ([["a", "b", "c"]] * 3, "is no table of costs"),
    "a ragged table": ([[1, 2, 3], [1]], "is no table of costs"),
    "a number": (5, r"loss has shape \(\) for 3 classes"),
    "an action with one number": ({"act": 5}, "Action 'act' has the loss 5 for 3 classes"),
    "an action with a word": ({"act": "x"}, "Action 'act' has the loss 'x' for 3 classes"),
    "too few losses": ({"act": [1, 2]}, "Action 'act' has 2 losses for 3 classes"),
    "a word for a class": (
        {"act": {"a": "x", "b": 1, "c": 1}},
        "Action 'act' has the loss 'x' for class 'a', which is no number",
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("model", "rows"),
    [(GaussianNB(), ROWS), (GenerativeClassifier(), ROWS), (TextClassifier(), DOCUMENTS)],
    ids=names,
)
def test_a_loss_that_is_not_a_table_is_refused(model, rows, loss):
    given, message = LOSSES[loss]
    model.fit(rows, LABELS)
    with pytest.raises(InputError, match=message):
        model.decide(rows, loss=given)


def test_the_cost_of_rejecting_must_be_a_number():
    with pytest.raises(InputError, match="reject='often' is no cost"):
        GaussianNB().fit(ROWS, LABELS).decide(ROWS, reject="often")


def test_costs_of_numpy_and_of_python_are_numbers():
    model = GaussianNB().fit(ROWS, LABELS)
    costs = {"act": {"a": np.float32(1), "b": True, "c": np.int8(3)}, "wait": np.array([1, 1, 1])}
    assert set(model.decide(ROWS, loss=costs)) <= {"act", "wait"}


# ---- several labels a row

INDICATOR = np.random.default_rng(1).integers(0, 2, (30, 3))
SEVERAL = {
    "an indicator": (INDICATOR, r"shape \(30, 3\) instead. .*MultiOutputClassifier"),
    "a frame": (pd.DataFrame(INDICATOR, columns=list("pqr")), r"shape \(30, 3\) instead"),
    "a polars frame": (pl.DataFrame(INDICATOR), r"shape \(30, 3\) instead"),
    "a sparse indicator": (sp.csr_array(INDICATOR), r"shape \(30, 3\) instead"),
    "names": (np.array([["a", "b"]] * 30), r"shape \(30, 2\) instead"),
    "one-hot": (np.eye(3)[np.arange(30) % 3], r"one-hot: give the class itself, y.argmax"),
    "lists": ([["a", "b"]] * 30, r"Row 0 of y has the labels \['a', 'b'\]"),
    "ragged lists": (["a", ["a", "b"]] * 15, r"Row 1 of y has the labels \['a', 'b'\]"),
    "sets": ([{"a"}, {"a", "b"}] * 15, r"Row 0 of y has the labels \{'a'\}"),
}


@pytest.mark.parametrize("labels", SEVERAL)
@pytest.mark.parametrize(("model", "rows"), CLASSIFIERS, ids=names)
def test_several_labels_for_a_row_are_refused_with_the_cure(model, rows, labels):
    given, message = SEVERAL[labels]
    with pytest.raises(InputError, match=message):
        model.fit(rows, given)


def test_the_cure_that_the_error_names_works():
    several = MultiOutputClassifier(GaussianNB()).fit(ROWS, INDICATOR)
    assert several.predict(ROWS).shape == (30, 3)
    one_hot = np.eye(3)[np.arange(30) % 3]
    assert GaussianNB().fit(ROWS, one_hot.argmax(axis=1)).classes_.tolist() == [0, 1, 2]


# ---- messages as they were read


@pytest.fixture
def folder(tmp_path):
    for number in range(3):
        message = b"From: ann@example.org\nSubject: hello %d\n\n" % number + b"long body " * 500
        (tmp_path / f"{number}.eml").write_bytes(message)
    return tmp_path


def test_messages_without_labels_are_refused_with_the_call_that_learns_them(folder):
    message = r"gave a Message without a label.*fit\(\[message.text for message in read_mail"
    with pytest.raises(InputError, match=message):
        TextClassifier().fit(read_mail(folder))


@pytest.mark.parametrize("of", [read_mail, lambda path: list(read_mail(path))])
def test_messages_given_as_texts_are_refused_with_the_cure(folder, of):
    message = r"Document 0 is Message\(.*of type Message. Give its text: \[message.text for"
    learned = TextClassifier().fit(DOCUMENTS, LABELS)
    with pytest.raises(InputError, match=message) as caught:
        TextClassifier().fit(of(folder), ["a", "b", "a"])
    assert len(str(caught.value)) < 250
    for call in (learned.predict, CountVectorizer().fit):
        with pytest.raises(InputError, match=message):
            call(of(folder))
    with pytest.raises(InputError, match=message):
        learned.partial_fit(of(folder), ["a", "b", "a"])
    texts = [message.text for message in read_mail(folder)]
    assert TextClassifier().fit(texts, ["a", "b", "a"]).predict(texts).shape == (3,)


@pytest.mark.parametrize("model", TABLES, ids=names)
def test_a_generator_given_as_a_table_is_refused(folder, model):
    with pytest.raises(InputError, match=r"X is a generator.*Make a list or a table"):
        model.fit(read_mail(folder), ["a", "b", "a"])


# ---- penalties


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l1_ratio": 1}, "l1_ratio=1 asks for an L1 penalty, which no solver here has"),
        ({"l1_ratio": 0.5, "solver": "saga"}, "l1_ratio=0.5 asks for an L1 penalty"),
    ],
    ids=str,
)
def test_an_l1_penalty_is_refused_and_the_error_names_an_alternative(settings, message):
    with pytest.raises(InputError, match=f"{message}.*scikit-learn's LogisticRegression"):
        LogisticRegression(**settings).fit(ROWS, LABELS)
