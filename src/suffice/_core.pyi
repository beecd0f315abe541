"""Loops over plain arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def set_threads(threads: int) -> None:
    """Set how many threads a call uses; 0 asks suffice.threads at the next call."""

def limit_libraries(setters: Sequence[int]) -> None:
    """Have each thread of the pool call functions, given by address, with 1."""

def get_ranges() -> tuple[int, int]:
    """Return how many cells a range of rows holds, and all ranges how many sums."""

def set_ranges(cells: int, sums: int) -> None:
    """Set how many cells a range of rows holds, and sums all ranges: for tests."""

def row_ranges(rows: int, columns: int, sums: int = 0) -> list[tuple[int, int]]:
    """Return start and stop of the ranges that rows are cut into; each holds so many sums."""

def call_in_parallel(work: Callable[[int], Any], tasks: int) -> list[Any]:
    """Return [work(0), ..., work(tasks - 1)], called by all threads."""

def instruction_set() -> str:
    """Return the name of the instruction set that loops use."""

def use_instruction_set(name: str) -> None:
    """Let loops use another instruction set: for tests."""

def encode_integers(
    labels: NDArray[Any], max_span: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """Return the distinct labels in order and each row's place among them, or None."""

def first_rows(codes: NDArray[np.int32], classes: int, wanted: int) -> NDArray[np.int64]:
    """Return the first rows of each class, -1 where there are fewer."""

