"""Counting in Spark, against what the families count of the same rows."""

import pytest

from sql_counting_cases import FAMILIES, Case, Engine, count_rows, shop
from suffice.errors import InputError


@pytest.fixture
def engine(spark):
    return Engine("spark", spark)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_family_is_counted_as_from_rows(engine, weight):
    case = Case(shop(), FAMILIES, weight=weight)
    case.check(case.count(engine))
    assert len(engine.queries) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "cell", "said"),
    [
        ("normal", float("inf"), "Column 'x' holds inf. Replace it"),
        ("normal", -1e200, "Column 'x' holds -1e.200, and squares of such numbers"),
        ("lognormal", 0.0, "Column 'x' holds 0, and a 'lognormal' is of numbers above 0"),
        ("poisson", 1.5, "Column 'x' holds 1.5, which is no number of events"),
        ("categorical", float("-inf"), "Column 'x' holds -inf. Replace it"),
    ],
)
def test_numbers_that_cannot_be_learned_are_refused(engine, family, cell, said):
    columns = {"kind": ("VARCHAR", ["a", "b"]), "x": ("DOUBLE", [1.0, cell])}
    with pytest.raises(InputError, match=said):
        count_rows(engine, columns, [(family, ("x",), {})], {"x": [1.5]})
