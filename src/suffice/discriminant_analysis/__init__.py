"""Gaussian discriminant analysis: scikit-learn's two classes, and one with a prior."""

from suffice.discriminant_analysis.gaussian import GaussianDiscriminant
from suffice.discriminant_analysis.linear import LinearDiscriminantAnalysis
from suffice.discriminant_analysis.quadratic import QuadraticDiscriminantAnalysis

__all__ = ["GaussianDiscriminant", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
