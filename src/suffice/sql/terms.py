"""What each block of columns adds to the scores of the classes, in SQL, family by family.

Terms that all classes of a row share are left out: they change no probability and no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from suffice.errors import InputError
from suffice.families import Posterior
from suffice.families.columns.binned import BinnedPosterior
from suffice.families.columns.categorical import CategoricalPosterior
from suffice.families.columns.joint import JointPosterior
from suffice.families.columns.mvn import MultivariateNormalPosterior
from suffice.families.columns.normal import NormalPosterior
from suffice.families.columns.poisson import PoissonPosterior
from suffice.families.columns.student import StudentPosterior
from suffice.prior.special import log_gamma_step as log_gamma_step_of
from suffice.scoring.gaussian import LOG_TWO_PI, WhitenedScorer
from suffice.sql.log_gamma import MANY, MOST_EVENTS, log1p, log_gamma_step
from suffice.sql.row_cells import RowCells, deviations
from suffice.sql.stages import ParameterTable, Part, Stages, add_up
from suffice.tally.tally import Floats, Index

# A lookup is a CASE up to so many levels, and so many numbers; more are a parameter table.
MAX_CASES, MAX_CASE_NUMBERS = 50, 400
# Levels up to which a table is an array, where arrays can be cut.
MAX_PARTS = 200
# Missing-value patterns of a block that are written out.
MAX_PATTERNS = 256
ALL_PATTERNS_UP_TO = 8
# Keys of patterns are whole numbers that a double holds.
MAX_PATTERN_COLUMNS = 52
# Standard deviations beyond which squares are beyond all doubles, in Python too.
MAX_DISTANCE = 1e150
# Distances below this are 0 where a square that is too small is an error.
LEAST_DISTANCE = 1e-150
# Standard deviations from which a Student t is a power of the distance to the last digit.
FAR = 1e100


class Residual(NamedTuple):
    """The residual coefficients of a column: what its level, or number, adds.

    levels : how many levels have coefficients; 0 for numbers
    centre, scale, most : of numbers, in standard deviations of at most `most`
    logarithm : bool
    coefficients : (width, C)
    """

    levels: int
    centre: float
    scale: float
    most: float
    logarithm: bool
    coefficients: Floats


Terms = list[tuple[tuple[ParameterTable, ...], dict[int, str]]]


@dataclass
class Block:
    """A block of columns: how its terms are written, once the stages before them are there."""

    name: str
    makers: list[Callable[[], Terms]] = field(default_factory=list)

    def terms(self) -> Terms:
        """Return parameter tables and the terms of classes, by their numbers, that need them."""
        return [term for make in self.makers for term in make()]


@dataclass
class TermWriter:
    """Writes the terms of blocks.

    Parameters
    ----------
    stages : Stages, with the cells in its first stage
    cells : RowCells
    codes : expressions of the second stage, by their names
    impossible : conditions under which a row is impossible under every class
    """

    stages: Stages
    cells: RowCells
    codes: dict[str, str] = field(default_factory=dict)
    impossible: list[str] = field(default_factory=list)
    _squares: list[tuple[ParameterTable, list[str]]] = field(default_factory=list, init=False)
    _arrays: list[tuple[str, Floats]] = field(default_factory=list, init=False)

    def block(
        self, posterior: Posterior[Any], weight: float, residuals: dict[str, Residual]
    ) -> Block:
        """Return a block; its columns' residual coefficients are added to it."""
        columns = posterior.family.columns
        block = Block(", ".join(columns))
        if isinstance(posterior, CategoricalPosterior):
            self._categorical(block, posterior, weight, residuals.get(columns[0]))
            if posterior.family.levels is None:
                return block
        elif weight:
            self._density(block, posterior, weight)
        for column in columns:
            if column in residuals:
                self._residual(block, column, residuals[column])
        return block

    def _density(self, block: Block, posterior: Posterior[Any], weight: float) -> None:
        if isinstance(posterior, NormalPosterior):
            self._normal(block, posterior, weight)
        elif isinstance(posterior, StudentPosterior):
            self._student(block, posterior, weight)
        elif isinstance(posterior, BinnedPosterior):
            self._binned(block, posterior, weight)
        elif isinstance(posterior, PoissonPosterior):
            self._poisson(block, posterior, weight)
        elif isinstance(posterior, JointPosterior):
            self._joint(block, posterior, weight)
        elif isinstance(posterior, MultivariateNormalPosterior):
            self._multivariate(block, posterior, weight)
        else:
            name = posterior.family.columns[0]
            raise InputError(
                f"Column {name!r} has the family {posterior.family.name!r}, which cannot be "
                f"written in SQL. Leave it out: families={{{name!r}: 'ignore'}}."
            )

    # What expressions are made of.

    def _number(self, value: float) -> str:
        return self.stages.dialect.number(value)

    def _cell(self, column: str) -> str:
        return self.stages.ref(self.cells.name(column))

    def _code(self, sql: str) -> str:
        """Return the name of an expression of the second stage; equal ones have one name."""
        for name, known in self.codes.items():
            if known == sql:
                return name
        name = f"k{len(self.codes)}"
        self.codes[name] = sql
        return name

    def _weigh(self, weight: float, sql: str) -> str:
        return sql if weight == 1.0 else f"{self._number(weight)} * {sql}"

    def _or_zero(self, sql: str) -> str:
        return f"COALESCE({sql}, {self._number(0.0)})"

    def _within(self, x: str, most: float) -> str:
        """Return a number, NULL if it is too far out: the row is impossible then."""
        limits = f"({x} > {self._number(most)} OR {x} < {self._number(-most)})"
        self.impossible.append(limits)
        small = ""
        if self.stages.dialect.raises_underflow:
            small = f"WHEN ABS({x}) < {self._number(LEAST_DISTANCE)} THEN {self._number(0.0)} "
        return f"CASE WHEN {limits} THEN NULL {small}ELSE {x} END"

    # Numbers.

    def _normal(self, block: Block, posterior: NormalPosterior, weight: float) -> None:
        given = posterior.features.distribution
        location, squared = given.location[:, 0], given.squared_scale[:, 0]
        degrees = (
            None
            if given.degrees is None
            else np.broadcast_to(given.degrees, (*location.shape, 1))[:, 0]
        )
        cell = self._cell(posterior.family.column)
        if posterior.family.of_logarithms:
            positive = f"{cell} > {self._number(0.0)}"
            x = self._code(f"CASE WHEN {positive} THEN {self.stages.dialect.log(cell)} END")
        else:
            most = MAX_DISTANCE * min(1.0, float(np.sqrt(squared.min())))
            x = self._code(self._within(cell, most))

        def make() -> Terms:
            found = {}
            for c in range(len(location)):
                v = None if degrees is None else float(degrees[c])
                found[c] = self._t(self.stages.ref(x), location[c], squared[c], v, weight)
            return [((), found)]

        block.makers.append(make)

    def _t(self, x: str, m: float, squared: float, degrees: float | None, weight: float) -> str:
        """Return the log density of a t, or of a normal."""
        away, number = f"({x} - {self._number(m)})", self._number
        if degrees is None:
            norm = -0.5 * (LOG_TWO_PI + np.log(squared))
            factor = number(0.5 * weight / squared)
            return self._or_zero(f"{number(weight * norm)} - {factor} * {away} * {away}")
        norm = log_gamma_step_of(degrees / 2, 0.5) - 0.5 * np.log(np.pi * degrees * squared)
        u = f"({number(1.0 / (squared * degrees))} * {away} * {away})"
        log = log1p(u, self.stages.dialect, exact=degrees > MANY)
        factor = number(weight * (degrees + 1) / 2)
        return self._or_zero(f"{number(weight * float(norm))} - {factor} * {log}")

    def _student(self, block: Block, posterior: StudentPosterior, weight: float) -> None:
        places = posterior._predictives + np.array([posterior.prior.location, 0.0, 0.0])
        column = posterior.family.column
        dialect, number = self.stages.dialect, self._number

        def make() -> Terms:
            x = self._cell(column)
            found = {}
            for c, (m, scale, v) in enumerate(places.tolist()):
                norm = (
                    float(log_gamma_step_of(v / 2, 0.5)) - 0.5 * np.log(np.pi * v) - np.log(scale)
                )
                away = f"({x} - {number(m)})"
                z = f"({away} / {number(scale)})"
                near = log1p(f"({z} * {z} / {number(v)})", dialect, exact=v > MANY)
                shift = number(2.0 * np.log(scale) + np.log(v))
                far = f"{number(2.0)} * {dialect.log(f'ABS({away})')} - {shift}"
                is_far = f"ABS({away}) > {number(FAR * scale)}"
                tail = f"CASE WHEN {is_far} THEN {far} ELSE {near} END"
                factor = number(weight * (v + 1) / 2)
                found[c] = self._or_zero(f"{number(weight * norm)} - {factor} * {tail}")
            return [((), found)]

        block.makers.append(make)

    def _poisson(self, block: Block, posterior: PoissonPosterior, weight: float) -> None:
        cell, dialect = self._cell(posterior.family.column), self.stages.dialect
        zero, most = self._number(0.0), self._number(MOST_EVENTS)
        whole = f"{cell} >= {zero} AND {cell} = {dialect.floor.format(cell)}"
        x = self._code(f"CASE WHEN {cell} > {most} THEN {most} WHEN {whole} THEN {cell} END")
        features = posterior.features

        def make() -> Terms:
            ref, found = self.stages.ref(x), {}
            if features.is_integrated:
                for c, (a, rows) in enumerate(
                    zip(*(p[0] for p in features._posterior), strict=True)
                ):
                    step = log_gamma_step(float(a), ref, -float(np.log1p(rows)), dialect)
                    silent = self._number(float(-a * np.log1p(1.0 / rows)))
                    found[c] = self._or_zero(self._weigh(weight, f"({step} + {silent})"))
            else:
                for c, rate in enumerate(features.rate[:, 0].tolist()):
                    slope = self._number(weight * float(np.log(rate)))
                    found[c] = self._or_zero(f"{slope} * {ref} - {self._number(weight * rate)}")
            return [((), found)]

        block.makers.append(make)

    # Levels.

    def _lookup(self, block: Block, x: str, keys: Sequence[str], table: Floats) -> None:
        """Add the row of a table (K + 1, C) that a cell's key has: the last row for any other.

        x : SQL of the cell, in the first stage
        """
        levels, classes = len(keys), table.shape[1]
        in_cases = levels <= MAX_CASES and levels * classes <= MAX_CASE_NUMBERS
        if in_cases or (self.stages.dialect.part and levels <= MAX_PARTS):
            cases = "".join(f"WHEN {x} = {key} THEN {at} " for at, key in enumerate(keys))
            code = self._code(f"CASE WHEN {x} IS NULL THEN -1 {cases}ELSE {levels} END")
            self._rows(block, code, table)
            return
        key = self._code(x)
        parameters = self.stages.parameters(
            [key], [([name], table[at].tolist()) for at, name in enumerate(keys)]
        )

        def make() -> Terms:
            found = {}
            for c in range(classes):
                seen = self.stages.dialect.number_at(parameters.alias, c)
                other = f"COALESCE({seen}, {self._number(table[-1, c])})"
                missing = f"{self.stages.ref(key)} IS NULL"
                found[c] = f"CASE WHEN {missing} THEN {self._number(0.0)} ELSE {other} END"
            return [((parameters,), found)]

        block.makers.append(make)

    def _rows(self, block: Block, code: str, table: Floats) -> None:
        """Add the row of a table (K, C) at a code; nothing if the code is -1."""
        dialect, classes = self.stages.dialect, table.shape[1]
        if table.size <= MAX_CASE_NUMBERS:
            self._cases(block, code, table)
            return
        if dialect.part:
            name = f"y{len(self._arrays)}"
            self._arrays.append((code, table))

            def make_items() -> Terms:
                ref = self.stages.ref(name)
                items = (dialect.item.format(ref, c, c + 1) for c in range(classes))
                return [((), {c: self._or_zero(item) for c, item in enumerate(items)})]

            block.makers.append(make_items)
            return
        rows = [([str(at)], row) for at, row in enumerate(table.tolist())]
        parameters = self.stages.parameters([code], rows)

        def make() -> Terms:
            found = {
                c: self._or_zero(dialect.number_at(parameters.alias, c)) for c in range(classes)
            }
            return [((parameters,), found)]

        block.makers.append(make)

    def add_arrays(self) -> None:
        """Add a stage of the rows of tables that are arrays."""
        dialect, found = self.stages.dialect, {}
        for at, (code, table) in enumerate(self._arrays):
            ref, classes = self.stages.ref(code), table.shape[1]
            (numbers,) = dialect.numbers(table.ravel().tolist())
            row = dialect.part.format(numbers, f"{ref} * {classes}", classes)
            found[f"y{at}"] = f"CASE WHEN {ref} >= 0 THEN {row} END"
        if found:
            self.stages.add(found)

    def _cases(self, block: Block, code: str, table: Floats) -> None:
        """Add the row of a table (K, C) at a code; nothing if the code is none of a row."""

        def make() -> Terms:
            ref, found = self.stages.ref(code), {}
            for c in range(table.shape[1]):
                cases = " ".join(
                    f"WHEN {at} THEN {self._number(value)}"
                    for at, value in enumerate(table[:, c].tolist())
                )
                found[c] = f"CASE {ref} {cases} ELSE {self._number(0.0)} END"
            return [((), found)]

        block.makers.append(make)

    def _categorical(
        self,
        block: Block,
        posterior: CategoricalPosterior,
        weight: float,
        residual: Residual | None,
    ) -> None:
        family = posterior.family
        table = weight * posterior.tables.log_table[:-1]
        if family.levels is None and residual is not None and residual.levels:
            table[: residual.levels] += residual.coefficients
        keys = self.cells.keys(family.column, family.levels, len(table) - 1)
        self._lookup(block, self._cell(family.column), keys, table[[*range(len(keys)), -1]])

    def _binned(self, block: Block, posterior: BinnedPosterior, weight: float) -> None:
        x, edges = self._cell(posterior.family.column), posterior.family.bins.edges
        table = weight * posterior.tables.log_table[:-2]
        cases = "".join(
            f"WHEN {x} < {self._number(edge)} THEN {at} " for at, edge in enumerate(edges.tolist())
        )
        code = self._code(f"CASE WHEN {x} IS NULL THEN -1 {cases}ELSE {len(edges)} END")
        self._rows(block, code, table)

    def _residual(self, block: Block, column: str, residual: Residual) -> None:
        x = self._cell(column)
        if residual.levels:
            keys = self.cells.keys(column, None, residual.levels)
            none = np.zeros((1, residual.coefficients.shape[1]))
            self._lookup(block, x, keys, np.concatenate([residual.coefficients, none]))
            return
        if residual.logarithm:
            positive = f"{x} > {self._number(0.0)}"
            x = f"(CASE WHEN {positive} THEN {self.stages.dialect.log(x)} END)"
        away = self._code(
            deviations(x, residual.centre, residual.scale, residual.most, self._number)
        )

        def make() -> Terms:
            ref = self.stages.ref(away)
            slopes = enumerate(residual.coefficients[0].tolist())
            return [((), {c: f"{self._number(slope)} * {ref}" for c, slope in slopes})]

        block.makers.append(make)

    # Several columns.

    def _pattern(self, columns: Sequence[str]) -> str:
        """Return the name of the number of a row's missing-value pattern: 2^j for column j."""
        if len(columns) > MAX_PATTERN_COLUMNS:
            raise InputError(
                f"The block of {columns[0]!r} has {len(columns)} columns, and a block of more than "
                f"{MAX_PATTERN_COLUMNS} cannot be written in SQL. Use families of fewer columns."
            )
        terms = [
            f"CASE WHEN {self._cell(name)} IS NULL THEN {self._number(2.0**at)} "
            f"ELSE {self._number(0.0)} END"
            for at, name in enumerate(columns)
        ]
        return self._code(add_up(terms))

    def _joint(self, block: Block, posterior: JointPosterior, weight: float) -> None:
        family, columns = posterior.family, posterior.family.columns
        pattern = self._pattern(columns)
        whole = posterior.tables.totals + posterior.tables.prior_sample_size
        new = -weight * np.log(whole)
        names, keys, missing = [pattern], [], []
        for name, levels, size in zip(columns, family.levels, family.sizes, strict=True):
            own = self.cells.keys(name, levels, size)
            # Any level stands for a missing one: the pattern says that it is missing.
            keys.append(own)
            missing.append(own[0] if own else self._number(0.0))
            names.append(self._code(f"COALESCE({self._cell(name)}, {missing[-1]})"))
        rows: list[tuple[list[str], list[float]]] = []
        known = []
        for seen in missing_patterns(len(columns)):
            number = self._number(sum(2.0**at for at in range(len(columns)) if at not in seen))
            known.append(number)
            if not seen:
                continue
            met, tables = posterior._part(np.array(seen))
            for cells, scores in zip(
                met.cells.tolist(), tables.log_table[:-2].tolist(), strict=True
            ):
                codes = dict(zip(seen, cells, strict=True))
                own = [
                    keys[at][codes[at]] if at in codes else missing[at]
                    for at in range(len(columns))
                ]
                rows.append(([number, *own], [weight * score for score in scores]))
        nothing = known[-1] if known else ""
        parameters = self.stages.parameters(names, rows) if rows else None

        def make() -> Terms:
            found, ref = {}, self.stages.ref(pattern)
            for c in range(len(new)):
                other = self._number(new[c])
                if parameters is not None:
                    seen = self.stages.dialect.number_at(parameters.alias, c)
                    other = f"COALESCE({seen}, {other})"
                if len(known) < 2 ** len(columns):
                    other = f"CASE WHEN {ref} IN ({', '.join(known)}) THEN {other} END"
                is_empty = f"{ref} = {nothing}"
                found[c] = f"CASE WHEN {is_empty} THEN {self._number(0.0)} ELSE {other} END"
            return [(() if parameters is None else (parameters,), found)]

        block.makers.append(make)

    def _multivariate(
        self, block: Block, posterior: MultivariateNormalPosterior, weight: float
    ) -> None:
        scorer = posterior._distribution.density()
        assert isinstance(scorer, WhitenedScorer)
        columns = posterior.family.columns
        size, classes = len(columns), len(scorer.location)
        pattern = self._pattern(columns)
        most = MAX_DISTANCE / max(1.0, float(np.abs(scorer.factors).max()) * size)
        zero = self._number(0.0)
        away = []
        for name, centre in zip(columns, scorer.centre.tolist(), strict=True):
            cell = self._within(self._cell(name), most)
            away.append(self._code(f"COALESCE(({cell}) - {self._number(centre)}, {zero})"))
        rows: list[list[tuple[list[str], list[float]]]] = [[] for _ in range(classes)]
        for seen in missing_patterns(size):
            number = self._number(sum(2.0**at for at in range(size) if at not in seen))
            for c, numbers in enumerate(_marginal_numbers(scorer, np.array(seen, np.intp), size)):
                rows[c].append(([number], numbers))
        tables = [self.stages.parameters([pattern], part) for part in rows]
        first = len(self._squares)
        self._squares += [(table, away) for table in tables]
        exact = bool(scorer.degrees.size) and float(scorer.degrees.max()) > MANY

        def make() -> Terms:
            found = {}
            for c in range(classes):
                constant, factor, square = (
                    self.stages.ref(f"{letter}{first + c}") for letter in ("c", "f", "w")
                )
                if scorer.degrees.size:
                    square = f"({log1p(square, self.stages.dialect, exact=exact)})"
                found[c] = self._weigh(weight, f"({constant} - {factor} * {square})")
            return [((), found)]

        block.makers.append(make)

    def add_squares(self) -> None:
        """Add a stage of squared distances, each with its constant and factor.

        The terms of several columns need them.
        """
        if not self._squares:
            return
        parts, number_at = [], self.stages.dialect.number_at
        for number, (table, away) in enumerate(self._squares):
            size, at = len(away), [number_at(table.alias, at) for at in range(table.width)]
            offsets, factors = at[2 : 2 + size], iter(at[2 + size :])
            squares = []
            for i in range(size):
                cells = [f"{next(factors)} * {self.stages.ref(away[j])}" for j in range(i + 1)]
                white = f"({add_up(cells)} - {offsets[i]})"
                squares.append(f"{white} * {white}")
            own = {f"c{number}": at[0], f"f{number}": at[1], f"w{number}": add_up(squares)}
            parts.append(Part((table,), own))
        names = [name for part in parts for name in part.summands]
        self.stages.add_sums(names, parts, {})


