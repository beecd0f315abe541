"""What each code point is in a word: itself, its lower case, or nothing."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

CODE_POINTS = 0x110000
BLOCK = 0x100
WORD = re.compile(r"\w+")

# Letters whose lower case is more than one letter (İ) or depends on where they stand (Σ), as the
# first two bytes of their UTF-8: documents with one of them are lowered by Python.
LOWERED_BY_PYTHON = np.array([list("İ".encode()), list("Σ".encode())], np.uint8)


@cache
def letter_table(lowercase: bool) -> NDArray[np.uint32]:
    r"""Return what each code point is written as in a word, (0x110000,); 0 outside of words.

    Word letters are those of Python's `\w`.

    >>> [chr(letter) for letter in letter_table(True)[[ord("Ä"), ord("_"), ord("7")]]]
    ['ä', '_', '7']
    >>> int(letter_table(True)[ord("-")])
    0
    """
    points = "".join(map(chr, range(CODE_POINTS)))
    table = np.arange(CODE_POINTS, dtype=np.uint32)
    if lowercase:
        for start in range(0, CODE_POINTS, BLOCK):
            block = points[start : start + BLOCK]
            if block.lower() != block:
                lowered = [letter.lower() for letter in block]
                table[start : start + BLOCK] = [
                    ord(low) if len(low) == 1 else start + at for at, low in enumerate(lowered)
                ]
    is_letter = np.zeros(CODE_POINTS, bool)
    for run in WORD.finditer(points):
        is_letter[run.start() : run.end()] = True
    table[~is_letter[table]] = 0
    table.flags.writeable = False
    return table


@cache
def ascii_table(lowercase: bool) -> NDArray[np.uint32]:
    """Return the same for ASCII alone, (0x80,), which needs no look at all of Unicode."""
    letters = [chr(point) for point in range(0x80)]
    return np.array(
        [
            ord(letter.lower() if lowercase else letter) if WORD.match(letter) else 0
            for letter in letters
        ],
        np.uint32,
    )
