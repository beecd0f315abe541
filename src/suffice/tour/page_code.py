"""The Python blocks of a Markdown page, run in their order in one namespace.

The documentation site and `suffice tour` run pages with it, so that every figure and number of a
page is made by the code that the page shows.
"""

from __future__ import annotations

import doctest
import io
import re
from contextlib import redirect_stdout
from typing import Any, NamedTuple

from suffice.errors import InputError

BLOCK = re.compile(r"^(`{3,})python\n(.*?)^\1$", re.DOTALL | re.MULTILINE)


class Example(NamedTuple):
    """Code of a page and what it printed just now."""

    source: str
    output: str


class PageCode:
    r"""The code of one page, run as far as it was asked for.

    Parameters
    ----------
    text : str
        The page, in Markdown.
    names : dict
        What its code finds defined.
    where : str
        Its name in errors.

    >>> code = PageCode("# A page\n\n```python\n>>> n = 3\n>>> n + 1\n\n```\n", {}, "a page")
    >>> code.evaluate("n * 2", line=9)
    6
    >>> code.examples[3]
    [Example(source='n = 3\n', output=''), Example(source='n + 1\n', output='4\n')]
    """

    def __init__(self, text: str, names: dict[str, Any], where: str) -> None:
        self.where = where
        self.names = names
        self.examples: dict[int, list[Example]] = {}
        self.waiting = [
            (text.count("\n", 0, found.start()) + 1, found[2]) for found in BLOCK.finditer(text)
        ]

    def run_until(self, line: int) -> dict[str, Any]:
        """Run all blocks that begin before a line; return the namespace."""
        while self.waiting and self.waiting[0][0] < line:
            start, block = self.waiting.pop(0)
            self.examples[start] = [
                self._run(start + 1 + one.lineno, one)
                for one in doctest.DocTestParser().get_examples(block)
            ]
        return self.names

    def evaluate(self, expression: str, line: int) -> Any:
        """Return what an expression is at a line."""
        names = self.run_until(line)
        try:
            return eval(expression, names)  # noqa: S307 - the page's own code
        except Exception as error:
            raise self._error(line, expression, error) from error

    def _run(self, line: int, example: doctest.Example) -> Example:
        # An example whose error is shown has nothing that later ones need.
        if example.exc_msg is not None:
            return Example(example.source, example.want)
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                exec(compile(example.source, self.where, "single"), self.names)  # noqa: S102
        except Exception as error:
            raise self._error(line, example.source, error) from error
        return Example(example.source, printed.getvalue())

    def _error(self, line: int, source: str, error: Exception) -> InputError:
        return InputError(
            f"{self.where}, line {line}: {type(error).__name__}: {error} Look at this code: "
            f"{source.strip()}"
        )
