"""Saved models: one file a model, which is checked before anything in it is used."""

from suffice.persist.changing import change_model, previous_path, save_model, undo
from suffice.persist.loading import describe, load
from suffice.persist.provenance import Provenance
from suffice.persist.saving import Savable

__all__ = [
    "Provenance",
    "Savable",
    "change_model",
    "describe",
    "load",
    "previous_path",
    "save_model",
    "undo",
]
