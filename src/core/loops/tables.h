// Sums of table rows, for the stored cells of sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../instruction_sets.h"

namespace suffice {

// Columns of a table in two bytes each: they fill one line of cache.
constexpr std::size_t FINE_COLUMNS = 32;

// One row's stored cells: x (cells,) in columns `indices`. Memory is asked for before it is needed,
// as far as `end`, the end of the indices of all rows: rows of a large table that are read in
// random order would be waited for one after the other.
template <class Index>
struct StoredCells {
    const Index* indices;
    const Index* end;
    std::size_t cells;
};

template <class Index>
struct TableLoops {
    // Add sum x table[index, c] to sums (C,); table is (V, C).
    void (*add_linear)(const double* x, const StoredCells<Index>& row, const double* table, std::size_t classes,
                       double* sums);
    // Write x, times steps[index] if there are steps, as factors of the sums below; return the sum of
    // their absolute values.
    double (*to_factors)(const double* x, const StoredCells<Index>& row, const double* steps, float* factors);
    // Write sum x codes[index, c] to scores (FINE_COLUMNS,).
    void (*add_fine)(const float* x, const StoredCells<Index>& row, const std::int16_t* codes, float* scores);
    // Write sum x codes[index, c] to scores (columns,).
    void (*add_coarse)(const float* x, const StoredCells<Index>& row, const std::int8_t* codes, std::size_t columns,
                       float* scores);
    // Add sum x log_counts[counts[index, c], a] to joint (C, A); counts is (V, C).
    void (*add_alphas)(const double* x, const StoredCells<Index>& row, const std::int32_t* counts,
                       const double* log_counts, std::size_t classes, std::size_t alphas, double* joint);
};

struct RoundLoops {
    // Write the lowest and highest of some numbers to ends (2,).
    void (*find_ends)(const double* row, std::size_t size, double* ends);
    // Write (row - middle) inverse_step, rounded to whole numbers.
    void (*round_fine)(const double* row, std::size_t size, double middle, double inverse_step, std::int16_t* codes);
    void (*round_coarse)(const double* row, std::size_t size, double middle, double inverse_step, std::int8_t* codes);
    // Replace scores by scores step + prior, and return the largest.
    float (*add_prior)(float* scores, float step, const float* prior, std::size_t size);
    // How many scores are at least `close`.
    std::size_t (*count_close)(const float* scores, float close, std::size_t size);
};

SUFFICE_TABLES(RoundLoops, rounding)
inline const RoundLoops& round_loops() { return SUFFICE_BEST(rounding); }

SUFFICE_TABLES(TableLoops<std::int32_t>, tables_by_int32)
SUFFICE_TABLES(TableLoops<std::int64_t>, tables_by_int64)

template <class Index>
const TableLoops<Index>& table_loops();
template <>
inline const TableLoops<std::int32_t>& table_loops() {
    return SUFFICE_BEST(tables_by_int32);
}
template <>
inline const TableLoops<std::int64_t>& table_loops() {
    return SUFFICE_BEST(tables_by_int64);
}

}  // namespace suffice
