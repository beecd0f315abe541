"""Scoring as one SELECT: probabilities, the label, and what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from suffice.combine.combination import Combination
from suffice.data.schema import Schema
from suffice.errors import InputError
from suffice.families import Posterior
from suffice.sql.dialect import MIN_EXPONENT, Dialect, dialect_of
from suffice.sql.row_cells import RowCells
from suffice.sql.stages import Part, Stages, add_up
from suffice.sql.terms import Block, Residual, TermWriter
from suffice.tally.tally import Floats

# How many blocks are named as reasons.
REASONS = 3
LABEL = "label"


class ScoredModel(NamedTuple):
    """What is written as SQL.

    classes : their labels
    log_prior : (C,)
    posteriors : of the blocks
    residuals : by column
    """

    classes: Sequence[Any]
    log_prior: Floats
    schema: Schema
    posteriors: Sequence[Posterior[Any]]
    combination: Combination
    residuals: Mapping[str, Residual]


def score_sql(
    model: ScoredModel, table: str | Sequence[str], dialect: str, *, reasons: bool = False
) -> str:
    """Return a SELECT of all columns of a table, the probability of each class and the label.

    Parameters
    ----------
    model : ScoredModel
    table : a name, or a tuple of names: (schema, table)
    dialect : name of a dialect
    reasons : bool
        Whether the strongest three blocks are named, with what each adds to the log-odds of the
        label against the second class.
    """
    known = dialect_of(dialect)
    outputs = output_names(model, known, reasons=reasons)
    stages = Stages(known, table, model.schema.given)
    blocks = _prepare(model, stages)
    classes = range(len(model.classes))
    scores = [f"a{c}" for c in classes]
    prior = model.log_prior + model.combination.offsets
    also = {
        name: f"({known.number(at)} + {stages.ref('z')})"
        for name, at in zip(scores, prior, strict=True)
    }
    parts = [
        Part(tables, {f"a{c}": sql for c, sql in terms.items()})
        for block in blocks
        for tables, terms in block.terms()
    ]
    stages.add_sums(scores, parts, also)
    _rank(stages, len(model.classes), second=reasons)
    if reasons:
        _rank_blocks(stages, blocks, len(model.classes))
    values = _probabilities(model, stages)
    values.append(_choose(stages, "q_best", [known.value(one) for one in model.classes]))
    if reasons:
        values += _reasons(stages, blocks, len(model.classes))
    return stages.select(dict(zip(outputs, values, strict=True)))


def output_names(model: ScoredModel, dialect: Dialect, *, reasons: bool) -> list[str]:
    """Return the names of the columns that are added, none of them one of the table's."""
    names = [f"p_{one}" for one in model.classes] + [LABEL]
    if reasons:
        for rank in range(1, REASONS + 1):
            names += [f"reason_{rank}", f"reason_{rank}_value"]
    taken: dict[str, str] = {}
    for name in [*model.schema.given, *names]:
        key = name.lower() if dialect.folds_case else name
        if key in taken and (name in names or taken[key] in names):
            raise InputError(
                f"The result would have two columns {name!r}: {dialect.name} has one such name in "
                "a table. Rename the class or the column, and learn again."
            )
        taken[key] = name
    return names


def _prepare(model: ScoredModel, stages: Stages) -> list[Block]:
    """Add the cells and what is computed of them once for all classes; return the blocks."""
    dialect, cells = stages.dialect, RowCells(model.schema, stages)
    weights = model.combination.weights.tolist()
    for posterior in model.posteriors:
        if posterior.family.name.startswith("text"):
            name = posterior.family.columns[0]
            raise InputError(
                f"Column {name!r} is a text, and its words cannot be counted in SQL. Learn without "
                f"it: families={{{name!r}: 'ignore'}}."
            )
        for column in posterior.family.columns:
            cells.name(column)
    zero = dialect.number(0.0)
    unreadable = _any(cells.unreadable)
    clear = f"CASE WHEN {unreadable} THEN NULL ELSE {zero} END" if unreadable else zero
    stages.add({**cells.first, "z": clear})
    writer = TermWriter(stages, cells)
    blocks = [
        writer.block(posterior, weight, dict(model.residuals))
        for posterior, weight in zip(model.posteriors, weights, strict=True)
    ]
    impossible = _any(writer.impossible)
    lost = f"CASE WHEN {impossible} THEN 1 ELSE 0 END" if impossible else "0"
    stages.add({**writer.codes, "q_lost": lost})
    writer.add_arrays()
    writer.add_squares()
    return blocks


def _any(conditions: Sequence[str]) -> str:
    """Return a condition under which one of several holds, parentheses balanced; "" if none."""
    if len(conditions) < 2:
        return "".join(conditions)
    middle = len(conditions) // 2
    return f"({_any(conditions[:middle])} OR {_any(conditions[middle:])})"


