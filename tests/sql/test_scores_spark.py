"""Scoring as SQL answers as Python does, on Spark."""

import pytest

from scoring_cases import FAMILIES, Database, compare, compare_reasons, fitted, odd_rows


@pytest.fixture
def database(spark):
    return Database("spark", spark)


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("case", FAMILIES)
def test_every_family_answers_as_in_python(database, case, estimate):
    compare(database, fitted(case, "naive", estimate), odd_rows(FAMILIES[case]), reasons=False)


def test_all_families_together_answer_as_in_python(database):
    model = fitted("everything", "auto", missing="informative")
    compare(database, model, odd_rows(dict(model.families_)), reasons=False)


@pytest.mark.slow
def test_reasons_are_those_of_python(database):
    model = fitted("everything", "auto", missing="informative")
    found = compare(database, model, odd_rows(dict(model.families_)))
    compare_reasons(model, odd_rows(dict(model.families_)), found, [1, 40, 100])
