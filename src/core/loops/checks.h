// What holds of all cells or indices of an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../instruction_sets.h"

namespace suffice {

// Whole numbers below it are small counts.
constexpr int MAX_SMALL = 256;

// Whether a cell is one of so many levels, its fraction cut off.
template <class T>
bool is_level(T cell, std::int64_t levels) {
    if constexpr (std::is_integral_v<T>)  // a negative number is beyond all levels
        return static_cast<std::uint64_t>(cell) < static_cast<std::uint64_t>(levels);
    else
        return cell > T(-1) && static_cast<double>(cell) < static_cast<double>(levels);
}

template <class T>
struct CheckLoops {
    // Whether all cells are finite numbers.
    bool (*finite)(const T* x, std::size_t size);
    // Whether all cells are finite numbers and none is below `lowest`.
    bool (*finite_from)(const T* x, std::size_t size, double lowest);
    // Whether all cells are whole numbers from 1 to MAX_SMALL - 1.
    bool (*small_counts)(const T* x, std::size_t size);
    // Whether each cell is one of as many levels as its place has.
    bool (*levels)(const T* x, const std::int64_t* levels, std::size_t size);
};

SUFFICE_TABLES(CheckLoops<double>, checks_of_double)
SUFFICE_TABLES(CheckLoops<float>, checks_of_float)
SUFFICE_TABLES(CheckLoops<std::int64_t>, checks_of_int64)
SUFFICE_TABLES(CheckLoops<std::int32_t>, checks_of_int32)
SUFFICE_TABLES(CheckLoops<std::uint8_t>, checks_of_uint8)

template <class T>
const CheckLoops<T>& check_loops();
template <>
inline const CheckLoops<double>& check_loops() {
    return SUFFICE_BEST(checks_of_double);
}
template <>
inline const CheckLoops<float>& check_loops() {
    return SUFFICE_BEST(checks_of_float);
}
template <>
inline const CheckLoops<std::int64_t>& check_loops() {
    return SUFFICE_BEST(checks_of_int64);
}
template <>
inline const CheckLoops<std::int32_t>& check_loops() {
    return SUFFICE_BEST(checks_of_int32);
}
template <>
inline const CheckLoops<std::uint8_t>& check_loops() {
    return SUFFICE_BEST(checks_of_uint8);
}

// The largest of some indices as unsigned numbers, so that a negative one is beyond all others; 0
// of none.
struct IndexLoops {
    std::uint64_t (*largest_int32)(const std::int32_t* indices, std::size_t size);
    std::uint64_t (*largest_int64)(const std::int64_t* indices, std::size_t size);
};

SUFFICE_TABLES(IndexLoops, index_loops_table)

inline std::uint64_t largest_index(const std::int32_t* indices, std::size_t size) {
    return SUFFICE_BEST(index_loops_table).largest_int32(indices, size);
}
inline std::uint64_t largest_index(const std::int64_t* indices, std::size_t size) {
    return SUFFICE_BEST(index_loops_table).largest_int64(indices, size);
}

}  // namespace suffice
