"""Store the results of all cases: `python tests/contract/make_golden.py [group ...]`.

Run this only when a result has changed on purpose, and say which in the changelog.
"""

from __future__ import annotations

import sys

from golden_cases import GROUPS, values
from golden_store import write


def main(groups):
    """Write the files of some groups, or of all."""
    for group in groups or GROUPS:
        write(group, {name: values(group, name) for name in GROUPS[group]})


if __name__ == "__main__":
    main(sys.argv[1:])
