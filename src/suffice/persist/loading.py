"""Having a saved model back, or only the record of it."""

from __future__ import annotations

import warnings
from typing import Any

from suffice.persist.container import Path, open_checked, tensors_of
from suffice.persist.decoder import Decoder
from suffice.persist.provenance import Provenance, check_document, provenance_of
from suffice.persist.refusal import refusals, refuse
from suffice.persist.strict_json import strict_json
from suffice.threads import one_blas_thread


@one_blas_thread
def load(path: Path, *, trust_patterns: bool = False) -> Any:
    """Return the model that was saved in a file: it answers, learns, forgets and merges as before.

    Nothing in a file is run. A file that is cut off, changed, or made to do harm gets a
    ModelFileError; warnings that the model gave when it learned are not given again.

    Parameters
    ----------
    path : str or PathLike
    trust_patterns : bool, default=False
        Whether a `token_pattern` of the file's own may be used. It is a regular expression, which
        may be made to take years on a short document; without trust such a file is refused.
    """
    with refusals(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with open_checked(path) as (file, header):
            document = check_document(strict_json(header.document.encode(), "Its document"))
            tensors = dict(tensors_of(file, header))
        provenance_of(document)
        decoder = Decoder(tensors, trust_patterns=trust_patterns)
        model = decoder.model(*(document[name] for name in ("model", "settings", "state")))
        decoder.finish()
        if not document["state"]:
            refuse("Its model has learned nothing.")
        return model


def describe(path: Path) -> Provenance:
    """Return the record in a file, whose checksum is checked, without making the model.

    Parameters
    ----------
    path : str or PathLike
    """
    with refusals(path), open_checked(path) as (file, header):
        document = check_document(strict_json(header.document.encode(), "Its document"))
        for _ in tensors_of(file, header):
            pass  # one tensor at a time, for the checksum
        return provenance_of(document)
