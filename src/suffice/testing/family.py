"""The laws of families: distributions of rows, or of columns of a table, in every class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.testing.laws import Floats


def check_family(
    family: Any,
    X: Any,
    y: ArrayLike,
    *,
    count: Callable[[Any], tuple[Floats, Any]] | None = None,
    support: ArrayLike | Mapping[str, ArrayLike] | None = None,
    base: Callable[[Any], Floats] | None = None,
    read: Callable[[Any], Any] | None = None,
    evidence: bool = True,
    missing: bool = True,
    held: bool = True,
    integration_error: float = 1e-5,
    seed: int = 0,
    size: int = 30,
) -> None:
    """Raise an AssertionError that names the law if a family breaks one.

    The laws are leaving one out, one-step predictives, missing values, sampling, batches, weights,
    splitting, pickling and parameters.

    Parameters
    ----------
    family : Family, or function of Groups that returns a ClassConditional
        A family of columns of a table; or how distributions of rows are fitted to a tally.
    X : a table, or rows (n, d)
    y : (n,)
        The class of each row.
    count : function of Rows that returns the weight of each class, (C,), and their tally
        Needed for rows: `suffice.count.count_moments`, for example.
    support : (k,), or by column, optional
        The values that a column may have; all numbers if not given. Levels of a category are known.
    base : function of rows (n, d) that returns (n,), optional
        What the scores of rows leave out: a term of x that all classes share.
    read : function of what is drawn that returns rows, optional
        Needed if draws are documents.
    evidence : bool
        Whether evidence is the product of one-step predictives: not if parameters are plugged in.
    missing : bool
        Whether rows may have missing values, of which scores are marginals.
    held : bool
        Whether the prior of all rows is held when one of them is left out; priors are
        fitted to the other rows if not, as where there is no prior.
    integration_error : float
        What numerical integrals may be wrong by: more if densities have steps.
    seed, size : int
        Of the random numbers; how many of the rows are used.

    Examples
    --------
    >>> from suffice.families import family_of
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> check_family(family_of("normal", ("age",)), {"age": rng.normal(50 + 9 * y, 9)}, y)
    """
    # Tallies and priors are checked without these, which load compiled loops.
    from suffice.data.table import Table
    from suffice.families.columns.family import Family
    from suffice.testing._family_laws import FamilyLaws, RowFamily, TableFamily

    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    own = codes.astype(np.int32)
    rng = np.random.default_rng(seed)
    some = _some_of_each_class(own, size, rng)
    checked: FamilyLaws
    if isinstance(family, Family):
        given = support if isinstance(support, Mapping) else {}
        table = Table.of(X).take(some)
        checked = TableFamily(own[some], len(labels), seed, size, family, table, given)
    elif count is None:
        raise TypeError(
            "check_family(...) of rows without count. Give a function of Rows, such as "
            "suffice.count.count_moments."
        )
    else:
        values = None if support is None else np.asarray(support, dtype=np.float64)
        rows = X[some], values, base, read, held
        checked = RowFamily(own[some], len(labels), seed, size, family, count, *rows)
    checked.check(rng, evidence=evidence, missing=missing, integration_error=integration_error)


def _some_of_each_class(codes: Any, size: int, rng: np.random.Generator) -> Any:
    """Return numbers of at most `size` rows, the classes in turn, in any order."""
    order = rng.permutation(len(codes))
    place = np.empty(len(codes), np.intp)
    for code in np.unique(codes):
        members = order[codes[order] == code]
        place[members] = np.arange(len(members))
    return rng.permutation(order[np.argsort(place[order], kind="stable")][:size])
