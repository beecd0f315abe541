"""One change to the file of any model: it is refused, or the model answers every call."""

import copy
import random
import warnings
import zlib

import numpy as np
import pytest
from sklearn.base import clone

import suffice
from classifier_cases import mixed
from saved_cases import (
    CLASSIFIERS,
    COUNTS,
    EXPANSIONS,
    LOGISTIC,
    NAMES,
    NUMBERS,
    REGRESSIONS,
    SELECTIONS,
    TARGET,
    public_estimators,
    put_together,
    taken_apart,
    tensor,
)
from suffice import (
    CountVectorizer,
    GenerativeClassifier,
    ModelFileError,
    SufficeError,
    TextClassifier,
)
from textclassifier_cases import EVENTS, LABELS, MAILS

pytestmark = pytest.mark.hostile

# Changes of each kind to a model's file.
CHANGES = 12


FRAME, Y = mixed(n=120)
FRAME["note"] = np.where(Y == "a", "late and rude", "kind and quick")
FAMILIES = {
    "weight": "binned",
    "noise": "student",
    "children": "categorical",
    "income": "lognormal",
    ("city", "member"): "joint",
    "note": "text",
}
TABLES = {
    "families": GenerativeClassifier(FAMILIES, budget=0),
    "covariances": GenerativeClassifier({("weight", "income"): "mvn", "noise": "normal"}, budget=0),
    "tied": GenerativeClassifier(
        {("weight", "noise"): "mvn:tied", "children": "poisson"}, budget=0
    ),
    "missing": GenerativeClassifier(missing="informative", budget=0),
    "residual": GenerativeClassifier(combine="residual", budget=0),
    "plain": GenerativeClassifier(combine="naive", estimate="mean", budget=0),
}
TEXTS = {
    **{event: TextClassifier(event=event) for event in EVENTS},
    "smooth": TextClassifier(unknown="smooth", ngrams=2, calibrate=None, alpha=0.5),
    "tfidf": TextClassifier(weighting="tfidf", event="complement", ngrams=(1, 2)),
    "refined": TextClassifier(refine="logistic"),
    "letters": TextClassifier(words=CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))),
    "given": TextClassifier(
        words=CountVectorizer(vocabulary={"lunch": 0, "cheap": 1}, stop_words=["noon"]),
        class_prior=[0.2, 0.3, 0.5],
    ),
}
VECTORIZERS = {
    "words": CountVectorizer(stop_words=["noon"], dtype=np.int32),
    "runs": CountVectorizer(ngram_range=(1, 2), binary=True),
    "letters": CountVectorizer(analyzer="char", strip_accents="unicode"),
    "given": CountVectorizer(vocabulary=["noon", "lunch"]),
}


# Every model by name: unfitted, with rows and labels.
CASES = {
    **{name: (model, rows, NAMES) for name, (model, rows) in CLASSIFIERS.items()},
    **{name: (model, NUMBERS, target) for name, (model, target) in REGRESSIONS.items()},
    **{name: (model, COUNTS, NAMES) for name, model in LOGISTIC.items()},
    **{name: (model, NUMBERS, TARGET) for name, model in EXPANSIONS.items()},
    **{name: (model, NUMBERS, NAMES) for name, model in SELECTIONS.items()},
    **{f"TextClassifier {name}": (model, MAILS, LABELS) for name, model in TEXTS.items()},
    **{f"CountVectorizer {name}": (model, MAILS, None) for name, model in VECTORIZERS.items()},
    **{f"GenerativeClassifier {name}": (model, FRAME, Y) for name, model in TABLES.items()},
}
CASES["Levels"] = (EXPANSIONS["Levels"], COUNTS, None)


def fitted(name):
    """Return a model, and rows and labels to call it with."""
    model, rows, labels = CASES[name]
    few = None if labels is None else labels[:5]
    return clone(model).fit(rows, labels), rows[:5], few


# Changes.

NAN, INF = ({"is": "float", "text": text} for text in ("nan", "inf"))
ODD = [
    None,
    True,
    False,
    -1,
    0,
    1,
    3,
    10**12,
    1.5,
    -1e308,
    1e308,
    1e-320,
    NAN,
    INF,
    "",
    "x",
    "evidence",
    "auto",
    [],
    [1],
    {},
    {"is": "tuple", "items": []},
    {"is": "tuple", "items": ["a"]},
    {"is": "dict", "items": []},
]
WIDTHS = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "U8": "u1",
    "BOOL": "?",
    "U32": "<u4",
}


def places(node, at=()):
    """Yield the way to every value in a document."""
    if isinstance(node, dict | list):
        for name in node if isinstance(node, dict) else range(len(node)):
            yield (*at, name)
            yield from places(node[name], (*at, name))


def with_value(document, way, value):
    """Return a document with one value changed."""
    changed = copy.deepcopy(document)
    within = changed
    for name in way[:-1]:
        within = within[name]
    within[way[-1]] = copy.deepcopy(value)
    return changed


def without_value(document, way):
    changed = copy.deepcopy(document)
    within = changed
    for name in way[:-1]:
        within = within[name]
    del within[way[-1]]
    return changed


