"""What was fitted is one frozen value: interruptions change nothing, readers see whole models."""

import threading
import warnings
from copy import copy
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

import suffice
from classifier_cases import mixed
from interruptions import count_lines, interrupt_at
from suffice import GenerativeClassifier
from suffice.table import SearchSettings
from suffice.tally import Groups

SOURCE = Path(suffice.__file__).parent
# What changes a model, or what it stands on, up to where rows are counted and fitted.
FOLDERS = ("table", "generative")
FILES = {str(path) for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")}
# Lines at which a call is interrupted: so many at equal distances, and the last ones all.
SAMPLED, LAST = 25, 15

FRAME, LABELS = mixed(60)
FRAME = FRAME[["weight", "city"]]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fitted(**settings):
    return GenerativeClassifier(budget=2, **settings).fit(FRAME[:40], LABELS[:40])


def stream():
    return GenerativeClassifier(budget=0).partial_fit(FRAME[:40], LABELS[:40])


def windowed():
    return GenerativeClassifier(budget=0).window(45).partial_fit(FRAME[:40], LABELS[:40])


def merge(model):
    other = GenerativeClassifier(model.families_).fit(FRAME[40:], LABELS[40:])
    return lambda one: one.merge(other)


ROWS = FRAME[40:].assign(city="Cairo"), LABELS[40:]
CHANGES = {
    "fit": (GenerativeClassifier, lambda model: lambda one: one.fit(FRAME, LABELS)),
    "fit again": (fitted, lambda model: lambda one: one.fit(FRAME, LABELS)),
    "partial_fit": (fitted, lambda model: lambda one: one.partial_fit(*ROWS)),
    "partial_fit first": (stream, lambda model: lambda one: one.partial_fit(*ROWS)),
    "partial_fit window": (windowed, lambda model: lambda one: one.partial_fit(*ROWS)),
    "forget": (fitted, lambda model: lambda one: one.forget(FRAME[:9], LABELS[:9])),
    "merge": (fitted, merge),
    "decay": (fitted, lambda model: lambda one: one.decay(0.5)),
    "refresh_weights": (fitted, lambda model: lambda one: one.refresh_weights()),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CHANGES)
def test_an_interruption_at_any_line_leaves_the_model_as_it_was(case):
    make, changing = CHANGES[case]
    model = make()
    change = changing(model)
    whole = copy(model)  # which runs lines of these files too
    lines = count_lines(lambda: change(whole), FILES)
    at = {*np.linspace(1, lines, SAMPLED).astype(int).tolist(), *range(lines - LAST, lines)}
    for line in sorted(at):
        one = copy(model)
        before = dict(vars(one))
        interrupt_at(lambda: change(one), FILES, KeyboardInterrupt(), line)  # noqa: B023
        assert vars(one).keys() == before.keys(), line
        assert all(vars(one)[name] is value for name, value in before.items()), line


def test_predictions_beside_a_thread_that_learns_are_those_of_a_whole_model():
    """Every answer is that of one of the models there were, and none of half of one."""
    steps = [(FRAME[at : at + 4], LABELS[at : at + 4]) for at in range(40, 60, 4)]
    model, known = fitted(), []
    one = copy(model)
    for step in [None, *steps, *reversed(steps)]:
        if step is not None:
            # Learned on the way there, forgotten on the way back.
            there = len(known) <= len(steps)
            (one.partial_fit if there else one.forget)(*step)
        known.append((len(one.classes_), one.predict_proba(FRAME[:5])))
    found, wrong, learning = [], [], threading.Event()

    def ask():
        while not learning.is_set():
            try:
                found.append(model.predict_proba(FRAME[:5]))
                model.weights_, model.choices_, model.residual_coefficients_  # noqa: B018
            except BaseException as error:  # what a thread raises is seen nowhere else
                wrong.append(error)
                return

    readers = [threading.Thread(target=ask) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(3):
        for step in steps:
            model.partial_fit(*step)
        for step in reversed(steps):
            model.forget(*step)
    learning.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert len(found) > 10
    for answer in found:
        assert any(
            answer.shape == proba.shape and np.allclose(answer, proba, rtol=1e-6)
            for _, proba in known
        )


def test_what_was_fitted_is_frozen():
    model = fitted()
    with pytest.raises(FrozenInstanceError):
        model._fitted.weights_stale = True
    with pytest.raises(AttributeError):
        model.classes_ = np.array(["x"])


@pytest.mark.parametrize(
    "name",
    [
        *(
            "classes_",
            "tally_",
            "schema_",
            "missing_columns_",
            "blocks_",
            "posteriors_",
            "choices_",
        ),
        *("combination_", "features_", "weights_stale_", "frame_kind_", "families_", "weights_"),
        *("residual_coefficients_", "new_classes_", "n_features_in_", "log_evidence_"),
    ],
)
def test_before_a_fit_there_is_no_attribute(name):
    with pytest.raises(AttributeError):
        getattr(GenerativeClassifier(), name)
    assert hasattr(fitted(), name)


def test_counters_are_compared_by_what_they_count():
    model = fitted()
    counter = model._fitted.counter
    second = GenerativeClassifier(model.families_).fit(FRAME[:40], LABELS[:40])._fitted.counter
    assert counter == second
    assert hash(counter) == hash(second)
    assert counter != replace(counter, blocks=counter.blocks[:1])
    wider, rows = counter.grow(FRAME[:1].assign(city="Cairo"))
    assert wider != counter
    assert wider.schema["city"].levels == (*counter.schema["city"].levels, "Cairo")
    assert rows.table["city"].values.tolist() == [len(counter.schema["city"].levels)]
    assert str(counter) == str(wider)
    assert "of city" in str(counter)


def test_a_counter_grows_shrinks_and_merges_by_the_names_of_levels():
    model = fitted()
    counter = model._fitted.counter
    batch = model._batch(
        FRAME[40:42].assign(city="Cairo"), LABELS[40:42], None, before=model._fitted
    )
    groups = Groups(batch.classes, *batch.counter.count(batch.rows))
    small = batch.counter.shrink(groups)
    assert small.schema["city"].levels == ("Cairo",)
    merged, tally = counter.merge(small, batch.counter.trim(groups, groups))
    assert merged.schema["city"].levels == batch.counter.schema["city"].levels
    assert tally.allclose(groups)


def test_the_settings_of_the_search_are_documented_one_by_one():
    text = SearchSettings.__doc__
    for name in SearchSettings.__dataclass_fields__:
        assert f" {name} " in text or f" {name}," in text or f", {name}" in text, name
