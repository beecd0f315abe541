"""`make test-oldest` installs the oldest release of everything that is declared."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("oldest", ROOT / "tools" / "oldest.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


def test_every_dependency_is_pinned_to_its_minimum(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\ndependencies = ["b-c>=2.1"]\n'
        'optional-dependencies = {one = ["a>=1"], two = ["a>=1", "d.e>=3.0.4"]}\n'
    )
    assert list(tool.oldest(project)) == ["a==1", "b-c==2.1", "d.e==3.0.4"]


def test_a_dependency_without_a_minimum_is_refused(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\ndependencies = ["numpy"]\n')
    with pytest.raises(ValueError, match="'numpy' has no minimum"):
        list(tool.oldest(project))


def test_a_package_has_one_minimum():
    names = [one.split("==")[0] for one in tool.oldest(ROOT / "pyproject.toml")]
    assert len(names) == len(set(names))
    assert {"numpy", "scikit-learn", "pandas", "pytest"} <= set(names)
