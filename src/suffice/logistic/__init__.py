"""The penalised multinomial log-likelihood, its solvers and its posterior."""
