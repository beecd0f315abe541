"""One self-contained page of a model: assembled, locked against anything from outside, written."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

import suffice
from suffice.data.frames import column_names, is_columns, is_frame, is_rows_of_mappings
from suffice.errors import InputError, SufficeError
from suffice.generative.classifier import TallyClassifier
from suffice.linear_model.regressor import TallyRegressor
from suffice.persist import Provenance, describe, load
from suffice.persist.file_format import replace_file
from suffice.report.classification import Contents, GivenRows
from suffice.report.comparison import comparison_section
from suffice.report.held_out import MAX_SCORED, JudgedRows, are_new, given_rows, kept_rows
from suffice.report.html import Html, element, fill, markup
from suffice.report.learning_curve import learning_curve, sample_rows
from suffice.report.numbers import show_count
from suffice.report.regression import RegressionContents, predict_given
from suffice.report.section import Section, facts, note
from suffice.report.what_if import what_if
from suffice.table import GenerativeClassifier
from suffice.text import TextClassifier
from suffice.threads import one_blas_thread


class LabelledRows(NamedTuple):
    """Rows that were given with the model, a sample of many, and their targets."""

    X: Any
    y: Any
    size: int
    given: int


@one_blas_thread
def write_report(
    model: Any,
    path: str | os.PathLike[str],
    data: Any = None,
    target: Any = None,
    against: Any = None,
) -> Path:
    """Write one self-contained HTML page that says what a model is and how good it is.

    The page is made from the tally and the held-out scores that the model keeps. It needs no
    network, holds no rows, and computes answers itself (docs: report).

    Parameters
    ----------
    model : fitted classifier or linear regression made of a tally, or the path of a saved one
    path : str or PathLike
        Where the page is written: the old file or the whole new one is there at any time.
    data : rows with their targets, optional
        A data frame, a mapping of columns, a list of mappings or an array; documents for a
        TextClassifier. Adds histograms, a learning curve beside logistic regression, and figures
        on these rows where the model keeps no held-out scores. 20,000 rows at most are used.
    target : the name of the target's column in `data`, or the targets (n,)
    against : another model of the same kind, or its path, to be shown side by side

    Returns
    -------
    Path of the page.

    Examples
    --------
    >>> import tempfile
    >>> from suffice import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(model, f"{folder}/report.html").read_text()
    >>> page.startswith("<!doctype html>")
    True
    """
    page = report_page(model, data, target, against)
    written = page.encode("utf-8")

    def write(file: BinaryIO) -> None:
        file.write(written)

    replace_file(path, write)
    return Path(path)


def report_page(model: Any, data: Any = None, target: Any = None, against: Any = None) -> str:
    """Return the page that `write_report` writes."""
    model, provenance = _open(model)
    rows = None if data is None else labelled_rows(data, target)
    contents = _contents(model, rows)
    sections: list[Section] = []
    if against is not None:
        other, _ = _open(against)
        if isinstance(other, TallyRegressor) != isinstance(model, TallyRegressor):
            raise InputError(
                f"A {type(model).__name__} and a {type(other).__name__} have nothing to be "
                "compared in. "
                "Give two classifiers or two regressions."
            )
        sections.append(comparison_section(contents, _contents(other, None)))
    regression = isinstance(contents, RegressionContents)
    form, computed = what_if(model, contents.target_names if regression else None)
    own = contents.sections(form)
    sections = [own[0], *sections, *own[1:]]
    name = target if isinstance(target, str) else None
    sections.append(provenance_section(model, provenance, name))
    payload: dict[str, Any] = {}
    if isinstance(contents, Contents) and contents.judged is not None:
        payload = contents.judged.payload()
    return assemble(model, name, sections, payload, computed, two=against is not None)


def _open(model: Any) -> tuple[Any, Provenance | None]:
    """Return a model, and its record if it comes from a file."""
    if isinstance(model, str | os.PathLike):
        return load(model), describe(model)
    if not isinstance(model, TallyClassifier | TallyRegressor):
        raise InputError(
            f"A {type(model).__name__} has no report. Give a classifier or a linear regression of "
            "this library that is made of a tally, or the path of a saved one."
        )
    return model, None


def _contents(model: Any, rows: LabelledRows | None) -> Any:
    """Return what the report of a model shows."""
    if isinstance(model, TallyRegressor):
        model._check_solved()
        return RegressionContents(
            model, None if rows is None else predict_given(model, rows.X, rows.y)
        )
    judged = kept_rows(model)
    if rows is None:
        return Contents(model, judged, None, None)
    beside: JudgedRows | None = given_rows(model, rows.X, rows.y, rows.size)
    if judged is None or are_new(model, rows.X):
        judged, beside = beside, judged
    given = GivenRows(_numbers(model, rows.X), _codes(model, rows.y))
    curve = learning_curve(model, rows.X, rows.y, rows.size)
    return Contents(model, judged, given, curve, beside)


def _codes(model: Any, y: Any) -> Any:
    place = {label: at for at, label in enumerate(model.classes_.tolist())}
    return np.array([place.get(label, -1) for label in np.asarray(y).tolist()], np.intp)


def _numbers(model: Any, X: Any) -> dict[str, Any]:
    """Return the numbers of rows by the names of columns."""
    if isinstance(model, TextClassifier):
        return {}
    fitted = model._check_ready()
    read = model._read(fitted, X)
    if isinstance(model, GenerativeClassifier):
        return {one.name: np.asarray(one.values, np.float64) for one in read.table if one.numeric}
    if hasattr(read, "toarray"):
        return {}
    return {
        str(name): read[:, at].astype(np.float64) for at, name in enumerate(fitted.columns.terms())
    }


def labelled_rows(data: Any, target: Any) -> LabelledRows:
    """Return rows and their targets: those of a column that is named, or those given beside."""
    if target is None:
        raise InputError("data without target. Name the target's column, or give the targets.")
    if not isinstance(target, str):
        X, y = data, np.asarray(target)
    elif is_frame(data):
        names = column_names(data)
        _check_name(target, names)
        y = np.asarray(data[target])
        others = [name for name in names if name != target]
        X = data.select(others) if hasattr(data, "select") else data[others]
    elif is_columns(data):
        _check_name(target, [str(name) for name in data])
        y = np.asarray(data[target])
        X = {name: column for name, column in data.items() if name != target}
    elif is_rows_of_mappings(data):
        _check_name(target, [str(name) for name in data[0]])
        y = np.asarray([row[target] for row in data])
        X = [{name: cell for name, cell in row.items() if name != target} for row in data]
    else:
        raise InputError(
            f"data is a {type(data).__name__}, whose columns have no names, and target is "
            f"{target!r}. Give the "
            "targets themselves, or a data frame."
        )
    given = len(y)
    if isinstance(X, dict) and given > MAX_SCORED:
        import pyarrow as pa

        X = pa.table(X)
    X, y, size = sample_rows(X, y, given, MAX_SCORED)
    return LabelledRows(X, y, size, given)


def _check_name(target: str, names: list[str]) -> None:
    if target not in names:
        raise InputError(
            f"There is no column {target!r} among {', '.join(names[:8])}. Name the column of the "
            "target."
        )


def provenance_section(model: Any, provenance: Provenance | None, target: str | None) -> Section:
    """Return where the model comes from, and what made the page."""
    now = datetime.now(UTC)
    rows = model._rows_learned()
    pairs: list[tuple[str, Any]] = [
        ("Model", type(model).__name__),
        ("Rows learned", show_count(float(rows))),
        ("Columns", ", ".join(_column_names(model)) or "documents"),
    ]
    if provenance is not None:
        pairs += [
            ("Saved", f"{provenance.when:%Y-%m-%d %H:%M} UTC, by suffice {provenance.version}"),
            ("Source of the rows", provenance.source or "not recorded"),
        ]
    digest = _plan_digest(model, target)
    if digest is not None:
        pairs.append(("Counting plan", element("code", digest)))
    versions = (
        f"suffice {suffice.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    )
    pairs += [("Page made", f"{now:%Y-%m-%d %H:%M} UTC, by {versions}")]
    held = (
        "means, covariances and coefficients."
        if isinstance(model, TallyRegressor)
        else "the model's sums, its levels and words, and probabilities, classes and weights of "
        "held-out rows."
    )
    private = note(f"The page holds no rows. It holds {held}")
    return Section("provenance", "Where it comes from", markup([facts(pairs), private]))


def _column_names(model: Any, most: int = 40) -> list[str]:
    if isinstance(model, TextClassifier):
        return []
    if isinstance(model, GenerativeClassifier):
        names: tuple[str, ...] = model.schema_.given
    else:
        fitted = model._fitted
        columns = fitted.learned.columns if isinstance(model, TallyRegressor) else fitted.columns
        names = columns.terms()
    shown = [str(name) for name in names[:most]]
    return [*shown, f"and {len(names) - most:,} more"] if len(names) > most else shown


def _plan_digest(model: Any, target: str | None) -> str | None:
    """Return the hash of the plan by which the model counts, if the target's name is known."""
    if target is None:
        return None
    try:
        names = model._learned_columns() or ()
        return str(model._fitted_plan(target, None, tuple(names)).digest)
    except (SufficeError, AttributeError, TypeError):
        return None  # documents, a window: there is no plan


