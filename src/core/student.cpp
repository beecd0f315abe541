// Student t's fitted by EM to rows that are known by cells: their weight, mean and variance.
//
// Rows x ~ N(mu, s^2 / u) of each class, u ~ Gamma(v/2, v/2), mu and s^2 ~ NIG(0, k, a, b). A
// class's cells are an array (3, B) of weights, means and variances; its posterior
// is a NIG (m, k, a, b).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "loops/student.h"
#include "maximize.h"
#include "module.h"
#include "special.h"
#include "threads.h"

namespace suffice {
namespace {

constexpr double PI = 3.14159265358979323846;
// EM ends when a step moves location and scale by no more than this part of the scale.
constexpr double STILL = 1e-13;
constexpr int MAX_EM_STEPS = 5000;
// Beyond this many scales 1 + z^2 is z^2 to the last digit, and z^2 may be beyond all floats.
constexpr double FAR = 1e10;
// What is left of a weight, when all of it is taken away, is rounding below this part.
constexpr double ROUNDING = 1.0 / (1ULL << 40);
constexpr double EPSILON = std::numeric_limits<double>::epsilon();
// What the work on one row costs, in the unit of `Ranges`: one is scored, or some hundred steps of
// EM go through all cells of its class.
constexpr std::size_t SCORING = 16, FITTING = 1 << 13;
// Looks along each axis of the prior sample sizes.
constexpr std::size_t LOOKS = 10;

// What is known before the rows: k rows for the location, and shape a and scale b of the variance.
struct NormalInverseGamma {
    double m, k, a, b;
};

// The cells of a class that have any weight.
struct Held {
    std::vector<double> weight, centre, variance;

    void hold(const double* cells, std::size_t size) {
        for (auto* part : {&weight, &centre, &variance}) part->clear();
        for (std::size_t j = 0; j < size; ++j) {
            if (!(cells[j] > 0.0)) continue;
            weight.push_back(cells[j]);
            centre.push_back(cells[size + j]);
            variance.push_back(cells[2 * size + j]);
        }
    }
    // What EM ends with. It begins with all rows at full weight, so that it goes the same way
    // whoever asks.
    NormalInverseGamma fit(const NormalInverseGamma& prior, double degrees) const {
        const double k = prior.k;
        double rows = 0.0, mean = 0.0, squares = 0.0;
        for (double w : weight) rows += w;
        if (!(rows > 0.0)) return prior;
        for (std::size_t j = 0; j < weight.size(); ++j) mean += weight[j] / rows * centre[j];
        for (std::size_t j = 0; j < weight.size(); ++j) {
            const double d = centre[j] - mean;
            squares += weight[j] * (d * d + variance[j]);
        }
        const double shape = prior.a + 0.5 * rows;
        double total = rows, m = mean * total / (k + total);
        double scale = prior.b + 0.5 * (squares + k * total / (k + total) * mean * mean);
        const StudentLoops& loops = student_loops();
        for (int step = 0; step < MAX_EM_STEPS; ++step) {
            const double before = m, width = scale;
            const StudentSums sums = loops.add_up(weight.data(), centre.data(), variance.data(), weight.size(), m,
                                                  shape / scale, 1.0 / (k + total), degrees);
            const double shift = sums.first / sums.weight;
            total = sums.weight;
            mean = m + shift;
            m = mean * total / (k + total);
            squares = std::max(sums.second - shift * sums.first, 0.0);
            scale = prior.b + 0.5 * (squares + k * total / (k + total) * mean * mean);
            // Numbers that are none do not move.
            const bool moves =
                std::fabs(m - before) > STILL * std::sqrt(scale / shape) + 4.0 * EPSILON * std::fabs(mean);
            if (!moves && !(std::fabs(scale - width) > STILL * scale)) break;
        }
        return {m, k + total, shape, scale};
    }
};

struct Bound {
    double value = 0.0;
    Logs<2> gradient{};  // by log k and log a, with b / a held
};

// The bound of the log evidence of a class's cells, and its gradients: at the end of EM they are those
// of normal rows whose weights are held.
Bound bound_of(const Held& held, const NormalInverseGamma& prior, double degrees) {
    const double k = prior.k, a = prior.a, b = prior.b, power = 0.5 * (degrees + 1.0);
    const NormalInverseGamma found = held.fit(prior, degrees);
    double rows = 0.0, total = 0.0, first = 0.0, second = 0.0, own = 0.0;
    for (std::size_t j = 0; j < held.weight.size(); ++j) {
        const double weight = held.weight[j], d = held.centre[j] - found.m, square = d * d + held.variance[j];
        const double u = (degrees + 1.0) / (degrees + square * found.a / found.b + 1.0 / found.k);
        rows += weight;
        total += weight * u;
        first += weight * u * d;
        second += weight * u * square;
        own += weight * (power * std::log(u) - 0.5 * degrees * (u - 1.0));
    }
    if (!(rows > 0.0)) return {};
    const double shift = first / total, away = (found.m + shift) * (found.m + shift), part = total / (k + total);
    const double growth = 0.5 * (std::max(second - shift * first, 0.0) + k * part * away), after = b + growth;
    // What a row of weight 1 has: the entropy of its weight, and the density of a normal.
    double each = log_gamma_step(0.5 * degrees, 0.5) - 0.5 * std::log(0.5 * degrees);
    each += 0.5 - power * std::log1p(1.0 / degrees) - 0.5 * std::log(2.0 * PI);
    double value = own + rows * each + log_gamma_step(a, 0.5 * rows) - a * std::log1p(growth / b);
    value -= 0.5 * (rows * std::log(after) + std::log1p(total / k));
    const double pull = (a + 0.5 * rows) / after;
    const double by_k = 0.5 * (part - pull * k * part * part * away);
    double by_a = digamma_step(a, 0.5 * rows) - std::log1p(growth / b);
    by_a += (growth - 0.5 * rows * b / a) / after;
    return {value, {by_k, a * by_a}};
}

// The bound of all classes at log k and log a.
struct StudentEvidence {
    std::vector<Held> classes;
    double variance, degrees;

