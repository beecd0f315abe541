"""Write src/suffice/_core.pyi, the types of the compiled core, from the core itself.

`make build` runs this. nanobind describes arrays by shape, order and device; users of the core see
numpy's types, and read shapes in the docstrings.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src" / "suffice" / "_core.pyi"
ANNOTATED = re.compile(
    r"Annotated\[NDArray(?:\[numpy\.(\w+)\])?, dict\([^()]*(?:\([^()]*\))?[^()]*\)\]"
)
# What nanobind cannot say of Python objects.
VAGUE = {
    ", object": ", Any",
    ": Callable,": ": Callable[[int], Any],",
    "-> list:": "-> list[Any]:",
    "-> tuple:": "-> tuple[Any, ...]:",
    "strings: list)": "strings: list[Any])",
}


def stub() -> str:
    """Return the text of the stub, formatted."""
    import suffice._core

    made = StubGen(suffice._core)
    made.put(suffice._core)
    text = ANNOTATED.sub(lambda found: f"NDArray[{_type(found[1])}]", made.get())
    text = re.sub(r'"""\n +(.+)\n +"""', r'"""\1"""', text)
    for vague, typed in VAGUE.items():
        text = text.replace(vague, typed)
    text = text.replace("from typing import Annotated", "from typing import Any")
    text = text.replace("import numpy\n", "import numpy as np\n")
    ruff = Path(sys.executable).with_name("ruff")
    named = ["--stdin-filename", str(STUB)]
    for command in (["check", "--fix", "--quiet"], ["format", "--quiet"]):
        done = subprocess.run(
            [ruff, *command, *named, "-"], input=text, capture_output=True, text=True, cwd=ROOT
        )
        text = done.stdout
    return text


def _type(name: str | None) -> str:
    return "Any" if name is None else f"np.{name}"


if __name__ == "__main__":
    if (text := stub()) != (STUB.read_text() if STUB.exists() else ""):
        STUB.write_text(text)
