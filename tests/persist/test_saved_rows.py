"""What a file has of the rows that a model keeps: held-out answers always, cells when asked for."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import suffice
from suffice import GaussianNB, GenerativeClassifier, MultinomialNB, TextClassifier
from suffice.errors import InputError, ModelFileError

RNG = np.random.default_rng(7)
SIZE = 120
LABELS = np.where(np.arange(SIZE) % 2, "spam", "ham")
COUNTS = RNG.poisson(np.where(np.arange(SIZE)[:, None] % 2, 3.0, 1.0), (SIZE, 4)).astype(float)
WORDS = ["pills", "cheap", "lunch", "noon", "report"]
DOCUMENTS = [" ".join(RNG.choice(WORDS, 5)) + f" word{at}" for at in range(SIZE)]
FRAME = pd.DataFrame(
    {
        "age": np.where(np.arange(SIZE) % 11 == 0, np.nan, RNG.normal(np.arange(SIZE) % 2)),
        "city": RNG.choice(["Rome", "Oslo", "Lima"], SIZE),
        "note": [f"{text} and a note" for text in DOCUMENTS],
        "paid": RNG.random(SIZE) < 0.5,
    }
)
CASES = {
    "array": (lambda: GaussianNB(calibrate="folds"), COUNTS),
    "sparse": (lambda: MultinomialNB(calibrate="folds"), csr_array(COUNTS)),
    "text": (TextClassifier, DOCUMENTS),
    "text, unknown": (lambda: TextClassifier(unknown="smooth"), DOCUMENTS),
    "table": (lambda: GenerativeClassifier({"note": "text"}, missing="informative"), FRAME),
}


def quietly(act, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return act(*given, **named)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def fitted(case):
    make, X = CASES[case]
    return quietly(make().fit, X, LABELS), X


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_file_with_rows_refreshes_as_the_model_does(case, path):
    model, X = fitted(case)
    quietly(model.partial_fit, X[:9], LABELS[:9])
    model.save(path, rows=True)
    loaded = suffice.load(path)
    np.testing.assert_array_equal(loaded._fitted.sample.hashes, model._fitted.sample.hashes)
    for one in (model, loaded):
        one.refresh_calibration()
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    for one in (model, loaded):
        quietly(one.forget, X[:9], LABELS[:9])
        one.refresh_calibration()
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_a_file_without_rows_says_so(case, path):
    model, X = fitted(case)
    model.save(path)
    loaded = suffice.load(path)
    with pytest.raises(InputError, match=r"a file without rows.*save\(path, rows=True\)"):
        loaded.refresh_calibration()
    loaded.refresh_calibration(X, LABELS)
    with pytest.raises(InputError, match="keeps no rows that could be saved"):
        loaded.save(path, rows=True)


@pytest.mark.parametrize("case", CASES)
def test_held_out_answers_are_saved(case, path):
    model, _ = fitted(case)
    model.save(path)
    before, after = model._fitted.held_out, suffice.load(path)._fitted.held_out
    for one, other in zip(before[:4], after[:4], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(before.uncalibrated, after.uncalibrated)
    assert after.weights.sum() == SIZE
    assert after.hashes.size == 0
    # They are those of rows that were held out: not far from the loss of other folds.
    own = -after.weights @ after.log_proba[np.arange(len(after.codes)), after.codes] / SIZE
    assert 0.0 < own < np.log(2) + 0.05


@pytest.mark.parametrize("case", ["text", "text, unknown", "table"])
def test_cells_are_in_the_file_only_when_asked_for(case, path):
    make, X = CASES[case]
    cells = 123456.789
    if case == "table":
        X = X.assign(age=X["age"].where(np.arange(SIZE) != 5, cells))
    model = quietly(make().fit, X, LABELS)
    model.save(path)
    plain = path.read_bytes()
    text = "word17 and a note" if case == "table" else DOCUMENTS[17]
    assert text.encode() not in plain
    assert np.float64(cells).tobytes() not in plain
    model.save(path, rows=True)
    if case == "table":
        assert text.encode() in path.read_bytes()
        assert np.float64(cells).tobytes() in path.read_bytes()


def test_what_was_forgotten_is_in_no_file_with_rows(path):
    model, _ = fitted("table")
    odd = FRAME[:1].assign(city="alice_smith", note="bobby jones was here today")
    quietly(model.partial_fit, odd, ["spam"])
    quietly(model.save, path, rows=True)
    assert b"bobby jones" in path.read_bytes()
    quietly(model.forget, odd, ["spam"])
    model.save(path, rows=True)
    assert b"alice_smith" not in path.read_bytes()
    assert b"bobby" not in path.read_bytes()


def test_answers_for_forgotten_rows_are_forgotten(path):
    model, X = fitted("array")
    quietly(model.forget, X[:20], LABELS[:20])
    assert len(model._fitted.held_out.codes) == len(model._fitted.sample)
    quietly(model.partial_fit, [[1.0] * 4], ["other"])
    model.save(path)
    assert suffice.load(path)._fitted.held_out is None


@pytest.mark.slow
def test_a_stream_is_saved_with_what_it_has_decided(path):
    model = GenerativeClassifier(budget=0)
    for at in range(0, 60, 10):
        quietly(model.partial_fit, FRAME[at : at + 10], LABELS[at : at + 10])
    model.save(path, rows=True)
    assert model.choices_.again_at == 70  # saving changes nothing
    loaded = quietly(suffice.load(path).refresh_weights)
    quietly(model.refresh_weights)
    np.testing.assert_allclose(loaded.predict_proba(FRAME), model.predict_proba(FRAME), rtol=1e-9)


def test_the_docstring_says_that_raw_rows_are_in_the_file():
    for model in (GaussianNB, TextClassifier, GenerativeClassifier):
        assert "raw rows" in inspect.getdoc(model.save)


def test_saving_changes_no_model(path):
    model, _ = fitted("table")
    before = dict(vars(model))
    model.save(path, rows=True)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


HOSTILE = {
    "no rows": lambda rows: rows.pop("codes"),
    "codes of no class": lambda rows: rows.update(codes=rows["codes"] + 5),
    "codes below 0": lambda rows: rows.update(codes=rows["codes"] - 1),
    "weights of NaN": lambda rows: rows.update(weights=rows["weights"] * np.nan),
    "weights below 0": lambda rows: rows.update(weights=-rows["weights"]),
    "labels of others": lambda rows: rows.update(labels=np.array(["eggs", "ham"])),
    "labels twice": lambda rows: rows.update(labels=np.array(["ham", "ham"])),
    "no counts": lambda rows: rows.update(counts=rows["counts"] * 0),
    "no limit": lambda rows: rows.update(limit=-1),
    "groups of another length": lambda rows: rows.update(groups=np.arange(3, dtype=np.uint64)),
    "no cells": lambda rows: rows.update(cells=None),
}
CELLS = {
    "array": {
        "fewer columns": lambda cells: cells.update(dense=cells["dense"][:, 1:]),
        "endless cells": lambda cells: cells.update(dense=cells["dense"] / 0),
        "texts": lambda cells: cells.update(dense=cells["dense"].astype(str)),
    },
    "sparse": {
        "columns beyond": lambda cells: cells.update(indices=cells["indices"] + 9),
        "columns below 0": lambda cells: cells.update(indices=cells["indices"] - 1),
        "ends beyond": lambda cells: cells.update(indptr=cells["indptr"] * 2),
        "a width beyond": lambda cells: cells.update(width=1 << 40),
    },
    "text": {
        "counts below 0": lambda cells: cells.update(data=-cells["data"]),
        "a dense array": lambda cells: (cells.clear(), cells.update(dense=np.ones((SIZE, 1)))),
    },
    "table": {
        "a column less": lambda cells: cells.pop(),
        "levels beyond": lambda cells: cells.__setitem__(1, cells[1] + 7),
        "a shorter column": lambda cells: cells.__setitem__(0, cells[0][1:]),
        "endless numbers": lambda cells: cells.__setitem__(0, cells[0] * np.inf),
        "texts of numbers": lambda cells: cells.__setitem__(2, cells[0]),
    },
}


def tampered(model, change, path, monkeypatch):
    """Save a model whose kept rows are changed on their way to the file."""
    kept = type(model)._rows_to_save

    def changed(self, fitted):
        rows = kept(self, fitted)
        with np.errstate(all="ignore"):
            change(rows)
        return rows

    monkeypatch.setattr(type(model), "_rows_to_save", changed)
    model.save(path, rows=True)
    monkeypatch.undo()


@pytest.mark.slow
@pytest.mark.parametrize("change", HOSTILE)
@pytest.mark.parametrize("case", ["array", "table"])
def test_rows_that_cannot_be_are_refused(case, change, path, monkeypatch):
    model, _ = fitted(case)
    tampered(model, HOSTILE[change], path, monkeypatch)
    with pytest.raises(ModelFileError):
        suffice.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "change"), [(c, name) for c in CELLS for name in CELLS[c]])
def test_cells_that_cannot_be_are_refused(case, change, path, monkeypatch):
    model, _ = fitted(case)
    tampered(model, lambda rows: CELLS[case][change](rows["cells"]), path, monkeypatch)
    with pytest.raises(ModelFileError):
        suffice.load(path)
