"""Decision regions in two columns: of any classifier, slices included."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from suffice import (
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
    plot_regions,
)
from suffice.errors import InputError

mpl.use("Agg")
IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)
SPECIES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def boundary(ax):
    """Return the points of all boundary lines."""
    lines = [path.vertices for one in ax.collections for path in one.get_paths()]
    return np.concatenate([line for line in lines if len(line)])


def test_the_line_is_where_both_classes_have_probability_one_half():
    X, y = IRIS.to_numpy()[50:, 2:], SPECIES[50:]
    for model in (GaussianNB(), GaussianDiscriminant("full"), LogisticRegression()):
        ax = plot_regions(model.fit(X, y), X, y)
        assert np.abs(model.predict_proba(boundary(ax))[:, 0] - 0.5).max() < 0.02
        assert "p = .5" in [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_the_title_says_how_many_rows_are_on_the_wrong_side():
    X = IRIS.iloc[:, 2:]
    model = GaussianNB().fit(X, SPECIES)
    wrong = np.mean(model.predict(X) != SPECIES)
    ax = plot_regions(model, X, SPECIES)
    assert ax.get_title(loc="left") == f"GaussianNB: {wrong:.1%} of 150 rows on the wrong side"
    assert ax.get_xlabel() == "petal length (cm)"


def test_ellipses_are_those_of_the_model_or_of_the_rows():
    X, y = IRIS.to_numpy()[:, 2:], SPECIES
    for model, of in (
        (GaussianNB(), "model"),
        (GaussianDiscriminant("tied"), "model"),
        (QuadraticDiscriminantAnalysis(store_covariance=True), "model"),
        (RandomForestClassifier(n_estimators=5, random_state=0), "rows"),
    ):
        ax = plot_regions(model.fit(X, y), X, y)
        names = [text.get_text() for text in ax.figure.legends[0].get_texts()]
        assert f"classes of the {of}, 1 and 2 sd" in names
    naive = GaussianNB().fit(X, y)
    ax = plot_regions(naive, X, y)
    outline = next(line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 200)
    standardised = (outline - naive.theta_[0]) / np.sqrt(naive.var_[0])
    assert np.linalg.norm(standardised, axis=1) == pytest.approx(1.0)


def test_other_columns_are_held_at_typical_or_given_values():
    X, y = IRIS.iloc[50:], SPECIES[50:]
    model = GaussianDiscriminant("tied").fit(X, y)
    columns = ["petal length (cm)", "petal width (cm)"]
    held = {"sepal length (cm)": 5.0, "sepal width (cm)": 2.0}
    points = boundary(plot_regions(model, X, y, columns, at=held))
    whole = np.column_stack([np.full((len(points), 2), [5.0, 2.0]), points])
    proba = model.predict_proba(type(X)(whole, columns=X.columns))
    assert np.abs(proba[:, 0] - 0.5).max() < 0.02


def test_slices_show_each_row_once():
    model = GenerativeClassifier().fit(IRIS, SPECIES)
    values = [4.8, 5.8, 7.0]
    figure = plot_regions(model, IRIS, SPECIES, [2, 3], slices={"sepal length (cm)": values})
    shown = sum(
        len(line.get_xydata())
        for ax in figure.axes
        for line in ax.lines
        if line.get_label() in set(SPECIES)
    )
    assert shown == 150
    assert figure.axes[0].get_title(loc="left") == "sepal length (cm) = 4.8"


def test_tables_of_levels_and_numbers_are_drawn_at_a_level():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    table = {
        "colour": rng.choice(["red", "blue"], 80).astype(object),
        "size": rng.normal(y),
        "age": rng.normal(2 * y),
    }
    model = GenerativeClassifier().fit(table, y)
    figure = plot_regions(model, table, y, ["size", "age"], slices={"colour": ["red", "blue"]})
    assert len(figure.axes) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": [0]}, "two columns"),
        ({"columns": [0, "nowhere"]}, "no column 'nowhere'"),
        ({"slices": {0: [1.0]}}, "not drawn"),
        ({"y": SPECIES[:5]}, "one label a row"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    model = GaussianNB().fit(IRIS, SPECIES)
    with pytest.raises(InputError, match=message):
        plot_regions(**{"model": model, "X": IRIS, "y": SPECIES, **arguments})
