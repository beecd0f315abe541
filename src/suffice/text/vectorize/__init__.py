"""Documents to counted terms."""