    StudentEvidence(const In<double, 3>& cells, double variance, double degrees)
        : classes(cells.shape(0)), variance(variance), degrees(degrees) {
        for (std::size_t c = 0; c < classes.size(); ++c)
            classes[c].hold(cells.data() + c * 3 * cells.shape(2), cells.shape(2));
    }
    Bound bound(double k, double a) const {
        Bound sums;
        for (const Held& held : classes) {
            const Bound one = bound_of(held, {0.0, k, a, a * variance}, degrees);
            sums.value += one.value;
            for (std::size_t n = 0; n < 2; ++n) sums.gradient[n] += one.gradient[n];
        }
        check_interrupt();
        return sums;
    }
    double value(const Logs<2>& at) const { return bound(std::exp(at[0]), std::exp(at[1])).value; }
    Logs<2> gradient(const Logs<2>& at) const { return bound(std::exp(at[0]), std::exp(at[1])).gradient; }
};

void require_cells(const In<double, 3>& cells, double degrees) {
    require(cells.shape(1) == 3, "cells are weights, means and variances");
    require(degrees > 0.0 && std::isfinite(degrees), "degrees of freedom of no t");
}

NormalInverseGamma prior_of(double k, double a, double variance) {
    require(k > 0.0 && a > 0.0 && variance > 0.0, "a prior that is none");
    return {0.0, k, a, a * variance};
}

// The NIG of every class, (C, 4), that EM ends with on cells (C, 3, B).
Out<double> fit_students(In<double, 3> cells, double k, double a, double variance, double degrees) {
    require_cells(cells, degrees);
    const NormalInverseGamma prior = prior_of(k, a, variance);
    Out<double> found = make_array<double>({cells.shape(0), 4}, false);
    nb::gil_scoped_release release;
    Held held;
    for (std::size_t c = 0; c < cells.shape(0); ++c) {
        held.hold(cells.data() + c * 3 * cells.shape(2), cells.shape(2));
        const NormalInverseGamma one = held.fit(prior, degrees);
        double* out = found.data() + 4 * c;
        out[0] = one.m, out[1] = one.k, out[2] = one.a, out[3] = one.b;
        check_interrupt();
    }
    return found;
}

std::tuple<double, double, double> student_bound(In<double, 3> cells, double k, double a, double variance,
                                                 double degrees) {
    require_cells(cells, degrees);
    prior_of(k, a, variance);
    nb::gil_scoped_release release;
    const Bound found = StudentEvidence(cells, variance, degrees).bound(k, a);
    return {found.value, found.gradient[0], found.gradient[1]};
}

std::pair<double, double> student_sample_sizes(In<double, 3> cells, double variance, double degrees,
                                               std::pair<double, double> low, std::pair<double, double> high) {
    require_cells(cells, degrees);
    prior_of(low.first, low.second, variance);
    const Axes<2> axes = {axis_between(low.first, high.first, LOOKS), axis_between(low.second, high.second, LOOKS)};
    nb::gil_scoped_release release;
    const Logs<2> at = maximize<2>(StudentEvidence(cells, variance, degrees), axes).at;
    return {std::exp(at[0]), std::exp(at[1])};
}

// The predictive of a NIG (m, k, a, b) and the rows' degrees: a t.
struct StudentT {
    double location, scale, degrees, log_norm;

