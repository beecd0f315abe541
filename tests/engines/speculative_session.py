"""A script: a cluster of two hosts runs a slow task twice at the same time. It says "done".

Spark runs no second copy of a task on the host of the first, so this needs a cluster; its hosts are
two addresses of this machine.
"""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from suffice import GaussianNB

ROWS = 300
SLOW = 2  # the partition whose first attempt is slow


def start(stack, folder, *arguments, says):
    """Start a process of a cluster, stop it at the end; return the line that says it is ready."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [str(home / "bin" / "spark-class"), *arguments]
    process = stack.enter_context(
        subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True)
    )
    stack.callback(process.kill)
    return next(line for line in process.stderr if says in line)


def main(folder):
    with ExitStack() as stack:
        master = "org.apache.spark.deploy.master.Master"
        options = "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
        line = start(stack, folder, master, *options, says="Starting Spark master at")
        address = line.split()[-1]
        for host in ("127.0.0.2", "127.0.0.3"):
            worker = "org.apache.spark.deploy.worker.Worker"
            options = "--host", host, "--webui-port", "0", "--cores", "1", "--memory", "512m"
            start(stack, folder, worker, *options, address, says="registered with master")
        count(folder, address)
    print("done")


def count(folder, address):
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers' too

    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(address).appName("suffice")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "1",
        "spark.log.level": "OFF",
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.minTaskRuntime": "0ms",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, ROWS)
    table = pa.table({"size": rng.normal(size=ROWS) + own, "label": np.array(["a", "b"])[own]})
    frame = spark.createDataFrame(table).repartition(4)
    pipe = str(Path(folder) / "pipe")
    os.mkfifo(pipe)

    def meet(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        yield from batches
        if context.partitionId() == SLOW:
            # The first attempt waits for the second to come: both have their rows, and go on.
            attempt = context.attemptNumber()
            with open(pipe, "w" if attempt else "r"):
                (Path(folder) / str(attempt)).touch()

    plan = GaussianNB().plan(table, target="label")
    found = GaussianNB().count(frame.mapInArrow(meet, frame.schema), plan)
    expected = GaussianNB().count(table, plan)
    assert {"0", "1"} <= {one.name for one in Path(folder).iterdir()}
    assert found.rows == expected.rows == ROWS
    _, groups = found.counts.counter.merge(expected.counts.counter, expected.counts.groups)
    assert found.counts.groups.allclose(groups, relative=1e-12)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
