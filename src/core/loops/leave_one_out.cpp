#include "leave_one_out.h"

#include <algorithm>
#include <cmath>

namespace suffice::SUFFICE_SET {
namespace {

// Sums and products are kept in so many parts, whatever the width of vectors, so that all
// instruction sets add up in the same order.
constexpr std::size_t LANES = 8;
// Factors multiplied before one logarithm: none is so large or small that their product is no float.
constexpr std::size_t TOGETHER = 32;

double sum_of(const double* lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double product_of(const double* lanes) {
    return ((lanes[0] * lanes[4]) * (lanes[2] * lanes[6])) * ((lanes[1] * lanes[5]) * (lanes[3] * lanes[7]));
}

// Call work(j, lane) for the columns first..last, a vector of them at once.
template <class Work>
inline void by_lanes(std::size_t first, std::size_t last, Work&& work) {
    for (; first + LANES <= last; first += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) work(first + lane, lane);
    for (std::size_t lane = 0; first + lane < last; ++lane) work(first + lane, lane);
}

bool own(const double* __restrict x, const double* __restrict terms, std::size_t columns, double floor, double kept, double* score) {
    auto term = [&](Term name, std::size_t j) { return terms[name * columns + j]; };
    double total = 0.0;
    for (std::size_t start = 0; start < columns; start += TOGETHER) {
        double product[LANES], distance[LANES], least[LANES];
        for (std::size_t lane = 0; lane < LANES; ++lane) product[lane] = 1.0, distance[lane] = 0.0, least[lane] = 1.0;
        by_lanes(start, std::min(start + TOGETHER, columns), [&](std::size_t j, std::size_t lane) {
            const double d = x[j] - term(ORIGIN, j), off = d - term(SHIFT, j);
            // Mean and distance are rounded as a refit rounds them.
            const double mean = term(ORIGIN, j) + (term(SUM_X, j) - d) / term(LEFT, j);
            const double from_prior = mean - term(LOCATION, j), shared = from_prior * term(SHARE, j);
            const double squares =
                term(OTHERS, j) + (term(SCATTER, j) - term(LOST, j) * off * off) + from_prior * term(PSEUDO_ROWS, j) * shared;
            const double variance = squares * term(INVERSE_DIVISOR, j) + floor;
            const double away = x[j] - (term(LOCATION, j) + shared);
            const bool enough = variance > kept * term(SCATTER, j) * term(INVERSE_DIVISOR, j) && variance > 0.0;
            least[lane] = enough ? least[lane] : 0.0;
            product[lane] *= variance * term(PRECISION, j);
            distance[lane] += away * away / variance;
        });
        const double ratio = product_of(product);
        if (product_of(least) == 0.0 || !(ratio > 0.0) || std::isinf(ratio)) return false;
        total += std::log(ratio) + sum_of(distance);
    }
    *score = total;
    return true;
}

void squares(const double* __restrict x, const double* __restrict mean, const double* __restrict precision, std::size_t columns, double* sums) {
    double first[LANES] = {}, second[LANES] = {};
    by_lanes(0, columns, [&](std::size_t j, std::size_t lane) {
        const double d = x[j] - mean[j], part = d * d * precision[j];
        first[lane] += part;
        second[lane] += part * precision[j];
    });
    sums[0] = sum_of(first);
    sums[1] = sum_of(second);
}

double widened(const double* __restrict x, const double* __restrict seen, const double* __restrict mean, const double* __restrict precision,
               double more, std::size_t columns) {
    double total = 0.0;
    for (std::size_t start = 0; start < columns; start += TOGETHER) {
        double product[LANES], distance[LANES];
        for (std::size_t lane = 0; lane < LANES; ++lane) product[lane] = 1.0, distance[lane] = 0.0;
        by_lanes(start, std::min(start + TOGETHER, columns), [&](std::size_t j, std::size_t lane) {
            const double p = precision[j] * seen[j], growth = 1.0 + more * p, d = x[j] - mean[j];
            product[lane] *= growth;
            distance[lane] += d * d * p / growth;
        });
        total += std::log(product_of(product)) + sum_of(distance);
    }
    return total;
}

}  // namespace

extern const LeaveOneOutLoops leave_one_out_table = {own, squares, widened};

}  // namespace suffice::SUFFICE_SET
