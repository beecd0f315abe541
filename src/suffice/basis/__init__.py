"""Basis functions: columns made of columns, for regressions that are linear in them only."""

from suffice.basis.fourier import Fourier
from suffice.basis.hinge import Hinge
from suffice.basis.levels import Levels
from suffice.basis.polynomial import Polynomial
from suffice.basis.quadratic import Quadratic
from suffice.basis.radial import Radial
from suffice.basis.random_hinge import RandomHinge

__all__ = ["Fourier", "Hinge", "Levels", "Polynomial", "Quadratic", "Radial", "RandomHinge"]
