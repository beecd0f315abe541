"""Print the oldest release of every requirement of pyproject.toml, for pip.

`make test-oldest` installs these and runs the tests, so the minimum versions are tested.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MINIMUM = re.compile(r"(?P<name>[A-Za-z0-9._-]+(\[[a-z]+\])?)>=(?P<version>[0-9.]+)")


def oldest(pyproject: Path) -> Iterator[str]:
    """Yield `name==version` for every dependency, those of the extras included."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    needed = {*project["dependencies"], *(one for extra in extras for one in extra)}
    for requirement in sorted(needed):
        minimum = MINIMUM.fullmatch(requirement)
        if minimum is None:
            raise ValueError(f"{requirement!r} has no minimum. Write it as name>=version.")
        yield f"{minimum['name']}=={minimum['version']}"


if __name__ == "__main__":
    print("\n".join(oldest(ROOT / "pyproject.toml")))
