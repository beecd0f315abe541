"""Spark data frames are scored as Python scores their rows, in SQL, in workers and in pipelines."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice import (
    GaussianNB,
    GenerativeClassifier,
    InputError,
    LinearRegression,
    TextClassifier,
    load,
)
from suffice.spark import predict

# pyspark warns of releases of pandas that it does not know.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

ROWS = 200
FEATURES = ["size", "ci.ty", "p_a"]


def make_table():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, ROWS)
    words = np.array(["cheap", "pills", "noon", "meeting"])
    return pa.table(
        {
            "size": pa.array(rng.normal(size=ROWS) + own, mask=rng.random(ROWS) < 0.1),
            "ci.ty": np.array(["Rome", "{Oslo}", "Li'ma"])[rng.integers(0, 2, ROWS) + own],
            "p_a": rng.poisson(2 + own),
            "note": [" ".join(words[rng.integers(0, 2, 4) + 2 * one]) for one in own],
            "label": np.array(["x", "y"])[own],
            "kind": own,
        }
    )


TABLE = make_table()


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(TABLE)


@pytest.fixture(scope="module")
def model():
    return GenerativeClassifier().fit(TABLE.select(FEATURES), TABLE["label"])


def same(scored, model, X):
    """Say whether a frame has the predictions of a model."""
    proba = model.predict_proba(X)
    found = np.array(scored["probability"].to_pylist())
    labels = model.classes_[proba.argmax(axis=1)].tolist()
    return np.allclose(found, proba, atol=1e-9) and scored["prediction"].to_pylist() == labels


@pytest.mark.parametrize("engine", ["auto", "sql", "arrow"])
def test_a_table_is_scored_as_in_python(engine, frame, model):
    scored = predict(model, frame, engine=engine).toArrow()
    assert scored.column_names == [*TABLE.column_names, "probability", "prediction"]
    assert scored.select(TABLE.column_names).to_pylist() == TABLE.to_pylist()
    assert same(scored, model, TABLE.select(FEATURES))


def test_what_sql_can_score_runs_no_python(frame, model, capsys):
    predict(model, frame).explain()
    assert "MapInArrow" not in capsys.readouterr().out
    predict(model, frame, engine="arrow").explain()
    assert "MapInArrow" in capsys.readouterr().out


def test_a_model_that_is_a_long_statement_is_sent_to_the_workers(spark, capsys):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 2000)
    cells = {
        f"c{at}": [f"v{k}" for k in (rng.integers(0, 100, 2000) + y) % 100] for at in range(40)
    }
    wide = GenerativeClassifier(dict.fromkeys(cells, "categorical"), combine="naive").fit(cells, y)
    assert len(wide.to_sql("rows", "spark")) > 250_000
    rows = pa.table(cells).slice(0, 20)
    scored = predict(wide, spark.createDataFrame(rows))
    scored.explain()
    assert "MapInArrow" in capsys.readouterr().out
    assert same(scored.toArrow(), wide, rows)


@pytest.mark.parametrize(
    "labels",
    [pa.array([False, True] * 100), pa.array([1.0, 2.0] * 100), pa.array([7, 9] * 100)],
    ids=["truth", "floats", "integers"],
)
@pytest.mark.parametrize("engine", ["sql", "arrow"])
def test_predictions_have_the_type_of_labels(labels, engine, frame):
    model = GenerativeClassifier({"size": "normal"}).fit(TABLE.select(["size"]), labels)
    scored = predict(model, frame, engine=engine, probability=None, prediction="class").toArrow()
    assert scored.column_names == [*TABLE.column_names, "class"]
    assert scored["class"].type == labels.type


def test_texts_and_regressions_are_scored_by_workers(frame):
    texts = TextClassifier().fit(TABLE["note"], TABLE["label"])
    with pytest.raises(InputError, match="has no names of columns"):
        predict(texts, frame)
    with pytest.raises(InputError, match="A TextClassifier cannot be written as SQL"):
        predict(texts, frame, features="note", engine="sql")
    assert same(predict(texts, frame, features="note").toArrow(), texts, TABLE["note"])
    line = LinearRegression().fit(TABLE.select(["p_a"]), TABLE["kind"])
    scored = predict(line, frame).toArrow()
    assert scored.column_names == [*TABLE.column_names, "prediction"]
    assert np.allclose(scored["prediction"].to_numpy(), line.predict(TABLE.select(["p_a"])))


def test_names_that_would_meet_are_refused(frame, model):
    with pytest.raises(InputError, match="has a column 'label' already"):
        predict(model, frame, prediction="label")
    with pytest.raises(InputError, match="no column 'size'"):
        predict(model, frame.drop("size"))
    with pytest.raises(InputError, match="The engine is 'jvm'"):
        predict(model, frame, engine="jvm")


# Pipelines.


@pytest.mark.slow
def test_a_classifier_is_a_stage_of_a_pipeline_and_is_saved(frame, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.feature import SQLTransformer

    from suffice.spark import SufficeClassificationModel, SufficeClassifier

    stage = SufficeClassifier(
        estimator=GenerativeClassifier({("size", "double"): "mvn"}),
        inputCols=["size", "double", "ci.ty"],
        labelCol="kind",
        weightCol="p_a",
        probabilityCol="p",
    )
    widen = SQLTransformer(statement="SELECT *, 2 * p_a + size AS double FROM __THIS__")
    pipeline = Pipeline(stages=[widen, stage])
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    rows = widen.transform(frame).toArrow()
    expected = GenerativeClassifier({("size", "double"): "mvn"}).fit(
        rows.select(["size", "double", "ci.ty"]), rows["kind"], sample_weight=rows["p_a"].to_numpy()
    )
    fitted.save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    assert isinstance(again.stages[1], SufficeClassificationModel)
    (file,) = (tmp_path / "model").rglob("model.safetensors")
    assert load(file).classes_.tolist() == [0, 1]
    for one in (fitted, again):
        scored = one.transform(frame)
        found = np.array([row.p.toArray() for row in scored.select("p").collect()])
        proba = expected.predict_proba(rows.select(["size", "double", "ci.ty"]))
        assert np.allclose(found, proba, atol=1e-9)
    scored = scored.selectExpr(
        "p", "CAST(kind AS double) AS kind", "CAST(prediction AS double) AS prediction"
    )
    evaluate = MulticlassClassificationEvaluator(
        labelCol="kind", predictionCol="prediction", probabilityCol="p", metricName="logLoss"
    )
    own = proba[np.arange(ROWS), rows["kind"].to_numpy()]
    assert evaluate.evaluate(scored) == pytest.approx(-np.log(own).mean(), abs=1e-9)


@pytest.mark.slow
def test_a_stage_learns_from_all_columns_and_needs_an_estimator(frame):
    from suffice.spark import SufficeClassifier

    numbers = frame.select("size", "p_a", "label")
    fitted = SufficeClassifier(estimator=GaussianNB()).fit(numbers)
    assert fitted.model.feature_names_in_.tolist() == ["size", "p_a"]
    assert fitted.transform(numbers).columns[-2:] == ["probability", "prediction"]
    with pytest.raises(InputError, match="There is no estimator to fit"):
        SufficeClassifier().fit(numbers)
    texts = SufficeClassifier(estimator=TextClassifier(), inputCols=["note"]).fit(frame)
    assert texts.transform(frame).select("prediction").distinct().count() == 2


@pytest.mark.slow
def test_spark_connect_counts_and_predicts(spark):
    script = Path(__file__).with_name("connect_session.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.endswith("done\n"), done.stderr[-3000:]
