"""The report of a model: one HTML page, which computes in the browser from the model's sums."""
