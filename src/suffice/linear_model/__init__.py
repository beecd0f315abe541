"""Linear regression from a tally: least squares, and with the coefficients integrated out."""

from suffice.linear_model.bayesian import BayesianLinearRegression
from suffice.linear_model.leave_one_out import LeaveOneOut
from suffice.linear_model.linear import LinearRegression
from suffice.linear_model.summary import Summary

__all__ = ["BayesianLinearRegression", "LeaveOneOut", "LinearRegression", "Summary"]
