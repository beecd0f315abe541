"""suffice: generative learning from sufficient statistics. A model is a tally plus a prior."""
