"""Families of columns: how a block of a table is tallied, fitted, scored and sampled."""

from suffice.families.columns.by_name import FAMILIES, family_of
from suffice.families.columns.family import Family, Posterior

__all__ = ["FAMILIES", "Family", "Posterior", "family_of"]
