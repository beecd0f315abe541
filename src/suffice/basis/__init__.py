"""Basis functions: columns made of columns, for regressions that are linear in them only."""

from suffice.basis.fourier import Fourier
from suffice.basis.hinge import Hinge, RandomHinge
from suffice.basis.learned_hinge import LearnedHinge
from suffice.basis.levels import Levels
from suffice.basis.polynomial import Polynomial, Quadratic
from suffice.basis.radial import Radial

__all__ = [
    "Fourier",
    "Hinge",
    "LearnedHinge",
    "Levels",
    "Polynomial",
    "Quadratic",
    "Radial",
    "RandomHinge",
]
