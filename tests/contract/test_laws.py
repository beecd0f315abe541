"""The laws of `suffice.testing`, for every tally, prior and family of the library."""

import subprocess
import sys

import pytest

from law_cases import EVERY, PRIORS, ROW_FAMILIES, TABLE_FAMILIES, classes_of, tally_cases
from suffice.testing import check_family, check_prior, check_tally

TALLIES = tally_cases()


@pytest.mark.parametrize("parent", EVERY, ids=lambda parent: parent.__name__)
def test_every_class_of_the_library_has_a_case(parent):
    # Blocks side by side: each is a family of a table with a case of its own.
    without = classes_of(parent) - {case.kind for case in EVERY[parent].values()}
    without = {kind for kind in without if kind.__name__ != "IndependentBlocks"}
    assert not without, f"Add a case for {sorted(kind.__name__ for kind in without)}"


@pytest.mark.parametrize("case", TALLIES.values(), ids=TALLIES)
def test_a_tally_obeys_its_laws(case):
    check_tally(*case.arguments, **case.settings)


@pytest.mark.parametrize("case", PRIORS.values(), ids=PRIORS)
def test_a_prior_obeys_its_laws(case):
    check_prior(*case.arguments, **case.settings)


@pytest.mark.parametrize("case", ROW_FAMILIES.values(), ids=ROW_FAMILIES)
def test_distributions_of_rows_obey_their_laws(case):
    check_family(*case.arguments, **case.settings)


@pytest.mark.parametrize("case", TABLE_FAMILIES.values(), ids=TABLE_FAMILIES)
def test_a_family_of_columns_obeys_its_laws(case):
    check_family(*case.arguments, **case.settings)


@pytest.mark.parametrize("seed", [1, 2])
def test_other_random_numbers_obey_the_same_laws(seed):
    check_tally(*TALLIES["moments"].arguments, seed=seed, size=5)
    check_prior(*PRIORS["normal-inverse-gamma"].arguments, seed=seed, size=3)
    check_family(*TABLE_FAMILIES["normal"].arguments, seed=seed, size=12)


def test_the_laws_need_no_test_runner_and_no_scikit_learn():
    script = "import sys, suffice\nsuffice.testing.check_tally\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    heavy = {"hypothesis", "pandas", "pyarrow", "pytest", "sklearn"}
    assert not heavy & set(done.stdout.split())
