// The one search for prior sample sizes: the logs of one or two of them that have most evidence.
//
// An evidence is an object with `double value(const Logs<N>&) const`, the log evidence of N log
// sample sizes (NaN or -infinity where rows are impossible), and mostly with
// `Logs<N> slope(const Logs<N>&) const`, its derivatives.
//
// A grid of looks finds the hills. Newton's method climbs each until its slope is 0, and the
// highest top is taken. Only slopes lead the climb: near its top an evidence changes by less than
// it is rounded to, and tells the place of the top to half of its digits, where the slope tells all.
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

// A climb ends with a step this short. Each step leaves about APART of the distance to the top, so
// the last one ends 1e-14 of a sample size from it, or as near as the rounding of the slope allows:
// where the top is flat that is less near, up to 1e-7 in a few of some hundred random tables.
constexpr double SHORTEST_STEP = 1e-10;
// Steps are no longer than this, and no more than these: enough from one wall to the other.
constexpr double LONGEST_STEP = 2.0;
constexpr int MOST_STEPS = 60, MOST_HALVINGS = 30;
// Distance at which slopes are compared for the curvature.
constexpr double APART = 1e-4;
// Of an evidence without slopes (that of covariances), values lead the search, to a thousandth of a
// sample size: on iris and wine that is 3e-6 nats or less below the top.
constexpr double SHORTEST_STEP_BY_VALUE = 1e-3;

// The walls between which the log of a sample size lies, and where it is looked at first.
struct Axis {
    double low, high;
    std::size_t looks;
    double first, apart;

    // Looks from wall to wall.
    Axis(double low, double high, std::size_t looks)
        : low(low), high(high), looks(looks), first(low), apart((high - low) / static_cast<double>(looks - 1)) {}
    // Looks from somewhere on; those beyond the walls are made on them.
    Axis(double low, double high, std::size_t looks, double first, double apart)
        : low(low), high(high), looks(looks), first(first), apart(apart) {}

    double within(double x) const { return x > low ? (x < high ? x : high) : low; }
    double look(std::size_t i) const { return within(first + apart * static_cast<double>(i)); }
    // Whether a slope leads out through the wall at x.
    bool leads_out(double x, double slope) const { return (x <= low && slope <= 0.0) || (x >= high && slope >= 0.0); }
};

// The axis of sample sizes between two.
inline Axis axis_between(double low, double high, std::size_t looks) {
    if (!(low > 0.0 && low <= high && std::isfinite(high))) throw std::invalid_argument("sample sizes between no two numbers");
    return {std::log(low), std::log(high), looks};
}

template <std::size_t N>
using Axes = std::array<Axis, N>;

// Newton's step along one axis, or one as long as may be where the hill is no dome.
inline double uphill(double slope, double curvature) {
    const double bent = std::max(std::fabs(curvature), std::fabs(slope) / LONGEST_STEP);
    return bent > 0.0 ? slope / bent : 0.0;
}

// The step of two unknowns: `uphill` along both axes of the curvature.
inline Logs<2> uphill(const Logs<2>& slope, double curvature, double crossed, double other_curvature) {
    const double half = 0.5 * (curvature - other_curvature), middle = 0.5 * (curvature + other_curvature);
    const double reach = std::hypot(half, crossed);
    // (x, y) is the axis of the larger curvature; the sum that does not cancel gives its direction.
    double x = half >= 0.0 ? half + reach : crossed, y = half >= 0.0 ? crossed : reach - half;
    const double length = std::hypot(x, y);
    x = length > 0.0 ? x / length : 1.0;
    y = length > 0.0 ? y / length : 0.0;
    const double along = uphill(x * slope[0] + y * slope[1], middle + reach);
    const double across = uphill(x * slope[1] - y * slope[0], middle - reach);
    return {along * x - across * y, along * y + across * x};
}

