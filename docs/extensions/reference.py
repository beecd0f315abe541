"""The reference: every public name of a package, from its docstring, with a link to its formula.

A page says "{public} suffice.prior" in a block of its own; the block becomes the documentation of
every name in that package's `__all__`, so that a new name is there without further work. The build
fails if a public name is on no page.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PUBLIC = re.compile(r"^```\{public\} ([\w.]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"docs:\s+mathematics,\s+(sections?\s+[\d,\sand]+)")
OTHER_PAGE = re.compile(r"docs:\s+(\w+)\)")
HEADING = re.compile(r"^## (\d+)\. (.*)$", re.MULTILINE)
# A line of the contents for a page that may not be there.
OPTIONAL = re.compile(r"^\? (\S+)\n", re.MULTILINE)
# What documentation of the root of the repository is called on this site.
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}


def expand(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the documentation of a package's public names where a page asks for it."""
    up = "../" * docname.count("/")
    for name, page in ROOT_PAGES.items():
        source[0] = source[0].replace(f"](../{up}{name}", f"]({up}{page}")
    here = Path(app.srcdir, docname).parent
    source[0] = OPTIONAL.sub(
        lambda found: f"{found[1]}\n" if (here / f"{found[1]}.md").exists() else "", source[0]
    )
    source[0] = PUBLIC.sub(lambda found: _block(found[1], found[2].split()), source[0])


def _block(package: str, only: list[str]) -> str:
    names = only or names_of(package)
    lines = [line for name in names for line in _directive(package, name)]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def names_of(package: str) -> list[str]:
    """Return the public names of a package or module: `__all__`, or what it defines itself."""
    module = import_module(package)
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return listed
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == package
        and (inspect.isclass(thing) or inspect.isfunction(thing))
    ]


def _directive(package: str, name: str) -> list[str]:
    thing = getattr(import_module(package), name)
    full = f"{package}.{name}"
    if inspect.isclass(thing):
        if issubclass(thing, BaseException):
            return [f".. autoexception:: {full}", ""]
        return [f".. autoclass:: {full}", "   :members:", "   :show-inheritance:", ""]
    kind = "autofunction" if callable(thing) else "autodata"
    return [f".. {kind}:: {full}", ""]


def read_docstring(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Make what a docstring cites a link, and leave plain names plain."""
    text = "\n".join(lines)
    text = SECTION.sub(lambda found: _links(app, found[1]), text)
    text = OTHER_PAGE.sub(r"`\1 <../\1.html>`__)", text)
    # "classes_" is a name, not a reference, and |x| a length.
    text = "\n".join(_plain(line) for line in text.split("\n"))
    lines[:] = text.split("\n")


def skip_foreign(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members that other packages put into our classes: their pages are elsewhere."""
    module = getattr(inspect.unwrap(thing) if callable(thing) else thing, "__module__", None)
    foreign = module is not None and not module.startswith("suffice")
    return True if foreign and callable(thing) else None


def _plain(line: str) -> str:
    parts = re.split(r"(`[^`]*`_{0,2})", line)
    if line.lstrip().startswith((">>>", "...")):
        return line
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"(\w)_(?![\w_])", r"\1\_", parts[at])
        parts[at] = parts[at].replace("|", r"\|")
        parts[at] = re.sub(r"(?<!\*)\*(?!\*)", r"\*", parts[at])
    return "".join(parts)


def _links(app: Sphinx, cited: str) -> str:
    text = (Path(app.srcdir) / "mathematics.md").read_text(encoding="utf-8")
    anchors = {
        number: nodes.make_id(f"{number}. {title}") for number, title in HEADING.findall(text)
    }
    return "mathematics, " + re.sub(
        r"\d+", lambda found: f"`{found[0]} <../mathematics.html#{anchors[found[0]]}>`__", cited
    )


def public_names() -> dict[str, Any]:
    """Return every public name of the package, with what it is: modules are the pages."""
    import suffice

    return {
        name: getattr(suffice, name)
        for name in suffice.__all__
        if name != "__version__" and not inspect.ismodule(getattr(suffice, name))
    }


def check_complete(app: Sphinx, env: Any) -> None:
    """Fail if a public name is on no page."""
    documented = {name.rsplit(".", 1)[-1] for name in env.domaindata["py"]["objects"]}
    missing = sorted(set(public_names()) - documented)
    if missing:
        raise ExtensionError(f"No page documents {', '.join(missing)}.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what is done when a page and a docstring are read."""
    app.connect("source-read", expand)
    # Before napoleon reads sections.
    app.connect("autodoc-process-docstring", read_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("env-check-consistency", check_complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
