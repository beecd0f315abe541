"""Laws that blocks of every family obey."""

from __future__ import annotations

import numpy as np
import pytest

from families.block_cases import BLOCKS, CLASSES, EVERYONE, learned, rows, seen_of
from suffice.families import family_of

EVERY = pytest.mark.parametrize("case", BLOCKS)
# The evidence of a "student" is a bound; test_student.py holds it against quadrature.
EXACT = pytest.mark.parametrize("case", [case for case in BLOCKS if case != "student"])


def heavy(case: str) -> np.ndarray:
    """Return weights, some of them 0 and some fractions."""
    return np.random.default_rng(len(case)).choice([0.0, 0.5, 1.0, 2.0, 3.25], 60)


@EXACT
def test_the_evidence_is_the_product_of_one_step_predictives(case: str) -> None:
    block = learned(case)
    order = np.random.default_rng(1).permutation(np.flatnonzero(seen_of(block.table, block.family)))
    total = 0.0
    for at, row in enumerate(order):
        before = block.reading.with_tally(block.count(order[:at]))
        total += before.scores(block.table.take([row]))[0, block.codes[row]]
    assert block.reading.log_evidence == pytest.approx(total, rel=1e-9)


@EVERY
def test_a_weight_is_a_number_of_repeats(case: str) -> None:
    weights = np.random.default_rng(2).integers(0, 3, 60).astype(np.float64)
    block = learned(case, weights)
    repeats = np.repeat(np.arange(60), weights.astype(int))
    again = block.family.count(block.table.take(repeats), block.codes[repeats], CLASSES, EVERYONE)
    assert block.tally.allclose(again)
    assert block.reading.log_evidence == pytest.approx(block.family.posterior(again).log_evidence)
    assert block.reading.weight == pytest.approx(weights[seen_of(block.table, block.family)].sum())


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_scores_are_those_without_the_row(case: str, weighted: bool) -> None:
    block = learned(case, heavy(case) if weighted else EVERYONE)
    found = block.reading.leave_one_out(block.table, block.codes, block.weights)
    expected = np.empty_like(found)
    for row in range(60):
        rest = block.reading.with_tally(block.count(np.delete(np.arange(60), row)))
        expected[row] = rest.scores(block.table.take([row]))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@EVERY
def test_tallies_of_parts_add_up_and_subtract(case: str) -> None:
    block = learned(case)
    first, second = np.arange(23), np.arange(23, 60)
    assert (block.count(first) + block.count(second)).allclose(block.tally)
    assert (block.tally - block.count(second)).allclose(block.count(first), 1e-7)
    doubled = block.count(np.repeat(np.arange(60), 2))
    assert block.tally.scale(2.0).allclose(doubled)


@EVERY
def test_gaps_have_a_score_of_nothing(case: str) -> None:
    block = learned(case)
    hidden = np.all([block.table[name].missing for name in block.family.columns], axis=0)
    scores = block.reading.scores(block.table)
    if len(block.family.columns) == 1:
        assert hidden.any()
    assert np.all(scores[hidden] == 0.0)
    assert np.all(block.reading.leave_one_out(block.table, block.codes, EVERYONE)[hidden] == 0.0)
    assert np.all(np.isfinite(scores))


@EVERY
def test_what_the_columns_add_are_the_odds(case: str) -> None:
    block = learned(case)
    parts, odds = block.reading.split(block.table), block.reading.relative_scores(block.table)
    assert parts.shape == (60, CLASSES, len(block.family.columns))
    np.testing.assert_allclose(parts.sum(axis=2), odds, atol=1e-9)
    common = block.reading.scores(block.table) - odds
    np.testing.assert_allclose(common, np.repeat(common[:, :1], CLASSES, axis=1), atol=1e-9)
    for at, name in enumerate(block.family.columns):
        assert np.all(parts[block.table[name].missing, :, at] == 0.0)