    // That of the NIG's expectations if `plugged`. Else it is the wider the less sure the location
    // is, and has 1 / (1/v + 1/2a) degrees: v where the scale is certain, and those of a normal's
    // predictive where v is endless.
    StudentT(const NormalInverseGamma& posterior, double rows_degrees, bool plugged)
        : location(posterior.m),
          scale(std::sqrt(posterior.b / posterior.a * (plugged ? 1.0 : 1.0 + 1.0 / posterior.k))),
          degrees(plugged ? rows_degrees : rows_degrees / (1.0 + 0.5 * rows_degrees / posterior.a)),
          log_norm(log_gamma_step(0.5 * degrees, 0.5) - 0.5 * std::log(PI * degrees) - std::log(scale)) {}

    // As far as floats go.
    double log_density(double x) const {
        const double away = x - location, z = away / scale;
        const double tail = std::fabs(z) > FAR ? 2.0 * (std::log(std::fabs(away)) - std::log(scale)) - std::log(degrees)
                                               : std::log1p(z * z / degrees);
        return log_norm - 0.5 * (degrees + 1.0) * tail;
    }
};

std::vector<StudentT> students_of(const In<double, 2>& posterior, double degrees, bool plugged) {
    require(posterior.shape(1) == 4, "a posterior of a class is four numbers");
    std::vector<StudentT> found;
    for (std::size_t c = 0; c < posterior.shape(0); ++c) {
        const double* one = posterior.data() + 4 * c;
        require(one[2] > 0.0 && degrees > 0.0, "a posterior that is none");
        found.emplace_back(NormalInverseGamma{one[0], one[1], one[2], one[3]}, degrees, plugged);
    }
    return found;
}

// Location, scale and degrees, (C, 3), of the classes' t's.
Out<double> student_predictives(In<double, 2> posterior, double degrees, bool plugged) {
    const std::vector<StudentT> students = students_of(posterior, degrees, plugged);
    Out<double> found = make_array<double>({students.size(), 3}, false);
    double* out = found.data();
    for (const StudentT& one : students)
        for (double number : {one.location, one.scale, one.degrees}) *out++ = number;
    return found;
}

// Log densities (n, C) of numbers x (n,) under the classes' NIGs (C, 4); 0 if missing.
Out<double> student_densities(In<double, 1> x, In<double, 2> posterior, double degrees, bool plugged) {
    const std::vector<StudentT> students = students_of(posterior, degrees, plugged);
    const std::size_t classes = students.size();
    Out<double> found = make_array<double>({x.size(), classes}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(x.size(), SCORING * classes);
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i)
            for (std::size_t c = 0; c < classes; ++c)
                found.data()[i * classes + c] = std::isnan(x.data()[i]) ? 0.0 : students[c].log_density(x.data()[i]);
    });
    return found;
}

