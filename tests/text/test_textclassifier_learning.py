"""Learning in parts, forgetting, merging and pruning: the same as one fit, or nothing at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import CountVectorizer, TextClassifier
from suffice.errors import DebtError, InputError, MergeError, StaleCalibrationWarning
from textclassifier_cases import (
    EVENTS,
    LABELS,
    MAILS,
    WEIGHTS,
    corpus,
    event_cases,
    quietly,
    tally_by_name,
)

words = st.sampled_from(["to", "be", "or", "not", "that", "is", "été", "中文"])
pairs = st.lists(
    st.tuples(st.lists(words, min_size=1, max_size=5).map(" ".join), st.sampled_from("abc")),
    min_size=1,
    max_size=10,
)
settings = st.sampled_from(
    [
        {},
        {"event": "bernoulli"},
        {"event": "complement", "weighting": "tfidf"},
        {"unknown": "smooth", "ngrams": 2},
    ]
)
NEW = ["cheap lunch at noon", "quarterly pills", "never seen", ""]


def plain(**given):
    return TextClassifier(**{"alpha": 1.0, "calibrate": None} | given)


def assert_same(model, other):
    """Two models have learned the same, and answer the same."""
    mine, theirs = tally_by_name(model), tally_by_name(other)
    assert mine.keys() == theirs.keys()
    for label in mine:
        assert mine[label][0] == pytest.approx(theirs[label][0])
        for part, same in zip(mine[label][1], theirs[label][1], strict=True):
            assert part == pytest.approx(same)
    assert sorted(model.terms_) == sorted(other.terms_)
    np.testing.assert_allclose(model.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-9)


def assert_untouched(model, before):
    """A model has the same attributes, each of them the very same thing."""
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is thing for name, thing in before.items())


@pytest.mark.slow
@given(pairs, settings, st.lists(st.integers(1, 9), max_size=3))
def test_learning_in_any_parts_is_learning_all_at_once(learned, given, marks):
    documents, labels = [text for text, _ in learned], [label for _, label in learned]
    ends = [*sorted({mark for mark in marks if mark < len(learned)}), len(learned)]
    parts, start = plain(**given), 0
    for end in ends:
        quietly(lambda: parts.partial_fit(documents[start:end], labels[start:end]))  # noqa: B023
        start = end
    assert_same(parts, quietly(lambda: plain(**given).fit(documents, labels)))


@pytest.mark.slow
@given(pairs, pairs, settings)
def test_forgetting_equals_fitting_the_others(kept, gone, given):
    both = [*kept, *gone]
    model = plain(**given)
    quietly(lambda: model.fit([text for text, _ in both], [label for _, label in both]))
    quietly(lambda: model.forget([text for text, _ in gone], [label for _, label in gone]))
    rest = plain(**given)
    quietly(lambda: rest.fit([text for text, _ in kept], [label for _, label in kept]))
    assert_same(model, rest)


@pytest.mark.slow
@given(pairs, pairs, settings)
def test_merging_is_learning_what_both_learned(one, two, given):
    models = [plain(**given), plain(**given), plain(**given)]
    for model, learned in zip(models, (one, two, [*one, *two]), strict=True):
        documents, labels = [text for text, _ in learned], [label for _, label in learned]
        quietly(lambda: model.fit(documents, labels))  # noqa: B023
    first, second, whole = models
    before = tally_by_name(first), tally_by_name(second)
    assert_same(quietly(lambda: first + second), whole)
    assert (tally_by_name(first), tally_by_name(second)) == before
    assert_same(quietly(lambda: first.merge(second)), whole)
    assert tally_by_name(second) == before[1]


@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_weighted_documents_are_learned_and_forgotten_with_their_weights(event, unknown):
    model = plain(event=event, unknown=unknown).fit(MAILS, LABELS, WEIGHTS)
    model.forget(MAILS[4:6], LABELS[4:6], WEIGHTS[4:6])
    kept = [at for at in range(len(MAILS)) if at not in (4, 5)]
    rest = plain(event=event, unknown=unknown)
    rest.fit([MAILS[at] for at in kept], [LABELS[at] for at in kept], WEIGHTS[kept])
    assert_same(model, rest)


@pytest.mark.parametrize("event", EVENTS)
def test_a_weight_is_so_many_repeats_and_none_at_all_leaves_the_words_out(event):
    weights = [2, 1, 0, 1, 1, 3, 1, 1, 1, 1]
    mine = plain(event=event).fit(MAILS, LABELS, weights)
    documents = [text for text, n in zip(MAILS, weights, strict=True) for _ in range(n)]
    labels = [label for label, n in zip(LABELS, weights, strict=True) for _ in range(n)]
    assert_same(mine, plain(event=event).fit(documents, labels))
    assert "only" not in mine.terms_


def test_new_words_and_new_classes_come_to_be_known():
    model = plain().fit(MAILS, LABELS)
    model.partial_fit(["invoice overdue", "cheap invoice"], ["accounts", "spam"])
    assert model.classes_.tolist() == ["accounts", "ham", "spam", "work"]
    assert model.new_classes_.tolist() == ["accounts"]
    assert {"invoice", "overdue"} <= set(model.terms_)
    whole = plain().fit([*MAILS, "invoice overdue", "cheap invoice"], [*LABELS, "accounts", "spam"])
    assert_same(model, whole)


def test_classes_that_were_announced_are_all_there_ever_are():
    model = plain().partial_fit(MAILS[:4], LABELS[:4], classes=["ham", "spam", "work"])
    assert model.classes_.tolist() == ["ham", "spam", "work"]
    before = dict(vars(model))
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit(["invoice overdue"], ["accounts"])
    assert_untouched(model, before)
    model.partial_fit(MAILS[4:], LABELS[4:])
    assert_same(model, plain().fit(MAILS, LABELS))
    model.forget([MAILS[4], MAILS[5], MAILS[8]], ["work"] * 3)
    assert model.classes_.tolist() == ["ham", "spam", "work"]


def test_a_merged_model_is_open_to_new_classes_if_one_of_the_two_was():
    labels = sorted(set(LABELS))

    def learned(closed):
        return plain().partial_fit(MAILS, LABELS, classes=labels if closed else None)

    for mine, theirs in [(False, True), (True, False), (False, False)]:
        model = learned(mine).merge(learned(theirs))
        model.partial_fit(["toast and jam"], ["breakfast"])
        assert "breakfast" in model.classes_
    with pytest.raises(InputError, match="breakfast"):
        learned(True).merge(learned(True)).partial_fit(["toast and jam"], ["breakfast"])


def test_a_class_of_which_nothing_is_left_is_no_class_any_more():
    model = plain().fit(MAILS, LABELS)
    model.forget([MAILS[4], MAILS[5], MAILS[8]], ["work"] * 3)
    assert model.classes_.tolist() == ["ham", "spam"]
    assert "quarterly" not in model.terms_


@pytest.mark.parametrize(
    ("documents", "labels", "message"),
    [
        (["cheap unicorns"], ["spam"], "Document 0 has 1 terms that were never learned"),
        (["lunch at noon", "zzz yyy"], ["ham", "ham"], "Document 1 has 2 terms"),
        (["lunch lunch lunch lunch lunch lunch"], ["ham"], "The word 'lunch' was counted"),
        (["cheap pills cheap pills"], ["ham"], "The word 'cheap' was counted 0 times"),
        (["cheap pills"], ["nobody"], "nobody"),
    ],
)
def test_forgetting_what_was_never_learned_changes_nothing(documents, labels, message):
    model = TextClassifier().fit(MAILS, LABELS)
    before, answers = dict(vars(model)), model.predict_proba(NEW)
    with pytest.raises(DebtError, match=message):
        model.forget(documents, labels)
    assert_untouched(model, before)
    np.testing.assert_array_equal(model.predict_proba(NEW), answers)


def test_forgetting_everything_is_refused():
    model = plain().fit(MAILS, LABELS)
    with pytest.raises(InputError, match="would leave nothing learned"):
        model.forget(MAILS, LABELS)
    assert_same(model, plain().fit(MAILS, LABELS))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"event": "bernoulli"}, "event is 'multinomial' here and 'bernoulli' there"),
        ({"weighting": "tfidf"}, "weighting is None here and 'tfidf' there"),
        ({"ngrams": 2}, r"ngram_range is \(1, 1\) here and \(1, 2\) there"),
        ({"words": CountVectorizer(lowercase=False)}, "lowercase is True here and False there"),
        ({"words": CountVectorizer(vocabulary=["noon"])}, "vocabulary is None here and"),
    ],
)
def test_models_that_count_different_things_do_not_merge(setting, message):
    model, other = plain().fit(MAILS, LABELS), plain(**setting).fit(MAILS, LABELS)
    before = dict(vars(model))
    for act in (model.merge, model.__add__):
        with pytest.raises(MergeError, match=message):
            act(other)
    assert_untouched(model, before)


def test_a_model_of_another_class_does_not_merge():
    model = plain().fit(MAILS, LABELS)
    with pytest.raises(MergeError, match="Cannot merge CountVectorizer into TextClassifier"):
        model.merge(CountVectorizer().fit(MAILS))
    with pytest.raises(TypeError):
        model + 3


def test_text_labels_of_pandas_and_of_numpy_are_the_same_classes():
    one = plain().fit(MAILS[:5], np.array(LABELS[:5], object))
    two = plain().fit(MAILS[5:], np.array(LABELS[5:]))
    assert_same(one + two, plain().fit(MAILS, LABELS))


def test_pruning_forgets_rare_words_and_they_come_back_with_new_documents():
    model = plain().fit(MAILS, LABELS)
    counts = dict(zip(model.terms_, model.tally_.parts.counts.sum(axis=0), strict=True))
    model.prune(2)
    assert set(model.terms_) == {term for term, count in counts.items() if count >= 2}
    vocabulary = CountVectorizer(vocabulary=model.terms_.tolist())
    rest = plain(words=vocabulary).fit(MAILS, LABELS)
    np.testing.assert_allclose(model.predict_proba(NEW), rest.predict_proba(NEW), rtol=1e-9)
    model.partial_fit(["quarterly lunch"], ["work"])
    assert model.tally_.parts.counts[:, model.terms_ == "quarterly"].sum() == 1


def test_documents_with_pruned_words_can_be_forgotten():
    model = plain().fit(MAILS, LABELS).prune(2)
    model.forget([MAILS[4]], [LABELS[4]])
    assert model.tally_.weights.sum() == len(MAILS) - 1


def test_pruning_everything_is_refused():
    model = TextClassifier().fit(MAILS, LABELS)
    before = dict(vars(model))
    with pytest.raises(InputError, match="No term was learned 100 times or more"):
        model.prune(100)
    assert_untouched(model, before)


@pytest.mark.parametrize("change", ["partial_fit", "forget", "merge", "prune"])
def test_what_changes_the_tally_says_that_the_calibration_is_stale(change):
    documents, y = corpus(60, 2)
    model = TextClassifier().fit(documents, y)
    other = TextClassifier(calibrate=None).fit(documents[:20], y[:20])
    given = {
        "partial_fit": (documents[:5], y[:5]),
        "forget": (documents[:5], y[:5]),
        "merge": (other,),
        "prune": (2,),
    }[change]
    with pytest.warns(StaleCalibrationWarning, match="calibration is that of the rows learned"):
        getattr(model, change)(*given)
    assert model.calibration_stale_


def test_a_new_class_ends_the_calibration():
    documents, y = corpus(60, 2)
    model = TextClassifier().fit(documents, y)
    with pytest.warns(StaleCalibrationWarning, match="The classes have changed"):
        model.partial_fit(["invoice overdue"], ["accounts"])
    assert not hasattr(model, "calibration_")
    refitted = TextClassifier(calibrate=None).fit([*documents, "invoice overdue"], [*y, "accounts"])
    np.testing.assert_allclose(model.predict_proba(NEW), refitted.predict_proba(NEW), rtol=1e-9)


def test_refreshing_the_calibration_is_fitting_all_documents():
    documents, y = corpus(80, 3, seed=5)
    whole = TextClassifier().fit(documents, y)
    model = TextClassifier(calibrate=None).fit(documents[:30], y[:30])
    model.partial_fit(documents[30:], y[30:]).set_params(calibrate="loo")
    model.refresh_calibration(documents, y)
    assert model.calibration_.inverse_temperature == pytest.approx(
        whole.calibration_.inverse_temperature
    )
    np.testing.assert_allclose(model.predict_proba(NEW), whole.predict_proba(NEW), rtol=1e-7)


BAD = [
    (["lunch at noon", 3, "free pills"], ["ham", "spam", "ham"], "3"),
    (["lunch at noon", b"\xff\xfe", "free pills"], ["ham", "spam", "ham"], "decode|utf"),
    (["lunch at noon", "free pills"], ["ham", None], "None|missing|nan"),
    (["lunch at noon", "free pills"], ["ham", "spam", "ham"], "inconsistent numbers of samples"),
    (["lunch at noon", "free pills"], [1, 2], "different types"),
    ("lunch at noon", ["ham"], "string object received"),
    ([], [], "Found no documents"),
]
FINE = {True: ("different types",), False: ("string object received", "Found no documents")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "documents", "labels", "message"),
    [
        (change, *case)
        for change in ("fit", "partial_fit", "forget")
        for case in BAD
        # Labels of a fit are of any one type; what is learned on or forgotten may be one document,
        # and none change nothing.
        if case[-1] not in FINE[change == "fit"]
    ],
)
def test_what_cannot_be_learned_leaves_the_model_as_it_was(change, documents, labels, message):
    model = TextClassifier().fit(MAILS, LABELS)
    before, answers = dict(vars(model)), model.predict_proba(NEW)
    with pytest.raises(ValueError, match=message):
        getattr(model, change)(documents, labels)
    assert_untouched(model, before)
    np.testing.assert_array_equal(model.predict_proba(NEW), answers)
    assert_same(model, TextClassifier().fit(MAILS, LABELS))


def test_a_first_part_is_calibrated_as_a_fit_is():
    documents, y = corpus(80, 3, seed=5)
    weights = np.arange(80) % 4
    whole = TextClassifier().fit(documents, y, weights)
    first = TextClassifier().partial_fit(documents, y, sample_weight=weights)
    closed = TextClassifier()
    closed.partial_fit(
        documents, y, classes=["eggs", "ham", "spam", "toast"], sample_weight=weights
    )
    assert_same(first, whole)
    assert first.calibration_.inverse_temperature == pytest.approx(
        whole.calibration_.inverse_temperature
    )
    np.testing.assert_allclose(closed.predict_proba(NEW)[:, 3], 0.0, atol=1e-6)


def test_bad_weights_leave_the_model_as_it_was():
    model = TextClassifier().fit(MAILS, LABELS)
    before = dict(vars(model))
    for weights in ([1.0], [-1.0, 1.0], [np.nan, 1.0], [0.0, 0.0]):
        with pytest.raises(InputError):
            model.partial_fit(["new words here", "more"], ["ham", "spam"], sample_weight=weights)
    assert_untouched(model, before)
    assert "here" not in model.terms_
