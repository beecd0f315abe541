"""The command line `suffice`: every command is a few calls of the library (docs: commands)."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run the program with the arguments of a command line; return its exit code."""
    given = list(sys.argv[1:] if args is None else args)
    if given[:1] == ["mail"]:
        from suffice.cli import one_message

        code = one_message.main(given[1:])
        if code is not None:
            return code
    from suffice.cli.app import main as run

    return run(given)
