"""What a file holds of a table classifier, and how it is checked before it is used."""
