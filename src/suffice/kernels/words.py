"""Cutting UTF-8 text into words, and numbering the words in the order of first sight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel

# FNV-1a's offset and prime, and a mixer of the high bits into the low ones, which choose a slot.
OFFSET = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
MIXER = np.uint64(0x9E3779B97F4A7C15)
HIGH = np.uint64(0xFFFFFFFF00000000)
LOW = np.uint64(0x00000000FFFFFFFF)
ONE = np.uint64(1)
SHIFT = np.uint64(32)
NOT_ASCII = np.uint8(0x80)

# How many times longer a text may become by lowering its letters: two bytes may become three.
LONGER = 2

# A word that is in no table.
UNKNOWN = -1


class WordTable(NamedTuple):
    """Words by number, and where to find the number of a word.

    A slot is 0 if empty; else its high half is that of the word's hash, its low half the word's
    number plus one.
    """

    slots: NDArray[np.uint64]
    """(a power of two above twice the words,)"""
    hashes: NDArray[np.uint64]
    """(words or more,)"""
    letters: NDArray[np.uint8]
    """The words' bytes, one after the other."""
    begins: NDArray[np.int64]
    """(words + 1 or more,): where each word begins in `letters`."""
    size: NDArray[np.int64]
    """(1,): how many words there are"""


@exact_kernel
def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array that begins alike and has room for at least `size` things."""
    if size <= len(array):
        return array
    room = np.empty(max(2 * len(array), size), array.dtype)
    room[: len(array)] = array
    return room


@exact_kernel
def first_free(slots: NDArray[np.uint64], code: np.uint64) -> np.uint64:
    """Return the slot in which something new with this hash belongs."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while slots[at] != 0:
        at = (at + ONE) & mask
    return at


@exact_kernel
def more_slots(
    slots: NDArray[np.uint64], hashes: NDArray[np.uint64], size: int, more: int
) -> NDArray[np.uint64]:
    """Return slots of which `size` things, and `more` to come, take at most a half."""
    if 2 * (size + more) <= len(slots):
        return slots
    wide = len(slots)
    while 2 * (size + more) > wide:
        wide *= 2
    wider = np.zeros(wide, np.uint64)
    for number in range(size):
        code = hashes[number]
        wider[first_free(wider, code)] = (code & HIGH) | np.uint64(number + 1)
    return wider


@exact_kernel
def with_room(table: WordTable, words: int, letters: int) -> WordTable:
    """Return the table with room for this many words and bytes more.

    Loops over words never make room themselves: an array that may be another at the next turn
    costs a count of its references at every turn.
    """
    size = table.size[0]
    return WordTable(
        more_slots(table.slots, table.hashes, size, words),
        longer(table.hashes, size + words),
        longer(table.letters, table.begins[size] + letters),
        longer(table.begins, size + words + 1),
        table.size,
    )


@exact_kernel
def find_word(
    slots: NDArray[np.uint64],
    letters: NDArray[np.uint8],
    begins: NDArray[np.int64],
    word: NDArray[np.uint8],
    length: int,
    code: np.uint64,
) -> int:
    """Return the number of a word, given its first `length` bytes and its hash, or UNKNOWN."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while True:
        slot = slots[at]
        if slot == 0:
            return UNKNOWN
        if (slot & HIGH) == (code & HIGH):
            number = (slot & LOW) - ONE
            begin = np.uint64(begins[number])
            if np.uint64(begins[number + ONE]) - begin == np.uint64(length):
                same = True
                for i in range(np.uint64(length)):
                    if letters[begin + i] != word[i]:
                        same = False
                        break
                if same:
                    return np.int64(number)
        at = (at + ONE) & mask


@exact_kernel
def add_word(table: WordTable, word: NDArray[np.uint8], length: int, code: np.uint64) -> int:
    """Put a word into the table that it did not have but has room for; return its number."""
    number = table.size[0]
    begin = table.begins[number]
    for i in range(length):
        table.letters[begin + i] = word[i]
    table.begins[number + 1] = begin + length
    table.hashes[number] = code
    table.slots[first_free(table.slots, code)] = (code & HIGH) | np.uint64(number + 1)
    table.size[0] = number + 1
    return number


@exact_kernel
def mixed(code: np.uint64) -> np.uint64:
    """Return a hash whose low bits depend on all bits."""
    code = (code ^ (code >> SHIFT)) * MIXER
    return code ^ (code >> SHIFT)


@exact_kernel
def hash_of(letters: NDArray[np.uint8], begin: int, end: int) -> np.uint64:
    """Return the hash of some bytes."""
    code = OFFSET
    for i in range(begin, end):
        code = (code ^ np.uint64(letters[i])) * PRIME
    return mixed(code)


@exact_kernel
def number_of(table: WordTable, letters: NDArray[np.uint8], begin: int, end: int) -> int:
    """Return the number of a word, put into the table if it is new."""
    code = hash_of(letters, begin, end)
    word = letters[begin:end]
    number = find_word(table.slots, table.letters, table.begins, word, end - begin, code)
    return add_word(table, word, end - begin, code) if number == UNKNOWN else number


@exact_kernel
def add_words(
    table: WordTable, letters: NDArray[np.uint8], begins: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Put all these words into the table, which has room for them; return the number of each."""
    numbers = np.empty(len(begins) - 1, np.int32)
    for i in range(len(numbers)):
        numbers[i] = number_of(table, letters, begins[i], begins[i + 1])
    return numbers


