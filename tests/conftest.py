"""Settings of all tests: the same examples and random numbers every time, without deadlines."""

import os

import pytest
from hypothesis import HealthCheck, settings

import suffice

# Each worker of pytest has a core. More BLAS threads wait for each other: a third of the whole run.
# Set before numpy is imported; workers and processes that tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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
def threads():
    """Return `set_threads`; the former number is restored afterwards."""
    before = os.environ.get("SUFFICE_THREADS")
    yield suffice.set_threads
    suffice.set_threads(None if before is None else int(before))
