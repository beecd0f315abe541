"""Families of columns: how a block of a table is tallied, read, scored, drawn and left out."""

from suffice.families.by_name import FAMILIES, family_of
from suffice.families.family import Family, Posterior

__all__ = ["FAMILIES", "Family", "Posterior", "family_of"]
