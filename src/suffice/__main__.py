"""The command line: `python -m suffice` is the same as `suffice`."""

import sys

from suffice.cli import main

if __name__ == "__main__":
    sys.exit(main())
