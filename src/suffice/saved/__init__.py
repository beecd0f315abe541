"""Saved models: one file a model, which is checked before anything is believed of it."""

from suffice.saved.loading import describe, load
from suffice.saved.provenance import Provenance
from suffice.saved.savable import Savable

__all__ = ["Provenance", "Savable", "describe", "load"]
