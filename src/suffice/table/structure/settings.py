"""The numbers of the structure search, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

from suffice.errors import InputError


@dataclass(frozen=True)
class SearchSettings:
    """What `GenerativeClassifier` tries, how long, and how much a choice has to gain.

    A nat is the unit of log-likelihoods: a gain of 3 nats makes the rows' classes 20 times as
    probable. Gains are those of all rows that are searched together, on held-out folds. A pass
    costs multiplications: rows times classes times the squared number of blocks.

    Parameters
    ----------
    rows : int
        Rows that families and blocks are chosen from; of more, a sample by content. Further rows
        change few choices, and the time of a search grows with them.
    numeric_families : tuple of str
        Families that are tried for a column of numbers. Whole numbers are tried as "poisson"
        too, and those of few values as "categorical".
    tied_families : tuple of (str, str)
        If the first is the best family of a column, the second, one variance for all classes, is
        tried as well.
    max_levels : int
        Distinct numbers up to which they may be names of levels.
    min_identifier_rows : int
        Rows below which no column is taken for an identifier: so few may all differ in anything.
    min_identifier_share : float
        Share of the cells of a column of names that are different, if they name the rows.
    expected_equal_pairs : float
        Whole numbers that are all different are taken for row numbers if so many drawn by chance
        from their range would have this many equal pairs.
    max_pair_columns : int
        Columns beyond which no pairs are looked for: their number grows with the square.
    pair_bins : int
        Bins of equal weight that numbers are cut into, only to find pairs worth trying.
    pair_prior_sample_sizes : tuple of float
        Rows that the columns taken for themselves may be worth, beside those of a pair's cell.
    max_pair_cells : int
        Cells of a pair's table, times classes, beyond which none is made: rows could not fill it.
    normal_blocks : tuple of str
        Families that join columns of numbers, in the order in which they are tried.
    weight_scales : tuple of float
        Prior standard deviations of block weights around their common temperature, in trials; the
        final fit tries more of them.
    min_gain : float
        Nats that a joined pair has to gain, beside the logarithm of the number of pairs, which is
        the price of its being the best of many.
    min_gain_errors : float
        Standard errors of the gain that it has to be above 0.
    block_price : float
        Nats that settings and prior of a block, fitted to all rows, flatter its held-out log-loss
        by. Against settings fitted to other rows, six data sets gave 0.1 to 0.5; a value near the
        lower end was chosen on the data sets of the quality table.
    far_behind : float
        Standard errors by which one of two starting points has to be behind not to be followed.
    hopeless : float
        Standard errors by which one normal distribution for all numbers has to be behind, for no
        more of its kind to be tried.
    patience : int
        Normal distributions of two numbers that are not normal alone: after so many that gain
        nothing no more are tried, since the most promising pairs come first.
    min_pair_table_share : float
        Share of what a pair says of the class that its table of few bins shows at least.
    min_rows_per_column : float
        Rows that every class has to have for each column before it is tried with a covariance of
        its own: with fewer, that is little but its prior.
    max_work : int
        Multiplications in one pass of all trials together, beyond which no pair is tried.
    max_residual_levels : int
        Levels of a column beyond which it has no residual coefficients.
    max_residual_rows : int
        Rows, by weight, beyond which "auto" tries none: they would add a quarter to the time of
        a fit.
    max_residual_work, max_residual_work_in_trials : int
        Multiplications of a pass, beyond which "auto" tries none. There are several trials, and
        with more than two classes a pass takes longer than its multiplications.
    rows_per_weight, min_weight_rows : int
        Held-out rows that weights and offsets are fitted to: so many for each of them, and no fewer
        than these. A weight that is fitted to n rows costs 1 / (2 n) nats a row, so at most a
        thousandth of a nat is lost.
    importance_rows : int
        Held-out rows on which it is measured what is lost without each column. All of some 10,000
        would take a twentieth of the time of a fit, for standard errors half as wide.
    decide_at : tuple of int
        Rows after which the families of a stream are decided again; after the last they are held.
        From 50 on each is about 1.2 times the one before: at most a sixth of a stream is newer than
        its families, and all decisions together cost about six times the last one.

    Examples
    --------
    >>> SearchSettings().rows
    3000
    >>> SearchSettings.of({"rows": 500, "numeric_families": ["normal"]}).numeric_families
    ('normal',)
    """

    rows: int = 3_000
    numeric_families: tuple[str, ...] = ("normal", "lognormal", "binned")
    tied_families: tuple[tuple[str, str], ...] = (
        ("normal", "normal:tied"),
        ("lognormal", "lognormal:tied"),
    )
    max_levels: int = 32
    min_identifier_rows: int = 20
    min_identifier_share: float = 0.95
    expected_equal_pairs: float = 10.0
    max_pair_columns: int = 100
    pair_bins: int = 5
    pair_prior_sample_sizes: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0)
    max_pair_cells: int = 1 << 16
    normal_blocks: tuple[str, ...] = ("mvn:tied", "mvn")
    weight_scales: tuple[float, ...] = (0.125, 0.5)
    min_gain: float = 3.0
    min_gain_errors: float = 2.0
    block_price: float = 0.15
    far_behind: float = 2.0
    hopeless: float = 5.0
    patience: int = 4
    min_pair_table_share: float = 0.5
    min_rows_per_column: float = 1.0
    max_work: int = 1 << 29
    max_residual_levels: int = 40
    max_residual_rows: int = 20_000
    max_residual_work: int = 1 << 29
    max_residual_work_in_trials: int = 1 << 26
    rows_per_weight: int = 500
    min_weight_rows: int = 5_000
    importance_rows: int = 2_500
    decide_at: tuple[int, ...] = (
        *(5, 10, 20, 35, 50, 60, 70, 85, 100, 120, 145, 170, 200, 240, 290, 350, 420, 500, 600),
        *(720, 850, 1_000, 1_200, 1_450, 1_700, 2_000),
    )

    @classmethod
    def of(cls, changed: Mapping[str, Any] | None) -> Self:
        """Return the settings with some of them changed, by name."""
        default, given = cls(), dict(changed or {})
        for name, value in given.items():
            if name not in cls.__dataclass_fields__:
                raise InputError(
                    f"search has {name!r}, which is no setting of the structure search. Use names "
                    f"of SearchSettings: {', '.join(cls.__dataclass_fields__)}."
                )
            like = getattr(default, name)
            if not _is_like(value, like):
                raise InputError(
                    f"search has {name}={value!r}. Give a value like the default, {like!r}; "
                    "numbers are finite and not below 0."
                )
            given[name] = _as_tuple(value) if isinstance(like, tuple) else value
        return cls(**given)


def _is_like(value: Any, like: Any) -> bool:
    """Return whether a value may stand for a default: a number, a name, or some of either."""
    if isinstance(like, tuple):
        sequence = isinstance(value, list | tuple) and len(value) > 0
        return sequence and all(_is_like(one, like[0]) for one in value)
    if isinstance(like, str):
        return isinstance(value, str)
    kind = Integral if isinstance(like, int) else Real
    if not isinstance(value, kind) or isinstance(value, bool):
        return False
    return bool(0.0 <= float(value) < float("inf"))


def _as_tuple(value: Any) -> Any:
    """Return lists as tuples, those inside them too."""
    return tuple(map(_as_tuple, value)) if isinstance(value, list | tuple) else value


DEFAULT_SEARCH = SearchSettings()
