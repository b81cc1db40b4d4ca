"""The documentation site: ./dev docs builds it from docs/, include/ and the Python package into build/docs/html."""

from __future__ import annotations

import pathlib
import re
import sys

from docutils import nodes
from pygments.lexers import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx

SITE = pathlib.Path(__file__).resolve().parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(SITE))

project = "Alidade"
author = "The Alidade developers"
html_show_copyright = False
release = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "cpp_reference"]
exclude_patterns = ["site", "figures", "**/*.sh"]
html_theme = "furo"
html_title = f"Alidade {release}"
html_show_sourcelink = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

highlight_language = "text"

# The notebooks are scripts in examples/notebooks, to which docs/notebooks is a link; each is run anew, by this interpreter.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": True}


def keep_as_text(app: Sphinx, doctree: nodes.document) -> None:
    """Links to folders and pages of the repository that are not in the site: their text stays."""
    source = pathlib.Path(app.srcdir).resolve()
    here = pathlib.Path(app.env.doc2path(app.env.docname)).parent
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refdomain") != "doc":
            target = (here / link["reftarget"]).resolve()
            known = not target.is_dir()
        else:
            target = (source / link["reftarget"]).resolve()
            known = target.is_relative_to(source)
        if not known:
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    app.add_lexer("mermaid", TextLexer)
    app.connect("doctree-read", keep_as_text)
