"""One row is scored cell by cell as a table of one row is."""

import math

import numpy as np
import pytest

from suffice import GenerativeClassifier, InputError
from suffice.table.one_row import MAX_CLASSES

ROWS = 400


def mixed_rows(classes=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, ROWS)
    rows = [
        {
            "size": float(rng.normal(c)),
            "price": float(np.exp(rng.normal(c))),
            "visits": int(rng.poisson(1 + c)),
            "city": ["Rome", "Oslo", "Lima"][int(min(rng.integers(0, 3 + c), 2))],
            "paid": bool(rng.random() < 0.3 + 0.2 * c),
            "rooms": int(rng.integers(1, 5)),
            "constant": 1.0,
        }
        for c in labels.tolist()
    ]
    return rows, [f"class {c}" for c in labels]


FAMILIES = {
    "size": "normal",
    "price": "lognormal",
    "visits": "poisson",
    "city": "categorical",
    "paid": "bernoulli",
    "rooms": "categorical",
}


def as_table_would(model, row):
    return dict(zip(model.classes_.tolist(), model.predict_proba([row])[0].tolist(), strict=True))


def changed(rows):
    """Return rows with cells of every kind that can be given."""
    row = rows[0]
    yield from rows[:20]
    for name in row:
        yield {**row, name: None}
        yield {**row, name: math.nan} if name != "city" else row
    yield dict(reversed(row.items()))
    yield {**row, "city": "Bonn"}
    yield {**row, "size": 3}
    yield {**row, "size": np.float64(0.25), "visits": 2.0, "rooms": np.int64(3)}
    yield {**row, "size": 1e6, "price": 1e-300}
    yield {**row, "price": -1.0}
    yield {**row, "visits": 1000}
    yield {**row, "visits": 1.5}
    yield {**row, "visits": -1}
    yield {**row, "rooms": 77}
    yield {**row, "extra": 5}


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("combine", ["naive", "temperature", "blocks", "residual", "auto"])
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_a_row_has_the_probabilities_that_a_table_of_it_has(combine, estimate):
    rows, labels = mixed_rows()
    model = GenerativeClassifier(FAMILIES, combine=combine, estimate=estimate).fit(rows, labels)
    if not model._fitted.residuals:
        assert model._fitted.row_scorer.proba(rows[0]) is not None
    for row in changed(rows):
        found, expected = model.predict_proba_one(row), as_table_would(model, row)
        assert found.keys() == expected.keys()
        assert np.allclose(list(found.values()), list(expected.values()), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("tied", ["normal:tied", "lognormal:tied", "student", "binned"])
def test_other_families_of_numbers_answer_alike(tied):
    rows, labels = mixed_rows()
    model = GenerativeClassifier({"price": tied, "size": "normal"}).fit(rows, labels)
    for row in rows[:20]:
        expected = as_table_would(model, row)
        assert np.allclose(list(model.predict_proba_one(row).values()), list(expected.values()))


@pytest.mark.parametrize(
    "change",
    [{"size": "large"}, {"size": math.inf}, {"size": 10**400}, {"city": 5}, {"city": ["Rome"]}],
)
def test_what_a_table_refuses_is_refused_with_the_same_words(change):
    rows, labels = mixed_rows()
    model = GenerativeClassifier(FAMILIES).fit(rows, labels)
    row = {**rows[0], **change}
    errors = []
    for ask in (model.predict_proba_one, lambda row: model.predict_proba([row])):
        try:
            ask(row)
            errors.append(None)
        except (InputError, ValueError, TypeError, OverflowError) as error:
            errors.append((type(error), str(error)))
    assert errors[0] == errors[1]


def test_a_column_that_is_not_given_is_named():
    rows, labels = mixed_rows()
    model = GenerativeClassifier(FAMILIES).fit(rows, labels)
    for name in ("size", "city", "constant"):
        row = {key: cell for key, cell in rows[0].items() if key != name}
        with pytest.raises(InputError, match=f"Column '{name}' is missing"):
            model.predict_proba_one(row)
        with pytest.raises(InputError, match=f"Column '{name}' is missing"):
            model.predict_proba_one({**row, "more": 1.0})


def test_blocks_of_several_columns_and_many_classes_are_read_as_tables():
    rows, labels = mixed_rows()
    model = GenerativeClassifier({("size", "price"): "mvn"}).fit(rows, labels)
    assert model._fitted.row_scorer is None
    assert model.predict_proba_one(rows[0]) == as_table_would(model, rows[0])
    rows, labels = mixed_rows(MAX_CLASSES + 1)
    model = GenerativeClassifier(FAMILIES).fit(rows, labels)
    assert model._fitted.row_scorer is None
    assert model.predict_proba_one(rows[0]) == as_table_would(model, rows[0])


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_rows_that_were_learned_since_count():
    rows, labels = mixed_rows()
    model = GenerativeClassifier(FAMILIES).fit(rows, labels)
    before = model.predict_proba_one(rows[0])
    for _ in range(20):
        model.learn_one(rows[0], "class 2")
    after = model.predict_proba_one(rows[0])
    assert after["class 2"] > before["class 2"]
    assert np.allclose(list(after.values()), list(as_table_would(model, rows[0]).values()))
