"""Linear regression from a tally: least squares, and with the coefficients integrated out."""

from suffice.linear_model.bayesian import BayesianLinearRegression
from suffice.linear_model.left_out import TargetsLeftOut
from suffice.linear_model.linear import LinearRegression
from suffice.linear_model.summary import Summary

__all__ = ["BayesianLinearRegression", "LinearRegression", "Summary", "TargetsLeftOut"]
