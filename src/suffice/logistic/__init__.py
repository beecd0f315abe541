"""The penalised multinomial log-likelihood, its solvers and its posterior."""

from suffice.logistic.binary import BinaryLogLikelihood, FeatureRows, SparseBinaryLogLikelihood
from suffice.logistic.multiclass import MulticlassLogLikelihood

__all__ = [
    "BinaryLogLikelihood",
    "FeatureRows",
    "MulticlassLogLikelihood",
    "SparseBinaryLogLikelihood",
]
