"""Scores of held-out folds, against families that count the training rows alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from families.block_cases import BLOCKS, CLASSES, rows
from suffice.data import Rows, Table, table_hashes
from suffice.families import family_of
from suffice.validation import DistinctRows, Folds, assign_folds


def folds_of(table, codes, weights) -> tuple[Table, Folds]:
    """Return the distinct rows of a table in the order of their folds' rows, and the folds."""
    numbers = np.arange(len(table))[:, None]
    hashes = table_hashes(table.columns, len(table))
    folds = assign_folds(DistinctRows.of(Rows(numbers, codes, CLASSES, weights), hashes))
    return table.take(folds.rows.X[:, 0]), folds


def by_hand(family, read, table, folds) -> np.ndarray:
    """Weigh the training rows so that each class weighs what it does in the tally, row by row."""
    rows = folds.rows
    out = np.empty((len(rows.codes), CLASSES))
    seen = np.ones(len(table), bool)
    for name in family.columns:
        seen &= ~table[name].missing
    if family.name.startswith("lognormal"):
        seen &= table[family.column].values > 0
    whole = np.bincount(rows.codes, rows.row_weights * seen, CLASSES)
    for fold in range(folds.size):
        train = np.flatnonzero(folds.numbers != fold)
        test = np.flatnonzero(folds.numbers == fold)
        left = np.bincount(rows.codes[train], (rows.row_weights * seen)[train], CLASSES)
        factor = np.divide(whole, left, out=np.ones(CLASSES), where=left > 0)
        weights = rows.row_weights[train] * factor[rows.codes[train]]
        tally = family.count(table.take(train), rows.codes[train], CLASSES, weights)
        out[test] = read(tally).scores(table.take(test))
    return out


def both_ways(family, table, codes, weights, *, anew, complete=True):
    """Return the scores of held-out rows as the family has them, and by hand."""
    family = family.fit_settings(table, codes, CLASSES, weights)
    posterior = family.posterior(family.count(table, codes, CLASSES, weights))
    few, folds = folds_of(table, codes, weights)
    folds = replace(folds, complete=complete)
    read = posterior.refit_prior if anew else posterior.with_tally
    found = posterior.held_out_with(read, few, folds)
    return found, by_hand(family, family.posterior if anew else posterior.with_tally, few, folds)


@pytest.mark.slow
@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", list(BLOCKS))
def test_a_fold_is_scored_as_if_only_the_other_rows_had_been_counted(case, weighted, anew) -> None:
    table, codes = rows(size=90)
    rng = np.random.default_rng(1)
    weights = rng.lognormal(0, 2, 90) if weighted else np.empty(0)
    found, expected = both_ways(family_of(*BLOCKS[case]), table, codes, weights, anew=anew)
    # What all classes of a row have in common may be left out.
    found -= found[:, :1]
    expected -= expected[:, :1]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("case", list(BLOCKS))
def test_folds_of_some_of_the_rows_are_taken_off_the_tally_of_all(case) -> None:
    table, codes = rows(size=90)
    everyone = np.empty(0)
    family = family_of(*BLOCKS[case]).fit_settings(table, codes, CLASSES, everyone)
    tally = family.count(table, codes, CLASSES, everyone)
    posterior = family.posterior(tally)
    few, some = folds_of(table.take(np.arange(30)), codes[:30], everyone)
    some = replace(some, complete=False)
    found = posterior.held_out_with(posterior.with_tally, few, some)
    for fold, members in enumerate(some.members):
        if not members.size:
            continue
        hashes = table_hashes(few.columns, 30)
        taken = np.isin(table_hashes(table.columns, 90), hashes[members])
        rest = np.flatnonzero(~taken)
        assert taken.sum() == len(members)
        counted = family.count(table.take(rest), codes[rest], CLASSES, everyone)
        training = family.with_weight_of(counted, tally)
        expected = posterior.with_tally(training).scores(few.take(members))
        odds = found[members] - found[members][:, :1]
        np.testing.assert_allclose(odds, expected - expected[:, :1], rtol=1e-8, atol=1e-8)
        assert fold < some.size


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("name", ["mvn", "mvn:tied"])
@pytest.mark.parametrize("width", [3, 12])
def test_a_column_that_varies_in_one_row_alone_varies_no_more_without_it(name, width, anew) -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, CLASSES, 120).astype(np.int32)
    X = np.zeros((120, width))
    X[:, 0] = rng.normal(size=120) + codes
    for at in range(1, width):  # one row each, of digits that do not cancel
        X[10 * at, at] = rng.random() / 3
    table = Table.of(X)
    family = family_of(name, table.names)
    found, expected = both_ways(family, table, codes, np.empty(0), anew=anew)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("name", ["mvn", "mvn:tied"])
@pytest.mark.parametrize("width", [3, 12])
def test_a_row_far_out_takes_no_digits_of_the_others_with_it(name, width, anew, complete) -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, CLASSES, 150).astype(np.int32)
    X = rng.normal(size=(150, width)) + codes[:, None]
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    X[7, :2] = 3e8, 2.1e8
    table = Table.of(X)
    family, none = family_of(name, table.names), np.empty(0)
    found, expected = both_ways(family, table, codes, none, anew=anew, complete=complete)
    assert np.isfinite(found).all()
    if complete:
        odds = found - found[:, :1]
        np.testing.assert_allclose(odds, expected - expected[:, :1], rtol=1e-5, atol=1e-5)