def other_tensors(kind, shape, data):
    """Yield what a tensor may be changed to: one number, the shape or the type."""
    array = np.frombuffer(data, WIDTHS[kind]).reshape(shape)
    if kind in ("F64", "F32"):
        values = [np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e308, -1e308, 1e-320, 1e30]
    elif kind == "BOOL":
        values = [True, False]
    elif kind in ("U8", "U32"):
        values = [0, 1, 32, 255]
    else:
        values = [-(2**31), -1, 0, 1, 2**31 - 1, 2**63 - 1 if kind == "I64" else 7]
    for value in values:
        for at in sorted({0, array.size // 2, array.size - 1}) if array.size else []:
            changed = array.copy()
            changed.reshape(-1)[at] = value
            yield f"{value} at {at}", changed
        yield f"all {value}", np.full_like(array, value)
    yield "turned", array.T.copy()
    yield "reversed", array.reshape(-1)[::-1].reshape(shape).copy()
    yield "an axis more", array[None].copy()
    yield "flat", array.reshape(-1).copy()
    for axis in range(array.ndim):
        yield f"one fewer of axis {axis}", np.delete(array, 0, axis) if array.shape[axis] else array
        yield f"none of axis {axis}", array.take([], axis)
        yield f"twice along axis {axis}", np.concatenate([array, array], axis)
    for dtype in (np.float32, np.int64, np.bool_, np.uint8, np.float64):
        if dtype != array.dtype:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield f"as {np.dtype(dtype).name}", array.astype(dtype)


# Questions.

ASKED = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "score_samples",
    "decision_function",
    "decide",
    "transform",
    "impute",
    "predictive",
)
PROBABILITIES = ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples")


def calls(model, rows, labels):
    """Yield the name of every call that a model answers, and the call."""
    columns = getattr(model, "n_features_in_", None)
    if isinstance(rows, np.ndarray) and columns != rows.shape[1]:
        rows = np.zeros((len(rows), columns))
    for name in ASKED:
        if hasattr(type(model), name):
            yield name, lambda name=name: getattr(model, name)(rows)
    for name in ("get_feature_names_out", "summary", "to_logistic", "get_support"):
        if hasattr(type(model), name):
            yield name, lambda name=name: getattr(model, name)()
    for name in (
        "log_evidence_",
        "n_parameters_",
        "posterior_",
        "vocabulary_",
        "residual_coefficients_",
    ):
        if hasattr(type(model), name):
            yield name, lambda name=name: getattr(model, name)
    yield "str", lambda: [str(model), str(getattr(model, "choices_", ""))]
    if hasattr(model, "sample"):
        yield "sample", lambda: model.sample(3, random_state=0)
    if hasattr(model, "explain"):
        one = rows[0] if isinstance(rows, list) else rows[:1]
        yield "explain", lambda: str(model.explain(one))
    more = () if labels is None else (labels,)
    if hasattr(model, "partial_fit"):
        yield "partial_fit", lambda: copy.deepcopy(model).partial_fit(rows, *more)
    if hasattr(model, "forget"):
        yield "forget", lambda: copy.deepcopy(model).partial_fit(rows, *more).forget(rows, *more)
    if hasattr(model, "merge"):
        yield "merge", lambda: copy.deepcopy(model).merge(model)
    if hasattr(model, "prune"):
        yield "prune", lambda: copy.deepcopy(model).prune(2)


def odd_answer(name, answer):
    """Say what is wrong with an answer, or None."""
    if name not in PROBABILITIES:
        return None
    numbers = np.asarray(answer)
    if np.isnan(numbers).any():
        return "NaN"
    if name == "predict_proba" and not np.allclose(numbers.sum(axis=1), 1.0, atol=1e-6):
        return "sum"
    return None


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_every_estimator_that_can_be_saved_is_among_them():
    kinds = {kind for kind in public_estimators() if hasattr(kind, "save")}
    assert kinds == {type(model) for model, *_ in CASES.values()}


def changed(dice, document, tensors):
    """Yield changed files, each with what was changed."""
    ways = [way for way in places(document) if way[0] != "provenance"]
    for _ in range(CHANGES):
        way, odd = dice.choice(ways), dice.choice(ODD)
        yield f"{way} is {odd!r}", with_value(document, way, odd), tensors
    for _ in range(CHANGES):
        name = dice.choice(sorted(tensors)) if tensors else None
        if name is not None:
            what, array = dice.choice(list(other_tensors(*tensors[name])))
            yield f"{name} {what}", document, {**tensors, name: tensor(array)}


def complaint(path, rows):
    """Return what is wrong with a file that was loaded, or None."""
    try:
        model = suffice.load(path)
    except ModelFileError:
        return None
    for name, call in calls(model, *rows):
        try:
            odd = odd_answer(name, call())
        except (SufficeError, NotImplementedError):  # the other one is scikit-learn's
            continue
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        if odd is not None:
            return f"{name}: {odd}"
    return None


@pytest.mark.parametrize("name", CASES)
def test_a_file_with_one_change_is_refused_or_its_model_answers(name, tmp_path):
    path = tmp_path / "model"
    model, *rows = fitted(name)
    model.save(path)
    assert complaint(path, rows) is None
    whole = taken_apart(path.read_bytes())
    dice = random.Random(zlib.crc32(name.encode()))
    complaints = {}
    for what, document, tensors in changed(dice, *whole):
        path.write_bytes(put_together(document, tensors))
        found = complaint(path, rows)
        if found is not None:
            complaints[what] = found
    assert not complaints
