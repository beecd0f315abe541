"""Where in a volume do two kinds of pictures differ? A searchlight of cubes of 27 voxels.
Runs are left out whole; exchanged labels show what the best of many cubes reaches by chance.
The volume is simulated: two regions in smooth noise. A second argument reads real images.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from suffice.display.plots import save_figure
from suffice.lab.searchlight import Searchlight, searchlight

Array = NDArray[np.float64]
SHAPE = (9, 16, 12)
RUNS, ROWS_OF_RUN = 8, 16
# Where the two regions lie, the radius of each in voxels, and how far they move a voxel there.
REGIONS = {"face": (4, 5, 4), "house": (5, 11, 8)}
RADIUS, EFFECT, SMOOTHNESS = 2.0, 0.6, 0.7
SHUFFLES = 20


class Scan(NamedTuple):
    """Rows (n, voxels) of the marked cells of a grid, their labels, and the run of each."""

    rows: Array
    labels: NDArray[np.str_]
    runs: NDArray[np.int64]
    mask: NDArray[np.bool_]


def ball(centre: tuple[int, ...], radius: Any) -> NDArray[np.bool_]:
    """Return the cells of the volume inside an ellipsoid."""
    cells = np.indices(SHAPE, dtype=np.float64)
    away = [
        (axis - c) / r for axis, c, r in zip(cells, centre, np.broadcast_to(radius, 3), strict=True)
    ]
    return np.asarray(np.square(away).sum(axis=0) <= 1)


def simulate(rng: np.random.Generator) -> Scan:
    """Draw runs of volumes: each kind of picture raises a region of its own, in smooth noise."""
    mask = ball((4, 7.5, 5.5), (4.6, 8.2, 6.2))  # type: ignore[arg-type]
    labels = np.tile(np.repeat(list(REGIONS), ROWS_OF_RUN // 2), RUNS)
    runs = np.repeat(np.arange(RUNS), ROWS_OF_RUN)
    noise = rng.standard_normal((len(labels), *SHAPE))
    volumes = np.array([gaussian_filter(volume, SMOOTHNESS) for volume in noise])
    volumes /= volumes[:, mask].std()
    # A run has a level of its own, which leaving out single rows would learn.
    volumes += rng.normal(0.0, 0.5, (RUNS, 1, 1, 1))[runs]
    for name, centre in REGIONS.items():
        volumes[np.ix_(labels == name, *map(range, SHAPE))] += EFFECT * ball(centre, RADIUS)
    return Scan(volumes[:, mask], labels, runs, mask)


def read_slice(path: Path, kinds: tuple[str, str]) -> Scan:
    """Read rows of two kinds from a CSV file: label, run, and v_x_y of each voxel."""
    table = pd.read_csv(path)
    table = table[table["label"].isin(kinds)]
    names = [name for name in table if name.startswith("v_")]
    places = np.array([[int(part) for part in name.split("_")[1:3]] for name in names])
    order = np.lexsort(places.T[::-1])
    mask = np.zeros(places.max(axis=0) + 1, dtype=np.bool_)
    mask[tuple(places.T)] = True
    rows = table[names].to_numpy()[:, order]
    return Scan(rows, table["label"].to_numpy(str), table["run"].to_numpy(), mask)


def search(scan: Scan, cube: int = 3, labels: NDArray[np.str_] | None = None) -> Searchlight:
    """Return the searchlight with runs left out, one variance of each voxel for both classes."""
    y = scan.labels if labels is None else labels
    how: dict[str, Any] = {"mask": scan.mask, "runs": scan.runs, "covariance": "tied_diagonal"}
    return searchlight(scan.rows, y, scan.mask.shape, cube, **how)


def best_by_chance(scan: Scan, rng: np.random.Generator) -> Array:
    """Return the highest accuracy of all positions, the two labels exchanged in half of the runs.

    Whole runs, since rows that follow each other are alike: single labels cannot be exchanged.
    """
    runs = np.unique(scan.runs)
    other = dict(zip(np.unique(scan.labels), np.unique(scan.labels)[::-1], strict=True))
    exchanged = np.array([other[label] for label in scan.labels])
    best = []
    for _ in range(SHUFFLES):
        half = rng.permutation(runs)[: len(runs) // 2]
        labels = np.where(np.isin(scan.runs, half), exchanged, scan.labels)
        best.append(np.nanmax(search(scan, labels=labels).accuracy))
    return np.array(best)


def report(name: str, scan: Scan, rng: np.random.Generator, folder: Path) -> Searchlight:
    """Print the searchlight of a scan beside chance, and draw its class means and accuracies."""
    light = search(scan)
    chance = best_by_chance(scan, rng)
    rows, voxels = scan.rows.shape
    print(f"{name}: {rows} rows of {len(set(scan.runs.tolist()))} runs, {voxels} voxels")
    print(f"  {light}")
    print(f"  best single voxel {np.nanmax(search(scan, cube=1).accuracy):.3f}")
    spread = f"{chance.mean():.3f} on average, {chance.max():.3f} at most"
    print(f"  best cube with labels exchanged in half of the runs, {SHUFFLES} times: {spread}")
    above = int(np.sum(light.accuracy > chance.max()))
    print(f"  {above} of {voxels} positions are above all of these")
    means = light.plot_means()
    title = f"{name}: each class is high (red) in voxels of its own"
    means[0].figure.suptitle(title, fontsize="medium")
    means[0].figure.savefig(folder / f"brain_{name}_means.png", dpi=150)
    from matplotlib import pyplot

    pyplot.close(means[0].figure)
    print(f"  picture: brain_{name}_means.png")
    ax = light.plot()
    ax.set_title("")
    best = light.accuracy[light.best]
    title = f"{name}: best cube right in {best:.0%} of rows, shuffled labels in {chance.max():.0%}"
    save_figure(ax, title, folder / f"brain_{name}_accuracy.png")
    return light


def main(folder: Path, real: Path | None = None) -> None:
    """Print the results, and write plots into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    scan = simulate(rng)
    light = report("simulated", scan, rng, folder)
    for name, centre in REGIONS.items():
        inside = light.accuracy[ball(centre, RADIUS)].mean()
        print(f"  mean accuracy in the {name} region {inside:.3f}")
    outside = scan.mask & ~ball(REGIONS["face"], RADIUS + 2) & ~ball(REGIONS["house"], RADIUS + 2)
    print(f"  mean accuracy away from both {light.accuracy[outside].mean():.3f}")
    if real is not None:
        report("slice", read_slice(real, ("face", "house")), rng, folder)


if __name__ == "__main__":
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"),
        Path(sys.argv[2]) if len(sys.argv) > 2 else None,
    )
