"""A spam filter that learns from corrections, forgets, explains its answers, and is saved.
Messages are drawn from typical words of spam, friends and work; spam changes its words halfway.
After forgetting the corrections, the filter has the words of one that never learned them.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import suffice
from suffice.display.plots import FOR, axes_or_new, save_figure
from suffice.errors import StaleCalibrationWarning

COMMON = "the and you for with this that from have will are not but can all"
WORDS = {
    "friends": "lunch party tonight football dinner see cinema birthday weekend thanks",
    "spam": "free win prize cash offer click winner claim urgent cheap",
    "work": "meeting report deadline invoice agenda budget project review minutes client",
}
NEW_SPAM = "crypto wallet airdrop token profit doubled invest guaranteed signal returns"


def messages(rng: np.random.Generator, size: int, spam: str) -> tuple[list[str], list[str]]:
    """Draw messages and their classes, with the given words of spam."""
    labels = rng.choice(sorted(WORDS), size).tolist()
    texts = []
    for label in labels:
        typical = spam if label == "spam" else WORDS[label]
        # Every class uses words of friends and work now and then, so spam is not easy to find.
        borrowed = WORDS[rng.choice(["friends", "work"])]
        sources = [(typical, borrowed, COMMON)[at] for at in rng.choice(3, 12, p=[0.2, 0.1, 0.7])]
        texts.append(" ".join(rng.choice(words.split()) for words in sources))
    return texts, labels


def share_caught(model: Any, rng: np.random.Generator, spam: str) -> float:
    """Return the share of new spam that is classified as spam."""
    texts, labels = messages(rng, 600, spam)
    answers = model.predict(texts)[np.array(labels) == "spam"]
    return float(np.mean(answers == "spam"))


def main(folder: Path) -> None:
    """Print results, and write plots into the folder."""
    rng = np.random.default_rng(7)
    texts, labels = messages(rng, 400, WORDS["spam"])
    model = suffice.TextClassifier().fit(texts, labels)
    print(f"400 messages learned, {len(model.terms_)} words; alpha by evidence {model.alpha_:.2f}")
    print(f"leave-one-out accuracy {model.leave_one_out(texts, labels).accuracy:.3f}")

    new, _ = messages(rng, 200, WORDS["spam"])
    rejected = sum(answer is None for answer in model.decide(new, reject=0.1))
    print(f"of 200 new messages {rejected} are rejected: no class has a probability of 90 %")

    rounds, shares = np.arange(0, 201, 20), [share_caught(model, rng, NEW_SPAM)]
    corrected: tuple[list[str], list[str]] = ([], [])
    for _ in rounds[1:]:
        more = messages(rng, 20, NEW_SPAM)
        corrected[0].extend(more[0])
        corrected[1].extend(more[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleCalibrationWarning)
            model.partial_fit(*more)
        shares.append(share_caught(model, rng, NEW_SPAM))
    model.refresh_calibration([*texts, *corrected[0]], [*labels, *corrected[1]])
    print(f"new spam caught: {shares[0]:.2f} at first, {shares[-1]:.2f} after 200 corrections")

    message = "free token and wallet for lunch"
    reasons = model.explain(message, "spam")
    print(f"\nwhy {message!r} is spam:\n{reasons}")
    ax = reasons.plot()
    title = f"Why {message!r} is spam with probability {reasons.probability:.2f}"
    save_figure(ax, title, folder / "spam_reasons.png")

    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / "filter.safetensors", source="made-up messages")
    loaded = suffice.load(folder / "filter.safetensors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        loaded.forget(*corrected)
    known = set(NEW_SPAM.split()) & set(loaded.terms_)
    print(f"\nsaved, loaded, corrections forgotten: {len(known)} of the new words are known")
    refitted = suffice.TextClassifier(calibrate=None).fit(texts, labels)
    same = np.array_equal(np.sort(loaded.terms_.astype(str)), np.sort(refitted.terms_.astype(str)))
    print(f"its words are those of a filter that never learned the corrections: {same}")

    ax = axes_or_new()
    ax.plot(rounds, shares, marker="o", color=FOR)
    ax.set(xlabel="corrections learned", ylabel="share of new spam caught", ylim=(0, 1.05))
    title = f"200 corrections bring back the spam that changed its words: {shares[-1]:.0%} caught"
    save_figure(ax, title, folder / "spam_caught.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