// Newton's step from a point with such a slope; none through a wall.
template <std::size_t N, class Evidence>
Logs<N> newton_step(const Evidence& evidence, const Axes<N>& axes, const Logs<N>& at, const Logs<N>& slope) {
    std::array<bool, N> free;
    std::array<Logs<N>, N> curvature{};
    for (std::size_t n = 0; n < N; ++n) {
        free[n] = !axes[n].leads_out(at[n], slope[n]);
        if (!free[n]) continue;
        Logs<N> beside = at;
        beside[n] += APART;
        const Logs<N> there = evidence.slope(beside);
        for (std::size_t m = 0; m < N; ++m) curvature[n][m] = (there[m] - slope[m]) / (beside[n] - at[n]);
    }
    if constexpr (N == 2) {
        if (free[0] && free[1]) {
            const double crossed = 0.5 * (curvature[0][1] + curvature[1][0]);
            return uphill(slope, curvature[0][0], crossed, curvature[1][1]);
        }
    }
    Logs<N> step{};
    for (std::size_t n = 0; n < N; ++n)
        if (free[n]) step[n] = uphill(slope[n], curvature[n][n]);
    return step;
}

// The top of the hill that a point is on.
template <std::size_t N, class Evidence>
Logs<N> climb(const Evidence& evidence, const Axes<N>& axes, Logs<N> at) {
    Logs<N> slope = evidence.slope(at);
    for (int steps = 0; steps < MOST_STEPS; ++steps) {
        Logs<N> step = newton_step<N>(evidence, axes, at, slope), moved = at, there = slope;
        double far = 0.0;
        for (int halvings = 0; halvings < MOST_HALVINGS; ++halvings) {
            double before = 0.0, after = 0.0;
            far = 0.0;
            for (std::size_t n = 0; n < N; ++n) {
                moved[n] = axes[n].within(at[n] + step[n]);
                far = std::max(far, std::fabs(moved[n] - at[n]));
            }
            if (far == 0.0) return at;
            there = evidence.slope(moved);
            for (std::size_t n = 0; n < N; ++n) {
                before += slope[n] * (moved[n] - at[n]);
                after += there[n] * (moved[n] - at[n]);
                step[n] *= 0.5;
            }
            // Too long is a step that ends where the way back is steeper than the way here was.
            if (-after <= before) break;
        }
        at = moved;
        slope = there;
        if (far <= SHORTEST_STEP) break;
    }
    return at;
}

// The same of an evidence without slopes: steps along the axes, halved when none leads upwards.
template <std::size_t N, class Evidence>
Logs<N> climb_by_value(const Evidence& evidence, const Axes<N>& axes, Logs<N> at) {
    double here = evidence.value(at);
    for (double step = axes[0].apart / 2.0; step > SHORTEST_STEP_BY_VALUE;) {
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
struct has_slope : std::false_type {};
template <class Evidence, std::size_t N>
struct has_slope<Evidence, N, std::void_t<decltype(std::declval<const Evidence&>().slope(Logs<N>{}))>> : std::true_type {};

template <std::size_t N>
struct Maximum {
    Logs<N> at;
    bool flat;  // whether all looks have the same evidence, so that `at` means nothing
};

template <std::size_t N, class Evidence>
Maximum<N> maximize(const Evidence& evidence, const Axes<N>& axes) {
    static_assert(N == 1 || N == 2, "one or two sample sizes");
    constexpr double NONE = -std::numeric_limits<double>::infinity();
    const std::size_t rows = axes[0].looks, columns = N == 2 ? axes[N - 1].looks : 1;
    auto look = [&](std::size_t i, std::size_t j) {
        Logs<N> at;
        at[N - 1] = axes[N - 1].look(j);
        at[0] = axes[0].look(i);
        return at;
    };
    std::vector<double> values(rows * columns);
    bool flat = true;
    for (std::size_t place = 0; place < values.size(); ++place) {
        const double value = evidence.value(look(place / columns, place % columns));
        values[place] = value == value ? value : NONE;
        flat = flat && values[place] == values[0];
    }
    Maximum<N> best{look(0, 0), flat};
    if (flat) return best;
    // A hill is a look that no neighbour is higher than; of equal neighbours it is the first.
    auto is_hill = [&](std::size_t i, std::size_t j) {
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
        if (!is_hill(place / columns, place % columns)) continue;
        const Logs<N> start = look(place / columns, place % columns);
        Logs<N> top;
        if constexpr (has_slope<Evidence, N>::value) top = climb<N>(evidence, axes, start);
        else top = climb_by_value<N>(evidence, axes, start);
        const double value = evidence.value(top);
        if (!(value > highest)) continue;
        best.at = top;
        highest = value;
    }
    return best;
}

}  // namespace suffice
