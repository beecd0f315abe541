// Log densities of rows without missing values under independent normals that have not learned them.
#pragma once

#include <cstddef>

#include "../instruction_sets.h"

namespace suffice {

// What there is of each column of a class without a row of weight 1. The part of the scatter that
// goes with a row is `lost` times its squared distance from the mean; `share` is that of the rows
// in the posterior mean, and `inverse_divisor` turns squares into a variance.
enum Term { ORIGIN, SHIFT, SUM_X, LEFT, SCATTER, LOST, LOCATION, PSEUDO_ROWS, SHARE, OTHERS, INVERSE_DIVISOR, PRECISION, TERMS };

struct LeaveOneOutLoops {
    // Write the sum of log ratios of variances without and with the row, and of squared distances
    // by those without, from terms (TERMS, d); `floor` is added to variances. False if less than
    // the part `kept`, or nothing, is left of a variance.
    bool (*own)(const double* x, const double* terms, std::size_t columns, double floor, double kept, double* score);
    // Write the sums of (x - mean)^2 p and of (x - mean)^2 p^2, p the precisions, to sums (2,).
    void (*squares)(const double* x, const double* mean, const double* precision, std::size_t columns, double* sums);
    // The sum of log(1 + more p) + (x - mean)^2 p / (1 + more p): variances grow by `more`. Columns
    // with seen[j] = 0 count nothing, those with 1 all.
    double (*widened)(const double* x, const double* seen, const double* mean, const double* precision, double more, std::size_t columns);
};

SUFFICE_TABLES(LeaveOneOutLoops, leave_one_out_table)
inline const LeaveOneOutLoops& leave_one_out_loops() { return SUFFICE_BEST(leave_one_out_table); }

}  // namespace suffice
