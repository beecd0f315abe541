"""What this site adds to Sphinx: formulas as MathML, pictures of a page's own code, the reference."""
