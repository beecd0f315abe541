// Bounds of class scores that are known in single precision, and the best class where they decide.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../instruction_sets.h"

namespace suffice {

// What the scores of a class are in terms of the squared distances of rows.
struct ScoreBounds {
    double factor_size, offset_size;  // Euclidean norms of the class's factor and offset
    double scale, constant;
    double degrees;  // 0 of a normal
};

// All of blocks of SCORE_ROWS rows, which lie in columns.
struct SinglePrecisionLoops {
    // Write cells (d, SCORE_ROWS) in single precision, and the Euclidean norms of rows.
    void (*narrow)(const double* wide, std::size_t columns, float* across, double* norms);
    // Write the least and the most that the scores of a class are, given its squared distances in
    // single precision. A product of d terms is off by at most (d + 4) u |z| |T| (u half a unit in
    // the last place, |.| Euclidean norms), so each distance, and with it each score, lies in a
    // known interval.
    void (*bound)(const ScoreBounds& bounds, const float* squares, const double* norms, std::size_t columns,
                  double* lower, double* upper);
    // Write the class whose lower bound (C, SCORE_ROWS) is above the upper bounds of all others, or
    // -1. A bound that is NaN (a missing value, an infinite cell) is doubt.
    void (*decide)(const double* lower, const double* upper, const double* norms, std::size_t classes,
                   std::int64_t* best);
};

SUFFICE_TABLES(SinglePrecisionLoops, single_precision)
inline const SinglePrecisionLoops& single_precision_loops() { return SUFFICE_BEST(single_precision); }

}  // namespace suffice