def _rank(stages: Stages, classes: int, *, second: bool) -> None:
    """Add exponentials of scores and their sum; the best class and, if asked for, the second."""
    dialect, scores = stages.dialect, [f"a{c}" for c in range(classes)]
    stages.add({"q_top": dialect.maximum([stages.ref(name) for name in scores])})
    top, lost = stages.ref("q_top"), f"{stages.ref('q_lost')} = 1"
    cases = " ".join(f"WHEN {stages.ref(name)} = {top} THEN {c}" for c, name in enumerate(scores))
    found = {f"d{c}": f"({stages.ref(name)} - {top})" for c, name in enumerate(scores)}
    # Where no class is possible all are as probable, as in Python.
    found["q_best"] = f"CASE WHEN {top} IS NOT NULL AND {lost} THEN 0 {cases} END"
    stages.add(found)
    one, zero, least = (dialect.number(value) for value in (1.0, 0.0, MIN_EXPONENT))
    found = {}
    for c in range(classes):
        away = stages.ref(f"d{c}")
        found[f"e{c}"] = (
            f"CASE WHEN {away} IS NOT NULL AND {lost} THEN {one} WHEN {away} < {least} THEN {zero} "
            f"ELSE EXP({away}) END"
        )
    second = second and classes > 1
    best = stages.ref("q_best")
    if second:
        # Another class stands in for the best one.
        others = [
            f"CASE WHEN {best} = {c} THEN {stages.ref(scores[1 if c == 0 else 0])} "
            f"ELSE {stages.ref(name)} END"
            for c, name in enumerate(scores)
        ]
        found["q_next"] = dialect.maximum(others)
    stages.add(found)
    found = {"q_total": add_up([stages.ref(f"e{c}") for c in range(classes)])}
    if second:
        top = stages.ref("q_next")
        cases = " ".join(
            f"WHEN {stages.ref(name)} = {top} AND {best} <> {c} THEN {c}"
            for c, name in enumerate(scores)
        )
        found["q_other"] = f"CASE {cases} END"
    stages.add(found)


def _probabilities(model: ScoredModel, stages: Stages) -> list[str]:
    """Return p(class | row): shares of the exponentials, mixed with the uniform distribution."""
    dialect, noise, classes = stages.dialect, model.combination.noise_rate, len(model.classes)
    found = [f"{stages.ref(f'e{c}')} / {stages.ref('q_total')}" for c in range(classes)]
    if noise == 0:
        return found
    kept, added = dialect.number(1.0 - noise), dialect.number(noise / classes)
    return [f"{kept} * ({share}) + {added}" for share in found]


def _choose(stages: Stages, number: str, values: Sequence[str]) -> str:
    """Return the value that a number says."""
    cases = " ".join(f"WHEN {at} THEN {value}" for at, value in enumerate(values))
    return f"CASE {stages.ref(number)} {cases} END"


def _rank_blocks(stages: Stages, blocks: Sequence[Block], classes: int) -> None:
    """Add what each block adds to the log-odds of the label, and the strongest blocks' numbers."""
    dialect = stages.dialect
    zero, least = dialect.number(0.0), dialect.number(-1.0)
    if classes == 1 or not blocks:
        return
    parts = []
    for at, block in enumerate(blocks):
        for tables, terms in block.terms():
            cases = " ".join(f"WHEN {c} THEN {sql}" for c, sql in terms.items())
            own, other = (
                f"CASE {stages.ref(number)} {cases} ELSE {zero} END"
                for number in ("q_best", "q_other")
            )
            parts.append(Part(tables, {f"b{at}": f"({own} - {other})"}))
    names = [f"b{at}" for at in range(len(blocks))]
    stages.add_sums(names, parts, {})
    for rank in range(min(REASONS, len(blocks))):
        sizes: list[str] = []
        found: list[str] = []
        for at, name in enumerate(names):
            size = f"ABS({stages.ref(name)})"
            before = [stages.ref(f"r{r}") for r in range(rank)]
            taken = " OR ".join(f"{number} = {at}" for number in before)
            sizes.append(f"CASE WHEN {taken} THEN {least} ELSE {size} END" if rank else size)
        stages.add({f"v{rank}": dialect.maximum(sizes)})
        for at, name in enumerate(names):
            free = "".join(f" AND {stages.ref(f'r{r}')} <> {at}" for r in range(rank))
            same = f"ABS({stages.ref(name)}) = {stages.ref(f'v{rank}')}"
            found.append(f"WHEN {same}{free} THEN {at}")
        lost = f"WHEN {stages.ref('q_lost')} = 1 THEN NULL"
        stages.add({f"r{rank}": f"CASE {lost} {' '.join(found)} END"})


def _reasons(stages: Stages, blocks: Sequence[Block], classes: int) -> list[str]:
    """Return names and values of the strongest blocks, one after the other; NULL where none is."""
    found: list[str] = []
    for rank in range(REASONS):
        if classes == 1 or rank >= len(blocks):
            found += ["NULL", "NULL"]
            continue
        names = [stages.dialect.string(block.name) for block in blocks]
        values = [stages.ref(f"b{at}") for at in range(len(blocks))]
        found += [_choose(stages, f"r{rank}", names), _choose(stages, f"r{rank}", values)]
    return found
