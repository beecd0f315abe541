// From joint log-probabilities to probabilities, and log densities of independent normals.
#pragma once

#include <cstddef>

#include "../instruction_sets.h"

namespace suffice {

// Rows that are scored together. They lie in columns, one class or cell after the other, so that
// what is done to one row is done to its neighbours at the same time.
constexpr std::size_t SCORE_ROWS = 64;
// Rows of few classes are scored as they lie, fewer together: beside the rows that come after them
// they stay in the first cache. Their cells are added up in so many lanes.
constexpr std::size_t STRIP_ROWS = 16, SCORE_LANES = 8;

struct ScoreLoops {
    // Replace numbers by their logarithms.
    void (*logarithms)(double* x, std::size_t size);
    // Add prior - length log_totals to the scores (size,) of one class in as many models, and where they are
    // above `top` replace it by them, and `best` by the class.
    void (*finish_class)(double* scores, const double* log_totals, double prior, double length, double number,
                         std::size_t size, double* top, double* best);
    // Add exp(scores - top), which is 1 or less, to totals (size,).
    void (*add_powers)(const double* scores, const double* top, std::size_t size, double* totals);
    // Turn rows of log p(x, class), (rows, C), into p(class | x). A row that is impossible under
    // every class (all -inf) gets exp(log_prior), and is counted in the result. A row that some
    // classes claim with infinite odds is theirs, in equal parts.
    std::size_t (*softmax)(double* joint, std::size_t rows, std::size_t classes, const double* log_prior);
    // The same, to log p(class | x).
    std::size_t (*log_softmax)(double* joint, std::size_t rows, std::size_t classes, const double* log_prior);
    // Add constant[c] - sum_j (x_j - mean[c, j])^2 precision[c, j] / 2 of a block of rows without
    // missing values to joint (rows, C). `across` is (d, SCORE_ROWS). Meanwhile so many bytes from `next` on,
    // the rows that come after, are brought from memory.
    void (*add_normal)(const double* across, std::size_t rows, std::size_t columns, const double* mean,
                       const double* precision, const double* constant, std::size_t classes, double* joint,
                       const char* next, std::size_t bytes);
    // The same of rows as they lie, `cells` (rows, d), d being SCORE_LANES or more. If it is no multiple,
    // the last lanes are those of the last columns, and the parameters (C, step) have them once more, with
    // a precision of 0 where a column is already counted.
    void (*add_few_normal)(const double* cells, std::size_t rows, std::size_t columns, const double* mean,
                           const double* precision, std::size_t step, const double* constant, std::size_t classes,
                           double* joint);
    // Write sum_j (across[j] - offset[j])^2 of the rows of a block to squares (SCORE_ROWS,).
    void (*add_squares)(const double* across, std::size_t columns, const double* offset, double* squares);
    void (*add_single_squares)(const float* across, std::size_t columns, const float* offset, float* squares);
};

SUFFICE_TABLES(ScoreLoops, scores)
inline const ScoreLoops& score_loops() { return SUFFICE_BEST(scores); }

}  // namespace suffice
