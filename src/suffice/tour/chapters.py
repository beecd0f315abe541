"""Where the chapters are, and the scripts that draw their figures.

They are pages of the documentation. A wheel carries them in `suffice/tour/pages`; in a checkout
they are where they are written, in `docs` and `examples`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from suffice.errors import InputError

HERE = Path(__file__).parent


class Folders(NamedTuple):
    """The folder of the chapters, and those from which `figures` and `examples` are imported."""

    notes: Path
    imports: tuple[Path, ...]


def folders() -> Folders:
    """Return where chapters and their scripts are.

    >>> folders().notes.name
    'notes'
    """
    pages = HERE / "pages"
    if (pages / "notes").is_dir():
        return Folders(pages / "notes", (pages,))
    checkout = HERE.parents[2]
    return Folders(checkout / "docs" / "notes", (checkout / "docs", checkout))


def chapter_names() -> list[str]:
    """Return the names of all chapters.

    >>> "coins" in chapter_names()
    True
    """
    return sorted(path.stem for path in folders().notes.glob("*.md") if path.stem != "README")


def chapter_path(chapter: str | Path) -> Path:
    """Return the Markdown file of a chapter, by its name, or a file of your own.

    >>> chapter_path("coins").name
    'coins.md'
    """
    if str(chapter) in chapter_names():
        return folders().notes / f"{chapter}.md"
    path = Path(chapter)
    if path.suffix == ".md" and path.is_file():
        return path
    raise InputError(
        f"There is no chapter {str(chapter)!r}. Name one of {', '.join(chapter_names())}, or a "
        "Markdown file of your own."
    )


def figures() -> SimpleNamespace:
    """Return the modules that draw what the library has no method for, by their names."""
    for folder in reversed(folders().imports):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    names = sorted(path.stem for path in (folders().imports[0] / "figures").glob("*.py"))
    wanted = (name for name in names if name != "__init__")
    return SimpleNamespace(**{name: import_module(f"figures.{name}") for name in wanted})
