"""Families: how rows, or blocks of a table, are tallied, fitted, scored and sampled."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
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

# Rows of numbers do not need the families of tables.
_HOME = {
    "FAMILIES": "columns.by_name",
    "ClassConditional": "class_conditional",
    "Family": "columns.family",
    "IndependentNormals": "normal",
    "NormalSettings": "normal",
    "Posterior": "columns.family",
    "family_of": "columns.by_name",
}
__getattr__ = load_at_first_use(__name__, _HOME)
