"""The table of coefficients that people know from statistics packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from suffice.tally.tally import Floats


@dataclass(frozen=True)
class Summary:
    """Estimates, standard deviations and intervals of coefficients; prints as a table.

    Parameters
    ----------
    title : str
    facts : pairs of a name and a value, shown above the table
    targets : (t,) names, empty if there is one target without a name
    terms : (k,) names, "intercept" first if there is one
    estimate, sd, lower, upper : (t, k)
    level : float
        The probability that the intervals hold.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.8])
    >>> print(model.summary())
    LinearRegression: 4 rows, 1 column
    R^2 0.9818, noise sd 0.2025
                       estimate          sd       2.5 %      97.5 %
    intercept              0.15       0.248      -0.917       1.217
    x0                     0.94     0.09055      0.5504        1.33
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    targets: tuple[str, ...]
    terms: tuple[str, ...]
    estimate: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by target, term and kind."""
        kinds = ("estimate", "sd", "lower", "upper")
        return {
            target: {
                term: {kind: float(getattr(self, kind)[row, at]) for kind in kinds}
                for at, term in enumerate(self.terms)
            }
            for row, target in enumerate(self.targets or ("y",))
        }

    def __str__(self) -> str:
        tails = [f"{100 * tail:.4g} %" for tail in ((1 - self.level) / 2, (1 + self.level) / 2)]
        width = max(15, *(len(term) for term in self.terms))
        head = " " * width + f"{'estimate':>12}{'sd':>12}{tails[0]:>12}{tails[1]:>12}"
        lines = [self.title, ", ".join(f"{name} {value}" for name, value in self.facts)]
        for row in range(len(self.estimate)):
            if self.targets:
                lines.append(f"y: {self.targets[row]}")
            lines.append(head)
            table = zip(
                self.terms,
                *(kind[row] for kind in (self.estimate, self.sd, self.lower, self.upper)),
                strict=True,
            )
            for term, estimate, sd, lower, upper in table:
                ends = f"{lower:>12.4g}{upper:>12.4g}"
                lines.append(f"{term:<{width}}{estimate:>12.4g}{sd:>12.4g}{ends}")
        return "\n".join(lines)