def encode_strings(
    text: NDArray[np.uint8], begins: NDArray[Any], missing: NDArray[np.bool_], max_levels: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Return the level of each string by number, and size and begin of each level, or None."""

def hash_rows(X: NDArray[Any], seeds: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Add the hashes of dense rows."""

def hash_sparse_rows(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    seeds: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
) -> None:
    """Add the hashes of sparse rows."""

def hash_levels(
    codes: NDArray[np.int32], levels: NDArray[np.uint64], seed: int, hashes: NDArray[np.uint64]
) -> None:
    """Add the hashes of the levels of a column."""

def hash_strings(text: NDArray[np.uint8], begins: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a hash of each string."""

def group_equal_rows(
    hashes: NDArray[np.uint64], codes: NDArray[np.int32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the first row of each distinct pair of hash and class, and their weights."""

def moments(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    origin: NDArray[np.float64],
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), weights seen, sums of x - origin and of squares (C, d)."""

def ones(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    threshold: float,
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), weights of missing values and of ones (C, d)."""

def words(
    X: NDArray[Any], codes: NDArray[np.int32], weights: NDArray[np.float64], classes: int
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), counts (C, d) and logs of orderings (C,)."""

def events(
    X: NDArray[Any], codes: NDArray[np.int32], weights: NDArray[np.float64], classes: int
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), weights missing, events, log factorials (C, d)."""

def levels(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    max_levels: int,
) -> tuple[int, int, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused and fractional row, highest levels (d,), weights (C,), counts (C, levels)."""

def sparse_moments(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    origin: NDArray[np.float64],
) -> tuple[
    int,
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]:
    """Return refused row, weights (C,), weights stored and missing, sums, squares (C, V)."""

def sparse_ones(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    columns: int,
    threshold: float,
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), weights of missing values and of ones (C, V)."""

def sparse_words(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    columns: int,
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), counts (C, V) and logs of orderings (C,)."""

def sparse_events(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    columns: int,
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return refused row, weights (C,), weights missing, events, log factorials (C, V)."""

def scatter(
    X: NDArray[Any],
    targets: NDArray[np.float64],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    origin: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return weights (C,), sums (C, d), outer products (C, d, d), and rows left out."""

def answer_scores(
    joint: NDArray[np.float64], log_prior: NDArray[np.float64], answer: str
) -> tuple[int, int, Any]:
    """Return -1, how many rows are impossible, and the answer, from log p(x, class) (n, C)."""

def normal_scores(
    X: NDArray[Any],
    mean: NDArray[np.float64],
    precision: NDArray[np.float64],
    log_norm: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer rows under independent normals, parameters (C, d)."""

def student_scores(
    X: NDArray[Any],
    location: NDArray[np.float64],
    precision: NDArray[np.float64],
    degrees: NDArray[np.float64],
    log_norm: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer rows under independent Student-t's, parameters (C, d)."""

def joint_student_scores(
    X: NDArray[Any],
    location: NDArray[np.float64],
    precision: NDArray[np.float64],
    degrees: NDArray[np.float64],
    log_precision: NDArray[np.float64],
    norms: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer rows under multivariate t's of diagonal scale (C, d)."""

def whitened_scores(
    X: NDArray[Any],
    centre: NDArray[np.float64],
    factors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    scale: NDArray[np.float64],
    degrees: NDArray[np.float64],
    constant: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any, NDArray[np.int64]]:
    """Answer complete rows under normals or t's, factors (C, d, d)."""

def low_rank_scores(
    X: NDArray[Any],
    mean: NDArray[np.float64],
    inverse_deviation: NDArray[np.float64],
    factors: NDArray[np.float64],
    constant: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any, NDArray[np.int64]]:
    """Answer complete rows under normals of low-rank covariance, factors (C, d, r)."""

def linear_scores(
    X: NDArray[Any],
    centre: NDArray[np.float64],
    weights: NDArray[np.float64],
    bias: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any, NDArray[np.int64]]:
    """Answer complete rows by linear scores, weights (C, d)."""

def best_in_single_precision(
    X: NDArray[Any],
    centre: NDArray[np.float64],
    factors: NDArray[np.float32],
    offsets: NDArray[np.float32],
    scale: NDArray[np.float64],
    degrees: NDArray[np.float64],
    constant: NDArray[np.float64],
    sizes: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the best class of rows (n,), -1 where there is doubt."""

def table_scores(
    X: NDArray[Any],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    missing_bias: NDArray[np.float64],
    lowest: float,
    one_total: bool,
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer dense rows by x table + bias, table (V, C)."""

def sparse_table_scores(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    missing_bias: NDArray[np.float64],
    lowest: float,
    one_total: bool,
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer sparse rows by x table + bias, table (V, C)."""

def best_screened(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    table: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    lowest: float,
) -> NDArray[np.int64] | None:
    """Return the best class of sparse rows (n,), or None if a row is not plain."""

def binary_scores(
    X: NDArray[Any],
    threshold: float,
    log_one: NDArray[np.float64],
    log_zero: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer dense rows of zeros and ones, tables (V, C)."""

def sparse_binary_scores(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    threshold: float,
    log_odds: NDArray[np.float64],
    log_zero: NDArray[np.float64],
    bias: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer sparse rows of zeros and ones, tables (V, C)."""

def level_scores(
    X: NDArray[Any],
    offsets: NDArray[np.int64],
    levels: NDArray[np.int64],
    table: NDArray[np.float64],
    unseen: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer rows of levels, table (levels of all columns, C)."""

def integrated_count_scores(
    X: NDArray[Any],
    pseudo: NDArray[np.float64],
    slope: NDArray[np.float64],
    totals: NDArray[np.float64],
    bias: NDArray[np.float64],
    missing_bias: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer dense rows of counts, pseudocounts (V, C)."""

def sparse_integrated_count_scores(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    pseudo: NDArray[np.float64],
    slope: NDArray[np.float64],
    totals: NDArray[np.float64],
    bias: NDArray[np.float64],
    missing_bias: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    answer: str,
) -> tuple[int, int, Any]:
    """Answer sparse rows of counts, pseudocounts (V, C)."""

def log_table(
    counts: NDArray[np.float64],
    everyone: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    log_totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log(counts + pseudo) - log_totals as a table (V, C), from counts (C, V)."""

def row_log_factorials(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums of cells and of log x! of dense rows."""

def sparse_row_log_factorials(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums of cells and of log x! of sparse rows."""

def alpha_scores(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    folds: NDArray[np.int64],
    counts: NDArray[np.float64],
    log_counts: NDArray[np.float64],
    log_totals: NDArray[np.float64],
    log_priors: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return losses, best classes and their probabilities (3, n, A)."""

def leave_one_out_words(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    totals: NDArray[np.float64],
    added: NDArray[np.float64],
    polya: bool,
) -> NDArray[np.float64]:
    """Return multinomial scores of rows without the row, (n,)."""

def leave_one_out_sparse_words(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    totals: NDArray[np.float64],
    added: NDArray[np.float64],
    polya: bool,
) -> NDArray[np.float64]:
    """Return multinomial scores of rows without the row, (n,)."""

def leave_one_out_complement(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    totals: NDArray[np.float64],
    added: NDArray[np.float64],
    log_sums: NDArray[np.float64],
    zeros: NDArray[np.int64],
    norm: bool,
    scores: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return scores of the complement rule without the row, (n, C); those of own classes stay."""

def leave_one_out_sparse_complement(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    totals: NDArray[np.float64],
    added: NDArray[np.float64],
    log_sums: NDArray[np.float64],
    zeros: NDArray[np.int64],
    norm: bool,
    scores: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return scores of the complement rule without the row, (n, C); those of own classes stay."""

def leave_one_out_ones(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    threshold: float,
    present: NDArray[np.float64],
    absent: NDArray[np.float64],
    more: NDArray[np.float64],
    less: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return Bernoulli scores of rows without the row, (n,)."""

def leave_one_out_sparse_ones(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    threshold: float,
    present: NDArray[np.float64],
    absent: NDArray[np.float64],
    more: NDArray[np.float64],
    less: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return Bernoulli scores of rows without the row, (n,)."""

def leave_one_out_events(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    seen: NDArray[np.float64],
    sums: NDArray[np.float64],
    shape: NDArray[np.float64],
    rate: NDArray[np.float64],
    integrated: bool,
) -> NDArray[np.float64]:
    """Return Poisson scores of rows without the row and without log x!, (n,)."""

def leave_one_out_sparse_events(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    seen: NDArray[np.float64],
    sums: NDArray[np.float64],
    shape: NDArray[np.float64],
    rate: NDArray[np.float64],
    integrated: bool,
) -> NDArray[np.float64]:
    """Return Poisson scores of rows without the row and without log x!, (n,)."""

def leave_one_out_levels(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    levels: NDArray[np.int64],
    highest: NDArray[np.float64],
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    pseudo: NDArray[np.float64],
    added: NDArray[np.float64],
    other: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return categorical scores of rows without the row, (n,); NaN where a column loses a level."""

def leave_one_out_normal(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
    others: NDArray[np.float64],
    divisors: NDArray[np.float64],
    over_classes: bool,
    over_features: bool,
    kept: float,
    distribution: NDArray[np.float64],
    pooled: NDArray[np.float64],
    smoothing: float,
    widest: float,
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return normal log densities without the row (n, C), and the rows that need a refit (n,)."""

def leave_one_out_sparse_normal(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
    others: NDArray[np.float64],
    divisors: NDArray[np.float64],
    over_classes: bool,
    over_features: bool,
    kept: float,
    distribution: NDArray[np.float64],
    pooled: NDArray[np.float64],
    smoothing: float,
    widest: float,
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return normal log densities without the row (n, C), and the rows that need a refit (n,)."""

def leave_one_out_student(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
    others: NDArray[np.float64],
    divisors: NDArray[np.float64],
    over_classes: bool,
    over_features: bool,
    kept: float,
    locations: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return Student log densities without the row (n, C), and the rows that need a refit (n,)."""

def leave_one_out_sparse_student(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
    others: NDArray[np.float64],
    divisors: NDArray[np.float64],
    over_classes: bool,
    over_features: bool,
    kept: float,
    locations: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return Student log densities without the row (n, C), and the rows that need a refit (n,)."""
