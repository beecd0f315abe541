"""The script that made the files in saved_format_1, with the code that wrote format 1.

The files stand for those that users have. They are not to be made again by later code.
"""

from __future__ import annotations

import sys
import warnings
from datetime import UTC, datetime
from importlib.metadata import version

from saved_format_1_cases import CASES
from saved_format_1_manifest import FOLDER, answered, learned, packed, path_of, write

WHEN = datetime(2024, 5, 1, tzinfo=UTC)


def main():
    """Train, save and describe the model of every case."""
    FOLDER.mkdir(exist_ok=True)
    entries = {}
    for name, case in CASES.items():
        model = case.trained()
        model.save(path_of(name), source=name, when=WHEN, **case.save)
        entries[name] = {
            "class": type(model).__name__,
            "history": case.history,
            "save": case.save,
            "load": case.load,
            "learned": packed(learned(model)),
            "answers": packed(answered(model, case.new)),
        }
    write(entries)
    print(f"{len(entries)} files of {version('suffice')}")


if __name__ == "__main__":
    if any(FOLDER.glob("*.safetensors")) and sys.argv[1:] != ["--again"]:
        sys.exit(f"{FOLDER} has files, which stand for those that users have: they are kept.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
