"""Values as bytes, in the same format as models: arrays as safetensors, the rest as JSON."""

from __future__ import annotations

import hashlib
from typing import Any

from suffice.persist.checks import refusals, refuse
from suffice.persist.file_format import FORMAT, METADATA, PREAMBLE, plain_json, strict_json
from suffice.persist.loading import Decoder
from suffice.persist.saving import Encoder

# Bytes of the checksum that comes first.
DIGEST = hashlib.sha256().digest_size


def pack(values: dict[str, Any]) -> bytes:
    """Return named values (numbers, text, arrays, tallies) as bytes.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> found = unpack(pack({"tally": Counts([1.0, 2.0]), "rows": 3}))
    >>> found["tally"].counts, found["rows"]
    (array([1., 2.]), 3)
    """
    from safetensors.numpy import save

    encoder = Encoder()
    document = {name: encoder.node(value, name) for name, value in values.items()}
    raw = bytes(save(encoder.tensors, {FORMAT: plain_json(document)}))
    return hashlib.sha256(raw).digest() + raw


def unpack(packed: bytes, name: str = "these bytes") -> dict[str, Any]:
    """Return what `pack` made bytes of; anything else is a ModelFileError, and runs no code."""
    from safetensors.numpy import load

    digest, raw = packed[:DIGEST], packed[DIGEST:]
    with refusals(name):
        if hashlib.sha256(raw).digest() != digest:
            refuse("The checksum is not that of what follows it.")
        length = int.from_bytes(raw[:PREAMBLE], "little")
        header = strict_json(raw[PREAMBLE : PREAMBLE + length], "The header")
        document = strict_json(header[METADATA][FORMAT].encode(), "The document")
        decoder = Decoder(dict(load(raw)))
        found = {key: decoder.value(node) for key, node in document.items()}
        decoder.finish()
    return found
