"""What pages add to pictures of the library."""

from __future__ import annotations

from typing import Any


def titled(ax: Any, title: str) -> Any:
    """Return axes with a title that states the point."""
    ax.set_title(title, loc="left", fontsize="medium")
    return ax
