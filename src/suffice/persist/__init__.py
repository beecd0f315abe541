"""Saved models: one file a model, which is checked before anything in it is used."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.persist.loading import describe, load
    from suffice.persist.provenance import Provenance
    from suffice.persist.saving import Savable

__all__ = ["Provenance", "Savable", "describe", "load"]

# Saving does not need loading, and a model that is not saved needs neither.
_HOME = {
    "Provenance": "provenance",
    "Savable": "saving",
    "describe": "loading",
    "load": "loading",
}
__getattr__ = load_at_first_use(__name__, _HOME)
