"""Basis functions: columns made of columns, for regressions that are linear in them only."""

from suffice.basis.fourier import Fourier
from suffice.basis.hinge import Hinge
from suffice.basis.polynomial import Polynomial
from suffice.basis.radial import Radial
from suffice.basis.random_hinge import RandomHinge

__all__ = ["Fourier", "Hinge", "Polynomial", "Radial", "RandomHinge"]
