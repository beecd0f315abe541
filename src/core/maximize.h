// The one search for prior sample sizes: the logs of one or two of them that have most evidence.
//
// An evidence is an object with `double value(const Logs<N>&) const`, the log evidence of N log
// sample sizes (NaN or -infinity where rows are impossible), and mostly with
// `Logs<N> gradient(const Logs<N>&) const`, its derivatives.
//
// Newton's method starts from every local maximum of a grid of points, and the highest end is taken.
// It finds the root of the gradient, and never compares values: near its maximum an evidence changes
// by less than its own rounding, and would give half of the digits, where the gradient gives all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace suffice {

template <std::size_t N>
using Logs = std::array<double, N>;

// Newton's method ends with a step this short. Each step leaves about DIFFERENCE of the distance, so
// the last one ends 1e-14 of a sample size from it, or as near as the rounding of the gradient allows:
// where the evidence is flat that is less near, up to 1e-7 in a few of some hundred random tables.
constexpr double STEP_TOLERANCE = 1e-10;
// Steps are no longer than this, and no more than these: enough from one bound to the other.
constexpr double MAX_STEP = 2.0;
constexpr int MAX_STEPS = 60, MAX_HALVINGS = 30;
// Distance at which gradients are compared for the curvature.
constexpr double DIFFERENCE = 1e-4;
// Of an evidence without gradients (that of covariances), values lead the search, to a thousandth of a
// sample size: on iris and wine that is 3e-6 nats or less below the maximum.
constexpr double COMPASS_TOLERANCE = 1e-3;

// The bounds of the log of a sample size, and the points of the grid on this axis.
struct Axis {
    double low, high;
    std::size_t points;
    double first, spacing;

    // Points from bound to bound.
    Axis(double low, double high, std::size_t points)
        : low(low), high(high), points(points), first(low), spacing((high - low) / static_cast<double>(points - 1)) {}
    // Points from `first` on; those beyond the bounds are moved to them.
    Axis(double low, double high, std::size_t points, double first, double spacing)
        : low(low), high(high), points(points), first(first), spacing(spacing) {}

    double within(double x) const { return x > low ? (x < high ? x : high) : low; }
    double point(std::size_t i) const { return within(first + spacing * static_cast<double>(i)); }
    // Whether x is on a bound and the gradient points outside.
    bool points_outside(double x, double gradient) const {
        return (x <= low && gradient <= 0.0) || (x >= high && gradient >= 0.0);
    }
};

// The axis of sample sizes between two.
inline Axis axis_between(double low, double high, std::size_t points) {
    if (!(low > 0.0 && low <= high && std::isfinite(high)))
        throw std::invalid_argument("sample sizes between no two numbers");
    return {std::log(low), std::log(high), points};
}

template <std::size_t N>
using Axes = std::array<Axis, N>;

// Newton's step along one axis, or one of MAX_STEP where the evidence is not concave.
inline double ascent_step(double gradient, double curvature) {
    const double bent = std::max(std::fabs(curvature), std::fabs(gradient) / MAX_STEP);
    return bent > 0.0 ? gradient / bent : 0.0;
}

// The step of two unknowns: `ascent_step` along both axes of the curvature.
inline Logs<2> ascent_step(const Logs<2>& gradient, double curvature, double crossed, double other_curvature) {
    const double half = 0.5 * (curvature - other_curvature), middle = 0.5 * (curvature + other_curvature);
    const double reach = std::hypot(half, crossed);
    // (x, y) is the axis of the larger curvature; the sum that does not cancel gives its direction.
    double x = half >= 0.0 ? half + reach : crossed, y = half >= 0.0 ? crossed : reach - half;
    const double length = std::hypot(x, y);
    x = length > 0.0 ? x / length : 1.0;
    y = length > 0.0 ? y / length : 0.0;
    const double along = ascent_step(x * gradient[0] + y * gradient[1], middle + reach);
    const double across = ascent_step(x * gradient[1] - y * gradient[0], middle - reach);
    return {along * x - across * y, along * y + across * x};
}

// Newton's step from a point with such a gradient; none through a bound.
template <std::size_t N, class Evidence>
Logs<N> newton_step(const Evidence& evidence, const Axes<N>& axes, const Logs<N>& at, const Logs<N>& gradient) {
    std::array<bool, N> free;
    std::array<Logs<N>, N> curvature{};
    for (std::size_t n = 0; n < N; ++n) {
        free[n] = !axes[n].points_outside(at[n], gradient[n]);
        if (!free[n]) continue;
        Logs<N> beside = at;
        beside[n] += DIFFERENCE;
        const Logs<N> there = evidence.gradient(beside);
        for (std::size_t m = 0; m < N; ++m) curvature[n][m] = (there[m] - gradient[m]) / (beside[n] - at[n]);
    }
    if constexpr (N == 2) {
        if (free[0] && free[1]) {
            const double crossed = 0.5 * (curvature[0][1] + curvature[1][0]);
            return ascent_step(gradient, curvature[0][0], crossed, curvature[1][1]);
        }
    }
    Logs<N> step{};
    for (std::size_t n = 0; n < N; ++n)
        if (free[n]) step[n] = ascent_step(gradient[n], curvature[n][n]);
    return step;
}

