"""Loops over plain arrays."""

from collections.abc import Callable, Sequence
from typing import Any, overload

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

def first_incomplete_row(X: NDArray[Any]) -> int:
    """Return the first row with a cell that is not finite, or -1."""

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

class RoundedTable:
    """A finite table (V, C) in whole steps, which best_screened reads."""

    def __init__(self, table: NDArray[np.float64]) -> None: ...

def best_screened(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    table: NDArray[np.float64],
    rounded: RoundedTable,
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

def fold_sums(
    scores: NDArray[np.float64],
    codes: NDArray[np.int32],
    folds: NDArray[np.int64],
    size: int,
    bins: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return sums of losses and hits by fold (F, A), and hits less those expected (F, A, bins)."""

def gather_levels(codes: NDArray[np.int32], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows (n, C) of a table (levels + 2, C) that codes have."""

def gather_fold_levels(
    codes: NDArray[np.int32], folds: NDArray[np.int32], table: NDArray[np.float64], classes: int
) -> NDArray[np.float64]:
    """Return the rows (n, C) of each row's fold in a table (levels + 2, folds * C)."""

def gather_left_out_levels(
    codes: NDArray[np.int32],
    own: NDArray[np.int32],
    table: NDArray[np.float64],
    left_out: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the rows (n, C) of a table (levels + 2, C), by another for each row's own class."""

def level_counts(
    codes: NDArray[np.int32],
    own: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    levels: int,
) -> tuple[int, NDArray[np.float64]]:
    """Return a row of an unknown level, or -1, and the weight of levels by class (C, levels)."""

def find_bins(x: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return how many edges are at or below each number, -1 of NaN."""

def add_deviations(
    x: NDArray[np.float64],
    centre: float,
    scale: float,
    most: float,
    coefficients: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Add coefficients (C,) times (x - centre) / scale, clipped, to scores (n, C)."""

def combination_keys(
    codes: NDArray[np.int32], sizes: NDArray[np.int64], steps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return one number for each row of codes (n, d), -1 with a gap."""

def table_information(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mutual information (n,) of rows and columns of tables (n, C, K), in nats."""

def pair_gains(
    codes: NDArray[np.int32],
    levels: NDArray[np.int64],
    own: NDArray[np.int32],
    weights: NDArray[np.float64],
    classes: int,
    strengths: NDArray[np.float64],
    max_cells: int,
) -> NDArray[np.float64]:
    """Return what pairs of columns (d, n) tell of the class beyond each, in nats (d, d)."""

WIDE: int = 35

def cube_sums(
    grid: NDArray[np.float64], sides: NDArray[np.int64], width: int
) -> NDArray[np.float64]:
    """Return the sums of cubes about every cell of a grid, given flat."""

def searchlight(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    fold_of: NDArray[np.int64],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.float64],
    mean: NDArray[np.float64],
    scatter: NDArray[np.float64],
    prior: NDArray[np.float64],
    tied: bool,
    unseen: float,
    cells: NDArray[np.int64],
    sides: NDArray[np.int64],
    width: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return how often cubes (V,) tell the class of left-out rows, and where classes are flat."""

def utf8_strings(strings: list[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return strings in UTF-8, one after the other, and where each begins."""

def is_ascii(text: NDArray[np.uint8]) -> bool:
    """Say whether all bytes are ASCII."""

def take_names(
    letters: NDArray[np.uint8], begins: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return some of the names: letters, and where each begins."""

def order_names(letters: NDArray[np.uint8], begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of names in the order of their bytes."""

def murmur_names(letters: NDArray[np.uint8], begins: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return MurmurHash3 of each name."""

def order_cells(
    columns: NDArray[np.int32],
    counts: NDArray[np.int32],
    row_begins: NDArray[np.int64],
    moved: NDArray[np.int32],
    width: int,
    like: NDArray[Any],
) -> tuple[Any, ...]:
    """Return counts of the type of `like`, new columns in order, and where rows begin."""

def sum_cells(
    columns: NDArray[np.int32], counts: NDArray[np.int32], width: int
) -> NDArray[np.int64]:
    """Return sums of counts, and numbers of rows, by column, (2, width)."""

class Letters:
    """How code points are written in words."""

    @overload
    def __init__(self, lowercase: bool) -> None:
        """For text that is all ASCII."""

    @overload
    def __init__(
        self, lowercase: bool, written: NDArray[np.uint32], cases: NDArray[np.uint8]
    ) -> None:
        """As tables of all code points say."""

class TermTable:
    """Words and runs of words by column; columns only ever come to it."""

    def __init__(
        self,
        stop_letters: NDArray[np.uint8],
        stop_begins: NDArray[np.int64],
        word_letters: int,
        shortest: int,
        longest: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def learn_names(self, letters: NDArray[np.uint8], begins: NDArray[np.int64]) -> None:
        """Give a column to each name."""

    def count(
        self, text: NDArray[np.uint8], begins: NDArray[np.int64], letters: Letters
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return columns, counts, begins of rows, and how many terms have no column (n,)."""

    def learn(
        self, text: NDArray[np.uint8], begins: NDArray[np.int64], letters: Letters
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """As count, with new columns for what has none."""

    def sum_words(
        self,
        text: NDArray[np.uint8],
        begins: NDArray[np.int64],
        letters: Letters,
        codes: NDArray[np.int32],
        classes: int,
        grow: bool,
    ) -> NDArray[np.float64]:
        """Return counts of words by class, (classes, columns), perhaps with new columns."""

    def names(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the names of columns: letters, and where each begins."""

    def words(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return all words: letters, and where each begins."""

    def words_of_columns(self) -> NDArray[np.int64]:
        """Return the words of each column by number, (longest, columns); -1 for none."""

def exp_of_nonpositive(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp of numbers, all 0 or less, as loops take it: for tests."""

def softmax_derivatives(
    X: NDArray[Any],
    base: NDArray[np.float64],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    centre: NDArray[np.float64],
    inverse: NDArray[np.float64],
    V: NDArray[np.float64],
    intercept: bool,
    sample: int,
) -> tuple[float, float, float, NDArray[np.float64], NDArray[np.float64]]:
    """Return loss, greatest loss, weight in the Hessian, gradient and Hessian of dense rows."""

def crowded_softmax_derivatives(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    centre: NDArray[np.float64],
    inverse: NDArray[np.float64],
    V: NDArray[np.float64],
    intercept: bool,
    sample: int,
) -> tuple[float, float, float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the same of sparse rows, made dense."""

def stored_softmax_derivatives(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
) -> tuple[float, float, NDArray[np.float64], NDArray[np.float64]]:
    """Return loss, greatest loss and gradients by table (columns, K) and bias, by stored cells."""

def combination_derivatives(
    parts: NDArray[np.float64],
    base: NDArray[np.float64],
    codes: NDArray[np.int32],
    row_weights: NDArray[np.float64],
    offsets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return loss, gradient of - loss and Hessian by offsets and weights of blocks."""

def weight_derivatives(
    part: NDArray[np.float64],
    base: NDArray[np.float64],
    codes: NDArray[np.int32],
    row_weights: NDArray[np.float64],
    weight: float,
) -> tuple[float, float, float]:
    """Return loss, derivative of - loss and curvature by the weight of one block (n, C)."""

def left_out_scores(
    parts: NDArray[np.float64],
    inverse: NDArray[np.float64],
    codes: NDArray[np.int32],
    row_weights: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the scores (n, C) of rows under parameters that were fitted without them."""

def feature_margins(
    at: NDArray[np.uint32],
    values: NDArray[np.float64],
    base: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return margins of rows of features."""

def feature_derivatives(
    at: NDArray[np.uint32],
    values: NDArray[np.float64],
    base: NDArray[np.float64],
    codes: NDArray[np.int32],
    row_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return loss, gradient of - loss and Hessian of two classes by weights of features."""

def feature_leverages(
    at: NDArray[np.uint32], values: NDArray[np.float64], inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return x^T inverse x of rows of features."""

def maximize(
    evidence: Callable[[int], Any], low: Sequence[float], high: Sequence[float], points: int
) -> tuple[list[float], bool]:
    """Return where a function, of value and gradients, is largest, and if it is flat: for tests."""

def level_sample_sizes(
    counts: NDArray[np.float64], shares: NDArray[np.float64], group: int, ends: tuple[float, float]
) -> NDArray[np.float64]:
    """Return what the prior shares (n, K) of counts (n, C, K) are worth."""

def level_evidence(
    counts: NDArray[np.float64], shares: NDArray[np.float64], group: int, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log evidences (n,) of counts (n, C, K)."""

def level_gradients(
    counts: NDArray[np.float64], shares: NDArray[np.float64], group: int, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return their gradients by the log of the sample sizes: for tests."""

def best_pseudocount(
    counts: NDArray[np.float64],
    times: NDArray[np.float64],
    totals: NDArray[np.float64],
    levels: NDArray[np.float64],
    groups: NDArray[np.float64],
    ends: tuple[float, float],
    otherwise: float,
) -> float:
    """Return the pseudocount with most evidence, or `otherwise` if all are alike."""

def event_sample_sizes(
    seen: NDArray[np.float64],
    events: NDArray[np.float64],
    centre: NDArray[np.float64],
    ends: tuple[float, float],
    otherwise: float,
) -> NDArray[np.float64]:
    """Return what prior rates (d,) are worth, or `otherwise` for columns never seen."""

def event_evidence(
    seen: NDArray[np.float64], events: NDArray[np.float64], centre: NDArray[np.float64], size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log evidences of events, (d,), and their gradients by the log sample size."""

def normal_sample_sizes(
    rows: NDArray[np.float64],
    scatter: NDArray[np.float64],
    away: NDArray[np.float64],
    variance: NDArray[np.float64],
    group: int,
    low: tuple[float, float],
    high: tuple[float, float],
) -> NDArray[np.float64]:
    """Return what prior means and variances of cells (n, m) are worth, (n, 2)."""

def normal_evidence(
    rows: NDArray[np.float64],
    scatter: NDArray[np.float64],
    away: NDArray[np.float64],
    variance: NDArray[np.float64],
    group: int,
    k: float,
    a: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log evidences of cells, (n,), and their gradients by log k and log a, (n, 2)."""

def covariance_sample_sizes(
    values: NDArray[np.float64],
    away: NDArray[np.float64],
    rows: NDArray[np.float64],
    tied: bool,
    low: tuple[float, float],
    high: tuple[float, float],
) -> tuple[float, float]:
    """Return what the prior location is worth, and half of what the prior covariance is."""

def covariance_evidence(
    values: NDArray[np.float64],
    away: NDArray[np.float64],
    rows: NDArray[np.float64],
    tied: bool,
    k: float,
    half: float,
) -> float:
    """Return the log evidence of moments of whole rows."""

def best_coefficient_scale(
    eigenvalues: NDArray[np.float64],
    squares: NDArray[np.float64],
    yy: NDArray[np.float64],
    rounding: NDArray[np.float64],
    noise_scale: NDArray[np.float64],
    shape: float,
    ends: tuple[float, float],
) -> float:
    """Return the scale of coefficients with most evidence, or NaN if all are alike."""

def gamma_steps(z: float, step: float) -> tuple[float, float]:
    """Return log Gamma(z + step) - log Gamma(z), and the same of digamma: for tests."""

def fit_students(
    cells: NDArray[np.float64], k: float, a: float, variance: float, degrees: float
) -> NDArray[np.float64]:
    """Return the NIG of each class, (C, 4), that EM ends with on cells (C, 3, B)."""

def student_bound(
    cells: NDArray[np.float64], k: float, a: float, variance: float, degrees: float
) -> tuple[float, float, float]:
    """Return a lower bound of the log evidence of cells, and its gradients by log k and log a."""

def student_sample_sizes(
    cells: NDArray[np.float64],
    variance: float,
    degrees: float,
    low: tuple[float, float],
    high: tuple[float, float],
) -> tuple[float, float]:
    """Return the prior sample sizes k and a with the highest such bound."""

def student_predictives(
    posterior: NDArray[np.float64], degrees: float, plugged: bool
) -> NDArray[np.float64]:
    """Return location, scale and degrees, (C, 3), of the predictive of NIGs (C, 4)."""

def student_densities(
    x: NDArray[np.float64], posterior: NDArray[np.float64], degrees: float, plugged: bool
) -> NDArray[np.float64]:
    """Return the log densities (n, C) of numbers under such t's."""

def student_left_out(
    x: NDArray[np.float64],
    learned: NDArray[np.float64],
    at: NDArray[np.int32],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    cells: NDArray[np.float64],
    k: float,
    a: float,
    variance: float,
    degrees: float,
    plugged: bool,
) -> NDArray[np.float64]:
    """Return the log densities (n,) under each row's own class without the row."""

def bin_tree_sums(
    counts: NDArray[np.float64],
    pooled: NDArray[np.float64],
    node: NDArray[np.int64],
    half: NDArray[np.int64],
    ranges: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return counts of both halves of all ranges, (D, C, 2M), and their pooled shares."""

def bin_tree_shares(
    sums: NDArray[np.float64],
    base: NDArray[np.float64],
    node: NDArray[np.int64],
    half: NDArray[np.int64],
    sizes: NDArray[np.float64],
    rounding: float,
    taken: float,
) -> NDArray[np.float64]:
    """Return the log shares of all bins without a row of each, (B + 2, C)."""

def bin_tree_left_out(
    sums: NDArray[np.float64],
    base: NDArray[np.float64],
    node: NDArray[np.int64],
    half: NDArray[np.int64],
    sizes: NDArray[np.float64],
    rounding: float,
    codes: NDArray[np.int32],
    own: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the log shares of rows' bins in their own classes without each row, (n,)."""

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
