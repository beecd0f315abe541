"""Naive Bayes around every cell of a grid, a fold of the rows left out at a time."""

from __future__ import annotations

import math

import numpy as np

from suffice.kernels.compiled import kernel

# A sum of squares of which less than this is left by a subtraction has lost four digits, and is
# counted again from the rows.
WORTH_A_RECOUNT = 1e-4
# Windows from this width on are summed by blocks, which costs as much as about so many cells.
WIDE = 35
# The least variance of a cell that does not vary: one that has a reciprocal.
LEAST_VARIANCE = 1e-300


@kernel
def recounted(X, codes, fold_of, fold, c, v):  # type: ignore[no-untyped-def]
    """Return the mean and scatter of one cell over the rows of a class outside a fold."""
    origin, total, n = 0.0, 0.0, 0
    for i in range(len(codes)):
        if codes[i] == c and fold_of[i] != fold:
            if n == 0:
                origin = np.float64(X[i, v])  # so that equal cells leave exactly no spread
            total += X[i, v] - origin
            n += 1
    shift, squares = total / n, 0.0
    for i in range(len(codes)):
        if codes[i] == c and fold_of[i] != fold:
            d = (X[i, v] - origin) - shift
            squares += d * d
    return origin + shift, squares


@kernel
def take_out(X, codes, fold_of, rows, moments, left, left_mean, left_scatter):  # type: ignore[no-untyped-def]
    """Take a fold's rows out of the moments of their classes (docs: mathematics, section 3).

    moments are counts (C,), mean and scatter (C, V) of all rows. What is left of them is written
    for the classes that the fold has rows of.
    """
    counts, mean, scatter = moments
    fold = fold_of[rows[0]]
    voxels = mean.shape[1]
    left[:] = counts
    for i in rows:
        left[codes[i]] -= 1
    for c in range(len(counts)):
        n = left[c]
        if n == counts[c]:
            continue
        left_mean[c] = 0.0
        left_scatter[c] = 0.0
        for i in rows:
            if codes[i] == c:
                for v in range(voxels):
                    d = X[i, v] - mean[c, v]
                    left_mean[c, v] += d
                    left_scatter[c, v] += d * d
        for v in range(voxels):
            if n == 0:
                left_mean[c, v], left_scatter[c, v] = mean[c, v], 0.0
                continue
            away = left_mean[c, v] / n
            squares = scatter[c, v] - left_scatter[c, v] - n * away * away
            if squares < WORTH_A_RECOUNT * scatter[c, v]:
                left_mean[c, v], left_scatter[c, v] = recounted(X, codes, fold_of, fold, c, v)
            else:
                left_mean[c, v], left_scatter[c, v] = mean[c, v] - away, squares


@kernel
def set_law(left, mean, scatter, prior, tied, unseen, changed, law, flat):  # type: ignore[no-untyped-def]
    """Set what each class that has changed takes a cell to be (docs: mathematics, section 2).

    prior (4, C, V) holds location, pseudo-rows, shape and scale of a normal-inverse-gamma, or is
    empty for maximum likelihood. law (4, V, C) takes location, precision, power and the logarithm
    of the norm: log p = norm - precision d^2 / 2, or norm - power log(1 + precision d^2) given a
    prior. flat (C, V) is set where a class does not vary; `unseen` times its size is then its
    spread.
    """
    classes, voxels = mean.shape
    total = left.sum()
    for v in range(voxels):
        together = 0.0
        if tied:
            for c in range(classes):
                together += scatter[c, v] + pull(left[c], mean[c, v], prior, c, v)
        for c in range(classes):
            if not (changed[c] or tied) or left[c] == 0:
                continue
            n = total if tied else left[c]
            squares = together
            if not tied:
                squares = scatter[c, v] + pull(left[c], mean[c, v], prior, c, v)
            if prior.size:
                k = prior[1, c, v] + left[c]
                law[0, v, c] = mean[c, v] + prior[1, c, v] * (prior[0, c, v] - mean[c, v]) / k
                shape, scale = prior[2, c, v] + n / 2, prior[3, c, v] + squares / 2
                spread = 2 * scale * (1 + 1 / k)  # degrees times the squared scale of the t
                law[1, v, c] = 1 / spread
                law[2, v, c] = shape + 0.5
                norm = math.lgamma(shape + 0.5) - math.lgamma(shape)
                law[3, v, c] = norm - 0.5 * math.log(math.pi * spread)
                continue
            variance = squares / n
            if variance == 0:
                flat[c, v] = True
                size = abs(mean[c, v]) if mean[c, v] != 0 else 1.0
                variance = max((unseen * size) ** 2, LEAST_VARIANCE)
            law[0, v, c] = mean[c, v]
            law[1, v, c] = 1 / variance
            law[3, v, c] = -0.5 * math.log(2 * math.pi * variance)


@kernel
def set_densities(row, law, integrated, cells, grid):  # type: ignore[no-untyped-def]
    """Set log p(voxel | class) of a row in a grid (cells, C), given flat; 0 where no voxel is."""
    voxels, classes = law.shape[1:]
    grid[:] = 0.0
    for v in range(voxels):
        at, x = cells[v] * classes, row[v]
        if integrated:
            for c in range(classes):
                d = x - law[0, v, c]
                grid[at + c] = law[3, v, c] - law[2, v, c] * math.log1p(law[1, v, c] * d * d)
        else:
            for c in range(classes):
                d = x - law[0, v, c]
                grid[at + c] = law[3, v, c] - 0.5 * law[1, v, c] * d * d


