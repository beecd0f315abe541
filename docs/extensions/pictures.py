"""Pictures and numbers of a page, made by the code that the page shows.

The Python blocks of a page run in their order, in one namespace, as the tests run them. A
`picture` draws what an expression returns there; a `value` writes what it returns into a sentence,
and `computed` puts it in as Markdown (a table, say).
`figures` is in every namespace: the scripts in `docs/figures` draw what the library has no method
for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from suffice.tour.chapters import figures
from suffice.tour.page import STYLE, figure_of
from suffice.tour.page_code import PageCode


def page_code(env: Any) -> PageCode:
    """Return the code of the page that is being read."""
    pages = env.temp_data.setdefault("page_code", {})
    if env.docname not in pages:
        path = Path(env.doc2path(env.docname))
        text = path.read_text(encoding="utf-8")
        pages[env.docname] = PageCode(text, {"figures": figures()}, str(path))
    code: PageCode = pages[env.docname]
    return code


class Picture(SphinxDirective):
    """A figure: an expression of the page's code; its caption is the body."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        # Pictures whose colours have a meaning by their brightness are not inverted in the dark.
        "keep-colours": directives.flag,
        "width": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Draw, write the file, and return the figure's node."""
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot

        if "alt" not in self.options:
            raise self.error("A picture needs an :alt: that says what it shows.")
        with mpl.rc_context(STYLE):
            drawn = page_code(self.env).evaluate(self.arguments[0], self.lineno)
            path = self._write(figure_of(drawn))
        pyplot.close("all")
        relative = os.path.relpath(path, self.env.srcdir).replace(os.sep, "/")
        image = nodes.image(uri=f"/{relative}", alt=self.options["alt"])
        if "width" in self.options:
            image["width"] = self.options["width"]
        keep = "keep-colours" in self.options
        figure = nodes.figure(
            "", image, classes=["picture", "keep-colours" if keep else "line-art"]
        )
        if self.content:
            caption = nodes.caption()
            inline, messages = self.parse_inline(" ".join(self.content), lineno=self.lineno)
            caption.extend(inline)
            figure += caption
            return [figure, *messages]
        return [figure]

    def _write(self, figure: Any) -> Path:
        folder = Path(self.env.app.doctreedir).parent / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        number = self.env.new_serialno("picture") + 1
        kind = "png" if "keep-colours" in self.options else "svg"
        path = folder / f"{self.env.docname.replace('/', '-')}-{number}.{kind}"
        fill = "white" if kind == "png" else "none"
        meta = {"Date": None} if kind == "svg" else None
        figure.savefig(path, dpi=160, facecolor=fill, transparent=kind == "svg", metadata=meta)
        return path


class Computed(SphinxDirective):
    """Markdown that an expression of the page's code returns."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the parsed Markdown."""
        text = page_code(self.env).evaluate(self.arguments[0], self.lineno)
        return self.parse_text_to_nodes(str(text))


class Value(SphinxRole):
    """A number in a sentence: an expression of the page's code."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the text."""
        value = page_code(self.env).evaluate(self.text, self.lineno)
        return [nodes.inline("", str(value), classes=["value"])], []


def trim_blocks(app: Sphinx, doctree: nodes.document) -> None:
    """Take away the empty line that ends the output of a block's last example."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = []
        block += nodes.Text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register directive and role."""
    app.add_directive("picture", Picture)
    app.add_directive("computed", Computed)
    app.add_role("value", Value())
    app.connect("doctree-read", trim_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
