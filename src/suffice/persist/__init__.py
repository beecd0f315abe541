"""Saved models: one file a model, which is checked before anything in it is used."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
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

# What only reads values, or checks them, needs no estimators.
_HOME = {
    "Provenance": "provenance",
    "Savable": "saving",
    "change_model": "changing",
    "describe": "loading",
    "load": "loading",
    "previous_path": "changing",
    "save_model": "changing",
    "undo": "changing",
}
__getattr__ = load_at_first_use(__name__, _HOME)
