"""Rows that were learned can be forgotten, in any order, to the last one."""

import numpy as np
import pytest

import suffice
from forgetting_cases import WEIGHTS, History, cases, quietly
from naive_bayes_histories import state
from suffice import GaussianNB, GenerativeClassifier, LinearRegression, TextClassifier
from suffice.errors import DebtError, ModelFileError
from suffice.tally import Counts, Groups
from tally_histories import same_but_for_rounding

pytestmark = pytest.mark.slow

CASES = cases()
# How far a model may be from a fresh fit after forgetting, relative to all that was learned.
RELATIVE = 1e-9


def by_name(model):
    """Return the tallies of a model, the counts of levels and terms by their names."""
    if isinstance(model, TextClassifier):
        parts = getattr(model.tally_.parts, "parts", (model.tally_.parts,))
        return [dict(zip(model.terms_, part.counts.T, strict=True)) for part in parts]
    if not isinstance(model, GenerativeClassifier):
        return [model.tally_]
    found = []
    for family, part in zip(model.blocks_, model.tally_.parts.parts, strict=True):
        if family.name.startswith("text"):
            counts = part.counts.T
            found.append(dict(zip(["", *family.terms], counts, strict=True)))
        elif family.name in ("categorical", "bernoulli"):
            levels = model.schema_[family.column].levels
            found.append(dict(zip(levels, part.counts.T, strict=True)))
        elif family.name == "joint":
            levels = [model.schema_[name].levels for name in family.columns]
            codes = family.seen.tolist()
            cells = [tuple(map(tuple.__getitem__, levels, row)) for row in codes]
            found.append(dict(zip(cells, part.counts.T, strict=True)))
        else:
            found.append(part)
    return found


def same_as_fresh(model, fresh, whole):
    """Check that two models have learned the same, up to rounding of the larger sums."""
    classes = np.arange(1)
    if isinstance(model.tally_, Groups):
        np.testing.assert_array_equal(model.classes_, fresh.classes_)
        classes = whole.classes_
    rows = np.isin(classes, getattr(model, "classes_", classes))
    for left, right, all_rows in zip(*map(by_name, (model, fresh, whole)), strict=True):
        if isinstance(left, dict):
            assert set(left) == set(right)
            for name in left:
                bound = RELATIVE * all_rows[name][rows] + 1e-12 * all_rows[name].max()
                assert np.all(np.abs(left[name] - right[name]) <= bound), name
        elif isinstance(left, Groups):
            same_but_for_rounding(left, right, all_rows, RELATIVE)
        elif rows.size > 1:
            kept = np.flatnonzero(rows)
            same_but_for_rounding(left, right, all_rows.take(kept), RELATIVE)
        else:
            same_but_for_rounding(left, right, all_rows, RELATIVE)


def fresh_of(case, model):
    """Return a new model that counts what another one counts; cells and bins are held."""
    if not isinstance(model, GenerativeClassifier):
        return case.make()
    held = {
        columns: family if family["family"] in ("binned", "student") else family["family"]
        for columns, family in model.families_.items()
    }
    return GenerativeClassifier(held, combine="naive", budget=0)


@pytest.mark.parametrize("name", CASES)
def test_rows_that_were_learned_are_forgotten_in_any_order_to_the_last(name):
    case = CASES[name]
    for number in range(case.models):
        history = History.of(case, [number, len(name)], list(WEIGHTS)[number % 3])
        model = history.learned_by(case.make())
        everyone = np.arange(len(history.y))
        whole, left = history.learn(fresh_of(case, model), everyone), everyone
        for at, step in enumerate(history.steps):
            quietly(model.forget, **history.at(step))
            left = np.setdiff1d(left, step)
            if at == number % len(history.steps) and case.can_be_learned(history.X[left]):
                same_as_fresh(model, history.learn(fresh_of(case, model), left), whole)
        assert len(left) == 1


def test_ten_thousand_histories_are_forgotten():
    assert sum(case.models * case.classes for case in CASES.values()) >= 10_000


