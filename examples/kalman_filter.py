"""Tracking a moving object with a Kalman filter: predict the state, then condition on a sighting.
Each step uses LinearGaussian twice: for the motion, and for the sighting.
The last state and the evidence equal those of one joint Gaussian of all steps.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import axes_or_new, save_figure
from suffice.gaussian import LinearGaussian, MultivariateNormal

Array = NDArray[np.float64]
STEPS = 40
STATE = ("east", "north", "speed east", "speed north")
SIGHTING_SD = 0.8
PUSH_SD = 0.06

STILL = np.eye(2)
MOTION = np.block([[STILL, STILL], [0 * STILL, STILL]])  # positions move by the speeds
# A push during a step changes the speed by as much, and the position by half of it.
PUSHED = np.concatenate([0.5 * STILL, STILL])
MOVE = LinearGaussian(MOTION, noise=PUSH_SD**2 * PUSHED @ PUSHED.T, names=STATE)
LOOK = LinearGaussian(np.hstack([STILL, 0 * STILL]), noise=SIGHTING_SD**2)
START = MultivariateNormal(np.zeros(4), np.diag([4.0, 4.0, 1.0, 1.0]), names=STATE)


class Track(NamedTuple):
    """Where the object was, (steps, 4), and where it was seen, (steps, 2)."""

    states: Array
    sightings: Array


def simulate(rng: np.random.Generator) -> Track:
    """Simulate a track with random pushes and noisy sightings."""
    state = np.array([0.0, 0.0, 0.8, 0.4])
    states = []
    for _ in range(STEPS):
        state = MOTION @ state + PUSHED @ rng.normal(0.0, PUSH_SD, 2)
        states.append(state)
    states_seen = np.array(states)
    return Track(states_seen, states_seen[:, :2] + rng.normal(0.0, SIGHTING_SD, (STEPS, 2)))


def filter_states(sightings: Array) -> tuple[list[MultivariateNormal], float]:
    """Return the posterior of the state after each sighting, and the log evidence of all."""
    state, log_evidence, posteriors = START, 0.0, []
    for sighting in sightings:
        state = MOVE.predictive(state)
        log_evidence += float(LOOK.log_evidence(state, sighting))
        state = LOOK.posterior(state, sighting)
        posteriors.append(state)
    return posteriors, log_evidence


def condition_at_once(sightings: Array) -> tuple[MultivariateNormal, float]:
    """Return the last state given all sightings, and their evidence, from one joint Gaussian."""
    # All states are linear in the start and the pushes: stack the maps, and condition once.
    steps = len(sightings)
    sources = MultivariateNormal.from_diagonal(
        np.zeros(4 + 2 * steps), np.concatenate([START.variances, np.full(2 * steps, PUSH_SD**2)])
    )
    maps = []
    now = np.zeros((4, 4 + 2 * steps))
    now[:, :4] = np.eye(4)
    for step in range(steps):
        now = MOTION @ now
        now[:, 4 + 2 * step : 6 + 2 * step] += PUSHED
        maps.append(now[:2])
    look = LinearGaussian(np.concatenate(maps), noise=SIGHTING_SD**2)
    seen = sightings.ravel()
    last = look.posterior(sources, seen).affine(now)
    return last, float(look.log_evidence(sources, seen))


def plot_track(track: Track, posteriors: list[MultivariateNormal], path: Path) -> None:
    """Draw the track, the sightings, and the posteriors with their 90 % ellipses."""
    ax = axes_or_new()
    means = np.array([state.mean for state in posteriors])
    ax.plot(*track.states[:, :2].T, color="0.3", linewidth=1.2, label="true track")
    ax.plot(*track.sightings.T, ".", color="tab:orange", markersize=5, label="sightings")
    ax.plot(*means[:, :2].T, color="tab:blue", linewidth=1.5, label="filtered")
    for state in posteriors[::4]:
        ellipse = state.marginal(["east", "north"]).ellipse(0.9)
        ax.plot(*ellipse.T, color="tab:blue", linewidth=0.6, alpha=0.7)
    ax.set(xlabel="east", ylabel="north", aspect="equal")
    ax.legend(frameon=False)
    save_figure(ax, "A moving object, filtered; ellipses hold 90 %", path)


def main(folder: Path) -> None:
    """Print the errors, and write the plot into the folder."""
    track = simulate(np.random.default_rng(7))
    posteriors, log_evidence = filter_states(track.sightings)
    means = np.array([state.mean for state in posteriors])

    def error(places: Array) -> float:
        return float(np.sqrt(np.square(places - track.states[:, :2]).sum(axis=1).mean()))

    print(f"{STEPS} sightings of a moving object")
    print(f"  root mean square error of the sightings {error(track.sightings):.2f}")
    print(f"  root mean square error of the filter    {error(means[:, :2]):.2f}")
    last, batch_evidence = condition_at_once(track.sightings)
    print("The same from one joint Gaussian of the start, all pushes and all sightings")
    apart = np.abs(last.mean - means[-1]).max()
    print(f"  last states differ by    {apart:.0e}")
    print(f"  log evidence             {log_evidence:.6f} and {batch_evidence:.6f}")
    plot_track(track, posteriors, folder / "kalman_filter.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
