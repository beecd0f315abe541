"""Models whose answers a page has to give as Python does, and rows to ask them for."""

import datetime as dt

import numpy as np

from suffice import GenerativeClassifier

LABELS = np.array(["low", "middle", "<script>alert(1)</script>"])
ROWS = 200
# Everything that splits words in its own way: case, accents, final sigma, dotted I, digits,
# joiners, ligatures, surrogate pairs, scripts without spaces.
UNICODE = (
    "ΟΔΥΣΣΕΥΣ ὈΔΥΣΣΕΎΣ ΣΑΣ Σ ΑΣ' ΑΣ'Α σς",
    "İstanbul ISTANBUL ıI İİ",
    "Straße STRASSE ﬁn ﬁ Ǆ ǅ",
    "日本語のテキスト 中文 한국어",
    "don't stop_word x-ray e.g. 3rd 42 ٣٤ ²",
    "naïve cafe\u0301 CAFÉ ÀÉÎ a\u00adb a\u200db a\u200bb",
    "😀 emoji 𝔘𝔫𝔦 𐐀𐐁 𐐨",
    "ᏣᎳᎩ ꭰꭱ ჱ Ჱ ẞ ß Ω ω Å å K k",
    "tab\tnew\nline\u00a0nbsp\u2028separator",
    "\u0345Σ\u0345 Α\u0345Σ\u0345 Α.Σ Α:Σ:Α",
)


def classes_of(rng, size, classes=3):
    return rng.integers(0, classes, size)


def with_missing(rng, values, share=0.12):
    """Return cells, some of them None."""
    return [None if rng.random() < share else cell for cell in np.asarray(values).tolist()]


def words_of(rng, own, size=12):
    names = ["free", "lunch", "pills", "noon", "cheap", "report", "née", "ΟΔΟΣ", "Über", "you"]
    chance = np.full(len(names), 1.0)
    chance[own * 3 : own * 3 + 3] += 2.0
    return " ".join(rng.choice(names, rng.integers(0, size), p=chance / chance.sum()))


def column(rng, y, family):
    """Return the cells of one column that a family is of."""
    kind = family.partition(":")[0]
    if kind in ("normal", "student", "binned"):
        return rng.normal(3.0 * y, 1.0 + y).round(3)
    if kind == "lognormal":
        return rng.lognormal(0.4 * y, 1.0).round(4)
    if kind == "poisson":
        return rng.poisson(1.0 + 2.0 * y)
    if kind == "bernoulli":
        return rng.random(len(y)) < 0.2 + 0.3 * y
    if kind == "text":
        return np.array([words_of(rng, own) for own in y], object)
    levels = np.array(["red", "blue", "green", "Ångström", "1"], object)
    return levels[np.minimum(rng.integers(0, 4, len(y)) + (rng.random(len(y)) < 0.3) * y, 4)]


def one_column(family, estimate="predictive", classes=3, **settings):
    """Return a model of one column of a family beside a column of levels."""
    rng = np.random.default_rng(7)
    y = classes_of(rng, 150, classes)
    table = {"x": with_missing(rng, column(rng, y, family)), "beside": column(rng, y, "levels")}
    families = {"x": family, "beside": "categorical"}
    model = GenerativeClassifier(families, estimate=estimate, budget=0, **settings)
    return model.fit(table, LABELS[y])


def joined(family, estimate="predictive", **settings):
    """Return a model of several columns in one block."""
    rng = np.random.default_rng(11)
    y = classes_of(rng, 250)
    if family == "joint":
        table = {
            "a": with_missing(rng, column(rng, y, "levels"), 0.05),
            "b": with_missing(rng, rng.choice(["u", "v"], len(y)), 0.05),
            "c": with_missing(rng, (rng.integers(0, 3, len(y)) + (y == 2)) / 2, 0.05),
        }
    else:
        mixing = np.array([[1.0, 0.8, 0.1], [0.0, 0.5, -0.3], [0.0, 0.0, 2.0]])
        cells = rng.normal(size=(len(y), 3)) @ mixing + y[:, None] * np.array([0.5, -0.2, 1.0])
        table = {name: with_missing(rng, cells[:, at]) for at, name in enumerate("abc")}
    families = {("a", "b", "c"): family}
    model = GenerativeClassifier(families, estimate=estimate, budget=0, **settings)
    return model.fit(table, LABELS[y])


def correlated(combine, noise=0.0, **settings):
    """Return a model of columns that repeat each other, so that weights and residuals matter."""
    rng = np.random.default_rng(5)
    y = classes_of(rng, 400, settings.pop("classes", 3))
    x = rng.normal(1.5 * y, 1.0)
    table = {
        "x": x.round(2),
        "again": (x + rng.normal(0, 0.3, len(y))).round(2),
        "size": rng.lognormal(0.5 * y, 0.5),
        "city": column(rng, y, "levels"),
        "text": with_missing(rng, column(rng, y, "text")),
    }
    y = np.where(rng.random(len(y)) < noise, rng.integers(0, y.max() + 1, len(y)), y)
    families = {"x": "normal", "again": "normal", "size": "lognormal"}
    model = GenerativeClassifier(families, combine=combine, budget=0, **settings)
    return model.fit(table, LABELS[y])


