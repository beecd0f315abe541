"""Predictions of Spark data frames, and a stage of `pyspark.ml` pipelines (docs: spark)."""

from suffice._lazy import load_at_first_use

__all__ = ["SufficeClassificationModel", "SufficeClassifier", "predict"]

# `pyspark.ml` is loaded for the stage of a pipeline alone: Spark Connect may not have it.
__getattr__ = load_at_first_use(
    __name__,
    {
        "SufficeClassificationModel": "pipeline",
        "SufficeClassifier": "pipeline",
        "predict": "scoring",
    },
)
