"""Saved files, and a manifest of what each should hold and answer: floats are exact."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from golden_values import answers, fitted, flat, value_or_refusal
from suffice import BayesianLinearRegression, LinearRegression

FOLDER = Path(__file__).parent / "saved_format_1"
MANIFEST = FOLDER / "manifest.json"


def path_of(name):
    """Return where the file of a case is."""
    return FOLDER / f"{name}.safetensors"


def learned(model):
    """Return what was learned, exactly: the tally, or all fitted attributes where there is none."""
    if hasattr(model, "tally_"):
        return flat("tally_", model.tally_)
    if hasattr(model, "model_"):
        return flat("model_.tally_", model.model_.tally_)
    # A property that raises AttributeError is an attribute that the model does not have.
    return {
        name: value
        for name, value in fitted(model).items()
        if not (isinstance(value, str) and value == "refused: AttributeError")
    }


def answered(model, new):
    """Return the predictions of a model for new rows."""
    found = answers(model, new)
    if isinstance(model, LinearRegression | BayesianLinearRegression):
        found |= value_or_refusal("predict std", lambda: model.predict(new, return_std=True))
    if hasattr(model, "weights_"):
        found |= flat("weights_", model.weights_)
    if hasattr(model, "calibration_"):
        found |= flat("calibration_", model.calibration_)
    return found


def packed(values):
    """Return values as JSON: kind, shape and numbers, each as Python prints it."""
    found = {}
    for key, value in values.items():
        array = np.asarray(value)
        kind = {"u": "i"}.get(array.dtype.kind, array.dtype.kind)
        found[key] = [kind, list(array.shape), array.ravel().tolist()]
    return found


def unpacked(values):
    """Return the arrays that were packed.

    >>> unpacked(json.loads(json.dumps(packed({"a": np.array([0.1, np.inf])}))))
    {'a': array([0.1, inf])}
    """
    types = {"f": "f8", "i": "i8", "b": "?", "U": "U"}
    return {
        key: np.array(items, dtype=types[kind]).reshape(shape)
        for key, (kind, shape, items) in values.items()
    }


def read():
    """Return the manifest."""
    return json.loads(MANIFEST.read_text(encoding="utf-8"))


def write(entries):
    """Write the manifest, a case a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
    MANIFEST.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