@kernel
def pull(n, mean, prior, c, v):  # type: ignore[no-untyped-def]
    """Return what the way from the prior's location adds to a sum of squares."""
    if prior.size == 0:
        return 0.0
    k, away = prior[1, c, v], mean - prior[0, c, v]
    return k * n / (k + n) * away * away


@kernel
def narrow_sums(source, width, out):  # type: ignore[no-untyped-def]
    """Sum windows of odd width, clipped at the ends, along the middle of three axes."""
    outer, length, inner = source.shape
    for o in range(outer):
        for p in range(length):
            first, last = max(0, p - width // 2), min(length - 1, p + width // 2)
            into, here = out[o, p], source[o, first]
            for i in range(inner):
                into[i] = here[i]
            for q in range(first + 1, last + 1):
                here = source[o, q]
                for i in range(inner):
                    into[i] += here[i]


@kernel
def wide_sums(source, width, ahead, behind, out):  # type: ignore[no-untyped-def]
    """Sum windows as `narrow_sums` does, at a cost that does not depend on their width.

    A window is the end of one block of `width` cells and the start of the next, so running sums
    within blocks, ahead and behind, are all it takes. Nothing is ever subtracted: a huge number
    spoils the windows that it is in and no others.
    """
    outer, length, inner = source.shape
    for o in range(outer):
        for p in range(length):
            back = length - 1 - p
            ahead[o, p] = source[o, p]
            behind[o, back] = source[o, back]
            if p % width != 0:
                before, into = ahead[o, p - 1], ahead[o, p]
                for i in range(inner):
                    into[i] += before[i]
            if p != 0 and (back + 1) % width != 0:
                after, into = behind[o, back + 1], behind[o, back]
                for i in range(inner):
                    into[i] += after[i]
        for p in range(length):
            first, last = max(0, p - width // 2), min(length - 1, p + width // 2)
            into, end, start = out[o, p], behind[o, first], ahead[o, last]
            if first // width != last // width:
                for i in range(inner):
                    into[i] = end[i] + start[i]
            else:  # clipped to a part of one block, which begins or ends with it
                into[:] = start if first % width == 0 else end


@kernel
def cube_sums(grid, sides, inner, width, ahead, behind, out):  # type: ignore[no-untyped-def]
    """Sum cubes about every cell of a grid (a, b, c, inner), given flat; the grid is used up."""
    a, b, c = sides
    source, target = grid, out
    for axis in range(3):
        shape = (a * b, c, inner)
        if axis == 1:
            shape = (a, b, c * inner)
        elif axis == 2:
            shape = (1, a, b * c * inner)
        if width < WIDE or shape[1] == 1:
            narrow_sums(source.reshape(shape), width, target.reshape(shape))
        else:
            ahead_here, behind_here = ahead.reshape(shape), behind.reshape(shape)
            wide_sums(source.reshape(shape), width, ahead_here, behind_here, target.reshape(shape))
        source, target = target, source


@kernel
def count_right(X, codes, folds, moments, prior, tied, unseen, space, flat, right):  # type: ignore[no-untyped-def]
    """Count how often the cube about each voxel tells the class of a row that it has not learned.

    Parameters
    ----------
    X, codes : (n, V), (n,)
        Rows and their classes.
    folds : (n,), (n,), (folds + 1,)
        The fold of each row; the numbers of the rows, fold after fold; where these folds start.
    moments : (C,), (C, V), (C, V)
        Counts, means and scatters of all rows.
    prior, tied, unseen, flat : as in `set_law`
    space : (V,), (3,), int
        Where voxels are in the grid, given flat, its sides, and the side of the cube.
    right : (V,)
        What is counted.
    """
    fold_of, order, starts = folds
    counts, mean, scatter = moments
    cells, sides, width = space
    classes, voxels = mean.shape
    left, changed = counts.copy(), np.ones(classes, np.bool_)
    left_mean, left_scatter = mean.copy(), scatter.copy()
    every = np.zeros((4, voxels, classes))
    set_law(counts, mean, scatter, prior, tied, unseen, changed, every, flat)
    law = every.copy()
    size = sides[0] * sides[1] * sides[2] * classes
    grid, ahead, behind, sums = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    start = np.zeros(classes)
    for f in range(len(starts) - 1):
        rows = order[starts[f] : starts[f + 1]]
        take_out(X, codes, fold_of, rows, moments, left, left_mean, left_scatter)
        for c in range(classes):
            changed[c] = left[c] != counts[c]
        set_law(left, left_mean, left_scatter, prior, tied, unseen, changed, law, flat)
        for c in range(classes):
            # Shares, or the mean under a Dirichlet of ones; a class without rows is none.
            posterior_weight = left[c] + (1.0 if prior.size > 0 else 0.0)
            start[c] = np.log(posterior_weight) if left[c] > 0.0 else -np.inf
        for i in rows:
            set_densities(X[i], law, prior.size > 0, cells, grid)
            cube_sums(grid, sides, classes, width, ahead, behind, sums)
            for v in range(voxels):
                at = cells[v] * classes
                best, choice = -np.inf, -1
                for c in range(classes):
                    score = start[c] + sums[at + c]
                    if score > best:
                        best, choice = score, c
                right[v] += choice == codes[i]
        for c in range(classes):
            if changed[c]:
                left_mean[c], left_scatter[c] = mean[c], scatter[c]
                law[:, :, c] = every[:, :, c]
