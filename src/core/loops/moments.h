// Sums of x - origin and of its squares by class.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../instruction_sets.h"

namespace suffice {

// Sums of one range of rows of C classes. All but the first two are (C, d).
struct MomentSums {
    std::size_t classes;
    double* row_weight;  // (C,): of all rows
    double* whole;       // (C,): of rows in blocks without missing values
    double* seen;        // of the cells of other blocks
    double* sum_x;
    double* sum_xx;
};

template <class T>
struct MomentLoops {
    // Add rows whose cells are all finite. `weights` is null if every row weighs 1.
    void (*add_whole)(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows,
                      std::size_t columns, const double* origin, const MomentSums& sums);
    // Add rows that may have missing values, but no infinite ones.
    void (*add_seen)(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows,
                     std::size_t columns, const double* origin, const MomentSums& sums);
};

SUFFICE_TABLES(MomentLoops<double>, moments_of_double)
SUFFICE_TABLES(MomentLoops<float>, moments_of_float)
SUFFICE_TABLES(MomentLoops<std::int64_t>, moments_of_int64)
SUFFICE_TABLES(MomentLoops<std::int32_t>, moments_of_int32)
SUFFICE_TABLES(MomentLoops<std::uint8_t>, moments_of_uint8)

template <class T>
const MomentLoops<T>& moment_loops();
template <>
inline const MomentLoops<double>& moment_loops() {
    return SUFFICE_BEST(moments_of_double);
}
template <>
inline const MomentLoops<float>& moment_loops() {
    return SUFFICE_BEST(moments_of_float);
}
template <>
inline const MomentLoops<std::int64_t>& moment_loops() {
    return SUFFICE_BEST(moments_of_int64);
}
template <>
inline const MomentLoops<std::int32_t>& moment_loops() {
    return SUFFICE_BEST(moments_of_int32);
}
template <>
inline const MomentLoops<std::uint8_t>& moment_loops() {
    return SUFFICE_BEST(moments_of_uint8);
}

}  // namespace suffice
