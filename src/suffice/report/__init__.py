"""The report of a model: one HTML page, which computes in the browser from the model's sums."""

from suffice.report.page import write_report

__all__ = ["write_report"]
