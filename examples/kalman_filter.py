"""Tracking a moving object with a Kalman filter: predict the state, then condition on a sighting.
The last state and the evidence equal those of one joint Gaussian of all steps. Then sightings end:
the forecast is a cone that widens, and holds as many objects as it says.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import AGAINST, FOR, axes_or_new, save_figure
from suffice.gaussian import LinearGaussian, MultivariateNormal

Array = NDArray[np.float64]
STEPS = 40
# Steps that are forecast after the last sighting, and the share of objects the cone is to hold.
AHEAD, LEVEL = 15, 0.9
TRACKS = 20_000
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


def simulate(rng: np.random.Generator, start: Array, steps: int) -> Track:
    """Simulate tracks from states (..., 4) with random pushes and noisy sightings, step first."""
    state, states = start, []
    for _ in range(steps):
        pushes = rng.normal(0.0, PUSH_SD, (*start.shape[:-1], 2))
        state = state @ MOTION.T + pushes @ PUSHED.T
        states.append(state)
    moved = np.array(states)
    noise = rng.normal(0.0, SIGHTING_SD, (*moved.shape[:-1], 2))
    return Track(moved, moved[..., :2] + noise)


def filter_states(sightings: Array) -> tuple[list[MultivariateNormal], Array]:
    """Return the posterior of the state after each sighting, and the log evidence of all.

    Sightings (steps, ..., 2) of many tracks are filtered together: their covariances are the same.
    """
    state, posteriors = START, []
    log_evidence = np.zeros(sightings.shape[1:-1])
    for sighting in sightings:
        state = MOVE.predictive(state)
        log_evidence = log_evidence + LOOK.log_evidence(state, sighting)
        state = LOOK.posterior(state, sighting)
        posteriors.append(state)
    return posteriors, log_evidence


def forecast(state: MultivariateNormal) -> list[MultivariateNormal]:
    """Return the distribution of the position at each step ahead, without further sightings."""
    places = []
    for _ in range(AHEAD):
        state = MOVE.predictive(state)
        places.append(state.marginal(["east", "north"]))
    return places


def share_inside(rng: np.random.Generator) -> Array:
    """Return how many of many simulated objects each ellipse of their own cone holds, (ahead,)."""
    track = simulate(rng, START.sample(rng, TRACKS), STEPS + AHEAD)
    places = forecast(filter_states(track.sightings[:STEPS])[0][-1])
    radius = np.sqrt(-2 * np.log(1 - LEVEL))  # two squared coordinates are twice an exponential
    return np.array(
        [
            np.mean(place.mahalanobis(now[:, :2]) < radius)
            for place, now in zip(places, track.states[STEPS:], strict=True)
        ]
    )


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


def draw_track(track: Track, posteriors: list[MultivariateNormal]) -> Any:
    """Draw the track, the sightings, and the posteriors with their 90 % ellipses."""
    ax = axes_or_new()
    means = np.array([state.mean for state in posteriors])
    ax.plot(*track.states[:, :2].T, color="0.3", linewidth=1.2, label="true track")
    ax.plot(*track.sightings.T, ".", color=AGAINST, markersize=5, label="sightings")
    ax.plot(*means[:, :2].T, color=FOR, linewidth=1.5, label="filtered")
    for state in posteriors[::4]:
        ellipse = state.marginal(["east", "north"]).ellipse(0.9)
        ax.plot(*ellipse.T, color=FOR, linewidth=0.6, alpha=0.7)
    ax.set(xlabel="east", ylabel="north", aspect="equal")
    ax.legend(frameon=False)
    title = "The filter follows the true track through noisy sightings; ellipses hold 90 %"
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def draw_cone(
    track: Track, posteriors: list[MultivariateNormal], cone: list[MultivariateNormal]
) -> Any:
    """Draw the last filtered positions, the forecast with its ellipses, and what then happened."""
    ax = axes_or_new()
    past = np.array([state.mean[:2] for state in posteriors])
    ahead = np.array([place.mean for place in cone])
    for place in cone:
        outline = place.ellipse(LEVEL)
        ax.fill(*outline.T, color=FOR, alpha=0.06, lw=0)
    for place in cone[4::5]:
        ax.plot(*place.ellipse(LEVEL).T, color=FOR, lw=0.8)
    ax.plot(*np.vstack([past[-1:], ahead]).T, "--", color=FOR, lw=1.5, label="forecast")
    ax.plot(*past[-15:].T, color=FOR, lw=1.5, label="filtered")
    seen = track.sightings[STEPS - 15 : STEPS]
    ax.plot(*seen.T, ".", color=AGAINST, markersize=5, label="sightings")
    future = track.states[STEPS - 1 :, :2]
    ax.plot(*future.T, color="0.3", lw=1.2, label="where it went")
    ax.set(xlabel="east", ylabel="north", aspect="equal")
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    title = f"The forecast widens: each ellipse, at 5, 10, ... steps, holds {100 * LEVEL:g} %"
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def main(folder: Path) -> None:
    """Print the errors, and write the plots into the folder."""
    rng = np.random.default_rng(7)
    whole = simulate(rng, np.array([0.0, 0.0, 1.5, 0.7]), STEPS + AHEAD)
    track = Track(whole.states[:STEPS], whole.sightings[:STEPS])
    posteriors, evidence = filter_states(track.sightings)
    log_evidence = float(evidence)
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
    ax = draw_track(track, posteriors)
    save_figure(ax, ax.get_title("left"), folder / "kalman_filter.png")

    cone = forecast(posteriors[-1])
    inside, spread = share_inside(rng), np.sqrt(LEVEL * (1 - LEVEL) / TRACKS)
    print(f"Forecasts, and the share of {TRACKS:,} simulated objects in their {LEVEL:.0%} ellipses")
    for step in (1, 5, 10, 15):
        length = cone[step - 1].axes().lengths[0]
        share = f"{inside[step - 1]:.3f} ± {2 * spread:.3f}"
        print(f"  {step:>2} steps ahead: standard deviation {length:5.2f}, inside {share}")
    ax = draw_cone(whole, posteriors, cone)
    save_figure(ax, ax.get_title("left"), folder / "kalman_cone.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
