"""Text: documents to counted words, mail, and classifiers of documents."""