def mixed():
    """Return a model of dates, times, truth values, numbers in strings, and gaps that tell."""
    rng = np.random.default_rng(3)
    y = classes_of(rng, 300, 2)
    start = dt.datetime(2021, 3, 1)
    hours = rng.integers(0, 6000, len(y)) + 1500 * y
    price = np.round(rng.lognormal(2 + 0.5 * y, 1), 2)
    table = {
        "when": [start + dt.timedelta(hours=int(h)) for h in hours],
        "day": [
            f"{d}.{m}.2020" for d, m in zip(rng.integers(1, 29, len(y)), 1 + y * 5, strict=True)
        ],
        "clock": [
            f"{h}:{m:02d}"
            for h, m in zip(rng.integers(0, 12, len(y)) + 12 * y, hours % 60, strict=True)
        ],
        "price": [
            f"{p:,.2f} €".replace(",", "_").replace(".", ",").replace("_", ".") for p in price
        ],
        "paid": with_missing(rng, rng.random(len(y)) < 0.3 + 0.4 * y, 0.2),
        "gap": [
            None if rng.random() < 0.1 + 0.5 * own else float(x)
            for own, x in zip(y, price, strict=True)
        ],
        "few": with_missing(rng, rng.integers(0, 3, len(y)) + y, 0.1),
    }
    families = {"few": "categorical"}
    model = GenerativeClassifier(families, missing="informative", combine="residual")
    return model.fit(table, LABELS[y])


def random_rows(model, seed=0, size=ROWS):
    """Return rows of a model's columns: drawn from it, far out, missing and unseen."""
    rng = np.random.default_rng(seed)
    drawn, _ = model.sample(size, random_state=seed)
    columns = {name: list(drawn[name]) for name in drawn}
    rows = []
    for at in range(size):
        row = {}
        for name, cells in columns.items():
            row[name] = strange_cell(rng, cells[at]) if rng.random() < 0.35 else plain(cells[at])
        rows.append(row)
    return rows


def plain(cell):
    """Return a cell as a row has it: a number, a string, a truth value or None."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    return None if isinstance(cell, float) and np.isnan(cell) else cell


def strange_cell(rng, cell):
    cell = plain(cell)
    if rng.random() < 0.5:
        return None
    if isinstance(cell, str):
        return str(rng.choice(["never seen", *UNICODE, f"{cell} {rng.choice(UNICODE)}"]))
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int):
        return int(rng.choice([0, 1, 7, 40, 3000]))
    return float(rng.choice([0.0, -3.5, 1e-3, 1e3, cell * 10, 1e-300]))


def mixed_rows(seed=0, size=ROWS):
    """Return rows of `mixed` as they are typed into a form, and as Python is given them."""
    rng = np.random.default_rng(seed)
    start = dt.datetime(2021, 3, 1)
    typed, given = [], []
    for _ in range(size):
        when = start + dt.timedelta(minutes=int(rng.integers(-100_000, 900_000)))
        row = {
            "when": when.isoformat(sep=" "),
            "day": rng.choice(["31.12.2020", "1.6.20", "3.2.1999", "2020-02-29", "29.2.2021", "?"]),
            "clock": rng.choice(
                ["18:00", "6:05 PM", "12:30 am", "23:59:59.25", "25:00", "n/a", ""]
            ),
            "price": rng.choice(["1.250,50 €", "€ 3", "0,5", "-7,25", "1e3", "free", "NA", " 12 "]),
            "paid": bool(rng.random() < 0.5),
            "gap": float(rng.lognormal(2, 1)),
            "few": int(rng.integers(0, 6)),
        }
        row = {name: None if rng.random() < 0.2 else plain(cell) for name, cell in row.items()}
        typed.append(row)
        given.append(row | {"when": None if row["when"] is None else when})
    return typed, given


def documents(seed=0, size=160, classes=3):
    """Return documents, and their labels."""
    rng = np.random.default_rng(seed)
    y = classes_of(rng, size, classes)
    return [words_of(rng, own, 25) for own in y], LABELS[y]


def new_documents(seed=1, size=ROWS):
    """Return documents with unknown words, of all scripts, long ones, and empty ones."""
    rng = np.random.default_rng(seed)
    found = []
    for at in range(size):
        parts = [words_of(rng, at % 3, 60)]
        if rng.random() < 0.5:
            parts.append(str(rng.choice(UNICODE)))
        found.append(str(rng.choice([" ", ", ", "-"])).join(parts) if rng.random() < 0.95 else "")
    return found


def random_text(rng, size=60):
    """Return letters of all of Unicode, those with special cases often."""
    special = "ΣσςİıßẞǅŉK\u0345\u00ad'.:·ªºⅠⓐ_-٣²\u200d ͅ"
    letters = []
    for _ in range(size):
        if rng.random() < 0.4:
            letters.append(special[rng.integers(len(special))])
        else:
            point = int(rng.integers(1, 0x110000 if rng.random() < 0.2 else 0x3000))
            letters.append("a" if 0xD800 <= point < 0xE000 else chr(point))
    return "".join(letters)
