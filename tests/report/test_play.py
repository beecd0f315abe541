"""The Play page of the site computes in the browser what the library computes."""

from pathlib import Path

import numpy as np
import pytest

from suffice import (
    Beta,
    Counts,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultivariateNormal,
    QuadraticDiscriminantAnalysis,
)

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    ROOT / "src" / "suffice" / "report" / "model.js",
    ROOT / "docs" / "static" / "play.js",
]
CLASSES = {
    "classes": [
        {"mean": [-1.2, 0.0], "sd": [1.0, 1.0], "rho": 0.6},
        {"mean": [1.3, 0.7], "sd": [1.6, 1.0], "rho": -0.3},
    ],
    "rows": 60,
    "seed": 3,
}


@pytest.fixture
def play(page):
    """Return a function that calls a model of the page."""
    for script in SCRIPTS:
        page.add_script_tag(path=script)

    def call(code, argument):
        return page.evaluate(f"(state) => {{ {code} }}", argument)

    return call


@pytest.mark.parametrize(
    ("a", "b", "heads", "tails"), [(2, 2, 7, 3), (0.5, 20, 0, 41), (1, 1, 0, 0)]
)
def test_a_coin_has_the_posterior_of_beta(play, a, b, heads, tails):
    found = play("return Play.coin(state)", {"a": a, "b": b, "heads": heads, "tails": tails})
    prior, flips = Beta(a, b), Counts.coin("H" * heads + "T" * tails)
    posterior = prior.posterior(flips)
    assert found["mean"] == pytest.approx(posterior.mean(), rel=1e-12)
    assert found["sd"] == pytest.approx(posterior.sd, rel=1e-12)
    assert found["logEvidence"] == pytest.approx(prior.log_evidence(flips), rel=1e-10, abs=1e-12)
    assert found["interval"] == pytest.approx(
        [float(end) for end in posterior.interval(0.95)], abs=1e-9
    )


@pytest.mark.parametrize(("rho", "given"), [(0.7, 2.0), (-0.95, -4.0), (0.0, 1.0)])
def test_a_normal_has_the_axes_and_the_conditional_of_the_library(play, rho, given):
    mean, sd = [0.5, -1.0], [1.8, 1.2]
    found = play("return Play.normal(state)", {"mean": mean, "sd": sd, "rho": rho, "given": given})
    normal = MultivariateNormal(mean, found["covariance"])
    conditional = normal.condition({0: given})
    assert found["conditionalMean"] == pytest.approx(conditional.mean[0], rel=1e-12)
    assert found["conditionalSd"] == pytest.approx(conditional.covariance[0, 0] ** 0.5, rel=1e-12)
    values, vectors = np.linalg.eigh(found["covariance"])
    for axis, value, vector in zip(found["axes"], values[::-1], vectors.T[::-1], strict=True):
        assert axis["variance"] == pytest.approx(value, rel=1e-12)
        assert abs(np.dot(axis["direction"], vector)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gda", LinearDiscriminantAnalysis(solver="lsqr")),
        ("naiveBayes", GaussianNB(var_smoothing=0.0)),
        ("logistic", LogisticRegression(tol=1e-12)),
    ],
)
def test_boundaries_are_those_of_the_library(play, name, model):
    rows = play("const {X, y} = Play.drawClasses(state); return [X, y]", CLASSES)
    model.fit(*map(np.array, rows))
    points = np.random.default_rng(0).normal(scale=3, size=(50, 2))
    ask = {"state": CLASSES, "points": points.tolist(), "name": name}
    code = (
        "const found = Play.classes(state.state).models[state.name]; return state.points.map(found)"
    )
    log_proba = model.predict_log_proba(points)
    assert play(code, ask) == pytest.approx(log_proba[:, 1] - log_proba[:, 0], rel=1e-8, abs=1e-8)


