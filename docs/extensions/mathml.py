"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def to_mathml(formula: str, *, block: bool) -> str:
    """Return a LaTeX formula as one MathML element."""
    try:
        # Blank lines inside an element would end it for some readers of the page.
        return " ".join(latex2mathml.tex2mathml(formula, as_block=block).split())
    except Exception as error:
        raise ExtensionError(f"The formula {formula!r} is not understood: {error}") from error


def in_lines(formula: str) -> str:
    """Return a formula, aligned at its `&` if it has several lines."""
    formula = formula.strip()
    if r"\\" in formula and r"\begin" not in formula:
        return rf"\begin{{aligned}}{formula}\end{{aligned}}"
    return formula


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(f'<span class="formula">{to_mathml(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    body = in_lines(node.astext())
    translator.body.append(f'<div class="formula-block">{to_mathml(body, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
