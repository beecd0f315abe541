"""Where a picture is drawn: the axes a caller gives, or new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suffice.errors import MissingPackageError


def axes_or_new(ax: Any = None) -> Any:
    """Return `ax`, or the axes of a new figure.

    Nothing is shown: `ax.figure.savefig(...)` or `matplotlib.pyplot.show()` is the caller's.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError(
            "Pictures need matplotlib, which is not installed. Install it with the extra "
            "suffice[plot]."
        ) from None
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def save_figure(ax: Any, title: str, path: Path) -> None:
    """Give a picture its title, write it to a file, close it, and say so."""
    from matplotlib import pyplot

    ax.set_title(title, loc="left", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(path, dpi=150)
    pyplot.close(ax.figure)
    print(f"  picture: {path.name}")
