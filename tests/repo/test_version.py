"""The version is written once, and copies of it agree."""

import re
import tomllib
from pathlib import Path

from packaging.version import Version
from scikit_build_core.metadata.regex import dynamic_metadata

import suffice

ROOT = Path(__file__).parents[2]
HEADINGS = re.compile(r"^## \[(.+?)\]", re.MULTILINE)


def test_the_wheel_has_the_version_of_the_package():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    rule = tools["scikit-build"]["metadata"]["version"]
    assert rule["provider"] == dynamic_metadata.__module__
    found = dynamic_metadata("version", {"input": str(ROOT / rule["input"])})
    assert found == suffice.__version__


def test_pyproject_reads_the_version_and_does_not_repeat_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]


def test_the_version_is_valid():
    assert str(Version(suffice.__version__)) == suffice.__version__


def test_the_changelog_starts_with_unreleased_and_goes_back_in_order():
    first, *released = HEADINGS.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert first == "Unreleased"
    versions = [Version(name) for name in released]
    assert versions == sorted(versions, reverse=True)
    assert all(version <= Version(suffice.__version__) for version in versions)


def test_the_citation_has_the_version():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited
    assert cited[1].strip("\"'") == suffice.__version__
