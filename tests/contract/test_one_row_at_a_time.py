"""learn_one, forget_one, predict_one and predict_proba_one: a stream is rows of partial_fit."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import suffice
from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)
from suffice.errors import DebtError, InputError

# The first rows of a stream are of one class, and weights grow stale: both are warned of.
pytestmark = pytest.mark.filterwarnings("ignore")

NUMBERS = st.sampled_from([0.0, 1.0, 2, 3, 2.0, None, np.float64(1), float("nan")])
ODD_NUMBERS = st.sampled_from(
    [-1.0, 1.5, True, np.int64(1), 2**65, 1e20, float("inf"), "2", "x", [1.0], 7]
)
LABELS = st.sampled_from(["ham", "spam"])
# Nothing, the probabilities of one row, or all that was learned.
QUESTIONS = st.sampled_from([None, "proba", "proba", "proba", "model"])
ODD_LABELS = st.sampled_from(["new", 1, None, np.str_("ham"), ["ham"], True])


def mostly(usual, odd):
    """Draw something usual four times out of five."""
    return st.integers(0, 4).flatmap(lambda which: odd if which == 0 else usual)


def streams_of(columns, size=12):
    """Draw streams of rows and labels, and what the model is asked after each."""
    row = st.fixed_dictionaries(columns)
    odd = st.one_of(
        row.map(lambda x: {name: x[name] for name in list(x)[1:]}),  # a column is missing
        row.map(lambda x: {**x, "more": 1.0}),
        row.map(lambda x: dict(reversed(x.items()))),
    )
    labels = mostly(LABELS, ODD_LABELS)
    one = st.tuples(mostly(row, odd), labels, QUESTIONS)
    return st.lists(one, min_size=1, max_size=size)


ARRAYS = streams_of(dict.fromkeys("abc", mostly(NUMBERS, ODD_NUMBERS)))
COUNTERS = [
    GaussianNB(),
    GaussianNB(estimate="predictive", calibrate="folds"),
    MultinomialNB(),
    ComplementNB(),
    BernoulliNB(),
    BernoulliNB(binarize=None),
    PoissonNB(),
    CategoricalNB(),
    CategoricalNB(alpha=(np.ones(5), np.ones(5), np.ones(5))),
]


def result_of(act):
    """Return what a call returns, or the error that it raises."""
    try:
        return act()
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return error


def assert_same_answer(mine, theirs):
    """Compare two answers, or the errors that there were instead."""
    assert isinstance(mine, Exception) == isinstance(theirs, Exception), (mine, theirs)
    if isinstance(mine, Exception):
        assert type(mine) is type(theirs)
        assert str(mine) == str(theirs)
    else:
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9)


def assert_same_model(mine, theirs, rows):
    """Compare all that two models have learned, and what they answer."""
    assert mine.classes_.tolist() == theirs.classes_.tolist()
    assert mine.classes_.dtype == theirs.classes_.dtype
    assert mine.new_classes_.tolist() == theirs.new_classes_.tolist()
    np.testing.assert_allclose(mine.tally_.weights, theirs.tally_.weights)
    if isinstance(mine, TextClassifier):
        assert set(mine.terms_) == set(theirs.terms_)
    else:
        assert mine.tally_.allclose(theirs.tally_)
    for row in rows:
        assert_same_answer(
            result_of(lambda row=row: mine.predict_proba([row])),
            result_of(lambda row=row: theirs.predict_proba([row])),
        )


def assert_learns_as_partial_fit(model, stream):
    """Learn a stream in both ways: the same is learned, and the same is refused, at once."""
    mine, theirs, learned = clone(model), clone(model), []
    for x, y, question in stream:
        given_row = x if isinstance(x, str) else [x]
        expected = result_of(lambda row=given_row, y=y: theirs.partial_fit(row, y))
        found = result_of(lambda x=x, y=y: mine.learn_one(x, y))
        if isinstance(expected, Exception):
            assert type(found) is type(expected), (x, y, found, expected)
            assert str(found) == str(expected)
        else:
            assert found is mine, (x, y, found)
            learned.append(x)
        if question == "proba" and learned:
            assert_same_answer(
                result_of(lambda x=learned[-1]: list(mine.predict_proba_one(x).values())),
                result_of(lambda x=learned[-1]: theirs.predict_proba([x])[0]),
            )
        if question == "model" and learned:
            assert_same_model(mine, theirs, learned[-1:])
    assert hasattr(mine, "classes_") == hasattr(theirs, "classes_")
    if learned:
        assert_same_model(mine, theirs, learned[:5])


@pytest.mark.parametrize("model", COUNTERS, ids=repr)
@settings(deadline=None, max_examples=25)
@given(stream=ARRAYS)
def test_a_stream_of_numbers_is_learned_and_refused_as_by_partial_fit(model, stream):
    assert_learns_as_partial_fit(model, stream)


WORDS = st.lists(st.sampled_from(["cheap", "pills", "Lunch", "naïve", "at", "12"]), max_size=4)
DOCUMENTS = mostly(WORDS.map(" ".join), st.sampled_from(["", "\ud83d pills", "?!", "İΣ"]))


@pytest.mark.parametrize(
    "model",
    [
        TextClassifier(calibrate=None),
        TextClassifier(calibrate=None, event="bernoulli", unknown="smooth", alpha=1.0),
        TextClassifier(alpha=1.0),
        TextClassifier(calibrate=None, words=suffice.CountVectorizer(tokenizer=str.split)),
    ],
    ids=repr,
)
@settings(deadline=None, max_examples=25)
@given(
    stream=st.lists(
        st.tuples(DOCUMENTS, mostly(LABELS, ODD_LABELS), QUESTIONS), min_size=1, max_size=12
    )
)
def test_a_stream_of_documents_is_learned_and_refused_as_by_partial_fit(model, stream):
    assert_learns_as_partial_fit(model, stream)


LEVELS = mostly(st.sampled_from(["red", "blue", None]), st.sampled_from(["Zoë", "3", 4, "\ud83d"]))
TABLES = streams_of(
    {
        "size": mostly(st.floats(-3, 3), st.one_of(st.none(), ODD_NUMBERS)),
        "rooms": mostly(st.integers(0, 5), st.one_of(st.none(), ODD_NUMBERS)),
        "colour": LEVELS,
        "sold": mostly(st.booleans(), st.sampled_from([None, 1, 0.5, "yes"])),
    },
    size=25,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        GenerativeClassifier(search={"decide_at": (3, 6, 12)}),
        GenerativeClassifier(
            {"size": "normal", "rooms": "poisson", "colour": "categorical", "sold": "bernoulli"},
            missing="informative",
            search={"decide_at": (4, 9)},
        ),
        GenerativeClassifier({("colour", "rooms"): "joint"}, search={"decide_at": (4,)}),
    ],
    ids=repr,
)
@settings(deadline=None, max_examples=60)
@given(stream=TABLES)
def test_a_stream_of_tables_is_learned_and_refused_as_by_partial_fit(model, stream):
    assert_learns_as_partial_fit(model, stream)


# Models that have learned and let rows wait, and further rows.

RNG = np.random.default_rng(3)
Y = np.tile(["ham", "spam"], 40).tolist()
CELLS = RNG.poisson(2 + 3 * (np.array(Y) == "spam")[:, None], (80, 3)).clip(0, 9)
ROWS = [dict(zip("abc", row, strict=True)) for row in CELLS.tolist()]
TEXTS = [" ".join(["cheap", "pills", "lunch"][k % 3] for k in row) for row in CELLS.tolist()]
STREAMED = [
    *(clone(model) for model in COUNTERS[:-1]),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GenerativeClassifier(dict.fromkeys("abc", "normal"), search={"decide_at": (5, 20)}),
    TextClassifier(calibrate=None),
]


def rows_for(model):
    """Return rows that a model can learn."""
    if isinstance(model, TextClassifier):
        return TEXTS
    if isinstance(model, BernoulliNB):
        return [{name: cell % 2 for name, cell in row.items()} for row in ROWS]
    return ROWS


@pytest.fixture(params=STREAMED, ids=repr)
def pair(request):
    """Return a model with rows that wait, the same model by partial_fit, and all rows."""
    mine, theirs, rows = clone(request.param), clone(request.param), rows_for(request.param)
    for model in (mine, theirs):
        model.partial_fit(rows[:30], Y[:30])
    for x, y in zip(rows[30:60], Y[30:60], strict=True):
        mine.learn_one(x, y)
        theirs.partial_fit([x], y)
    return mine, theirs, rows


@pytest.mark.parametrize(
    "again",
    [
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.copy,
        copy.deepcopy,
        lambda model: 0 + model,
    ],
    ids=["pickle", "copy", "deepcopy", "sum"],
)
def test_a_copy_has_the_rows_that_wait_and_goes_its_own_way(pair, again):
    mine, theirs, rows = pair
    found = again(mine)
    assert_same_model(found, theirs, rows[:3])
    found.learn_one(rows[60], Y[60])
    mine.learn_one(rows[61], Y[61])
    assert found.tally_.weights.sum() == mine.tally_.weights.sum() == 61
    theirs.partial_fit([rows[61]], Y[61])
    assert_same_model(mine, theirs, rows[:3])


def test_a_saved_model_has_the_rows_that_wait(pair, tmp_path):
    mine, theirs, rows = pair
    mine.save(tmp_path / "model")
    assert_same_model(suffice.load(tmp_path / "model"), theirs.partial_fit(rows[:0], []), rows[:3])


def test_a_clone_has_learned_nothing(pair):
    mine, _, rows = pair
    fresh = clone(mine)
    assert fresh.predict_proba_one(rows[0]) == {}
    assert fresh.predict_one(rows[0]) is None
    with pytest.raises(NotFittedError):
        fresh.predict([rows[0]])


def test_merging_takes_the_rows_that_wait_of_both(pair):
    mine, theirs, rows = pair
    if isinstance(mine, GenerativeClassifier):
        families = mine.families_
        mine.set_params(families=families)
    other = clone(mine).partial_fit(rows[60:70], Y[60:70])
    other.learn_one(rows[70], Y[70])
    mine.merge(other)
    assert mine.tally_.weights.sum() == 71
    assert other.tally_.weights.sum() == 11
    expected = theirs.partial_fit(rows[60:71], Y[60:71]).tally_
    np.testing.assert_allclose(mine.tally_.weights, expected.weights)


def test_a_question_after_each_row_is_answered_by_all_rows_so_far(pair):
    mine, theirs, rows = pair
    for x, y in zip(rows[60:], Y[60:], strict=True):
        mine.learn_one(x, y)
        theirs.partial_fit([x], y)
        found = list(mine.predict_proba_one(x).values())
        np.testing.assert_allclose(found, theirs.predict_proba([x])[0], rtol=1e-9, atol=1e-12)
        assert mine.predict_one(rows[0]) == theirs.predict([rows[0]])[0]
    assert_same_model(mine, theirs, rows[:3])


def test_forget_one_unlearns_rows_that_wait_and_others(pair):
    mine, theirs, rows = pair
    for at in (59, 0, 58):
        assert mine.forget_one(rows[at], Y[at]) is mine
        theirs.forget([rows[at]], [Y[at]])
    mine.learn_one(rows[0], Y[0])
    theirs.partial_fit([rows[0]], Y[0])
    assert_same_model(mine, theirs, rows[:3])


def test_what_was_never_learned_is_not_forgotten(pair):
    mine, theirs, rows = pair
    strange = "unheard of" if isinstance(rows[0], str) else dict.fromkeys("abc", 1000)
    if isinstance(mine, BernoulliNB):
        strange = None
    with pytest.raises((DebtError, InputError)):
        mine.forget_one(strange, Y[0])
    assert_same_model(mine, theirs, rows[:3])


def test_answers_to_one_row_are_those_of_predict(pair):
    mine, _, rows = pair
    for x in rows[:10]:
        proba = mine.predict_proba_one(x)
        np.testing.assert_allclose(list(proba.values()), mine.predict_proba([x])[0], rtol=1e-11)
        assert list(proba) == mine.classes_.tolist()
        assert {type(label) for label in proba} == {str}
        best = mine.predict_one(x)
        assert best == mine.predict([x])[0]
        assert type(best) is str


BAD_CELLS = {
    "GaussianNB": ["x", float("inf")],
    "MultinomialNB": ["x", float("inf"), -1.0],
    "ComplementNB": ["x", float("inf"), -1.0],
    "BernoulliNB": ["x", float("inf")],
    "PoissonNB": ["x", float("inf"), -1.0],
    "CategoricalNB": ["x", float("inf"), -1.0, 1e9],
    "GenerativeClassifier": ["x", float("inf"), 1e200],
    "TextClassifier": [],
}


@pytest.mark.parametrize("column", "abc")
def test_a_bad_cell_is_refused_at_once_while_rows_wait(pair, column):
    mine, theirs, rows = pair
    for cell in BAD_CELLS.get(type(mine).__name__, ["x", float("inf")]):
        with pytest.raises(InputError):
            mine.learn_one({**rows[0], column: cell}, Y[0])
    for label in (1, None, 2.5):
        with pytest.raises(ValueError, match=r"."):
            mine.learn_one(rows[0], label)
    assert_same_model(mine, theirs, rows[:3])


def test_cells_that_a_family_does_not_take_are_refused_at_once():
    families = {"a": "poisson", "b": "lognormal", "c": "bernoulli"}
    rows = [{"a": k % 4, "b": 1.0 + k % 3, "c": "xy"[k % 2]} for k in range(40)]
    model = GenerativeClassifier(families, search={"decide_at": (5,)}).fit(rows, Y[:40])
    for at, cell in (("a", -1), ("a", 1.5), ("b", 0.0), ("b", -1), ("c", "z"), ("c", 3)):
        model.learn_one(rows[0], Y[0])
        with pytest.raises(InputError, match=repr(at)):
            model.learn_one({**rows[0], at: cell}, Y[0])
    assert model.tally_.weights.sum() == 46


def test_families_of_a_stream_are_decided_after_the_same_rows():
    mine, theirs = (GenerativeClassifier(search={"decide_at": (4, 9, 15)}) for _ in range(2))
    for x, y in zip(ROWS[:20], Y[:20], strict=True):
        mine.learn_one(x, y)
        theirs.partial_fit([x], y)
    assert mine.choices_.rows == theirs.choices_.rows == 15
    assert mine.families_.keys() == theirs.families_.keys()
    assert_same_model(mine, theirs, ROWS[:3])


def test_new_settings_hold_for_rows_given_after_them():
    mine, theirs = GaussianNB(), GaussianNB()
    for model, learn in (
        (mine, mine.learn_one),
        (theirs, lambda x, y: theirs.partial_fit([x], y)),
    ):
        for x, y in zip(ROWS[:20], Y[:20], strict=True):
            learn(x, y)
        model.set_params(var_smoothing=1.0)
    assert mine.epsilon_ == pytest.approx(theirs.epsilon_)
    assert mine.epsilon_ < 1e-6
    mine.learn_one(ROWS[20], Y[20])
    assert mine.epsilon_ == pytest.approx(theirs.partial_fit([ROWS[20]], Y[20]).epsilon_)
    mine.learn_one(ROWS[21], Y[21]).learn_one(ROWS[22], Y[22])
    mine.var_smoothing = -1.0
    with pytest.raises(ValueError, match="var_smoothing"):
        mine.learn_one(ROWS[23], Y[23])
    assert mine.class_count_.sum() == 23


def test_a_row_may_be_changed_after_it_was_learned():
    x, model = {"a": 1.0, "b": 2.0}, GaussianNB().partial_fit([{"a": 0, "b": 0}] * 2, [0, 1])
    for number in range(5):
        x["a"] = float(number)
        model.learn_one(x, 0)
    assert model.theta_[0, 0] == pytest.approx(10 / 6)


def test_rows_are_dicts_and_documents_strings():
    with pytest.raises(InputError, match=r"x is a list\. Give one row as a dict"):
        GaussianNB().learn_one([1.0, 2.0], 0)
    with pytest.raises(InputError, match=r"x is a list\. Give one document as a str"):
        TextClassifier().learn_one(["cheap pills"], "spam")
    model = GaussianNB().fit([{"a": 0.0}, {"a": 1.0}], [0, 1])
    with pytest.raises(InputError, match="x is a tuple"):
        model.predict_one((1.0,))
    with pytest.raises(InputError, match="x is a DataFrame"):
        model.forget_one(pd.DataFrame({"a": [0.0]}), 0)


def test_more_rows_than_may_wait_are_counted():
    model = CategoricalNB().partial_fit([{"a": 0, "b": 1}, {"a": 1, "b": 0}], [0, 1])
    rows = [{"a": k % 2, "b": k % 2} for k in range(2)]
    for k in range(60_000):
        model.learn_one(rows[k % 2], k % 2)
    assert model.class_count_.tolist() == [30_001, 30_001]


KINDS_OF_BLOCKS = {
    "size": "normal",
    "width": "normal:tied",
    "price": "lognormal",
    "height": "binned",
    "visits": "poisson",
    "rooms": "categorical",
    "sold": "bernoulli",
    "colour": "categorical",
    ("a", "b"): "mvn",
    ("c", "d"): "joint",
}


def mixed_row(rng):
    """Return a row of every kind of column, some cells missing."""
    row = {name: float(rng.normal()) for name in ("size", "width", "height", "a", "b")}
    row |= {"price": float(rng.lognormal()), "visits": int(rng.poisson(2))}
    row |= {"rooms": int(rng.integers(3)), "sold": bool(rng.integers(2))}
    row |= {name: "xyz"[rng.integers(3)] for name in ("colour", "c", "d")}
    return {name: None if rng.random() < 0.1 else cell for name, cell in row.items()}


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("seed", range(3))
def test_a_table_asked_after_each_row_has_learned_all_of_its_history(seed, estimate):
    rng = np.random.default_rng(seed)
    settings = {"estimate": estimate, "combine": ["naive", "residual", "blocks"][seed]}
    settings |= {"budget": 0, "search": {"decide_at": (50, 70)}}
    single = {name: one for name, one in KINDS_OF_BLOCKS.items() if type(name) is str}
    families = KINDS_OF_BLOCKS if seed == 2 else single
    mine, theirs = (GenerativeClassifier(families, **settings) for _ in range(2))
    rows = [mixed_row(rng) for _ in range(100)]
    labels = ["ham" if k % 3 else "spam" for k in range(100)]
    for model in (mine, theirs):
        model.partial_fit(rows[:55], labels[:55], classes=["eggs", "ham", "spam"])
    for at in range(55, 100):
        mine.learn_one(rows[at], labels[at])
        theirs.partial_fit([rows[at]], labels[at])
        what = rng.integers(12)
        if what == 0:
            mine.decay(0.9)
            theirs.decay(0.9)
        elif what == 1:
            new = {**rows[at], "colour": f"new {at}"}
            mine.learn_one(new, "ham")
            theirs.partial_fit([new], "ham")
        elif what == 2:
            mine.partial_fit(rows[:3], labels[:3])
            theirs.partial_fit(rows[:3], labels[:3])
        if what != 3:
            asked = rows[int(rng.integers(at))]
            found = list(mine.predict_proba_one(asked).values())
            expected = theirs.predict_proba([asked])[0]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert mine.tally_.allclose(theirs.tally_)
    assert mine.predict_one(rows[0]) == theirs.predict([rows[0]])[0]


def test_rows_that_a_model_keeps_are_those_of_all_rows_after_any_questions():
    mine, theirs = (GenerativeClassifier(dict.fromkeys("abc", "normal")) for _ in range(2))
    for model in (mine, theirs):
        model.partial_fit(ROWS[:30], Y[:30])
    for x, y in zip(ROWS[30:60], Y[30:60], strict=True):
        mine.learn_one(x, y).predict_proba_one(x)
        theirs.partial_fit([x], y)
    for model in (mine, theirs):
        model.refresh_weights()
    assert_same_model(mine, theirs, ROWS[:3])
    for model in (mine, theirs):
        model.forget_one(ROWS[59], Y[59])
    assert_same_model(mine, theirs, ROWS[:3])


def test_a_window_holds_the_last_rows_of_a_stream():
    model = GenerativeClassifier().window(10)
    for x, y in zip(ROWS[:40], Y[:40], strict=True):
        model.learn_one(x, y)
    assert model.tally_.weights.sum() == 10


@pytest.mark.parametrize("model", [GaussianNB(), GenerativeClassifier()], ids=repr)
def test_river_evaluates_a_model_progressively(model):
    evaluate = pytest.importorskip("river.evaluate")
    base, metrics = pytest.importorskip("river.base"), pytest.importorskip("river.metrics")
    base.Classifier.register(type(model))
    stream = list(zip(ROWS[:40], Y[:40], strict=True))
    for metric in (metrics.Accuracy(), metrics.LogLoss()):
        evaluate.progressive_val_score(stream, clone(model), metric)
        theirs, expected = clone(model), type(metric)()
        for x, y in stream:
            if hasattr(theirs, "classes_"):
                proba = dict(
                    zip(theirs.classes_.tolist(), theirs.predict_proba([x])[0], strict=True)
                )
                best = theirs.predict([x])[0]
                expected.update(y, best if expected.requires_labels else proba)
            theirs.partial_fit([x], y)
        assert metric.get() == pytest.approx(expected.get())
