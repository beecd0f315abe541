"""What a law of `suffice.testing` is checked of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """What is checked, the class that the case is for, and how the check is called."""

    kind: type
    arguments: tuple[Any, ...]
    settings: dict[str, Any] = field(default_factory=dict)
