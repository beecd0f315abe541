"""Every example runs, prints results, and writes plots."""

import importlib.util
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image, pyplot

pytestmark = pytest.mark.slow

mpl.use("Agg")

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
LEAST_BYTES = 5_000

for_examples = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def loaded(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def no_figure_left():
    """Fail if an example leaves figures open, and close them."""
    pyplot.close("all")
    yield
    left = pyplot.get_fignums()
    pyplot.close("all")
    assert not left, "An example leaves figures open."


def test_there_are_examples():
    assert EXAMPLES


@for_examples
def test_an_example_opens_with_three_lines(path):
    lines = loaded(path).__doc__.strip().splitlines()
    assert len(lines) == 3
    assert all(line.strip() for line in lines)


@for_examples
@pytest.mark.usefixtures("no_figure_left")
def test_an_example_prints_results_and_writes_plots(path, tmp_path, capsys):
    folder = tmp_path / "not there yet"
    loaded(path).main(folder)
    assert len(capsys.readouterr().out.strip().splitlines()) > 1
    pictures = sorted(folder.rglob("*.png"))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size > LEAST_BYTES
        pixels = image.imread(picture)
        assert np.any(pixels != pixels[0, 0]), f"{picture.name} is of one colour."
