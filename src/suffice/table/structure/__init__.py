"""The search for the families of columns and for columns that belong together."""
