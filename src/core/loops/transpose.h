// Rows as columns, so that what is done to one row is done to its neighbours at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../instruction_sets.h"
#include "scores.h"

namespace suffice {

template <class T>
struct TransposeLoops {
    // Write cells less centre (d,) of up to SCORE_ROWS rows, `block` (rows, d), to across (d, SCORE_ROWS), and
    // zeros beyond the last row.
    void (*subtract)(const T* block, std::size_t rows, std::size_t columns, const double* centre, double* across);
};

SUFFICE_TABLES(TransposeLoops<double>, transpose_of_double)
SUFFICE_TABLES(TransposeLoops<float>, transpose_of_float)
SUFFICE_TABLES(TransposeLoops<std::int64_t>, transpose_of_int64)
SUFFICE_TABLES(TransposeLoops<std::int32_t>, transpose_of_int32)
SUFFICE_TABLES(TransposeLoops<std::uint8_t>, transpose_of_uint8)

template <class T>
const TransposeLoops<T>& transpose_loops();
template <>
inline const TransposeLoops<double>& transpose_loops() {
    return SUFFICE_BEST(transpose_of_double);
}
template <>
inline const TransposeLoops<float>& transpose_loops() {
    return SUFFICE_BEST(transpose_of_float);
}
template <>
inline const TransposeLoops<std::int64_t>& transpose_loops() {
    return SUFFICE_BEST(transpose_of_int64);
}
template <>
inline const TransposeLoops<std::int32_t>& transpose_loops() {
    return SUFFICE_BEST(transpose_of_int32);
}
template <>
inline const TransposeLoops<std::uint8_t>& transpose_loops() {
    return SUFFICE_BEST(transpose_of_uint8);
}

}  // namespace suffice