@exact_kernel
def put_letter(word: NDArray[np.uint8], size: int, point: int) -> int:
    """Write a code point beyond ASCII as UTF-8, and return where it ends."""
    if point < 0x800:
        word[size] = 0xC0 | (point >> 6)
        size += 1
    else:
        if point < 0x10000:
            word[size] = 0xE0 | (point >> 12)
            size += 1
        else:
            word[size] = 0xF0 | (point >> 18)
            word[size + 1] = 0x80 | ((point >> 12) & 0x3F)
            size += 2
        word[size] = 0x80 | ((point >> 6) & 0x3F)
        size += 1
    word[size] = 0x80 | (point & 0x3F)
    return size + 1


@exact_kernel
def letter_at(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """Return the code point beyond ASCII that begins here, and how many bytes it has."""
    lead = np.int64(text[at])
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | (np.int64(text[at + 1]) & 0x3F), 2
    point = (np.int64(text[at + 1]) & 0x3F) << 6 | (np.int64(text[at + 2]) & 0x3F)
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | point, 3
    return ((lead & 0x07) << 18) | (point << 6) | (np.int64(text[at + 3]) & 0x3F), 4


@exact_kernel
def next_word(
    text: NDArray[np.uint8],
    at: int,
    stop: int,
    letters: NDArray[np.uint32],
    word: NDArray[np.uint8],
) -> tuple[int, int, int, np.uint64]:
    """Write the next run of letters into `word`.

    Return where to go on, the run's bytes and letters (0 if there is none), and its hash.
    """
    size, run, code = 0, 0, OFFSET
    while at < stop:
        byte = text[at]
        if byte < NOT_ASCII:
            letter = letters[byte]
            at += 1
        else:
            point, width = letter_at(text, at)
            letter = letters[point]
            at += width
        if letter == 0:
            if run > 0:
                break
        elif letter < 0x80:
            word[size] = letter
            code = (code ^ np.uint64(letter)) * PRIME
            size += 1
            run += 1
        else:
            before, size = size, put_letter(word, size, np.int64(letter))
            for i in range(before, size):
                code = (code ^ np.uint64(word[i])) * PRIME
            run += 1
    return at, size, run, mixed(code)


@exact_kernel
def cut_words(
    text: NDArray[np.uint8],
    begins: NDArray[np.int64],
    letters: NDArray[np.uint32],
    shortest: int,
    table: WordTable,
    grow: bool,
    numbers: NDArray[np.int32],
    ends: NDArray[np.int64],
) -> None:
    """Cut documents into runs of letters, and find each run's number in the table.

    Parameters
    ----------
    text : the documents' bytes, UTF-8
    begins : (documents + 1,)
        Where each document begins.
    letters : (0x110000,), or (0x80,) if all text is ASCII
        What each code point is written as in a word; 0 if it is no part of one.
    shortest : how many letters a word has at least
    table : the words known
    grow : whether to add words that are not in the table, which then has room for them
    numbers : (half the bytes and documents, or more), filled in: the words
    ends : (documents,), filled in: where each document's words end in `numbers`
    """
    longest = 0
    for document in range(len(begins) - 1):
        longest = max(longest, begins[document + 1] - begins[document])
    word = np.empty(LONGER * longest, np.uint8)
    slots, known, known_begins = table.slots, table.letters, table.begins
    tokens = 0
    for document in range(len(begins) - 1):
        at, stop = begins[document], begins[document + 1]
        while at < stop:
            at, size, run, code = next_word(text, at, stop, letters, word)
            if run < shortest:
                continue
            number = find_word(slots, known, known_begins, word, size, code)
            if number == UNKNOWN and grow:
                number = add_word(table, word, size, code)
            numbers[tokens] = number
            tokens += 1
        ends[document] = tokens


@exact_kernel
def is_ascii(text: NDArray[np.uint8]) -> bool:
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
