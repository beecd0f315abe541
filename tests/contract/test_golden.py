"""Every public estimator gives the stored results, to rounding."""

from functools import cache

import pytest

import suffice
from golden_cases import CASES, GROUPS, values
from golden_store import FOLDER, differences, read

stored = cache(read)
PACKAGES = ("tally", "prior", "naive_bayes", "discriminant_analysis", "gaussian", "linear_model")
PACKAGES += ("basis", "lab", "text", "table")
PUBLIC = set(suffice.__all__)


@pytest.mark.slow
@pytest.mark.parametrize(("group", "name"), CASES, ids=[name for _, name in CASES])
def test_the_results_of_a_case_have_not_changed(group, name):
    found = differences(name, stored(group)[name], values(group, name))
    assert not found, f"{len(found)} of its values changed:\n" + "\n".join(found[:20])


# Directions that are found by an optimiser differ by its tolerance from machine to machine; its own
# tests say what they must do.
OPTIMISED = {"LearnedHinge", "sample_complexity"}
PICTURES = {"plot_regions"}


def test_every_stored_case_is_tested():
    assert {path.stem for path in FOLDER.glob("*.npz")} == set(GROUPS)
    for group, cases in GROUPS.items():
        assert set(stored(group)) == set(cases)


def test_every_public_class_and_experiment_has_cases():
    names = {
        name for package in PACKAGES for name in getattr(suffice, package).__all__ if name in PUBLIC
    }
    message = " ".join(name for _, name in CASES).split()
    assert not sorted(names - set(message) - OPTIMISED - PICTURES)
