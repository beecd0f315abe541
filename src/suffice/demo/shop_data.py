"""Orders of a shop and messages to it, all of them made up for this demo.

Orders are drawn by the rules below, with a fixed seed; messages were written by hand. What a model
reaches on them says nothing of what it reaches on the data of a real shop.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

ROWS = 600
YEAR = 2025
# The share of missing values, by column.
MISSING = {"price": 0.1, "ordered": 0.05, "member": 0.2, "note": 0.4}

Order = dict[str, Any]


class Goods(NamedTuple):
    """A kind of goods: its usual price, what it adds to the log-odds of a return, and names."""

    price: float
    log_odds: float
    names: tuple[str, ...]


GOODS = {
    "shoes": Goods(70.0, 0.9, ("boots", "sandals", "trainers", "slippers", "walking shoes")),
    "coats": Goods(120.0, 0.5, ("raincoat", "winter coat", "jacket", "parka", "anorak")),
    "books": Goods(18.0, -1.5, ("atlas", "cookbook", "novel", "dictionary", "poems")),
    "lamps": Goods(45.0, -0.5, ("desk lamp", "floor lamp", "reading lamp", "lantern")),
}


class Reason(NamedTuple):
    """Why somebody orders: what it adds to the log-odds of a return, and what a note may say."""

    log_odds: float
    openings: tuple[str, ...]
    endings: tuple[str, ...]


UNSURE = Reason(
    1.8,
    (
        "not sure about the {}",
        "maybe the {}, maybe something else",
        "two kinds of {} please, one of them goes back",
        "first time that I order {} unseen",
        "would like to try the {} at home",
    ),
    (
        "I hope the colour is right",
        "I will decide when I see it",
        "the last one was too small",
        "can it be sent back",
    ),
)
PRESENT = Reason(
    -0.3,
    (
        "the {}, as a present for my sister",
        "please wrap the {}, it is a present",
        "my nephew wants the {} for his birthday",
        "no bill in the box with the {} please",
    ),
    ("it is a surprise", "the party is on Sunday", "with best wishes", "and a card please"),
)
AGAIN = Reason(
    -1.5,
    (
        "the same {} as last year",
        "my old {} broke, exactly this one again",
        "another {}, very happy with the first",
        "the {} that my neighbour has",
    ),
    ("no hurry", "please leave it next door", "thank you", "as always"),
)
REASONS = (UNSURE, PRESENT, AGAIN)


def draw_orders(rows: int = ROWS, seed: int = 0) -> tuple[list[Order], list[str]]:
    """Draw orders with values missing at random, and whether each was kept or returned."""
    rng = np.random.default_rng(seed)
    drawn = [_draw_order(rng) for _ in range(rows)]
    return [order for order, _ in drawn], [outcome for _, outcome in drawn]


def _draw_order(rng: np.random.Generator) -> tuple[Order, str]:
    name = str(rng.choice(list(GOODS), p=[0.3, 0.2, 0.3, 0.2]))
    goods = GOODS[name]
    reason = REASONS[rng.choice(len(REASONS), p=[0.3, 0.3, 0.4])]
    log_price = rng.normal(0.0, 0.4)
    day = date(YEAR, 1, 1) + timedelta(days=int(rng.integers(365)))
    member = bool(rng.random() < 0.5)
    opening = str(rng.choice(reason.openings)).format(rng.choice(goods.names))
    order = {
        "goods": name,
        "price": round(float(goods.price * np.exp(log_price)), 2),
        "pieces": 1 + int(rng.poisson(1.5 if reason is UNSURE else 0.4)),
        "ordered": day,
        "member": member,
        "note": f"{opening}, {rng.choice(reason.endings)}",
    }
    log_odds = -0.7 + goods.log_odds + reason.log_odds + log_price - 0.8 * member
    if day.month == 12:  # presents that come back
        log_odds += 1.5
    for column, share in MISSING.items():
        if rng.random() < share:
            order[column] = None
    return order, "returned" if rng.random() < expit(log_odds) else "kept"


# Three desks answer messages: delivery, payment, and advice about what the shop sells.
MESSAGES = {
    "delivery": (
        "Where is my parcel? It should have been here on Monday.",
        "The courier left the parcel in the rain and the box is wet.",
        "Can you deliver to my office instead of my home address?",
        "Tracking has said out for delivery for three days now.",
        "My neighbour says that no courier ever rang at our door.",
        "Do you ship to Norway, and how long does it take?",
        "Please leave the parcel with the neighbour, I am away until Friday.",
        "The parcel arrived, but the box was open and half empty.",
        "When will the second part of my order be shipped?",
        "I moved last week, please send it to my new address.",
        "The tracking number does not work on the courier's page.",
        "Still waiting for the boots that you shipped two weeks ago.",
        "Could the courier come after six? Nobody is at home before.",
        "The parcel went to a pick-up point forty kilometres away.",
        "Is it possible to collect my order at your warehouse?",
        "Your page says delivered, but there is nothing at my door.",
        "The driver could not find our street, please call me.",
        "Has my order left the warehouse yet?",
        "I need it before the weekend, can you ship it by express?",
        "The label on the box has the wrong street and house number.",
        "How late does the courier come on Saturdays?",
        "My parcel has been at customs for ten days.",
        "Please hold the shipment, we are on holiday until the tenth.",
        "Two parcels were announced and only one arrived.",
        "Thank you for the quick delivery, the courier was very kind.",
        "The delivery window was nine to eleven, it is three now.",
        "Who signed for my parcel? It was not me.",
        "Please change the delivery date to next Thursday.",
        "The courier wants me to collect it at a depot out of town.",
        "One shoe is missing from the box that came today.",
        "Can my order go to a parcel locker near the station?",
        "The status has been packed since Wednesday, when does it leave?",
        "Nobody rang, and there was only a card in the letter box.",
        "I will not be at home on Tuesday, can the driver come a day later?",
        "Somebody else's parcel was delivered to my address.",
        "How long does shipping to an island take?",
    ),
    "payment": (
        "I was charged twice for the same order.",
        "My card was declined although there is enough money on it.",
        "Please send the invoice to our accounting department.",
        "When will I get my money back?",
        "The voucher code was not accepted at the checkout.",
        "Can I pay by bank transfer instead of by card?",
        "The amount on the invoice is higher than the price on your page.",
        "You still owe me a refund of 40 euros.",
        "How can I pay in three instalments?",
        "The invoice lacks our tax number, please correct it.",
        "A fee of five euros was added to my bill, what is it for?",
        "I paid on Tuesday, but your reminder says that nothing has come in.",
        "The refund went to a card that I no longer have.",
        "Do you take PayPal?",
        "My bank has blocked the payment, may I try another card?",
        "The discount for members is missing from the total.",
        "Please cancel the direct debit, the amount is wrong.",
        "I need a receipt for the tax office.",
        "Your checkout asks for my card number again and again.",
        "The gift voucher had 25 euros on it and now it shows nothing.",
        "Why is sales tax on my bill? We are a company abroad.",
        "The currency on my statement is dollars, I ordered in euros.",
        "A second reminder came although the bill was paid long ago.",
        "Can the invoice be split between two cards?",
        "The refund has arrived on my account, thank you.",
        "Your account number on the invoice is not valid, says my bank.",
        "Twenty euros too much were taken from my account.",
        "Is there a discount if I pay at once?",
        "I returned the lamp in May and still have no refund.",
        "The payment page stops after I enter the code from my bank.",
        "Please make out the invoice to my company, not to me.",
        "Which credit cards do you accept?",
        "How do I use a gift voucher and a card for one order?",
        "The reminder has a fee on it, but I never got a bill.",
        "Was my transfer received? I forgot the order number on it.",
        "Half of the order was cancelled, but I paid the full price.",
    ),
    "advice": (
        "Do the walking boots run small, or should I take my usual size?",
        "Is the raincoat really waterproof or only for light rain?",
        "Which lamp is bright enough to read by in bed?",
        "Are the trainers wide enough for broad feet?",
        "Does the winter coat have a pocket on the inside?",
        "Will the blue jacket be in stock again in medium?",
        "What is the sole of the sandals made of?",
        "Can the desk lamp be dimmed, and which bulb does it need?",
        "Is the cookbook good for beginners?",
        "How do I wash the parka without spoiling the down?",
        "Which size do you recommend at 1.80 m and 75 kg?",
        "Do you have the same slippers in grey?",
        "Is there a thicker lining for the anorak in winter?",
        "Are the boots made of leather?",
        "Would this atlas suit a child of eight?",
        "Is the green of the coat as dark as in the picture?",
        "How tall is the floor lamp, and how wide is its shade?",
        "Do the slippers have a rubber sole?",
        "Which of your jackets is the warmest?",
        "Does the lantern work outside in the rain?",
        "Are there half sizes of the trainers too?",
        "Is the dictionary the newest edition?",
        "Can I wear the boots on ice, how good is the grip?",
        "What is the difference between the two reading lamps?",
        "The jacket is lovely and warm, do you make it in red too?",
        "How heavy are the walking shoes?",
        "Does the coat come with a hood?",
        "Are the sandals suitable for long walks?",
        "Can the raincoat be folded into a small bag?",
        "Is the novel also there in large print?",
        "Which wax should I use on the leather boots?",
        "Does the reading lamp have a switch on the cord?",
        "The sleeves of the parka are long, is there a shorter size?",
        "What colour is closest to the old brown trainers?",
        "Is the jacket lined, or do I need a pullover under it?",
        "Do the boots stretch when they get wet?",
    ),
}

# Messages that come in later, with the desk that each is for. The last concerns two desks.
NEW_MESSAGES = (
    ("Where are my sandals? The tracking page says nothing.", "delivery"),
    ("The bill came twice, which one do I pay?", "payment"),
    ("Is the desk lamp bright enough for sewing?", "advice"),
    ("I was charged for express, but the parcel came by ordinary post.", "payment"),
)
# Like the last of them.
SIMILAR_MESSAGE = "Express was charged, and my parcel was sent by ordinary post."
# In a language of which no word was learned.
FOREIGN_MESSAGE = "Avete questo cappotto anche azzurro?"
