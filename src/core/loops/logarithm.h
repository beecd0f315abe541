// log of many numbers at once, as exponential.h has their exp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace suffice {

// Replace x (size,) by log(x), to an ulp: -inf of 0, NaN of negative numbers.
//
// x = 2^k m with sqrt(1/2) <= m < sqrt(2), and with f = m - 1 and s = f / (2 + f)
// log(m) = 2 atanh(s) = 2 s + s R(s^2) by Remez's polynomial R of fdlibm's log.
inline void log_of_many(double* __restrict x, std::size_t size) {
    // log 2 in two parts, so that k times the first is exact.
    constexpr double LOG_2_HIGH = 6.93147180369123816490e-01, LOG_2_LOW = 1.90821492927058770002e-10;
    constexpr double L1 = 6.666666666666735130e-01, L2 = 3.999999999940941908e-01, L3 = 2.857142874366239149e-01,
                     L4 = 2.222219843214978396e-01, L5 = 1.818357216161805012e-01, L6 = 1.531383769920937332e-01,
                     L7 = 1.479819860511658591e-01;
    // The bits of sqrt(1/2), and those that lift it to 1.
    constexpr std::uint64_t ROOT = 0x3fe6a09e00000000u, LIFT = 0x3ff0000000000000u - ROOT;
    constexpr std::uint64_t FRACTION = 0x000fffffffffffffu;
    // A number of 2^52 and more has its whole part in its lowest bits.
    constexpr std::uint64_t WHOLE = 0x4330000000000000u;
    constexpr double WHOLE_AND_BIAS = 4503599627370496.0 + 1023.0;
    constexpr double SMALLEST = std::numeric_limits<double>::min(), NOTHING = std::numeric_limits<double>::quiet_NaN(),
                     INFINITE = std::numeric_limits<double>::infinity();
    constexpr double MANY = 18014398509481984.0;  // 2^54 makes any number above 0 a normal one
    for (std::size_t i = 0; i < size; ++i) {
        const double v = x[i];
        const bool tiny = v < SMALLEST;
        const double normal = tiny ? v * MANY : v;
        std::uint64_t bits;
        std::memcpy(&bits, &normal, sizeof(bits));
        bits += LIFT;
        const std::uint64_t exponent = (bits >> 52) | WHOLE;
        const std::uint64_t fraction = (bits & FRACTION) + ROOT;
        double m, k;
        std::memcpy(&m, &fraction, sizeof(m));
        std::memcpy(&k, &exponent, sizeof(k));
        k = k - WHOLE_AND_BIAS - (tiny ? 54.0 : 0.0);
        const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
        const double even = w * (L2 + w * (L4 + w * L6)), odd = z * (L1 + w * (L3 + w * (L5 + w * L7)));
        const double half = 0.5 * f * f, rest = s * (half + (odd + even));
        // The two large terms first, and what their sum rounds away: so it is right to little more than
        // half an ulp.
        const double powers = k * LOG_2_HIGH, large = powers + f, lost = (powers - large) + f;
        const double found = large + (lost - (half - (rest + k * LOG_2_LOW)));
        const double beyond = v == INFINITE ? v : v == 0.0 ? -INFINITE : NOTHING;
        x[i] = v > 0.0 && v < INFINITE ? found : beyond;
    }
}

}  // namespace suffice
