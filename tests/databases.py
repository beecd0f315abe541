"""Databases that tests of SQL run on: each is started once, when a test first asks for it."""

import glob
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import warnings

import pytest


@pytest.fixture(scope="session")
def duckdb_connection():
    """Return a connection to a DuckDB in memory."""
    import duckdb

    connection = duckdb.connect(":memory:")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def sqlite_connection():
    """Return a connection to an SQLite in memory that has logarithms."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT LN(2.0), EXP(1.0)")
    except sqlite3.OperationalError:
        connection.close()
        pytest.skip("SQLite was built without mathematical functions")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def postgresql_connection(postgresql_port):
    """Return a connection, with autocommit, to a PostgreSQL of our own."""
    import psycopg

    connection = psycopg.connect(
        host="127.0.0.1", port=postgresql_port, user="tester", dbname="postgres", autocommit=True
    )
    # Tests make tables of one name and other columns.
    connection.prepare_threshold = None
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def postgresql_port():
    """Start a PostgreSQL on a free port, its files in a temporary folder; return the port."""
    pytest.importorskip("psycopg")
    found = shutil.which("initdb") or next(
        iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)), None
    )
    if found is None:
        pytest.skip("PostgreSQL's server is not installed: `make engines` installs it")
    programs = os.path.dirname(found)
    folder = tempfile.mkdtemp(prefix="suffice_pg_")
    # PostgreSQL does not run as root.
    who = {"user": "nobody"} if os.name == "posix" and os.getuid() == 0 else {}
    if who:
        shutil.chown(folder, "nobody")
    data, log = os.path.join(folder, "data"), os.path.join(folder, "log")
    make = [found, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **who)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = (
        f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off"
        " -c synchronous_commit=off -c shared_buffers=32MB -c max_connections=20 -c jit=off"
    )
    control = [os.path.join(programs, "pg_ctl"), "-D", data, "-w"]
    start = [*control, "-l", log, "-o", settings, "start"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **who}
    subprocess.run(start, check=True, **quiet)
    yield port
    subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
    shutil.rmtree(folder, ignore_errors=True)


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
