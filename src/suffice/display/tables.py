"""Results as tables: text for a terminal, HTML for a notebook, a data frame for further work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from suffice.display.plots import AGAINST, FOR
from suffice.errors import MissingPackageError

# The longest bar, in characters and in pixels.
BAR_CHARACTERS, BAR_PIXELS = 20, 120


class Bar(NamedTuple):
    """A bar in a table: how long it is, as a share of the longest, and for (+) or against (-)."""

    share: float

    def text(self) -> str:
        """Return the bar as signs."""
        return ("+" if self.share > 0 else "-") * round(BAR_CHARACTERS * abs(self.share))

    def html(self) -> str:
        """Return the bar as a coloured box."""
        width, colour = round(BAR_PIXELS * abs(self.share)), FOR if self.share > 0 else AGAINST
        style = f"display:inline-block;height:0.8em;width:{width}px;background:{colour}"
        return f'<span style="{style}"></span>'


class Section(NamedTuple):
    """Lines of a table, and what they have in common."""

    rows: Sequence[Sequence[str | Bar]]
    caption: str = ""


@dataclass(frozen=True)
class PrintedTable:
    """A table for people: every cell is a string as it is to be read, or a bar.

    Parameters
    ----------
    headings : (k,)
    sections : of rows of k cells
    above, below : lines before and after the table
    left : numbers of the columns that are aligned to the left; the others are numbers

    Examples
    --------
    >>> table = PrintedTable(("word", "share"), [Section([("free", "0.5"), ("<b>", "0.25")])])
    >>> print(table.text())
    word  share
    free    0.5
    <b>    0.25
    >>> "&lt;b&gt;" in table.html()
    True
    """

    headings: Sequence[str]
    sections: Sequence[Section]
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    left: Sequence[int] = (0,)

    def text(self) -> str:
        """Return the table as lines of text."""
        headings = [printable(name) for name in self.headings]
        parts = [
            [[_text_of(cell) for cell in row] for row in section.rows] for section in self.sections
        ]
        shown = [headings, *(row for part in parts for row in part)]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = [printable(line) for line in self.above]
        for section, part in zip(self.sections, parts, strict=True):
            lines += [printable(section.caption)] if section.caption else []
            lines += [self._line(row, widths) for row in ([headings] if any(headings) else [])]
            lines += [self._line(row, widths) for row in part]
        return "\n".join([*lines, *(printable(line) for line in self.below)])

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            f"{cell:<{width}}" if at in self.left else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    def html(self) -> str:
        """Return the table as HTML; whatever cells hold is text, never markup."""
        lines = [f"<div>{escape(line)}</div>" for line in self.above]
        lines.append("<table>")
        if any(self.headings):
            lines.append(f"<thead>{self._html_row(self.headings, 'th')}</thead>")
        for section in self.sections:
            lines.append("<tbody>")
            if section.caption:
                span = f'colspan="{len(self.headings)}" style="text-align:left"'
                lines.append(f"<tr><th {span}>{escape(section.caption)}</th></tr>")
            lines += [self._html_row(row, "td") for row in section.rows]
            lines.append("</tbody>")
        lines.append("</table>")
        return "\n".join([*lines, *(f"<div>{escape(line)}</div>" for line in self.below)])

    def _html_row(self, row: Sequence[str | Bar], tag: str) -> str:
        cells = []
        for at, cell in enumerate(row):
            side = "left" if at in self.left else "right"
            shown = cell.html() if isinstance(cell, Bar) else escape(cell)
            cells.append(f'<{tag} style="text-align:{side}">{shown}</{tag}>')
        return f"<tr>{''.join(cells)}</tr>"


class Tabular(ABC):
    """A result that prints as a table, is one in a notebook, and becomes a data frame."""

    @abstractmethod
    def _printed(self) -> PrintedTable:
        """Return the table that people read."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns of the data frame, by name."""

    def __str__(self) -> str:
        return self._printed().text()

    def _repr_html_(self) -> str:
        return self._printed().html()

    def to_frame(self) -> Any:
        """Return the numbers as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError(
                f"{type(self).__name__}.to_frame() needs pandas, which is not installed. Install "
                "pandas, or print the result."
            ) from None
        return pd.DataFrame(dict(self._columns()))


def printable(text: str) -> str:
    r"""Return text of one line: what would break it, or steer a terminal, is written out.

    >>> printable("two\nlines")
    'two\\nlines'
    """
    if text.isprintable():
        return text
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return "".join(shown)


def _text_of(cell: str | Bar) -> str:
    return cell.text() if isinstance(cell, Bar) else printable(cell)
