"""Saved models: one file a model, which is checked before anything in it is used."""

from suffice.persist.loading import describe, load
from suffice.persist.provenance import Provenance
from suffice.persist.saving import Savable

__all__ = ["Provenance", "Savable", "describe", "load"]
