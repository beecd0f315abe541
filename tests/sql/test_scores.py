"""Scoring as SQL answers as Python does, on DuckDB and SQLite."""

import pytest

from scoring_cases import (
    FAMILIES,
    Database,
    compare,
    compare_reasons,
    fitted,
    odd_rows,
)

ENGINES = ["duckdb", "sqlite"]


@pytest.fixture(params=ENGINES)
def database(request):
    """Return one of the databases that need no server."""
    return Database(request.param, request.getfixturevalue(f"{request.param}_connection"))


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("case", FAMILIES)
def test_every_family_answers_as_in_python(database, case, estimate):
    model = fitted(case, "naive", estimate)
    found = compare(database, model, odd_rows(FAMILIES[case]))
    compare_reasons(model, odd_rows(FAMILIES[case]), found, [1, 40, 100])


@pytest.mark.parametrize("combine", ["temperature", "blocks", "residual", "auto"])
def test_every_combination_answers_as_in_python(database, combine):
    model = fitted("everything", combine, missing="informative")
    table = odd_rows(dict(model.families_))
    found = compare(database, model, table)
    compare_reasons(model, table, found, [1, 40, 100])
