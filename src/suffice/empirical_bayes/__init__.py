"""Prior strengths chosen by the evidence of the tally."""
