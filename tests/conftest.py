"""Settings of all tests: the same examples and random numbers every time, without deadlines."""

import importlib.util
import os
import shutil
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import suffice

if folder := os.environ.get("SUFFICE_CORE"):
    # `make sanitize` names the folder of another compilation of the core.
    (path,) = Path(folder).glob("_core.*")
    spec = importlib.util.spec_from_file_location("suffice._core", path)
    suffice._core = sys.modules["suffice._core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suffice._core)

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


@pytest.fixture(scope="session")
def spark():
    """Return a Spark of this process with two threads and little memory."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: `make engines` installs it")
    folder = tempfile.mkdtemp(prefix="suffice_spark_")
    settings = {
        "spark.api.mode": "classic",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # What may come to the driver: a job that has more to say fails.
        "spark.driver.maxResultSize": "4m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": folder,
        "spark.log.level": "OFF",
        # Compiling long expressions takes longer than the few rows of a test.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    # Two threads; a task may fail twice.
    builder = sql.SparkSession.builder.master("local[2,3]").appName("suffice")
    for key, value in settings.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        # pyspark's own imports warn of other packages' old names.
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.stop()
    shutil.rmtree(folder, ignore_errors=True)
