"""A stage of `pyspark.ml` pipelines: an estimator of ours, and the model that it fits."""

from __future__ import annotations

from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import (
    HasInputCols,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from sklearn.base import clone

from suffice.errors import InputError
from suffice.persist.packing import pack, unpack
from suffice.spark.scoring import load_saved, predict, saved_bytes

# The files of a stage, beside `metadata`.
ESTIMATOR_FILE = "estimator.suffice"
MODEL_FILE = "model.safetensors"


class _Columns(HasInputCols, HasLabelCol, HasWeightCol, HasPredictionCol, HasProbabilityCol):
    """The names of columns that an estimator and its model share."""

    def _features(self) -> list[str] | None:
        return list(self.getInputCols()) if self.isSet(self.inputCols) else None


class SufficeClassifier(Estimator, _Columns, MLWritable, MLReadable):  # type: ignore[type-arg]
    """A classifier of ours in a pipeline of Spark ML, of classic sessions.

    Parameters
    ----------
    estimator : classifier that has `fit_from`, not fitted
    inputCols : names of the columns to learn from; all but label and weight if not given
    labelCol, weightCol : names of columns
    predictionCol : name of the column of predictions, of the labels' type
    probabilityCol : name of the column of vectors, p(class | x) in the order of the classes
    """

    estimator: Param[Any] = Param(
        Params._dummy(), "estimator", "classifier of suffice that learns from the frame"
    )

    @keyword_only
    def __init__(
        self,
        *,
        estimator: Any = None,
        inputCols: list[str] | None = None,
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
    ) -> None:
        super().__init__()
        given: dict[str, Any] = self._input_kwargs  # type: ignore[attr-defined]
        self._set(**{name: value for name, value in given.items() if value is not None})

    def getEstimator(self) -> Any:  # noqa: N802
        """Return the classifier that learns."""
        return self.getOrDefault(self.estimator)

    def setEstimator(self, value: Any) -> SufficeClassifier:  # noqa: N802
        """Set the classifier that learns."""
        return self._set(estimator=value)

    def _fit(self, dataset: Any) -> SufficeClassificationModel:
        if not self.isDefined(self.estimator):
            raise InputError("There is no estimator to fit. Give estimator=, a classifier.")
        weight = self.getWeightCol() if self.isSet(self.weightCol) else None
        learned = clone(self.getEstimator()).fit_from(
            dataset, target=self.getLabelCol(), features=self._features(), weight=weight
        )
        return self._copyValues(SufficeClassificationModel(learned))

    def write(self) -> MLWriter:
        """Return what writes the stage to a folder."""
        return _Writer(self, ESTIMATOR_FILE, pack({"estimator": self.getEstimator()}))

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Return what reads the stage from a folder."""
        return _Reader(cls, ESTIMATOR_FILE)


class SufficeClassificationModel(Model, _Columns, MLWritable, MLReadable):  # type: ignore[type-arg]
    """A fitted classifier of ours in a pipeline of Spark ML.

    Parameters
    ----------
    model : fitted classifier, which the attribute `model` is
    """

    def __init__(self, model: Any = None) -> None:
        super().__init__()
        self.model = model

    def _transform(self, dataset: Any) -> Any:
        name = self.getProbabilityCol()
        found = predict(
            self.model,
            dataset,
            features=None if hasattr(self.model, "feature_names_in_") else self._features(),
            prediction=self.getPredictionCol(),
            probability=name,
        )
        # The column is the last but one.
        return found.withColumn(name, array_to_vector(found[name]))

    def write(self) -> MLWriter:
        """Return what writes the stage to a folder; `suffice.load` reads its file too."""
        return _Writer(self, MODEL_FILE, saved_bytes(self.model))

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Return what reads the stage from a folder."""
        return _Reader(cls, MODEL_FILE)


class _Writer(MLWriter):
    """Writes the names of columns as Spark ML does, and our own file beside them.

    The folder may be in any file system that Spark knows.
    """

    def __init__(self, stage: Any, name: str, content: bytes) -> None:
        super().__init__()
        self._stage, self._name, self._content = stage, name, content

    def saveImpl(self, path: str) -> None:  # noqa: N802
        """Write the folder."""
        # An estimator is in the file, and nothing for JSON.
        stage = self._stage.copy()
        if stage.hasParam("estimator"):
            stage.clear(stage.estimator)
        session: Any = self.sparkSession
        DefaultParamsWriter.saveMetadata(stage, path, session)
        java = session._jvm.org.apache.hadoop.fs.Path(f"{path}/{self._name}")
        system = java.getFileSystem(session._jsc.hadoopConfiguration())
        stream = system.create(java, True)
        try:
            stream.write(bytearray(self._content))
        finally:
            stream.close()


class _Reader(MLReader[Any]):
    """Reads what `_Writer` has written."""

    def __init__(self, stage: type, name: str) -> None:
        super().__init__()
        self._stage, self._name = stage, name

    def load(self, path: str) -> Any:
        """Return the stage."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        files = self.sparkSession.read.format("binaryFile").load(f"{path}/{self._name}")
        content = bytes(files.select("content").collect()[0][0])
        stage = self._stage()
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        if self._name == MODEL_FILE:
            stage.model = load_saved(content)
        else:
            stage.setEstimator(unpack(content)["estimator"])
        return stage
