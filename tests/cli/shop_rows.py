"""Rows of a small shop."""

import csv

import numpy as np

HEADER = ("plan", "months", "visits", "note", "stays")


def write_rows(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows)


def make_rows(size, seed):
    rng = np.random.default_rng(seed)
    stays = rng.random(size) < 0.6
    plans = np.where(rng.random(size) < np.where(stays, 0.7, 0.3), "yearly", "monthly")
    months = rng.normal(np.where(stays, 20, 10), 5).round(1)
    visits = rng.poisson(np.where(stays, 6, 3))
    notes = np.where(rng.random(size) < 0.2, "", "paid in time")
    labels = np.where(stays, "yes", "no")
    return list(zip(plans, months, visits, notes, labels, strict=True))