def missing_patterns(columns: int) -> Iterator[tuple[int, ...]]:
    """Yield the columns that rows show, of as many missing-value patterns as are written out.

    All of them up to 8 columns; of more, rows that lack none, one or two columns, as far as 256
    patterns go, and rows that lack all. The last one is that of nothing seen.

    >>> list(missing_patterns(2))
    [(0, 1), (1,), (0,), ()]
    >>> sum(1 for _ in missing_patterns(30))
    256
    """
    everything = range(columns)
    most = 2**columns if columns <= ALL_PATTERNS_UP_TO else MAX_PATTERNS
    left = most - 1
    for size in range(columns if columns <= ALL_PATTERNS_UP_TO else 3):
        for lacking in combinations(everything, size):
            if not left:
                break
            left -= 1
            yield tuple(at for at in everything if at not in lacking)
    yield ()


def _marginal_numbers(scorer: WhitenedScorer, seen: Index, size: int) -> Iterator[list[float]]:
    """Yield constant, factor, offsets and the inverse root of each class, given what is seen.

    What is not seen has zeros in its places. Roots are such that the log density is the constant
    less the factor times the square, or times the logarithm of 1 + the square.
    """
    classes = len(scorer.location)
    if not len(seen):
        width = 2 + size + size * (size + 1) // 2
        for _ in range(classes):
            yield [0.0] * width
        return
    part = scorer if len(seen) == size else scorer.marginal(seen)
    for c in range(classes):
        degrees = float(part.degrees[c]) if part.degrees.size else 1.0
        scale = np.sqrt(part.inverse_scale[c] / degrees)
        root = np.zeros((size, size))
        root[np.ix_(seen, seen)] = scale * part.factors[min(c, len(part.factors) - 1)]
        offsets = np.zeros(size)
        offsets[seen] = scale * part.offsets[c]
        factor = (degrees + len(seen)) / 2 if part.degrees.size else 0.5
        lower = root[np.tril_indices(size)]
        yield [float(part.constant[c]), factor, *offsets.tolist(), *lower.tolist()]
