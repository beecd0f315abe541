"""A multivariate normal as fields, by the form its covariance is kept in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from suffice.saved.refusal import refuse

if TYPE_CHECKING:
    from suffice.gaussian import MultivariateNormal


def normal_fields(normal: MultivariateNormal) -> dict[str, Any]:
    """Return what makes the same normal again.

    Examples
    --------
    >>> from suffice.gaussian import MultivariateNormal
    >>> fields = normal_fields(MultivariateNormal.from_diagonal([0.0], [4.0], ["age"]))
    >>> sorted(fields), normal_of(fields)
    (['mean', 'names', 'variances'], MultivariateNormal(mean=[0.], structure='diagonal', \
names=('age',)))
    """
    spread: Any = normal._spread
    kept = {"mean": normal.mean, "names": normal.names}
    if normal.structure == "diagonal":
        return {**kept, "variances": spread.variances}
    if normal.structure == "low_rank":
        return {**kept, "loadings": spread.loadings, "noise": spread.noise}
    if spread.lower is not None:
        return {**kept, "lower": spread.lower}
    return {**kept, "covariance": spread.matrix}


def normal_of(fields: dict[str, Any]) -> MultivariateNormal:
    """Return the normal of such fields, checked by the constructors it is made with."""
    from suffice.gaussian import MultivariateNormal

    ways: dict[tuple[str, ...], Callable[..., MultivariateNormal]] = {
        ("variances",): MultivariateNormal.from_diagonal,
        ("loadings", "noise"): MultivariateNormal.from_low_rank,
        ("lower",): MultivariateNormal.from_cholesky,
        ("covariance",): MultivariateNormal,
    }
    form = tuple(sorted(fields.keys() - {"mean", "names"}))
    if form not in ways or not {"mean", "names"} <= fields.keys():
        refuse(f"A MultivariateNormal has the fields {sorted(fields)[:8]}.")
    return ways[form](fields["mean"], *(fields[name] for name in form), names=fields["names"])