// Log densities (n,) of numbers x (n,) under their own class, fitted without the row; 0 where a row
// was not learned.
//
// learned, at : (n,) the number that was counted for it, and its cell; -1 if missing
Out<double> student_left_out(In<double, 1> x, In<double, 1> learned, In<std::int32_t, 1> at, In<std::int32_t, 1> codes,
                             In<double, 1> weights, In<double, 3> cells, double k, double a, double variance,
                             double degrees, bool plugged) {
    require_cells(cells, degrees);
    const std::size_t size = cells.shape(2), rows = x.size();
    require(learned.size() == rows && at.size() == rows && codes.size() == rows, "numbers and cells do not fit");
    require_codes(codes, cells.shape(0));
    for (std::size_t i = 0; i < rows; ++i)
        require(at.data()[i] < 0 || static_cast<std::size_t>(at.data()[i]) < size, "cells that there are not");
    const double* weigh = weights_or_null(weights, rows);
    const NormalInverseGamma prior = prior_of(k, a, variance);
    Out<double> found = make_array<double>({rows});
    nb::gil_scoped_release release;
    const Ranges ranges(rows, FITTING);
    in_parallel(ranges.count(), [&](std::size_t range) {
        std::vector<double> mine(3 * size);
        Held held;
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
            const double w = weigh ? weigh[i] : 1.0;
            if (at.data()[i] < 0 || !(w > 0.0)) continue;
            const double* own = cells.data() + static_cast<std::size_t>(codes.data()[i]) * 3 * size;
            std::copy(own, own + 3 * size, mine.begin());
            double* cell = mine.data() + at.data()[i];
            const double n = cell[0], left = n - w;
            cell[0] = 0.0;
            if (left > ROUNDING * n) {
                const double d = learned.data()[i] - cell[size];
                cell[0] = left;
                cell[size] -= w * d / left;
                cell[2 * size] = std::max((cell[2 * size] - w * d * d / left) * n / left, 0.0);
            }
            held.hold(mine.data(), size);
            found.data()[i] = StudentT(held.fit(prior, degrees), degrees, plugged).log_density(x.data()[i]);
        }
    });
    return found;
}

}  // namespace

void bind_student(nb::module_& m) {
    using namespace nb::literals;
    m.def("fit_students", &fit_students, "cells"_a, "k"_a, "a"_a, "variance"_a, "degrees"_a,
          "Return the NIG of each class, (C, 4), that EM ends with on cells (C, 3, B).");
    m.def("student_bound", &student_bound, "cells"_a, "k"_a, "a"_a, "variance"_a, "degrees"_a,
          "Return a lower bound of the log evidence of cells, and its gradients by log k and log a.");
    m.def("student_sample_sizes", &student_sample_sizes, "cells"_a, "variance"_a, "degrees"_a, "low"_a, "high"_a,
          "Return the prior sample sizes k and a with the highest such bound.");
    m.def("student_predictives", &student_predictives, "posterior"_a, "degrees"_a, "plugged"_a,
          "Return location, scale and degrees, (C, 3), of the predictive of NIGs (C, 4).");
    m.def("student_densities", &student_densities, "x"_a, "posterior"_a, "degrees"_a, "plugged"_a,
          "Return the log densities (n, C) of numbers under such t's.");
    m.def("student_left_out", &student_left_out, "x"_a, "learned"_a, "at"_a, "codes"_a, "weights"_a, "cells"_a, "k"_a,
          "a"_a, "variance"_a, "degrees"_a, "plugged"_a,
          "Return the log densities (n,) under each row's own class without the row.");
}

}  // namespace suffice