@EVERY
def test_a_family_is_made_again_from_its_settings(case: str) -> None:
    block = learned(case)
    again = family_of(block.family.name, block.family.columns, **block.family.settings)
    tally = again.count(block.table, block.codes, CLASSES, EVERYONE)
    assert tally.allclose(block.tally, 0.0)
    assert again.posterior(tally).log_evidence == block.reading.log_evidence


@EVERY
def test_reading_needs_nothing_but_the_tally(case: str) -> None:
    block = learned(case)
    parts = [block.count(part) for part in np.array_split(np.arange(60), 4)]
    total = parts[2] + parts[0] + (parts[3] + parts[1])
    scores = block.family.posterior(total).scores(block.table)
    np.testing.assert_allclose(scores, block.reading.scores(block.table), rtol=1e-9, atol=1e-9)


@EVERY
def test_filled_columns_keep_what_was_seen(case: str) -> None:
    block = learned(case)
    log_proba = np.log(np.random.default_rng(3).dirichlet(np.ones(CLASSES), 60))
    for rng in (None, np.random.default_rng(4)):
        filled = block.reading.impute(block.table, log_proba, rng)
        assert set(filled) == set(block.family.columns)
        for name, values in filled.items():
            column = block.table[name]
            np.testing.assert_array_equal(values[~column.missing], column.values[~column.missing])
            assert values.dtype == column.values.dtype
            assert np.all(values != -1) if column.kind == "category" else np.isfinite(values).all()


@EVERY
def test_samples_are_columns_of_the_table(case: str) -> None:
    block = learned(case)
    codes = np.array([0, 1, 2, 1], np.int32)
    drawn = block.reading.sample(codes, np.random.default_rng(5))
    again = block.reading.sample(codes, np.random.default_rng(5))
    for name in block.family.columns:
        assert drawn[name].shape == (4,)
        assert drawn[name].dtype == block.table[name].values.dtype
        np.testing.assert_array_equal(drawn[name], again[name])


@EVERY
@pytest.mark.parametrize("size", [1, 2])
def test_one_or_two_rows_are_enough(case: str, size: int) -> None:
    table, codes = rows(7)
    family = family_of(*BLOCKS[case])
    some = np.flatnonzero(seen_of(table, family))[: size + 1]
    family = family.fit_settings(table.take(some), codes[some], CLASSES, EVERYONE)
    few = some[:size]
    posterior = family.posterior(family.count(table.take(few), codes[few], CLASSES, EVERYONE))
    assert np.isfinite(posterior.log_evidence)
    assert np.isfinite(posterior.scores(table.take(some))).all()
    assert np.isfinite(posterior.leave_one_out(table.take(few), codes[few], EVERYONE)).all()


@EVERY
def test_rows_without_weight_teach_nothing(case: str) -> None:
    table, codes = rows(8)
    nothing = np.zeros(60)
    family = family_of(*BLOCKS[case]).fit_settings(table, codes, CLASSES, nothing)
    posterior = family.posterior(family.count(table, codes, CLASSES, nothing))
    assert posterior.weight == 0.0
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-12)
    scores = posterior.scores(table)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, scores[:, :1].repeat(CLASSES, axis=1), atol=1e-9)
    np.testing.assert_allclose(posterior.leave_one_out(table, codes, nothing), scores, atol=1e-9)


@EVERY
def test_one_class_is_enough(case: str) -> None:
    table, _ = rows(9)
    own = np.zeros(60, np.int32)
    family = family_of(*BLOCKS[case]).fit_settings(table, own, 1, EVERYONE)
    posterior = family.posterior(family.count(table, own, 1, EVERYONE))
    assert np.isfinite(posterior.scores(table)).all()
    assert np.isfinite(posterior.leave_one_out(table, own, EVERYONE)).all()
    assert posterior.n_parameters > 0


@EVERY
def test_settings_are_paid_for(case: str) -> None:
    posterior = learned(case).reading
    cost = posterior.log_evidence - posterior.net_log_evidence
    assert cost == pytest.approx(posterior.n_settings * np.log(posterior.weight) / 2)
