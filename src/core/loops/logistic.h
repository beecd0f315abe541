// Loss and derivatives of logistic and softmax regressions, a chunk of rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../instruction_sets.h"

namespace suffice {

// Rows whose derivatives are taken together: they stay in cache between one loop and the next.
constexpr std::size_t CHUNK_ROWS = 128;
// The length of a row in a chunk is a multiple of it; cells that are not used are 0.
constexpr std::size_t CHUNK_LANES = 8;

// What a chunk adds to the loss - sum w log p(own class), and the greatest -log p of a row that
// has weight.
struct ChunkLoss {
    double total, worst;
};

struct LogisticLoops {
    // Replace x (size,), all 0 or less, by exp(x).
    void (*exp_of_nonpositive)(double* x, std::size_t size);
    // Add chunk (rows, step) v to margins (rows,).
    void (*add_margins)(const double* chunk, std::size_t rows, std::size_t step, const double* v, double* margins);
    // Loss of rows whose class 0 has the margin m over class 1. Margins are replaced by w (p - 1{y = 0}),
    // p the probability of class 0; to bends (rows,) w p (1 - p) is written. `weights` is null if
    // every row weighs 1.
    ChunkLoss (*two_classes)(double* margins, const std::int32_t* codes, const double* weights, std::size_t rows,
                             double* bends);
    // Loss of rows with scores (rows, C), which are replaced by probabilities.
    ChunkLoss (*softmax_loss)(double* scores, const std::int32_t* codes, const double* weights, std::size_t rows,
                              std::size_t classes);
    // Add sum_i factors_i chunk_i to sums (step,).
    void (*add_rows)(const double* chunk, const double* factors, std::size_t rows, std::size_t step, double* sums);
    // Write factors_i chunk_i to the rows of `scaled`, whose length is `scaled_step`; the first
    // `columns` cells of each.
    void (*scale_rows)(const double* chunk, const double* factors, std::size_t rows, std::size_t step,
                       std::size_t columns, double* scaled, std::size_t scaled_step);
};

SUFFICE_TABLES(LogisticLoops, logistic)
inline const LogisticLoops& logistic_loops() { return SUFFICE_BEST(logistic); }

// Write (x - centre) inverse of rows to a chunk (rows, step).
template <class T>
using Standardize = void (*)(const T* x, std::size_t rows, std::size_t columns, const double* centre,
                             const double* inverse, double* chunk, std::size_t step);

struct StandardizeLoops {
    Standardize<double> of_double;
    Standardize<float> of_float;
    Standardize<std::int64_t> of_int64;
    Standardize<std::int32_t> of_int32;
    Standardize<std::uint8_t> of_uint8;
};

SUFFICE_TABLES(StandardizeLoops, standardize_table)

template <class T>
Standardize<T> standardize_loop() {
    const StandardizeLoops& loops = SUFFICE_BEST(standardize_table);
    if constexpr (std::is_same_v<T, double>)
        return loops.of_double;
    else if constexpr (std::is_same_v<T, float>)
        return loops.of_float;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return loops.of_int64;
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return loops.of_int32;
    else
        return loops.of_uint8;
}

}  // namespace suffice
