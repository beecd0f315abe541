"""The command line `suffice`: every command is a few calls of the library (docs: commands)."""

from suffice.cli.app import main

__all__ = ["main"]
