"""Try the suffice that is installed: no extras beside it, public names, the examples of a page.

It runs in an environment of base dependencies alone, and so imports nothing but suffice.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

# A block of code: the language that it names, and its lines.
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)

# Modules that are made for an extra, and the package that they cannot be imported without; the
# packages whose names they hold import them when a name is first used.
MADE_FOR = {"suffice.spark.pipeline": "pyspark"}


def main(page: str, *extras: str) -> None:
    """Run every check; the first failure ends it, with its reason."""
    import suffice

    if not Path(str(suffice.__file__)).is_relative_to(sys.prefix):
        sys.exit(f"suffice comes from {suffice.__file__}, not from {sys.prefix}.")
    if installed := present(extras):
        sys.exit(f"Not a bare environment: {', '.join(installed)} must not be installed.")
    names = import_everything(suffice)
    examples = run_examples(Path(page))
    print(f"{names} names, {examples} examples")


def present(distributions: Iterable[str]) -> list[str]:
    """Return those distributions that are installed."""
    found = []
    for name in distributions:
        try:
            distribution(name)
        except PackageNotFoundError:
            continue
        found.append(name)
    return found


def import_everything(package: ModuleType) -> int:
    """Import every module and every public name of a package; return how many names there are.

    What is made for an extra must say, when it is imported, that the extra is not there.
    """
    modules = [package]
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        needed = MADE_FOR.get(found.name)
        if needed is None:
            modules.append(importlib.import_module(found.name))
            continue
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] == needed:
                continue
        sys.exit(f"{found.name} was imported without {needed}. Is it still made for it?")
    names = [(module, name) for module in modules for name in getattr(module, "__all__", ())]
    held = {home.rpartition(".")[0] for home in MADE_FOR}
    for module, name in names:
        if module.__name__ not in held and not hasattr(module, name):
            sys.exit(f"{module.__name__}.__all__ has {name!r}, but the module has not.")
    return len(names)


def run_examples(page: Path) -> int:
    """Run the Python blocks of a page as one doctest; return how many examples there are."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for language, block in blocks:
        if language != "python" or ">>>" not in block:
            sys.exit(f"A block of {page.name} is no Python example, and is not run:\n{block}")
    source = "\n".join(block for _, block in blocks)
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed, tried = runner.run(test)
    if failed or not tried:
        sys.exit(f"{failed} of {tried} examples of {page.name} failed.")
    return tried


if __name__ == "__main__":
    main(*sys.argv[1:])
