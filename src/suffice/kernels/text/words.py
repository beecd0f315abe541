"""Cutting UTF-8 text into words, each by its number in a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.prefetch import AHEAD, prefetch
from suffice.kernels.text.word_table import (
    BLOCK,
    BYTE,
    OFFSET,
    ONE,
    UNKNOWN,
    ZERO,
    WordTable,
    add_word,
    find_word,
    head_of,
    mixed,
)

NOT_ASCII = np.uint8(0x80)

# How many times longer a text may become by lowering its letters: two bytes may become three.
LONGER = 2


@exact_kernel
def put_letter(word: NDArray[np.uint8], size: np.uint64, point: int) -> Any:
    """Write a code point beyond ASCII as UTF-8, and return where it ends."""
    if point < 0x800:
        word[size] = 0xC0 | (point >> 6)
        size += ONE
    else:
        if point < 0x10000:
            word[size] = 0xE0 | (point >> 12)
            size += ONE
        else:
            word[size] = 0xF0 | (point >> 18)
            word[size + ONE] = 0x80 | ((point >> 12) & 0x3F)
            size += ONE + ONE
        word[size] = 0x80 | ((point >> 6) & 0x3F)
        size += ONE
    word[size] = 0x80 | (point & 0x3F)
    return size + ONE


@exact_kernel
def letter_at(text: NDArray[np.uint8], at: np.uint64) -> Any:
    """Return the code point beyond ASCII that begins here, and how many bytes it has."""
    lead = np.int64(text[at])
    second = np.int64(text[at + ONE]) & 0x3F
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | second, 2
    third = np.int64(text[at + ONE + ONE]) & 0x3F
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | (second << 6) | third, 3
    fourth = np.int64(text[at + ONE + ONE + ONE]) & 0x3F
    return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | fourth, 4


class Words(NamedTuple):
    """Words that were cut out of documents, one after the other, and not yet numbered."""

    letters: NDArray[np.uint8]
    """(`LONGER` times the documents' bytes,): the words' bytes"""
    begins: NDArray[np.int64]
    """(words + 1,): where each word begins in `letters`"""
    codes: NDArray[np.uint64]
    """(words,): their hashes"""
    heads: NDArray[np.uint64]
    """(words,): what `head_of` says of them"""


@exact_kernel
def cut_words(
    text: NDArray[np.uint8],
    begins: NDArray[np.int64],
    letters: NDArray[np.uint32],
    shortest: int,
    words: Words,
    ends: NDArray[np.int64],
) -> None:
    """Cut documents into runs of letters.

    Parameters
    ----------
    text : the documents' bytes, UTF-8
    begins : (documents + 1,)
        Where each document begins.
    letters : (0x110000,), or (0x80,) if all text is ASCII
        What each code point is written as in a word; 0 if it is no part of one.
    shortest : how many letters a word has at least
    words : filled in; room for half as many as there are bytes and documents suffices
    ends : (documents,), filled in: where each document's words end
    """
    out, out_begins, codes, heads = words.letters, words.begins, words.codes, words.heads
    tokens, begin = ZERO, ZERO
    out_begins[ZERO] = 0
    for document in range(len(ends)):
        at, stop = np.uint64(begins[document]), np.uint64(begins[document + 1])
        while at < stop:
            to, run, code = begin, 0, OFFSET
            block, first, shift = ZERO, ZERO, ZERO
            while at < stop:
                byte = text[at]
                if byte < NOT_ASCII:
                    letter = letters[byte]
                    at += ONE
                else:
                    point, width = letter_at(text, at)
                    letter = letters[point]
                    at += np.uint64(width)
                if letter == 0:
                    if run > 0:
                        break
                    continue
                run += 1
                if letter < 0x80:
                    out[to] = letter
                    to += ONE
                    block |= np.uint64(letter) << shift
                    shift += BYTE
                    if shift == BLOCK:
                        if to - begin == BYTE:
                            first = block
                        code, block, shift = mixed(code ^ block), ZERO, ZERO
                else:
                    i, to = to, put_letter(out, to, np.int64(letter))
                    while i < to:
                        block |= np.uint64(out[i]) << shift
                        shift += BYTE
                        i += ONE
                        if shift == BLOCK:
                            if i - begin == BYTE:
                                first = block
                            code, block, shift = mixed(code ^ block), ZERO, ZERO
            if run < shortest:
                continue
            if shift > ZERO:
                code = mixed(code ^ block)
            codes[tokens] = code
            heads[tokens] = head_of(block if to - begin < BYTE else first, to - begin)
            tokens += ONE
            out_begins[tokens] = to
            begin = to
        ends[document] = tokens


@exact_kernel
def number_words(
    words: Words, table: WordTable, grow: bool, numbers: NDArray[np.int32], start: int
) -> Any:
    """Find the number of each word in the table, from word `start` on; return where it stopped.

    Parameters
    ----------
    words : what was cut
    table : the words known
    grow : whether to add words that are not in the table, until it has no room for one
    numbers : (words,), filled in
    """
    slots, heads, known, known_begins = table.slots, table.heads, table.letters, table.begins
    mask, most = np.uint64(len(slots) - 1), min(len(slots) // 2, len(table.hashes))
    for at in range(start, len(numbers)):
        if at + AHEAD < len(numbers):
            prefetch(slots, words.codes[at + AHEAD] & mask)
        begin, end = words.begins[at], words.begins[at + 1]
        head, code = words.heads[at], words.codes[at]
        number = find_word(slots, heads, known, known_begins, words.letters, begin, end, head, code)
        if number == UNKNOWN and grow:
            size = table.size[0]
            if size >= most or known_begins[size] + end - begin > len(known):
                return at
            number = add_word(table, words.letters, begin, end, head, code)
        numbers[at] = number
    return len(numbers)


@exact_kernel
def is_ascii(text: NDArray[np.uint8]) -> Any:
    """Say whether all bytes are ASCII."""
    together = np.uint8(0)
    for byte in text:
        together |= byte
    return together < NOT_ASCII


@exact_kernel
def mark_pairs(
    text: NDArray[np.uint8], begins: NDArray[np.int64], pairs: NDArray[np.uint8], found: Any
) -> None:
    """Mark the documents in which one of these pairs of bytes, (k, 2), stands."""
    for document in range(len(begins) - 1):
        for at in range(begins[document], begins[document + 1] - 1):
            if text[at] >= NOT_ASCII:
                for pair in range(len(pairs)):
                    if text[at] == pairs[pair, 0] and text[at + 1] == pairs[pair, 1]:
                        found[document] = True
