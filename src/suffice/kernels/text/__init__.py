"""Words and n-grams of documents, counted."""
