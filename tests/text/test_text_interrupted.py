"""Text estimators that are interrupted, or used while they learn: the old model or the new one."""

import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import suffice
from interruptions import count_lines, interrupt_at
from suffice import CountVectorizer, HashingVectorizer, TextClassifier
from textclassifier_cases import corpus

HOME = Path(suffice.__file__).parent
PLACES = {str(path) for room in ("text", "generative") for path in (HOME / room).rglob("*.py")} | {
    str(HOME / "validation" / "row_sample.py")
}
FIRST = ["cheap pills cheap", "lunch at noon", "cheap watches", "see you at lunch", "pills", "noon"]
FIRST_LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]
MORE, MORE_LABELS = ["quarterly report", "cheap lunch"], ["work", "ham"]
# Lines of each call that are tried, evenly spaced, with the last ones among them.
TRIED = 25

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


def fitted(**settings):
    return TextClassifier(**settings).fit(FIRST, FIRST_LABELS)


def other(**settings):
    return TextClassifier(**settings).fit(MORE, MORE_LABELS)


CHANGES = {
    "fit": lambda one: one.fit(MORE, MORE_LABELS),
    "fit of a stream": lambda one: one.fit(iter([(FIRST, FIRST_LABELS), (MORE, MORE_LABELS)])),
    "partial_fit": lambda one: one.partial_fit(MORE, MORE_LABELS),
    "forget": lambda one: one.forget(FIRST[:2], FIRST_LABELS[:2]),
    "merge": lambda one: one.merge(other(**one.get_params(deep=False))),
    "prune": lambda one: one.prune(2),
    "refresh_calibration": lambda one: one.refresh_calibration(),
}
SETTINGS = {
    "calibrated": {},
    "smooth": {"unknown": "smooth", "event": "polya"},
    "by Python": {"words": CountVectorizer(analyzer="char"), "calibrate": None},
}
CASES = [
    pytest.param(settings, change, id=f"{name} {way}")
    for way, settings in SETTINGS.items()
    for name, change in CHANGES.items()
    if settings.get("calibrate", "folds") or name != "refresh_calibration"
]


@pytest.fixture
def one_thread():
    """Let this thread do all the work: which lines run in others differs from call to call."""
    threads = suffice.get_threads()
    suffice.set_threads(1)
    yield
    suffice.set_threads(threads)


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "change"), CASES)
def test_a_classifier_that_is_interrupted_is_as_it_was(settings, change, one_thread):
    one = fitted(**settings)
    before = dict(vars(one))
    proba = one.predict_proba(FIRST)
    whole, changed = fitted(**settings), 0
    last = count_lines(lambda: change(whole), PLACES)
    for at in np.unique(np.linspace(1, last, TRIED).astype(int)).tolist():
        interrupt_at(lambda: change(one), PLACES, KeyboardInterrupt(), at)  # noqa: B023
        same = vars(one).keys() == before.keys() and all(
            vars(one)[name] is value for name, value in before.items()
        )
        if not same:  # nothing was left to do but to return
            changed += 1
            assert at > last - 5
            one = fitted(**settings)
            before = dict(vars(one))
    assert changed <= 1
    np.testing.assert_array_equal(one.predict_proba(FIRST), proba)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["calibrated", "smooth", "by Python"])
def test_predictions_while_another_thread_learns_are_those_of_a_whole_model(way):
    model = fitted(**SETTINGS[way])
    documents = [f"word{at} cheap {'pills' * (at % 3)} lunch own{at}" for at in range(60)]
    labels = ["spam" if at % 2 else "ham" for at in range(60)]
    steps = [fitted(**SETTINGS[way])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text, label in zip(documents, labels, strict=True):
            one = fitted(**SETTINGS[way]) if len(steps) == 1 else steps[-1]
            steps.append((0 + one).partial_fit([text], [label]))
        allowed = {one.predict_proba(FIRST).tobytes() for one in steps}
        answers, errors, done = set(), [], threading.Event()

        def read():
            try:
                while not done.is_set():
                    answers.add(model.predict_proba(FIRST).tobytes())
                    terms = model.terms_  # read once: the next time it may be another model's
                    assert len(terms) == len(set(terms))
            except BaseException as error:
                errors.append(error)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for thread in readers:
            thread.start()
        for text, label in zip(documents, labels, strict=True):
            model.partial_fit([text], [label])
        done.set()
        for thread in readers:
            thread.join()
    assert not errors
    assert answers
    assert answers <= allowed


TEXTS = ["ham and eggs and ham", "ham and späm", "ham"]
MORE_TEXTS = ["more späm", "and toast"]


def known(vectorizer):
    """Return all attributes and answers of a vectorizer."""
    if "_fitted" not in vars(vectorizer):
        return None
    answers = [
        vectorizer.get_feature_names_out().tolist(),
        vectorizer.transform(MORE_TEXTS).toarray(),
    ]
    if isinstance(vectorizer, CountVectorizer):
        answers += [vectorizer.term_counts_, vectorizer.document_counts_, vectorizer.n_documents_]
        answers += [vectorizer.vocabulary_]
    return str(answers)


def counter():
    return CountVectorizer().fit(TEXTS)


def hashing():
    return HashingVectorizer(n_features=8, norm=None).fit(TEXTS)


def characters():
    return CountVectorizer(analyzer="char", ngram_range=(1, 2)).fit(TEXTS)


VECTORIZER_CHANGES = {
    "prune": (counter, lambda one: one.prune(2)),
    "partial_fit": (counter, lambda one: one.partial_fit(iter([MORE_TEXTS, TEXTS]))),
    "partial_fit by Python": (characters, lambda one: one.partial_fit(MORE_TEXTS)),
    "first partial_fit": (CountVectorizer, lambda one: one.partial_fit(MORE_TEXTS)),
    "merge": (counter, lambda one: one.merge(CountVectorizer().fit(MORE_TEXTS))),
    "fit": (counter, lambda one: one.fit(MORE_TEXTS)),
    "fit_transform": (counter, lambda one: one.fit_transform(MORE_TEXTS)),
    "hashed fit": (hashing, lambda one: one.fit(MORE_TEXTS)),
    "hashed partial_fit": (hashing, lambda one: one.partial_fit(MORE_TEXTS)),
    "hashed fit_transform": (hashing, lambda one: one.fit_transform(MORE_TEXTS)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "change"), VECTORIZER_CHANGES.values(), ids=VECTORIZER_CHANGES.keys()
)
def test_a_vectorizer_that_is_interrupted_at_any_line_is_as_it_was_or_changed_as_a_whole(
    made, change
):
    whole = made()
    before = known(whole)
    change(whole)
    after, outcomes, at = known(whole), [], 1
    one = made()
    while interrupt_at(lambda: change(one), PLACES, KeyboardInterrupt(), at):  # noqa: B023
        outcomes.append(known(one))
        if outcomes[-1] != before:
            one = made()
        at += 1
    assert set(outcomes) <= {before, after}
    # It is changed only once there is nothing left to do but to leave.
    assert outcomes.count(before) > len(outcomes) - 5
    assert len(outcomes) > 5
    assert before != after


def test_a_failed_refresh_changes_nothing(monkeypatch):
    model = TextClassifier().fit(*corpus())
    before = dict(vars(model))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("suffice.text.classify.held_out.choose_discount", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.refresh_calibration()
    assert all(vars(model)[name] is value for name, value in before.items())
