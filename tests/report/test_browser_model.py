"""The page computes what Python computes: every family, on rows with missing and unseen cells."""

from pathlib import Path

import numpy as np
import pytest

import suffice.report
from suffice import GenerativeClassifier
from suffice.report.browser_model import browser_model, compress

SCRIPT = (Path(suffice.report.__file__).parent / "model.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script(browser):
    """Return a page that has the script, and nothing else."""
    context = browser.new_context()
    page = context.new_page()
    page.evaluate(SCRIPT + "; window.Suffice = Suffice; null")
    yield page
    context.close()


def answers(script, object_, rows):
    """Return what the page says of rows, given the object as a page has it."""
    return script.evaluate(
        """async ([text, rows]) => {
            const model = Suffice.model(await Suffice.decompress(text));
            return rows.map((row) => model.predict(row));
        }""",
        [compress(object_), rows],
    )


def test_normal_and_categorical(script):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    table = {"x": rng.normal(y, 1.0), "city": rng.choice(["Rome", "Oslo"], 100)}
    model = GenerativeClassifier().fit(table, np.array(["a", "b", "c"])[y])
    rows = [{"x": 0.5, "city": "Rome"}, {"x": None, "city": "Lima"}]
    found = answers(script, browser_model(model), rows)
    expected = np.concatenate([model.predict_proba([row]) for row in rows])
    np.testing.assert_allclose([one["probabilities"] for one in found], expected, atol=1e-9)
