"""Scoring as SQL answers as Python does, on PostgreSQL."""

from dataclasses import replace

import pytest

from scoring_cases import FAMILIES, Database, compare, compare_reasons, fitted, odd_rows
from suffice.sql import DIALECTS


@pytest.fixture
def database(postgresql_connection):
    return Database("postgresql", postgresql_connection)


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("case", FAMILIES)
def test_every_family_answers_as_in_python(database, case, estimate):
    model = fitted(case, "naive", estimate)
    found = compare(database, model, odd_rows(FAMILIES[case]))
    compare_reasons(model, odd_rows(FAMILIES[case]), found, [1, 40, 100])


def test_all_families_together_answer_as_in_python(database):
    model = fitted("everything", "auto", missing="informative")
    found = compare(database, model, odd_rows(dict(model.families_)))
    compare_reasons(model, odd_rows(dict(model.families_)), found, [1, 40, 100])


def test_stages_as_lateral_joins_answer_as_in_python(database, monkeypatch):
    # As databases have them that the tests do not run: MySQL, Snowflake, SQL Server.
    join = "CROSS JOIN LATERAL (SELECT {0} OFFSET 0) AS {1}"
    lateral = replace(DIALECTS["postgresql"], whole_row=None, array=None, lateral=join)
    monkeypatch.setitem(DIALECTS, "postgresql", lateral)
    model = fitted("everything", "residual", missing="informative")
    compare(database, model, odd_rows(dict(model.families_)), reasons=False)
