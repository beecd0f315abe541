"""Families: how rows, or blocks of a table, are tallied, fitted, scored and sampled."""

from suffice.families.class_conditional import ClassConditional
from suffice.families.columns.by_name import FAMILIES, family_of
from suffice.families.columns.family import Family, Posterior
from suffice.families.normal import IndependentNormals, NormalSettings

__all__ = [
    "FAMILIES",
    "ClassConditional",
    "Family",
    "IndependentNormals",
    "NormalSettings",
    "Posterior",
    "family_of",
]
