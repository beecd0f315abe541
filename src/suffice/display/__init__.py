"""Pictures of plain arrays: matplotlib is loaded when the first one is drawn."""
