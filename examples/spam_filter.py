"""A spam filter that keeps learning: it is corrected, forgets, says why, and is saved and loaded.
Messages are made of words that spam, friends and work like; spam changes its words halfway through.
What it forgets is gone without a trace: it answers as if it had never learned those messages.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import suffice
from suffice.display.plots import axes_or_new, save_figure
from suffice.errors import StaleCalibrationWarning

COMMON = [
    "the",
    "and",
    "you",
    "for",
    "with",
    "this",
    "that",
    "from",
    "have",
    "will",
    "are",
    "not",
    "but",
    "can",
    "all",
]
LIKED = {
    "friends": [
        "lunch",
        "party",
        "tonight",
        "football",
        "dinner",
        "see",
        "cinema",
        "birthday",
        "weekend",
        "thanks",
    ],
    "spam": [
        "free",
        "win",
        "prize",
        "cash",
        "offer",
        "click",
        "winner",
        "claim",
        "urgent",
        "cheap",
    ],
    "work": [
        "meeting",
        "report",
        "deadline",
        "invoice",
        "agenda",
        "budget",
        "project",
        "review",
        "minutes",
        "client",
    ],
}
NEW_SPAM = [
    "crypto",
    "wallet",
    "airdrop",
    "token",
    "profit",
    "doubled",
    "invest",
    "guaranteed",
    "signal",
    "returns",
]


def messages(rng: np.random.Generator, size: int, spam: list[str]) -> tuple[list[str], list[str]]:
    """Draw messages and their classes, with the words that spam uses these days."""
    labels = rng.choice(sorted(LIKED), size).tolist()
    texts = []
    for label in labels:
        liked = spam if label == "spam" else LIKED[label]
        # All borrow a word of the others now and then: spam would be taken for a friend.
        borrowed = LIKED[rng.choice(["friends", "work"])]
        sources = [(liked, borrowed, COMMON)[at] for at in rng.choice(3, 12, p=[0.2, 0.1, 0.7])]
        texts.append(" ".join(rng.choice(words) for words in sources))
    return texts, labels


def caught(model: Any, rng: np.random.Generator, spam: list[str]) -> float:
    """Return the share of new spam that is told from the rest."""
    texts, labels = messages(rng, 600, spam)
    answers = model.predict(texts)[np.array(labels) == "spam"]
    return float(np.mean(answers == "spam"))


def main(folder: Path) -> None:
    """Write the pictures into the folder, and print the account."""
    rng = np.random.default_rng(7)
    texts, labels = messages(rng, 400, LIKED["spam"])
    model = suffice.TextClassifier().fit(texts, labels)
    print(f"400 messages learned, {len(model.terms_)} words; alpha by evidence {model.alpha_:.2f}")
    print(f"left out one by one: accuracy {model.leave_one_out(texts, labels).accuracy:.3f}")

    asked, _ = messages(rng, 200, LIKED["spam"])
    unsure = sum(answer is None for answer in model.decide(asked, reject=0.1))
    print(f"of 200 new messages {unsure} are left to the reader: less than 90 % sure")

    rounds, shares = np.arange(0, 201, 20), [caught(model, rng, NEW_SPAM)]
    corrected: tuple[list[str], list[str]] = ([], [])
    for _ in rounds[1:]:
        more = messages(rng, 20, NEW_SPAM)
        corrected[0].extend(more[0])
        corrected[1].extend(more[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleCalibrationWarning)
            model.partial_fit(*more)
        shares.append(caught(model, rng, NEW_SPAM))
    model.refresh_calibration([*texts, *corrected[0]], [*labels, *corrected[1]])
    print(f"spam of new words caught: {shares[0]:.2f} at first, {shares[-1]:.2f} when corrected")

    message = "free token and wallet for lunch"
    reasons = model.explain(message, "spam")
    print(f"\nwhy {message!r} is spam:\n{reasons}")
    ax = reasons.plot()
    save_figure(ax, "Why a message is spam", folder / "spam_reasons.png")

    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / "filter.safetensors", source="made-up messages")
    loaded = suffice.load(folder / "filter.safetensors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        loaded.forget(*corrected)
    known = set(NEW_SPAM) & set(loaded.terms_)
    print(f"\nsaved, loaded, and the corrections forgotten: {len(known)} of the new words known")
    again = suffice.TextClassifier(calibrate=None).fit(texts, labels)
    same = np.array_equal(np.sort(loaded.terms_.astype(str)), np.sort(again.terms_.astype(str)))
    print(f"its words are those of a filter that never saw them: {same}")

    ax = axes_or_new()
    ax.plot(rounds, shares, marker="o", color="tab:blue")
    ax.set(xlabel="messages corrected", ylabel="share of new spam caught", ylim=(0, 1.05))
    save_figure(ax, "Spam changes its words", folder / "spam_caught.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