// The local maximum that Newton's method finds from a point.
template <std::size_t N, class Evidence>
Logs<N> newton_ascent(const Evidence& evidence, const Axes<N>& axes, Logs<N> at) {
    Logs<N> gradient = evidence.gradient(at);
    for (int steps = 0; steps < MAX_STEPS; ++steps) {
        Logs<N> step = newton_step<N>(evidence, axes, at, gradient), moved = at, there = gradient;
        double far = 0.0;
        for (int halvings = 0; halvings < MAX_HALVINGS; ++halvings) {
            double before = 0.0, after = 0.0;
            far = 0.0;
            for (std::size_t n = 0; n < N; ++n) {
                moved[n] = axes[n].within(at[n] + step[n]);
                far = std::max(far, std::fabs(moved[n] - at[n]));
            }
            if (far == 0.0) return at;
            there = evidence.gradient(moved);
            for (std::size_t n = 0; n < N; ++n) {
                before += gradient[n] * (moved[n] - at[n]);
                after += there[n] * (moved[n] - at[n]);
                step[n] *= 0.5;
            }
            // Too long is a step that ends where the way back is steeper than the way here was.
            if (-after <= before) break;
        }
        at = moved;
        gradient = there;
        if (far <= STEP_TOLERANCE) break;
    }
    return at;
}

// The same of an evidence without gradients: steps along the axes, halved when none leads upwards.
template <std::size_t N, class Evidence>
Logs<N> compass_search(const Evidence& evidence, const Axes<N>& axes, Logs<N> at) {
    double here = evidence.value(at);
    for (double step = axes[0].spacing / 2.0; step > COMPASS_TOLERANCE;) {
        bool higher = false;
        for (std::size_t way = 0; way < 2 * N; ++way) {
            Logs<N> moved = at;
            moved[way / 2] = axes[way / 2].within(at[way / 2] + (way % 2 ? -step : step));
            const double value = evidence.value(moved);
            if (!(value > here)) continue;
            at = moved;
            here = value;
            higher = true;
        }
        if (!higher) step /= 2.0;
    }
    return at;
}

template <class Evidence, std::size_t N, class = void>
struct has_gradient : std::false_type {};
template <class Evidence, std::size_t N>
struct has_gradient<Evidence, N, std::void_t<decltype(std::declval<const Evidence&>().gradient(Logs<N>{}))>>
    : std::true_type {};

template <std::size_t N>
struct Maximum {
    Logs<N> at;
    bool flat;  // whether all points have the same evidence, so that `at` means nothing
};

template <std::size_t N, class Evidence>
Maximum<N> maximize(const Evidence& evidence, const Axes<N>& axes) {
    static_assert(N == 1 || N == 2, "one or two sample sizes");
    constexpr double NONE = -std::numeric_limits<double>::infinity();
    const std::size_t rows = axes[0].points, columns = N == 2 ? axes[N - 1].points : 1;
    auto point = [&](std::size_t i, std::size_t j) {
        Logs<N> at;
        at[N - 1] = axes[N - 1].point(j);
        at[0] = axes[0].point(i);
        return at;
    };
    std::vector<double> values(rows * columns);
    bool flat = true;
    for (std::size_t place = 0; place < values.size(); ++place) {
        const double value = evidence.value(point(place / columns, place % columns));
        values[place] = value == value ? value : NONE;
        flat = flat && values[place] == values[0];
    }
    Maximum<N> best{point(0, 0), flat};
    if (flat) return best;
    // A local maximum is a point that no neighbour is higher than; of equal ones the first.
    auto is_local_maximum = [&](std::size_t i, std::size_t j) {
        const std::size_t place = i * columns + j;
        if (!std::isfinite(values[place])) return false;
        for (std::size_t x = i ? i - 1 : 0; x < std::min(rows, i + 2); ++x)
            for (std::size_t y = j ? j - 1 : 0; y < std::min(columns, j + 2); ++y) {
                const std::size_t other = x * columns + y;
                if (other < place ? values[other] >= values[place] : values[other] > values[place]) return false;
            }
        return true;
    };
    double highest = NONE;
    for (std::size_t place = 0; place < values.size(); ++place) {
        if (!is_local_maximum(place / columns, place % columns)) continue;
        const Logs<N> start = point(place / columns, place % columns);
        Logs<N> end;
        if constexpr (has_gradient<Evidence, N>::value)
            end = newton_ascent<N>(evidence, axes, start);
        else
            end = compass_search<N>(evidence, axes, start);
        const double value = evidence.value(end);
        if (!(value > highest)) continue;
        best.at = end;
        highest = value;
    }
    return best;
}

}  // namespace suffice
