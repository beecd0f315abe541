// Gamma functions, their differences with all digits, and factorials.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "loops/checks.h"

namespace suffice {

// log Gamma(z), z > 0. The C library's lgamma writes the sign to a variable that threads share.
inline double log_gamma(double z) {
#if defined(__unix__) || defined(__APPLE__)
    int sign = 0;
    return ::lgamma_r(z, &sign);
#else
    return std::lgamma(z);
#endif
}

// From here on the asymptotic series below have all digits.
constexpr double ASYMPTOTIC = 20.0;

// log Gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, of a large z.
inline double stirling_rest(double z) {
    const double w = 1.0 / (z * z);
    return (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w / 1680.0))) / z;
}

// log Gamma(z + step) - log Gamma(z), whose digits cancel if both are large.
inline double log_gamma_step(double z, double step) {
    if (z < ASYMPTOTIC) return log_gamma(z + step) - log_gamma(z);
    const double growth = (z + step - 0.5) * std::log1p(step / z) + step * (std::log(z) - 1.0);
    return growth + stirling_rest(z + step) - stirling_rest(z);
}

// log z - 1 / (2 z) - digamma(z), of a large z.
inline double digamma_rest(double z) {
    const double w = 1.0 / (z * z);
    return w * (1.0 / 12.0 - w * (1.0 / 120.0 - w * (1.0 / 252.0 - w * (1.0 / 240.0 - w / 132.0))));
}

// digamma(z + step) - digamma(z), for z above 0 and steps of 0 or more.
inline double digamma_step(double z, double step) {
    double total = 0.0;
    for (; z < ASYMPTOTIC; z += 1.0) total += step / (z * (z + step));
    const double far = z + step;
    total += std::log1p(step / z) + 0.5 * step / (z * far);
    return total + digamma_rest(z) - digamma_rest(far);
}

// log of a (a + 1) ... (a + x - 1) = log Gamma(a + x) - log Gamma(a).
inline double log_rising(double a, double x) {
    if (x <= 8.0 && x == std::trunc(x)) {
        double product = 1.0;
        for (int step = 0; step < static_cast<int>(x); ++step) product *= a + step;
        return std::log(product);
    }
    return log_gamma_step(a, x);
}

// log k! of small whole numbers.
extern const std::array<double, MAX_SMALL> LOG_FACTORIALS;

// log x! = log Gamma(x + 1), x >= 0.
inline double log_factorial(double x) {
    if (x < MAX_SMALL) {
        const int k = static_cast<int>(x);
        if (static_cast<double>(k) == x) return LOG_FACTORIALS[static_cast<std::size_t>(k)];
    }
    return log_gamma(x + 1.0);
}

// The sum of the logarithms of numbers, few of which are taken: numbers are multiplied while their
// product is well within the floats.
struct LogProduct {
    double total = 0.0, product = 1.0;

    void multiply(double factor) {
        const double ahead = product * factor;
        if (ahead >= 1e-200 && ahead <= 1e200) {
            product = ahead;
            return;
        }
        total += std::log(product) + std::log(factor);
        product = 1.0;
    }
    // By a number to a power.
    void multiply(double factor, double power) {
        if (power != 1.0 && power != 2.0 && power != 3.0) {
            total += power * std::log(factor);
            return;
        }
        // Looked up, not jumped to: powers come in an order that nobody can guess.
        const double powers[4] = {1.0, factor, factor * factor, factor * factor * factor};
        const double ahead = product * powers[static_cast<int>(power)];
        if (ahead >= 1e-200 && ahead <= 1e200) {
            product = ahead;
            return;
        }
        total += std::log(product) + power * std::log(factor);
        product = 1.0;
    }
    // By a (a + 1) ... (a + x - 1), as `log_rising`.
    void multiply_rising(double a, double x) {
        if (x == 1.0)
            multiply(a);
        else
            total += log_rising(a, x);
    }
    double log() const { return total + std::log(product); }
};

// The log of how many orders of its events a row of counts stands for. A row with a fraction among
// its cells is no row of counts, and stands for itself.
struct Orderings {
    double length = 0.0, logs = 0.0;
    bool whole = true;

    void add(double cell) {
        length += cell;
        whole = whole && cell == std::floor(cell);
        if (whole) logs += log_factorial(cell);
    }
    // Add whole numbers below MAX_SMALL, and hand each to use(at, count). Four sums: one alone would
    // wait for itself at every count.
    template <class T, class Use>
    void add_small(const T* counts, std::size_t size, Use&& use) {
        int total = 0;
        double sums[4] = {};
        std::size_t i = 0;
        auto add_one = [&](std::size_t at, double& sum) {
            const int count = static_cast<int>(counts[at]);
            use(at, count);
            total += count;
            sum += LOG_FACTORIALS[static_cast<std::size_t>(count)];
        };
        for (; i + 4 <= size; i += 4)
            for (std::size_t part = 0; part < 4; ++part) add_one(i + part, sums[part]);
        for (; i < size; ++i) add_one(i, sums[0]);
        length += static_cast<double>(total);
        logs += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    double log_number() const { return whole ? log_factorial(length) - logs : 0.0; }
};

}  // namespace suffice
