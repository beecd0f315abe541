#include "single_precision.h"

#include <cmath>
#include <limits>

#include "scores.h"

namespace suffice::SUFFICE_SET {
namespace {

// Half a unit in the last place of single precision, and what double precision is off by.
constexpr double UNIT = 1.0 / (1 << 24), DOUBLE = 1.0 / (std::int64_t(1) << 40);
// What a number too small for single precision is off by (2^-148), and a distance whose square is.
constexpr double TINY = 0x1p-148, TINY_DISTANCE = 0x1p-70;
constexpr double INF = std::numeric_limits<double>::infinity();

void narrow(const double* __restrict wide, std::size_t columns, float* __restrict across, double* __restrict norms) {
    double sums[SCORE_ROWS] = {};
    for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
            const double cell = wide[j * SCORE_ROWS + i];
            sums[i] += cell * cell;
            across[j * SCORE_ROWS + i] = static_cast<float>(cell);
        }
    }
    for (std::size_t i = 0; i < SCORE_ROWS; ++i) norms[i] = std::sqrt(sums[i]);
}

void bound(const ScoreBounds& bounds, const float* __restrict squares, const double* __restrict norms,
           std::size_t columns, double* __restrict lower, double* __restrict upper) {
    const double d = static_cast<double>(columns), unit = (d + 4.0) * UNIT;
    const double factor_size = bounds.factor_size, offset_size = bounds.offset_size, scale = bounds.scale;
    const double free = bounds.degrees, top = bounds.constant, spare = DOUBLE * std::abs(top);
    for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
        const double radius = std::sqrt(static_cast<double>(squares[i]));
        double slack = unit * (norms[i] * factor_size + radius);
        slack += 4.0 * UNIT * (radius + 2.0 * offset_size);
        slack += TINY_DISTANCE + TINY * d * (norms[i] + factor_size + 1.0);
        const double near = radius - slack > 0.0 ? radius - slack : 0.0, far = radius + slack;
        lower[i] = far * far * scale;
        upper[i] = near * near * scale;
    }
    if (free > 0.0) {
        for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
            lower[i] = (free + d) * std::log1p(lower[i] / free);
            upper[i] = (free + d) * std::log1p(upper[i] / free);
        }
    }
    for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
        lower[i] = lower[i] * (-0.5 * (1.0 + DOUBLE)) + (top - spare);
        upper[i] = upper[i] * (-0.5 * (1.0 - DOUBLE)) + (top + spare);
    }
}

void decide(const double* __restrict lower, const double* __restrict upper, const double* __restrict norms,
            std::size_t classes, std::int64_t* __restrict best) {
    double most[SCORE_ROWS];        // the greatest lower bound
    std::int64_t top[SCORE_ROWS];   // whose it is
    std::int64_t sure[SCORE_ROWS];  // 1, or 0 if there is doubt
    for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
        most[i] = lower[i];
        top[i] = 0;
        sure[i] = norms[i] < INF ? 1 : 0;
    }
    for (std::size_t c = 1; c < classes; ++c) {
        for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
            const double one = lower[c * SCORE_ROWS + i];
            const bool more = one > most[i];
            most[i] = more ? one : most[i];
            top[i] = more ? static_cast<std::int64_t>(c) : top[i];
        }
    }
    for (std::size_t c = 0; c < classes; ++c) {
        for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
            const bool other = top[i] != static_cast<std::int64_t>(c);
            const bool below = upper[c * SCORE_ROWS + i] < most[i];
            sure[i] = other && !below ? 0 : sure[i];
        }
    }
    for (std::size_t i = 0; i < SCORE_ROWS; ++i) best[i] = sure[i] != 0 ? top[i] : -1;
}

}  // namespace

extern const SinglePrecisionLoops single_precision = {narrow, bound, decide};

}  // namespace suffice::SUFFICE_SET
