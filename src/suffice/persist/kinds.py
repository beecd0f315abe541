"""A multivariate normal as fields, by the form its covariance is kept in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.persist.agreement import MAX_WEIGHT, check_sizes
from suffice.persist.refusal import refuse

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
    spread: Any = normal._structure
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


class Kind(NamedTuple):
    """A class, and the fields that make a value of it: its attributes and its arguments.

    In older files some fields had other names.
    """

    module: str
    fields: tuple[str, ...]
    old_names: Mapping[str, str] = {}


# A model may hold another, which it chose with or cuts words with.
MAX_MODELS = 100
# Tallies, priors and the like, each by itself. A tally brings a tensor, of which there are as many.
MAX_VALUES = 10_000


@dataclass
class Census:
    """How many models and values a file holds: each takes time and memory beside its bytes."""

    models: int = 0
    values: int = 0

    def check(self) -> None:
        """Refuse more than there may be."""
        if self.models > MAX_MODELS:
            refuse(f"It holds more than {MAX_MODELS} models.")
        if self.values > MAX_VALUES:
            refuse(f"It holds more than {MAX_VALUES} tallies and priors.")


TALLY, PRIOR = "suffice.tally", "suffice.prior"
KINDS = {
    "Counts": Kind(TALLY, ("counts", "log_orderings")),
    "Events": Kind(TALLY, ("weight", "sum_x", "sum_log_factorial")),
    "Moments": Kind(TALLY, ("weight", "origin", "sum_x", "sum_xx")),
    "Quartics": Kind(TALLY, ("weight", "origin", "sum_z", "sum_zz")),
    "Groups": Kind(TALLY, ("classes", "weights", "parts")),
    "Beta": Kind(PRIOR, ("successes", "failures")),
    "Dirichlet": Kind(PRIOR, ("concentration",)),
    "Gamma": Kind(PRIOR, ("shape", "rate")),
    "NormalInverseGamma": Kind(PRIOR, ("location", "pseudo_rows", "shape", "scale", "shared")),
    "NormalInverseWishart": Kind(
        PRIOR, ("location", "pseudo_rows", "degrees", "scale_matrix", "shared")
    ),
    "Calibration": Kind(
        "suffice.combine.combination",
        ("inverse_temperature", "offsets", "noise_rate"),
        {"sharpness": "inverse_temperature", "lapse": "noise_rate"},
    ),
}


def kind_of(value: Any) -> str | None:
    """Return the name under which a value is saved, or None if it is of no such class.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> kind_of(Counts([1, 2])), kind_of([1, 2])
    ('Counts', None)
    """
    name = type(value).__name__
    # Asked by where it lives, so that nothing is imported for a value that is something else.
    if name in KINDS and type(value).__module__.startswith(KINDS[name].module):
        return name
    return None


def check_prior(name: str, fields: dict[str, Any]) -> None:
    """Refuse a prior of numbers beyond all data, such as no model could count with.

    Examples
    --------
    >>> check_prior("Gamma", {"shape": 1e200, "rate": 1.0})
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: It has 1e+200 in its shape of a Gamma, where 1e+100 is the \
most.
    """
    if KINDS[name].module == PRIOR:
        numbers = {
            f"{field} of a {name}": value
            for field, value in fields.items()
            if isinstance(value, np.ndarray | float | int)
        }
        check_sizes(numbers, MAX_WEIGHT)


def construct(name: str, fields: dict[str, Any]) -> Any:
    """Return the value of a kind that has these fields, checked by its own constructor."""
    kind = KINDS[name]
    fields = {kind.old_names.get(field, field): value for field, value in fields.items()}
    if fields.keys() != set(kind.fields):
        refuse(f"A {name} should have {list(kind.fields)}, but has {sorted(fields)[:8]}.")
    check_prior(name, fields)
    return getattr(import_module(kind.module), name)(**fields)
