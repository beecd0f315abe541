"""Prior sample sizes chosen by the evidence of the tally."""
