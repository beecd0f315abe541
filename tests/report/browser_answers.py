"""What a page says of rows, compared with Python."""

import numpy as np

from suffice.report.browser_model import browser_model, compress

# Rows whose reasons are compared, of those whose probabilities are.
EXPLAINED = 12


def answers(script, found, rows):
    """Return what the page says of rows, given the object as a page has it."""
    return script.evaluate(
        """async ([text, rows]) => {
            const model = Suffice.model(await Suffice.decompress(text));
            return rows.map((row) => model.predict(row));
        }""",
        [compress(found), rows],
    )


def compare(script, model, rows, given=None, explained=EXPLAINED):
    """Assert that the page gives Python's probabilities, labels and reasons."""
    found = answers(script, browser_model(model), rows)
    given = rows if given is None else given
    expected = model.predict_proba(given)
    probabilities = np.array([one["probabilities"] for one in found])
    np.testing.assert_allclose(probabilities, expected, rtol=1e-9, atol=1e-9)
    labels = [model.classes_[np.argmax(row)] for row in expected]
    assert [one["label"] for one in found] == labels
    for row, one in list(zip(given, found, strict=True))[:explained]:
        compare_reasons(model.explain(row, one["target"]).to_dict(), one)


def compare_reasons(why, one):
    # Of log-odds of 1e22, which a number far out has, the last digits are millions.
    close = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, abs(why["log_odds"]))}
    np.testing.assert_allclose(one["log_odds"], why["log_odds"], **close)
    np.testing.assert_allclose(one["base"], why["base"], **close)
    mine, theirs = (
        sorted(pieces, key=lambda piece: (piece["name"], piece["value"]))
        for pieces in (one["reasons"], why["pieces"])
    )
    assert [(p["name"], p["value"]) for p in mine] == [(p["name"], p["value"]) for p in theirs]
    np.testing.assert_allclose(
        [piece["contribution"] for piece in mine],
        [piece["contribution"] for piece in theirs],
        **close,
    )
    sizes = [abs(piece["contribution"]) for piece in one["reasons"]]
    assert sizes == sorted(sizes, reverse=True)


def compare_documents(script, model, texts, explained=EXPLAINED):
    rows = [{"document": text} for text in texts]
    found = answers(script, browser_model(model), rows)
    expected = model.predict_proba(texts)
    np.testing.assert_allclose(
        [one["probabilities"] for one in found], expected, rtol=1e-9, atol=1e-9
    )
    for text, one in list(zip(texts, found, strict=True))[:explained]:
        compare_reasons(model.explain(text, one["target"]).to_dict(), one)