def test_light_rows_are_forgotten_after_a_heavy_one_far_from_the_origin():
    """A batch is summed about one of its first rows, and later sums lack what that rounds away."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = np.append(rng.normal(size=5).round(1) / 10, 1.3)[:, None]
        weights = np.append(rng.uniform(0.5, 2.0, 5) * 1e-3, rng.uniform(1.0, 2.0) * 1e3)
        model = GaussianNB().fit([[1.3], [0.0], [1.0]], [0, 1, 1], [1e3 / 3, 1.0, 1.0])
        model.partial_fit(rows, np.zeros(6, int), sample_weight=weights)
        for row in (5, 0, 1, 2, 3, 4):
            quietly(model.forget, rows[[row]], [0], weights[[row]])
        np.testing.assert_allclose(model.theta_, [[1.3], [0.5]], rtol=1e-9)


# ---- the scale goes where the model goes

TRAVELLERS = (
    "GaussianNB gaps",
    "MultinomialNB fractions",
    "CategoricalNB",
    "PoissonNB",
    "LDA",
    "discriminant",
    "regression",
    "text tfidf",
    "table of normal",
    "table of categorical",
    "table of joint",
    "table of mvn",
    "table of text",
)


def heavy_first(name, seed):
    """Return rows of weights over six decades whose heavy ones are forgotten before light ones."""
    history = History.of(CASES[name], seed, "six decades")
    order = np.argsort(-history.weights)
    half = len(order) // 2
    return history, order[:half], np.array_split(order[half:-1], 4)


@pytest.mark.parametrize("name", TRAVELLERS)
def test_a_loaded_model_forgets_what_it_learned_before_it_was_saved(name, tmp_path):
    for seed in range(6):
        history, heavy, rest = heavy_first(name, seed)
        model = history.learned_by(CASES[name].make())
        quietly(model.forget, **history.at(heavy))
        model.save(tmp_path / "model.suffice")
        loaded = suffice.load(tmp_path / "model.suffice")
        for step in rest:
            if len(step):
                quietly(loaded.forget, **history.at(step))


@pytest.mark.parametrize("name", TRAVELLERS)
def test_merged_models_forget_what_either_learned(name):
    for seed in range(6):
        history, heavy, rest = heavy_first(name, seed)
        half = np.array_split(np.random.default_rng(seed).permutation(len(history.y)), 2)
        models = [history.learn(CASES[name].make(), part) for part in half]
        if isinstance(models[0], GenerativeClassifier):
            models[1] = history.learn(fresh_of(CASES[name], models[0]), half[1])
        for model, part in zip(models, half, strict=True):
            taken = np.intersect1d(heavy, part)
            if 0 < len(taken) < len(part):
                quietly(model.forget, **history.at(taken))
                heavy = np.setdiff1d(heavy, taken)
        both = quietly(models[0].merge, models[1])
        for step in (heavy, *rest):
            if len(step):
                quietly(both.forget, **history.at(step))


@pytest.mark.parametrize("name", [name for name in TRAVELLERS if name.startswith("table")])
def test_rows_that_have_decayed_are_forgotten_with_the_weights_that_they_have(name):
    for seed in range(6):
        history, heavy, rest = heavy_first(name, seed)
        model = history.learned_by(CASES[name].make())
        quietly(model.forget, **history.at(heavy))
        quietly(model.decay, 0.3)
        history.weights = history.weights * 0.3
        for step in rest:
            quietly(model.forget, **history.at(step))


def test_files_without_a_gross_scale_are_judged_by_their_tally(tmp_path):
    rows = np.array([[0.1], [0.7], [0.3], [0.9]])
    model = GaussianNB().fit(rows, [0, 0, 1, 1]).forget(rows[:1], [0])
    model._fitted = model._fitted.replace(gross=None)
    model.save(tmp_path / "old.suffice")
    old = suffice.load(tmp_path / "old.suffice")
    assert old._fitted.gross is None
    np.testing.assert_allclose(old.forget(rows[2:3], [1]).theta_, [[0.7], [0.9]])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda scale: Counts([[1.0]]), "gross scale is of type Counts"),
        (lambda scale: Groups([0, 7], [1.0, 1.0], scale.parts), "of other classes"),
        (lambda scale: Groups([0, 1], [1.0, np.inf], scale.parts), "of other classes, or endless"),
        (lambda scale: Groups([0, 1], [1.0, 1.0], scale.parts.take([0])), "of shape"),
        (lambda scale: Groups([0, 1], [1.0, 1.0], Counts([[1.0], [1.0]])), "of type Counts"),
        (lambda scale: Groups([0, 1], [1.0, 1.0], scale.parts.rebase([[1.0]])), "not about 0"),
    ],
)
def test_a_gross_scale_that_does_not_fit_the_tally_is_refused(spoil, message):
    rows = np.array([[0.1], [0.7], [0.3], [0.9]])
    model = GaussianNB().fit(rows, [0, 0, 1, 1]).forget(rows[:1], [0])
    state = model._saved_state()
    model._check_saved(state)
    state["_gross"] = spoil(state["_gross"])
    with pytest.raises(ModelFileError, match=message):
        model._check_saved(state)


# ---- what is left as it was, and what is refused


def test_classes_and_columns_without_forgotten_rows_stay_the_same_to_the_bit():
    rng = np.random.default_rng(8)
    rows, labels = rng.normal(size=(30, 2)).round(1), np.arange(30) % 3
    rows[3, 1] = np.nan
    weights = 10 ** rng.uniform(-3, 3, 30)
    model = GaussianNB().fit(rows, labels, weights)
    quietly(model.forget, rows[[0, 6]], [0, 0], weights[[0, 6]])
    before = model.tally_
    after = quietly(model.forget, rows[[3]], [0], weights[[3]]).tally_
    for name in ("weight", "sum_x", "sum_xx"):
        one, other = getattr(before.parts, name), getattr(after.parts, name)
        np.testing.assert_array_equal(one[1:], other[1:])
        np.testing.assert_array_equal(one[0, 1], other[0, 1])
        assert one[0, 0] != other[0, 0]


def test_the_gross_scale_reveals_only_the_size_of_forgotten_rows():
    rows = np.array([[0.123], [0.456], [0.789], [3.14]])
    model = quietly(GaussianNB().fit(rows, [0, 0, 1, 1]).forget, rows[:1], [0])
    gross = model._fitted.gross
    for sizes in (gross.weights, gross.parts.weight, gross.parts.sum_xx):
        assert set(np.frexp(sizes)[0].ravel()) <= {0.0, 0.5}  # powers of two


@pytest.mark.parametrize(
    ("row", "label", "weight", "message"),
    [
        ([0.5, 0.5], 0, 3.5, r"Class 0 has 3 rows, and 3.5 are to be forgotten"),
        ([9.0, 0.5], 0, 1.0, r"Column 0 would be left with a sum of squares of -.* in class 0"),
        ([0.5, 0.5], 1, 1e-3, "Class 1 has 0.0001 rows, and 0.001 are to be forgotten"),
        ([0.5, 0.5], 2, 1.0, "Cannot forget rows of class 2, of which none was learned"),
    ],
)
def test_forgetting_rows_that_were_not_learned_is_refused_and_changes_nothing(
    row, label, weight, message
):
    """Also after rows of a million times their weight were forgotten."""
    rows = np.array([[0.1, 0.2], [0.5, 0.4], [0.3, 0.3], [0.2, 0.5], [0.1, 0.1], [0.4, 0.2]])
    weights, labels = np.array([1.0, 1.0, 1.0, 1e6, 1e-4, 1e2]), [0, 0, 0, 0, 1, 1]
    model = GaussianNB().fit(rows, labels, weights)
    quietly(model.forget, rows[[3, 5]], [0, 1], weights[[3, 5]])
    before = state(model)
    with pytest.raises(DebtError, match=message):
        model.forget([row], [label], [weight])
    assert state(model) == before


def test_a_plausible_row_that_was_never_learned_is_not_detected():
    model = GaussianNB().fit([[1.0], [2.0], [3.0], [0.0], [1.0]], [0, 0, 0, 1, 1])
    assert model.forget([[2.5]], [0]).class_count_.tolist() == [2.0, 2.0]


def test_the_last_document_with_words_can_be_forgotten(tmp_path):
    mails, labels = ["cheap pills", "", "", "lunch"], ["spam", "spam", "ham", "ham"]
    for event in ("multinomial", "bernoulli", "complement", "polya"):
        model = TextClassifier(event=event, calibrate=None).fit(mails, labels)
        model.forget([mails[0], mails[3]], ["spam", "ham"])
        assert model.terms_.tolist() == []
        np.testing.assert_allclose(model.predict_proba(["cheap lunch", ""]), 0.5)
        assert model.leave_one_out(["", ""], ["spam", "ham"]).log_proba.shape == (2, 2)
        assert (model.n_parameters_, model.sample(3)[0]) == (1, ["", "", ""])
        model.save(tmp_path / "model.suffice")
        again = suffice.load(tmp_path / "model.suffice").partial_fit(["cheap pills"], ["spam"])
        assert sorted(again.terms_) == ["cheap", "pills"]


def test_a_row_that_a_regression_skipped_can_be_forgotten():
    rows = np.array([[1.0], [2.0], [np.nan], [4.0]])
    model = quietly(LinearRegression().fit, rows, [1.0, 2.1, 3.0, 3.9])
    before = model.tally_
    assert model.forget(rows[2:3], [3.0]).n_rows_left_out_ == 0
    assert model.tally_ == before
    with pytest.raises(DebtError, match="More rows with a missing value were to be forgotten"):
        model.forget(rows[2:3], [3.0])
