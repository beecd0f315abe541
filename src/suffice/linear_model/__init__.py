"""Linear regression from a tally, and softmax regression of classes."""

from suffice.linear_model.bayesian import BayesianLinearRegression
from suffice.linear_model.linear import LinearRegression
from suffice.linear_model.logistic import LogisticRegression
from suffice.linear_model.summary import Summary
from suffice.linear_model.validation import TargetsLeftOut

__all__ = [
    "BayesianLinearRegression",
    "LinearRegression",
    "LogisticRegression",
    "Summary",
    "TargetsLeftOut",
]
