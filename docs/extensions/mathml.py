"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from suffice.tour.page import formula_html


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(formula_html(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    translator.body.append(formula_html(node.astext(), block=True))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
