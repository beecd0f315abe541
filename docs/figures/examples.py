"""Pictures of the scripts in `examples`, which pages show without running their printed part."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any

import numpy as np


def shell() -> Any:
    """Draw the lengths of draws in many dimensions."""
    from examples import gaussian_shell

    with redirect_stdout(io.StringIO()):
        return gaussian_shell.draw_lengths(np.random.default_rng(6))


def titled(ax: Any, title: str) -> Any:
    """Return axes with a title that states the point."""
    ax.set_title(title, loc="left", fontsize="medium")
    return ax
