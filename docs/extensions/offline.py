"""The site opens from disk: no page may load anything from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# What a browser loads by itself; links that a reader follows are another matter.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|audio|video|embed)\b[^>]*\bsrc=\"((?:https?:)?//[^\"]*)"
    r"|<link\b(?![^>]*rel=\"(?:canonical|author|license)\")[^>]*\bhref=\"((?:https?:)?//[^\"]*)"
)
IMPORTED = re.compile(r"(?:@import\s+(?:url\()?|url\()\s*[\"']?((?:https?:)?//[^\"')\s]*)")


def loaded_from_elsewhere(text: str) -> list[str]:
    """Return the addresses that a page or a style sheet loads.

    Examples
    --------
    >>> loaded_from_elsewhere('<a href="https://a.example"> <script src="https://b.example/c.js">')
    ['https://b.example/c.js']
    >>> loaded_from_elsewhere("body { background: url(//c.example/d.png) }")
    ['//c.example/d.png']
    """
    found = [one or other for one, other in LOADED.findall(text)]
    return found + IMPORTED.findall(text)


def check(app: Sphinx, error: Any) -> None:
    """Fail if something on the site comes from the network."""
    if error is not None or app.builder.name != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            found = loaded_from_elsewhere(path.read_text(encoding="utf-8"))
            if found:
                raise ExtensionError(f"{path.name} loads {found[0]}: the site must open from disk.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the check at the end of a build."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