def test_the_boundary_of_qda_is_that_of_maximum_likelihood(play):
    X, y = map(np.array, play("const {X, y} = Play.drawClasses(state); return [X, y]", CLASSES))
    points = np.random.default_rng(1).normal(scale=3, size=(50, 2))
    found = play(
        "const found = Play.classes(state.state).models.qda; return state.points.map(found)",
        {"state": CLASSES, "points": points.tolist()},
    )
    # The library divides by n - 1, the page by n: compared with normals of the rows themselves.
    scores = [
        MultivariateNormal(X[y == c].mean(0), np.cov(X[y == c].T, bias=True)).log_density(points)
        for c in (0, 1)
    ]
    assert found == pytest.approx(scores[1] - scores[0], rel=1e-9, abs=1e-9)
    assert QuadraticDiscriminantAnalysis().fit(X, y).score(X, y) > 0.7


def test_a_point_of_the_learning_curves_is_the_error_of_the_librarys_models(play):
    state = {"columns": 4, "correlation": 0.4, "distance": 2, "seed": 5}
    curve = {**state, "sizes": [20, 60], "repeats": 1, "newRows": 100}
    found = play("return Play.curves(state)", curve)
    code = (
        "const random = Play.generator(state.seed);"
        "const test = Play.drawRows(random, 100, state), all = Play.drawRows(random, 60, state);"
        "return [test.X, test.y, all.X, all.y]"
    )
    new_X, new_y, X, y = map(np.array, play(code, state))
    for point in found:
        rows = point["rows"]
        logistic = LogisticRegression(tol=1e-12).fit(X[:rows], y[:rows])
        assert point["logistic"]["mean"] == pytest.approx(
            1 - logistic.score(new_X, new_y), abs=1e-12
        )
        bayes = tied_naive_bayes(X[:rows], y[:rows], new_X)
        assert point["naiveBayes"]["mean"] == pytest.approx(np.mean(bayes != new_y), abs=1e-12)


def tied_naive_bayes(X, y, new):
    """Return the classes of rows by normals of independent columns that share their variances."""
    means = np.array([X[y == c].mean(0) for c in (0, 1)])
    variance = ((X - means[y]) ** 2).mean(0)
    squares = (((new[:, None] - means) ** 2) / variance).sum(2)
    return (np.log(np.bincount(y) / len(y)) - squares / 2).argmax(1)


def test_drawn_rows_have_the_means_and_correlations_that_were_asked_for(play):
    many = {**CLASSES, "rows": 20_000}
    X, y = map(np.array, play("const {X, y} = Play.drawClasses(state); return [X, y]", many))
    for c, shape in enumerate(CLASSES["classes"]):
        rows = X[y == c]
        assert rows.mean(0) == pytest.approx(shape["mean"], abs=0.06)
        assert rows.std(0) == pytest.approx(shape["sd"], rel=0.05)
        assert np.corrcoef(rows.T)[0, 1] == pytest.approx(shape["rho"], abs=0.04)


def site_page(page, width):
    """Open the panels of the page as the site has them, without the site's theme."""
    text = (ROOT / "docs" / "play.md").read_text(encoding="utf-8")
    parts = [part.split("```")[0] for part in text.split("```{raw} html\n")[1:]]
    style = (ROOT / "docs" / "static" / "play.css").read_text(encoding="utf-8")
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(f"<!doctype html><style>{style}</style><main>{''.join(parts[:-1])}</main>")
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    for script in [*SCRIPTS, ROOT / "docs" / "static" / "play_page.js"]:
        page.add_script_tag(path=script)
    return problems


def test_every_panel_draws_and_follows_its_sliders_by_keyboard(page):
    problems = site_page(page, 1000)
    panels = page.locator("[data-panel]")
    assert panels.count() == 4
    for k in range(4):
        panel = panels.nth(k)
        assert panel.locator("svg > title").count() == 1
        before = panel.locator("output").inner_text()
        assert before
        assert "NaN" not in panel.inner_html()
        slider = panel.locator("input").first
        slider.focus()
        slider.press("End")
        page.wait_for_function(
            "([k, before]) => document.querySelectorAll('output')[k].textContent !== before",
            arg=[k, before],
        )
    assert problems == []


def test_nothing_is_wider_than_a_phone(page):
    assert site_page(page, 360) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
