"""Settings of the documentation site: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# Examples draw some of the figures.
sys.path.insert(0, str(HERE.parent))

import suffice

project = "suffice"
author = "The suffice developers"
copyright = "The suffice developers, BSD-3-Clause"
version = release = suffice.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "extensions.mathml",
    "extensions.offline",
    "extensions.pictures",
    "extensions.reference",
]
exclude_patterns = ["extensions", "figures", "static"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
# Types are words ("rows", "int, default=3"), not names to link.
napoleon_use_param = False
# Attributes are listed as parameters are: the same name in many classes is no target of links.
napoleon_custom_sections = [("Attributes", "params_style")]
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
nitpicky = False

html_theme = "furo"
html_title = f"suffice {version}"
# The Play page computes with the script of the report.
html_static_path = ["static", "../src/suffice/report/model.js"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
