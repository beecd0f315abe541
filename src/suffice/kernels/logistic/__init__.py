"""Losses, gradients and Hessians of logistic regressions."""
