// Log densities of rows under independent normals that have not learned them.
#pragma once

#include <cstddef>

#include "../instruction_sets.h"

namespace suffice {

// Moments of a class, all (d,), with location and pseudo-rows of the prior, 0 if there is none.
struct ClassMoments {
    const double *weight, *origin, *sum_x, *scatter, *location, *pseudo_rows;
};

// What is left of them without a row, all (d,).
struct LeftMoments {
    double* cell;  // the row's, 0 where missing
    double* seen;  // 0 where missing, else 1
    double* weight;
    double* squares;  // about mean and location
    double* away;     // the cell's distance from the centre, 0 where missing
};

// What there is of each column of a class without a row of weight 1. The part of the scatter that
// goes with a row is `lost` times its squared distance from the mean; `share` is that of the rows
// in the posterior mean, and `inverse_divisor` turns squares into a variance.
enum Term {
    ORIGIN,
    SHIFT,
    SUM_X,
    LEFT,
    SCATTER,
    LOST,
    LOCATION,
    PSEUDO_ROWS,
    SHARE,
    OTHERS,
    INVERSE_DIVISOR,
    PRECISION,
    TERMS
};
// Columns of which all terms lie together. One logarithm is taken of so many ratios: none is so
// large or small that their product is no float.
constexpr std::size_t TERM_COLUMNS = 32;

inline std::size_t terms_size(std::size_t columns) {
    return (columns + TERM_COLUMNS - 1) / TERM_COLUMNS * TERM_COLUMNS * TERMS;
}
inline std::size_t term_at(std::size_t term, std::size_t column) {
    return (column / TERM_COLUMNS * TERMS + term) * TERM_COLUMNS + column % TERM_COLUMNS;
}

// Columns are padded with zeros to a multiple of this, where the loops say so.
constexpr std::size_t PADDING = 8;
inline std::size_t padded(std::size_t columns) { return (columns + PADDING - 1) / PADDING * PADDING; }

struct LeaveOneOutLoops {
    // Leave a row of weight w, which may have missing values, out of its class.
    void (*leave_out)(const double* x, const ClassMoments& all, double w, std::size_t columns, const LeftMoments& left);
    // Write the sum of log ratios of variances without and with the row, and of squared distances
    // by those without; `floor` is added to variances. False if less than the part `kept`, or
    // nothing, is left of a variance. x is padded.
    bool (*own)(const double* x, const double* terms, std::size_t columns, double floor, double kept, double* score);
    // Write the sums of (x - mean)^2 p and of (x - mean)^2 p^2, p the precisions, to sums (2,).
    // All are padded.
    void (*squares)(const double* x, const double* mean, const double* precision, std::size_t columns, double* sums);
    // The sum of log(1 + more p) + (x - mean)^2 p / (1 + more p): variances grow by `more`. Columns
    // with seen[j] = 0 count nothing, those with 1 all.
    double (*widened)(const double* x, const double* seen, const double* mean, const double* precision, double more,
                      std::size_t columns);
};

SUFFICE_TABLES(LeaveOneOutLoops, leave_one_out_table)
inline const LeaveOneOutLoops& leave_one_out_loops() { return SUFFICE_BEST(leave_one_out_table); }

}  // namespace suffice
