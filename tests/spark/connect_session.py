"""A script: what works in a session of Spark Connect. It says "done" at its end.

Classic sessions and those of Spark Connect do not meet in one process.
"""

import numpy as np
import pyarrow as pa

from suffice import GaussianNB, GenerativeClassifier, TextClassifier
from suffice.spark import predict

ROWS = 300


def make_table():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, ROWS)
    words = np.array(["cheap", "pills", "noon", "meeting"])
    return pa.table(
        {
            "si.ze": rng.normal(size=ROWS) + own,
            "city": np.array(["Rome", "Oslo", "Li{}ma"])[rng.integers(0, 2, ROWS) + own],
            "note": [" ".join(words[rng.integers(0, 2, 4) + 2 * one]) for one in own],
            "label": np.array(["a", "b"])[own],
        }
    )


def main():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    assert "connect" in type(spark).__module__
    table = make_table()
    frame = spark.createDataFrame(table).repartition(3)
    families = {"si.ze": "normal", "city": "categorical"}

    model = GenerativeClassifier(families)
    plan = model.plan(table, target="label", features=["si.ze", "city"])
    found, expected = model.count(frame, plan), model.count(table, plan)
    _, groups = found.counts.counter.merge(expected.counts.counter, expected.counts.groups)
    assert found.counts.groups.allclose(groups, relative=1e-12)

    model.fit_from(frame, target="label", features=["si.ze", "city"])
    for engine in ("sql", "arrow"):
        scored = predict(model, frame, engine=engine).toArrow()
        assert scored.column_names == [*table.column_names, "probability", "prediction"]
        proba = model.predict_proba(scored.select(["si.ze", "city"]))
        assert np.allclose(np.array(scored["probability"].to_pylist()), proba, atol=1e-9)
        assert scored["prediction"].to_pylist() == model.classes_[proba.argmax(1)].tolist()

    texts = TextClassifier().fit_from(frame, target="label", features="note")
    scored = predict(texts, frame, features="note").toArrow()
    proba = texts.predict_proba(scored["note"])
    assert np.allclose(np.array(scored["probability"].to_pylist()), proba, atol=1e-9)

    normal = GaussianNB().fit_from(frame, target="label", features=["si.ze"])
    normal.forget_from(frame.where("city = 'Rome'"), target="label")
    assert normal.class_count_.sum() == ROWS - table["city"].to_pylist().count("Rome")
    spark.stop()
    print("done")


if __name__ == "__main__":
    main()