# The page.


def assemble(
    model: Any,
    target: str | None,
    sections: list[Section],
    payload: dict[str, Any],
    computed: str | None,
    *,
    two: bool,
) -> str:
    """Return the whole page."""
    folder = files("suffice.report")
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    scripts = [folder.joinpath("page.js").read_text(encoding="utf-8")]
    data = [_data("report-data", "application/json", _json(payload))]
    if computed is not None:
        scripts.insert(0, folder.joinpath("model.js").read_text(encoding="utf-8"))
        data.append(_data("model-data", "text/plain", computed))
    kind = type(model).__name__
    title = (
        f"{'Two models' if two else kind}: {target}" if target else ("Two models" if two else kind)
    )
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {' '.join(map(_hash, scripts))}"
    )
    links = [element("li", element("a", one.title, href=f"#{one.anchor}")) for one in sections]
    rows = show_count(float(model._rows_learned()))
    about = f"{kind} learned from {rows} rows"
    return fill(
        folder.joinpath("page.html").read_text(encoding="utf-8"),
        policy=element("meta", http_equiv="Content-Security-Policy", content=policy),
        title=markup(f"{title} · suffice report"),
        # Style and scripts are ours, and hashed: escaping would change them.
        style=Html(f"<style>{style}</style>"),
        heading=markup(title),
        about=markup(about),
        links=markup(links),
        main=markup([one.html() for one in sections]),
        data=markup(data),
        scripts=Html("".join(f"<script>{one}</script>" for one in scripts)),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"


def _json(value: Any) -> str:
    """Return JSON that ends no element."""
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(name: str, kind: str, text: str) -> Html:
    """Return data for the scripts; the text has no sign that could end the element."""
    assert "<" not in text
    return Html(f'<script type="{kind}" id="{name}">{text}</script>')
