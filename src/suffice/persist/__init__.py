"""Saved models: one file a model, which is checked before anything is believed of it."""

from suffice.persist.loading import describe, load
from suffice.persist.provenance import Provenance
from suffice.persist.savable import Savable

__all__ = ["Provenance", "Savable", "describe", "load"]
