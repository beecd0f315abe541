"""One change to the file of any model: it is refused, or the model answers every call."""

import random
import warnings
import zlib

import numpy as np
import pytest

import suffice
from saved_cases import public_estimators, put_together, taken_apart, tensor
from saved_mutations import CASES, ODD, calls, fitted, odd_answer, other_tensors, places, with_value
from suffice import ModelFileError, SufficeError

pytestmark = pytest.mark.hostile

# Changes of each kind to a model's file.
CHANGES = 12


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_every_estimator_that_can_be_saved_is_among_them():
    kinds = {kind for kind in public_estimators() if hasattr(kind, "save")}
    assert kinds == {type(model) for model, *_ in CASES.values()}


def changed(dice, document, tensors):
    """Yield changed files, each with what was changed."""
    ways = [way for way in places(document) if way[0] != "provenance"]
    for _ in range(CHANGES):
        way, odd = dice.choice(ways), dice.choice(ODD)
        yield f"{way} is {odd!r}", with_value(document, way, odd), tensors
    for _ in range(CHANGES):
        name = dice.choice(sorted(tensors)) if tensors else None
        if name is not None:
            what, array = dice.choice(list(other_tensors(*tensors[name])))
            yield f"{name} {what}", document, {**tensors, name: tensor(array)}


def complaint(path, rows):
    """Return what is wrong with a file that was loaded, or None."""
    try:
        model = suffice.load(path)
    except ModelFileError:
        return None
    for name, call in calls(model, *rows):
        try:
            odd = odd_answer(name, call())
        except (SufficeError, NotImplementedError):  # the other one is scikit-learn's
            continue
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        if odd is not None:
            return f"{name}: {odd}"
    return None


@pytest.mark.parametrize("name", CASES)
def test_a_file_with_one_change_is_refused_or_its_model_answers(name, tmp_path):
    path = tmp_path / "model"
    model, *rows = fitted(name)
    model.save(path)
    assert complaint(path, rows) is None
    whole = taken_apart(path.read_bytes())
    dice = random.Random(zlib.crc32(name.encode()))
    complaints = {}
    for what, document, tensors in changed(dice, *whole):
        path.write_bytes(put_together(document, tensors))
        found = complaint(path, rows)
        if found is not None:
            complaints[what] = found
    assert not complaints
