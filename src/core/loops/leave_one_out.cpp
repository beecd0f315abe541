#include "leave_one_out.h"

#include <algorithm>
#include <cmath>

namespace suffice::SUFFICE_SET {
namespace {

// One number for each of TERM_COLUMNS columns, merged in the same order whatever the width of vectors.
struct Parts {
    double of[TERM_COLUMNS];

    explicit Parts(double neutral) { std::fill_n(of, TERM_COLUMNS, neutral); }
    double sum() {
        for (std::size_t j = 0; j < 8; ++j) of[j] = (of[j] + of[j + 16]) + (of[j + 8] + of[j + 24]);
        return ((of[0] + of[4]) + (of[2] + of[6])) + ((of[1] + of[5]) + (of[3] + of[7]));
    }
    double product() {
        for (std::size_t j = 0; j < 8; ++j) of[j] = (of[j] * of[j + 16]) * (of[j + 8] * of[j + 24]);
        return ((of[0] * of[4]) * (of[2] * of[6])) * ((of[1] * of[5]) * (of[3] * of[7]));
    }
};

void leave_out(const double* __restrict x, const ClassMoments& all, double w, std::size_t columns,
               const LeftMoments& left) {
    const double* __restrict weight = all.weight, * __restrict origin = all.origin, * __restrict sum_x = all.sum_x;
    const double* __restrict scatter = all.scatter, * __restrict location = all.location, * __restrict pseudo_rows = all.pseudo_rows;
    double* __restrict cell = left.cell, * __restrict seen = left.seen, * __restrict rest = left.weight;
    double* __restrict squares = left.squares, * __restrict away = left.away;
    for (std::size_t j = 0; j < columns; ++j) {
        const bool missing = x[j] != x[j];
        const double taken = missing ? 0.0 : w, d = missing ? 0.0 : x[j] - origin[j];
        const double n = weight[j] - taken;
        const bool some = n > 0.0;
        const double divisor = some ? n : 1.0;
        const double off = some ? d - sum_x[j] / weight[j] : 0.0, part = some ? taken / divisor : 0.0;
        // The centre is rounded as a refit rounds it.
        const double mean = origin[j] + (some ? (sum_x[j] - taken * d) / divisor : 0.0);
        const double from_prior = mean - location[j], posterior_weight = pseudo_rows[j] + n;
        const double share = posterior_weight > 0.0 ? n / posterior_weight : 0.0;
        cell[j] = missing ? 0.0 : x[j];
        seen[j] = missing ? 0.0 : 1.0;
        rest[j] = n;
        squares[j] = (scatter[j] - part * weight[j] * off * off) + from_prior * (pseudo_rows[j] * from_prior * share);
        away[j] = missing ? 0.0 : x[j] - (location[j] + from_prior * share);
    }
}

bool own(const double* __restrict x, const double* __restrict terms, std::size_t columns, double floor, double kept,
         double* score) {
    double total = 0.0;
    for (std::size_t start = 0; start < columns;
         start += TERM_COLUMNS, x += TERM_COLUMNS, terms += TERMS * TERM_COLUMNS) {
        const std::size_t here = std::min(TERM_COLUMNS, columns - start);
        auto term = [&](Term name, std::size_t j) { return terms[name * TERM_COLUMNS + j]; };
        Parts ratios(1.0), distances(0.0);
        for (std::size_t j = 0; j < padded(here); ++j) {
            const double d = x[j] - term(ORIGIN, j), off = d - term(SHIFT, j);
            // Mean and distance are rounded as a refit rounds them.
            const double mean = term(ORIGIN, j) + (term(SUM_X, j) - d) / term(LEFT, j);
            const double from_prior = mean - term(LOCATION, j), shared = from_prior * term(SHARE, j);
            const double squares = term(OTHERS, j) + (term(SCATTER, j) - term(LOST, j) * off * off) +
                                   from_prior * term(PSEUDO_ROWS, j) * shared;
            const double variance = squares * term(INVERSE_DIVISOR, j) + floor;
            const double away = x[j] - (term(LOCATION, j) + shared),
                         least = kept * term(SCATTER, j) * term(INVERSE_DIVISOR, j);
            // Zero where too little is left.
            ratios.of[j] = variance > (least > 0.0 ? least : 0.0) ? variance * term(PRECISION, j) : 0.0;
            distances.of[j] = away * away / variance;
        }
        for (std::size_t j = here; j < padded(here); ++j) ratios.of[j] = 1.0, distances.of[j] = 0.0;
        const double ratio = ratios.product();
        if (!(ratio > 0.0) || std::isinf(ratio)) return false;
        total += std::log(ratio) + distances.sum();
    }
    *score = total;
    return true;
}

void squares(const double* __restrict x, const double* __restrict mean, const double* __restrict precision,
             std::size_t columns, double* sums) {
    Parts first(0.0), second(0.0);
    for (std::size_t start = 0; start < columns; start += TERM_COLUMNS) {
        const std::size_t here = padded(std::min(TERM_COLUMNS, columns - start));
        for (std::size_t j = 0; j < here; ++j) {
            const double d = x[start + j] - mean[start + j], p = precision[start + j], part = d * d * p;
            first.of[j] += part;
            second.of[j] += part * p;
        }
    }
    sums[0] = first.sum();
    sums[1] = second.sum();
}

double widened(const double* __restrict x, const double* __restrict seen, const double* __restrict mean,
               const double* __restrict precision, double more, std::size_t columns) {
    double total = 0.0;
    for (std::size_t start = 0; start < columns; start += TERM_COLUMNS) {
        const std::size_t here = std::min(TERM_COLUMNS, columns - start);
        Parts growths(1.0), distances(0.0);
        for (std::size_t j = 0; j < here; ++j) {
            const double p = precision[start + j] * seen[start + j], growth = 1.0 + more * p,
                         d = x[start + j] - mean[start + j];
            growths.of[j] = growth;
            distances.of[j] = d * d * p / growth;
        }
        total += std::log(growths.product()) + distances.sum();
    }
    return total;
}

}  // namespace

extern const LeaveOneOutLoops leave_one_out_table = {leave_out, own, squares, widened};

}  // namespace suffice::SUFFICE_SET
