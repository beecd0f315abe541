"""Every public estimator gives what it gave when its values were stored, to rounding."""

from functools import cache

import pytest

from golden_cases import CASES, GROUPS, values
from golden_store import FOLDER, differences, read

stored = cache(read)


@pytest.mark.parametrize(("group", "name"), CASES, ids=[name for _, name in CASES])
def test_what_a_case_gives_has_not_changed(group, name):
    found = differences(name, stored(group)[name], values(group, name))
    assert not found, f"{len(found)} of its values changed:\n" + "\n".join(found[:20])


def test_every_stored_case_is_still_asked():
    assert {path.stem for path in FOLDER.glob("*.npz")} == set(GROUPS)
    for group, cases in GROUPS.items():
        assert set(stored(group)) == set(cases)
