"""Families of columns: how a block of a table is tallied, read, scored, drawn and left out."""

from suffice.blocks.block import Family, Reading
from suffice.blocks.families import FAMILIES, family_of

__all__ = ["FAMILIES", "Family", "Reading", "family_of"]
