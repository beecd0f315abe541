"""Settings of all tests: the same examples and random numbers every time, without deadlines."""

import importlib.util
import os
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import suffice
from databases import (  # noqa: F401
    duckdb_connection,
    postgresql_connection,
    postgresql_port,
    spark,
    sqlite_connection,
)

if folder := os.environ.get("SUFFICE_CORE"):
    # `make sanitize` names the folder of another compilation of the core.
    (path,) = Path(folder).glob("_core.*")
    spec = importlib.util.spec_from_file_location("suffice._core", path)
    suffice._core = sys.modules["suffice._core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suffice._core)

# Several folders have a conftest.py: as modules of examples they would have one name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# Each worker of pytest has a core. More BLAS threads wait for each other: a third of the whole run.
# Set before numpy is imported; workers and processes that tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The Python of Spark's workers.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

settings.register_profile(
    "laws",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# For `make test-fast`: the same laws on fewer examples.
settings.register_profile("few", settings.get_profile("laws"), max_examples=10)
settings.load_profile("laws")


def pytest_runtest_setup() -> None:
    """Seed numpy's global state, which `random_state=None` draws from, before every test."""
    import numpy as np

    np.random.seed(0)


@pytest.fixture
def ranges():
    """Return a function that makes ranges of rows shorter; the former length is restored."""
    from suffice import _core

    before = _core.get_ranges()

    def make_short(cells, sums=before[1]):
        _core.set_ranges(cells, sums)

    yield make_short
    _core.set_ranges(*before)


@pytest.fixture
def threads():
    """Return `set_threads`; the former number is restored afterwards."""
    before = os.environ.get("SUFFICE_THREADS")
    yield suffice.set_threads
    suffice.set_threads(None if before is None else int(before))


@pytest.fixture
def instruction_sets():
    """Return functions that make the core use each instruction set of this machine."""
    from suffice import _core

    widest = _core.instruction_set()
    names = ["baseline", "avx2", "avx512"]
    some = names[: names.index(widest) + 1]
    yield [partial(_core.use_instruction_set, name) for name in some]
    _core.use_instruction_set(widest)
