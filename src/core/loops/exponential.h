// exp of many numbers at once: a loop over a polynomial becomes vector instructions, which a call
// of the C library does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace suffice {

// Replace x (size,), all 0 or less, by exp(x), to an ulp; below -708, where exp(x) is no normal
// number any more, by 0.
//
// exp(x) = 2^k exp(r) with |r| <= log(2)/2, and exp(r) by its series.
inline void exp_of_nonpositive(double* __restrict x, std::size_t size) {
    constexpr double LOG2_E = 1.4426950408889634, LOWEST = -708.0;
    // log 2 in two parts, so that k log 2 is subtracted exactly.
    constexpr double LOG_2_HIGH = 6.93147180369123816490e-01, LOG_2_LOW = 1.90821492927058770002e-10;
    // Adding it rounds to a whole number, which then stands in the lowest bits.
    constexpr double ROUND = 6755399441055744.0;  // 1.5 2^52
    for (std::size_t i = 0; i < size; ++i) {
        const double v = x[i] > LOWEST ? x[i] : LOWEST;
        const double rounded = v * LOG2_E + ROUND;
        const double k = rounded - ROUND;
        const double r = (v - k * LOG_2_HIGH) - k * LOG_2_LOW;
        double series = 1.0 / 6227020800.0;
        series = series * r + 1.0 / 479001600.0;
        series = series * r + 1.0 / 39916800.0;
        series = series * r + 1.0 / 3628800.0;
        series = series * r + 1.0 / 362880.0;
        series = series * r + 1.0 / 40320.0;
        series = series * r + 1.0 / 5040.0;
        series = series * r + 1.0 / 720.0;
        series = series * r + 1.0 / 120.0;
        series = series * r + 1.0 / 24.0;
        series = series * r + 1.0 / 6.0;
        series = series * r + 0.5;
        // The largest terms last, each added once: so it is right to an ulp.
        series = 1.0 + (r + r * r * series);
        std::int64_t bits;
        std::memcpy(&bits, &rounded, sizeof(bits));
        bits = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits + 1023) << 52);
        double power;  // 2^k
        std::memcpy(&power, &bits, sizeof(power));
        x[i] = x[i] > LOWEST ? series * power : 0.0;
    }
}

}  // namespace suffice
