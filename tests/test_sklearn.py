"""The names of scikit-learn that we use, and what the stub says of them."""

import ast
from pathlib import Path

from suffice import _sklearn


def test_base_classes_have_the_methods_of_the_stub():
    path = Path(_sklearn.__file__).with_suffix(".pyi")
    stub = ast.parse(path.read_text(encoding="utf-8"))
    defined = ast.ClassDef | ast.FunctionDef
    named = {node.name for node in stub.body if isinstance(node, defined)}
    named |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    assert named == set(_sklearn.__all__)
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body]
            assert not [name for name in methods if not hasattr(getattr(_sklearn, node.name), name)]
