"""Runs many commands, each in a process of its own, in a pipe or on a pseudo-terminal.

Each is a fork of one process that has loaded what commands need, which takes longer than their
work. Jobs come as JSON on stdin, what came of them is written to stdout.
"""

import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile


def run_job(job, made):
    """Return exit code, output and errors of a command in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="suffice_cli_")
    shutil.copytree(made, folder, dirs_exist_ok=True)
    if job["terminal"]:
        child, ours = pty.fork()
        if not child:
            be_the_command(job["args"], folder)
        out, err = read_all(ours), b""
        os.close(ours)
    else:
        (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            os.dup2(out_write, 1)
            os.dup2(err_write, 2)
            be_the_command(job["args"], folder)
        os.close(out_write)
        os.close(err_write)
        out, err = read_all(out_read), read_all(err_read)
        os.close(out_read)
        os.close(err_read)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    shutil.rmtree(folder)
    return {"code": code, "out": out.decode(), "err": err.decode()}


def be_the_command(args, folder):
    os.chdir(folder)
    os.environ["COLUMNS"] = "100"
    code = 99
    try:
        code = main(args)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def read_all(end):
    parts = []
    while True:
        try:
            part = os.read(end, 65536)
        except OSError:  # the other end of a pseudo-terminal is closed
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def start(jobs, made):
    """Return what came of jobs, run by a new process."""
    command = [sys.executable, __file__]
    asked = json.dumps({"jobs": jobs, "made": str(made)})
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    import duckdb  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401
    import rich.console  # noqa: F401
    import sklearn.linear_model  # noqa: F401

    import suffice
    from suffice.cli import main

    assert suffice.GenerativeClassifier
    assert suffice.lab.compare
    given = json.load(sys.stdin)
    results = [run_job(job, given["made"]) for job in given["jobs"]]
    json.dump(results, sys.stdout)
