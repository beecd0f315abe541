"""Panels of a figure."""

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot

from suffice.display.plots import panels, share_legend
from suffice.lab import Comparison

mpl.use("Agg")


def test_panels_share_one_legend():
    errors = np.array([[0.3, 0.2, 0.18, 0.18], [0.4, 0.3, 0.15, 0.1]])[:, None, :]
    errors = errors + 0.01 * np.random.default_rng(0).standard_normal((2, 8, 4))
    result = Comparison(("left", "right"), np.array([10, 20, 40, 80]), errors, 100 * errors**4)
    figure, axes = panels(5)
    for ax in axes:
        result.plot(ax=ax)
    share_legend(figure, axes, ["one", "other"])
    assert not any(ax.get_legend() for ax in axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "other"]
    pyplot.close("all")
