"""The types that the stub of the core gives are those of the core."""

import importlib.util
from pathlib import Path

import nanobind
import pytest

ROOT = Path(__file__).parents[2]


# Other releases may write the same types in another form.
WRITTEN_WITH = (3, 1)
VERSION = tuple(map(int, nanobind.__version__.split(".")[:2]))


@pytest.mark.skipif(VERSION != WRITTEN_WITH, reason="another nanobind writes stubs in another form")
def test_the_stub_is_that_of_the_core():
    place = ROOT / "tools" / "write_core_stub.py"
    spec = importlib.util.spec_from_file_location("write_core_stub", place)
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    assert writer.STUB.read_text(encoding="utf-8") == writer.stub()
