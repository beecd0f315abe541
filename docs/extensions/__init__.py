"""What this site adds to Sphinx: formulas, pictures of a page's own code, the reference."""
