"""Is this coin fair? A prior and some flips make a posterior, estimates, evidence and a bet.
One prior has three possible biases, the others are Beta distributions over all biases.
Deciding is not inferring: always betting on heads wins more often than matching probabilities.
"""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import indent

import numpy as np

from suffice.display.plots import save_figure
from suffice.prior import Bernoulli, Beta, PointMasses

BIAS = 0.6
FLIPS = 100
BETS = 100_000


def inference(flips: np.ndarray, folder: Path) -> None:
    """Print and plot the posteriors of two priors given the same flips."""
    biases = PointMasses(points=[0.4, 0.5, 0.6], weights=[0.1, 0.8, 0.1])
    heads = int(flips.sum())
    print(f"{heads} heads in {FLIPS} flips of a coin of bias {BIAS}.\n")

    print("A coin of bias .4, .5 or .6, with prior probabilities .1, .8 and .1")
    for flipped in (10, FLIPS):
        weights = biases.posterior(flips[:flipped]).weights
        shown = ", ".join(f"{p:g}: {w:.3f}" for p, w in zip(biases.points, weights, strict=True))
        print(f"  after {flipped} flips  {shown}")
    weights = biases.posterior(flips).weights
    likely = int(weights.argmax())
    title = (
        f"{FLIPS} flips raise the bias {biases.points[likely]:g} from {biases.weights[likely]:g} "
        f"to {weights[likely]:.2f}"
    )
    save_figure(biases.plot(flips), title, folder / "coins_biases.png")

    print("\nA prior worth ten flips, half of them heads: Beta(5, 5)")
    ten = Beta(successes=5, failures=5)
    print(indent(str(ten.estimates(flips)), "  "))
    posterior = ten.posterior(flips)
    lower, upper = posterior.interval(0.95)
    print(f"  95 % interval from {lower:.3f} to {upper:.3f}")
    print(f"  the next flip is heads with probability {posterior.predictive().mean():.3f}")
    title = f"A prior worth ten flips draws the mean of {FLIPS} flips a little to the half"
    save_figure(ten.plot(flips), title, folder / "coins_beta.png")

    fair = PointMasses(points=[0.5], weights=[1.0])
    factor = fair.bayes_factor(Beta(successes=1, failures=1), flips)
    print(f"\nBayes factor of a fair coin against any bias, Beta(1, 1): {factor:.2f}")
    print("  above 1 the flips are evidence for a fair coin, below 1 against it\n")


def betting(rng: np.random.Generator) -> None:
    """Print how often two ways to bet win, by the formula and by simulation."""
    coin = Bernoulli(BIAS)
    print(f"Bets on a coin of bias {BIAS}, computed, and simulated {BETS:,} times")
    for name, chance in (("always heads", coin.best_bet()), ("matching", BIAS)):
        won = coin.sample(rng, BETS) == Bernoulli(chance).sample(rng, BETS)
        error = won.std() / np.sqrt(BETS)
        print(f"  {name:<13} {coin.wins(chance):.2f}   {won.mean():.4f} +- {error:.4f}")


def main(folder: Path) -> None:
    """Print results, and write plots into the folder."""
    rng = np.random.default_rng(281)
    inference(Bernoulli(BIAS).sample(rng, FLIPS), folder)
    betting(rng)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
