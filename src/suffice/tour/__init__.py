"""Chapters of the notes as pages of live computations: `suffice tour`."""

from suffice.tour.chapters import chapter_names, chapter_path
from suffice.tour.page import formula_html, tour_page, write_tour

__all__ = ["chapter_names", "chapter_path", "formula_html", "tour_page", "write_tour"]
