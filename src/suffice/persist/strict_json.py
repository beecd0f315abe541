"""JSON from strangers: its size, depth and number of entries are known before it is parsed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.persist.refusal import refuse

# A header of a model has a few hundred entries a tensor; these bounds keep what a hostile one
# makes Python build below some 50 MB.
MAX_BYTES = 8 << 20
MAX_ENTRIES = 200_000
DEEPEST = 64
# Digits of a whole number, so that it is a float, too.
MAX_DIGITS = 300
# Whole numbers of more than 64 bits (a seed may be one). Many may be made that have one hash, and a
# dict or set of such takes time that grows with the square of their number.
MAX_LONG = 100

_QUOTE = ord('"')
_STEPS = np.zeros(256, np.int32)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_ENTRY = np.zeros(256, np.bool_)
_ENTRY[list(b"[]{},")] = True


def strict_json(raw: bytes, what: str) -> Any:
    """Return what `raw` says, in which no object has a key twice and every number is finite.

    Whatever it says, the time is in proportion to its bytes.

    Examples
    --------
    >>> strict_json(b'{"a": [1, 2.5, null]}', "The header")
    {'a': [1, 2.5, None]}
    >>> strict_json(b'{"a": 1, "a": 2}', "The header")
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: The header has the key 'a' twice in one object.
    """
    if len(raw) > MAX_BYTES:
        refuse(f"{what} has {len(raw)} bytes, where {MAX_BYTES} are the most.")
    signs = _signs(raw)
    if len(signs) > MAX_ENTRIES:
        refuse(f"{what} has {len(signs)} entries, where {MAX_ENTRIES} are the most.")
    depth = int(np.cumsum(_STEPS[signs]).max(initial=0))
    if depth > DEEPEST:
        refuse(f"{what} is nested {depth} deep, where {DEEPEST} is the most.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    refuse(f"{what} has the key {name[:80]!r} twice in one object.")
                seen.add(name)
        return found

    long_numbers = 0

    def whole(text: str) -> int:
        nonlocal long_numbers
        if len(text) > MAX_DIGITS:
            refuse(f"{what} has a whole number of {len(text)} digits: {text[:80]}...")
        number = int(text)
        if number.bit_length() > 64:
            long_numbers += 1
            if long_numbers > MAX_LONG:
                refuse(f"{what} has more than {MAX_LONG} whole numbers of more than 64 bits.")
        return number

    def finite(text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            refuse(f"{what} has the number {text[:80]}, which is no finite one.")
        return number

    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=finite,
            parse_constant=finite,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        refuse(f"{what} is no JSON ({error}).")


def _signs(raw: bytes) -> NDArray[np.uint8]:
    r"""Return the brackets, braces and commas of JSON that stand in no text.

    Examples
    --------
    >>> _signs(rb'{"a,\"]": [1, "\\"]}').tobytes()
    b'{[,]}'
    """
    # What is left of texts has no quotes in it, so every second quote ends one.
    signs = np.frombuffer(raw.replace(rb"\\", b"").replace(rb"\"", b""), np.uint8)
    within = np.cumsum(signs == _QUOTE, dtype=np.uint8) % 2
    return np.asarray(signs[_ENTRY[signs] & (within == 0)])


def plain_json(value: Any) -> str:
    """Return JSON that depends on nothing but the value: compact, and ASCII throughout."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
