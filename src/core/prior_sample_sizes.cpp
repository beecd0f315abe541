// Prior sample sizes: how many rows a prior is worth by the evidence of the tally (docs:
// mathematics, 2 and 6). Here are the evidences; `maximize` searches all of them alike.
#include <cmath>
#include <limits>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "maximize.h"
#include "module.h"
#include "special.h"
#include "threads.h"

namespace suffice {
namespace {

constexpr double LOG_TWO_PI = 1.8378770664093454836;
// Points of the grid for one sample size of all columns, whose evidence may have several maxima, and
// along each axis of those of one column.
constexpr std::size_t MANY_POINTS = 25, FEW_POINTS = 10;
// What a search costs for each count or cell, in the unit of `Ranges`: some gamma functions at
// some dozens of points.
constexpr std::size_t SEARCH = 4096;

// Counts that were forgotten may leave a little less than nothing; what priors are centred on may not.
template <class Array>
void require_positive(const Array& numbers, const char* message) {
    for (std::size_t i = 0; i < numbers.size(); ++i) require(numbers.data()[i] > 0.0, message);
}

// Counts of levels under Dirichlets of s times their shares, with a prior s / (1 + s) of the sample
// size s itself: counts that the classes share nothing of have hardly more evidence
// for a millionth of a row than for one row, and yet the one would make a level that a class of
// four rows lacks impossible.
struct LevelEvidence {
    std::vector<double> counts, shares, totals;  // counts above 0, and sums of each group

    // Of classes (C, K), of which each has groups of so many levels that share all its rows.
    LevelEvidence(const double* table, const double* base, std::size_t classes, std::size_t levels, std::size_t group) {
        for (std::size_t at = 0; at < classes * levels; at += group) {
            double total = 0.0;
            for (std::size_t i = at; i < at + group; ++i) {
                total += table[i];
                if (!(table[i] > 0.0)) continue;
                counts.push_back(table[i]);
                shares.push_back(base[i % levels]);
            }
            if (total > 0.0) totals.push_back(total);
        }
    }

    // Without the prior of the sample size.
    double log_evidence(double size) const {
        double total = 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i) total += log_gamma_step(size * shares[i], counts[i]);
        for (double whole : totals) total -= log_gamma_step(size, whole);
        return total;
    }
    double value(const Logs<1>& at) const { return log_evidence(std::exp(at[0])) - std::log1p(std::exp(-at[0])); }
    Logs<1> gradient(const Logs<1>& at) const {
        const double size = std::exp(at[0]);
        double total = 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i) total += shares[i] * digamma_step(size * shares[i], counts[i]);
        for (double whole : totals) total -= digamma_step(size, whole);
        return {size * total + 1.0 / (1.0 + size)};
    }
};

// Counts of levels under symmetric Dirichlets of one pseudocount. Equal counts are held once, with
// how many there are; so are groups of the same total and number of levels.
struct PseudocountEvidence {
    In<double, 1> counts, times, totals, levels, groups;

    double value(const Logs<1>& at) const {
        const double pseudocount = std::exp(at[0]);
        double gain = 0.0, loss = 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i)
            gain += times.data()[i] * log_gamma_step(pseudocount, counts.data()[i]);
        for (std::size_t g = 0; g < totals.size(); ++g)
            loss += groups.data()[g] * log_gamma_step(pseudocount * levels.data()[g], totals.data()[g]);
        return gain - loss;
    }
    Logs<1> gradient(const Logs<1>& at) const {
        const double pseudocount = std::exp(at[0]);
        double gain = 0.0, loss = 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i)
            gain += times.data()[i] * digamma_step(pseudocount, counts.data()[i]);
        for (std::size_t g = 0; g < totals.size(); ++g)
            loss +=
                groups.data()[g] * levels.data()[g] * digamma_step(pseudocount * levels.data()[g], totals.data()[g]);
        return {pseudocount * (gain - loss)};
    }
};

// Events of one column in rows seen, of each class, whose rates have the prior
// Gamma(rows * centre, rows); but for factorials.
struct EventEvidence {
    const double *seen, *events;
    std::size_t classes, columns;
    double centre;

    double value(const Logs<1>& at) const {
        const double rows = std::exp(at[0]), shape = rows * centre;
        double total = 0.0;
        for (std::size_t i = 0; i < classes * columns; i += columns) {
            total -= shape * std::log1p(seen[i] / rows);
            if (events[i] > 0.0) total += log_gamma_step(shape, events[i]) - events[i] * std::log(rows + seen[i]);
        }
        return total;
    }
    Logs<1> gradient(const Logs<1>& at) const {
        const double rows = std::exp(at[0]);
        double total = 0.0;
        for (std::size_t i = 0; i < classes * columns; i += columns) {
            const double after = rows + seen[i];
            total -= centre * (std::log1p(seen[i] / rows) - seen[i] / after);
            if (events[i] > 0.0) total += centre * digamma_step(rows * centre, events[i]) - events[i] / after;
        }
        return {rows * total};
    }
};

// Cells (a class and a column) under NIG(location, k, a, a * variance), at log k and log a: their
// rows, scatter, and the squared distance of their mean from the location. So many cells after each
// other share one variance.
struct NormalEvidence {
    const double *rows, *scatter, *away;
    std::size_t cells, group;
    double variance;

    struct Group {
        double rows, growth;  // what they add to the shape, twice, and to the scale
    };
    Group add_up(std::size_t first, double k) const {
        Group sums{0.0, 0.0};
        for (std::size_t c = first; c < first + group; ++c) {
            sums.rows += rows[c];
            sums.growth += 0.5 * (scatter[c] + k * rows[c] / (k + rows[c]) * away[c]);
        }
        return sums;
    }
    double value(const Logs<2>& at) const {
        const double k = std::exp(at[0]), a = std::exp(at[1]), before = a * variance;
        double total = 0.0;
        for (std::size_t first = 0; first < cells; first += group) {
            const Group sums = add_up(first, k);
            for (std::size_t c = first; c < first + group; ++c) total -= 0.5 * std::log1p(rows[c] / k);
            total += log_gamma_step(a, 0.5 * sums.rows) - a * std::log1p(sums.growth / before);
            total -= 0.5 * sums.rows * (std::log(before + sums.growth) + LOG_TWO_PI);
        }
        return total;
    }
    Logs<2> gradient(const Logs<2>& at) const {
        const double k = std::exp(at[0]), a = std::exp(at[1]), before = a * variance;
        double by_k = 0.0, by_a = 0.0;
        for (std::size_t first = 0; first < cells; first += group) {
            const Group sums = add_up(first, k);
            const double after = before + sums.growth;
            by_a += digamma_step(a, 0.5 * sums.rows) - std::log1p(sums.growth / before);
            by_a += (sums.growth - 0.5 * sums.rows * variance) / after;
            const double pull = (a + 0.5 * sums.rows) / after;
            for (std::size_t c = first; c < first + group; ++c) {
                const double part = rows[c] / (k + rows[c]);
                by_k += 0.5 * (part - pull * k * part * part * away[c]);
            }
        }
        return {by_k, a * by_a};
    }
};

// Whole rows under a normal-inverse-Wishart prior, at the logs of the rows k that its location is
// worth and of half its degrees f. In units of the prior's own spread the scatters have eigenvalues
// (C, d), or (1, d) if all classes share one; away (C, d) are the ways from the location to the
// classes' means along the eigenvectors. But for units.
struct CovarianceEvidence {
    const double *values, *away, *rows;
    std::size_t classes, d;
    bool tied;
    mutable std::vector<double> inner;
    mutable bool lost = false;  // whether a determinant had no digit left

    double value(const Logs<2>& at) const {
        const double k = std::exp(at[0]), f = 2.0 * std::exp(at[1]), before = f + static_cast<double>(d) - 1.0;
        double total = 0.0, everyone = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            total -= 0.5 * static_cast<double>(d) * std::log1p(rows[c] / k);
            everyone += rows[c];
        }
        for (std::size_t g = 0; g < (tied ? 1 : classes); ++g) {
            const double* own = values + g * d;
            const double learned = tied ? everyone : rows[g];
            for (std::size_t j = 0; j < d; ++j) {
                total += log_gamma_step(0.5 * (before - static_cast<double>(j)), 0.5 * learned);
                // v/2 ln|S| - v'/2 ln|S'|, with the part that cancels left out
                total -= 0.5 * before * std::log1p(own[j] / f) + 0.5 * learned * std::log(f + own[j]);
            }
            const double growth = tied ? shared_growth(k, f) : std::log1p(pull(g, k) * distance(g, g, own, f));
            total -= 0.5 * (before + learned) * growth;
        }
        return std::isfinite(total) ? total : -std::numeric_limits<double>::infinity();
    }
    double pull(std::size_t c, double k) const { return k * rows[c] / (k + rows[c]); }
    double distance(std::size_t c, std::size_t e, const double* own, double f) const {
        double total = 0.0;
        for (std::size_t j = 0; j < d; ++j) total += away[c * d + j] * away[e * d + j] / (f + own[j]);
        return total;
    }
    // log |I + R S^-1 R^T|, S = f + values, the rows of R being means with their pull: by Cholesky.
    double shared_growth(double k, double f) const {
        inner.resize(classes * classes);
        double total = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            double* row = inner.data() + c * classes;
            for (std::size_t e = 0; e <= c; ++e) {
                const double* other = inner.data() + e * classes;
                double part = (c == e ? 1.0 : 0.0) + std::sqrt(pull(c, k) * pull(e, k)) * distance(c, e, values, f);
                for (std::size_t i = 0; i < e; ++i) part -= row[i] * other[i];
                row[e] = e < c ? part / other[e] : std::sqrt(part);
            }
            lost = lost || !(row[c] > 0.0);
            total += 2.0 * std::log(row[c]);
        }
        return total;
    }
};

// Targets under coefficients N(m, scale^2 (L L^T)^-1), at the log of the scale: of known noise, in
// whose units they are, or of one ~ InvGamma(shape, noise_scale). Where prior and rows' precision
// are diagonal, with eigenvalues (d,), targets have the squares (t, d) of their projections.
struct CoefficientEvidence {
    In<double, 1> eigenvalues;
    In<double, 2> squares;
    In<double, 1> yy, rounding, noise_scale;  // (t,); no noise_scale if the noise is known
    double shape;

    double value(const Logs<1>& at) const {
        const double scale = std::exp(at[0]), precision = 1.0 / (scale * scale);
        double shrinkage = 0.0, total = 0.0;
        for (std::size_t j = 0; j < eigenvalues.size(); ++j)
            shrinkage -= 0.5 * std::log1p(scale * scale * eigenvalues.data()[j]);
        for (std::size_t t = 0; t < yy.size(); ++t) {
            const double left = residual(t, precision);
            total +=
                shrinkage - (noise_scale.size() ? shape * std::log(noise_scale.data()[t] + 0.5 * left) : 0.5 * left);
        }
        return total;
    }
    Logs<1> gradient(const Logs<1>& at) const {
        const double scale = std::exp(at[0]), precision = 1.0 / (scale * scale);
        double shrinkage = 0.0, total = 0.0;
        for (std::size_t j = 0; j < eigenvalues.size(); ++j) {
            const double gain = scale * scale * eigenvalues.data()[j];
            shrinkage -= gain / (1.0 + gain);
        }
        for (std::size_t t = 0; t < yy.size(); ++t) {
            const double* own = squares.data() + t * eigenvalues.size();
            double fall = 0.0;  // of half the residual squares
            for (std::size_t j = 0; j < eigenvalues.size(); ++j) {
                const double weight = scale * (eigenvalues.data()[j] + precision);
                fall += own[j] / (weight * weight);
            }
            const double noise =
                noise_scale.size() ? (noise_scale.data()[t] + 0.5 * residual(t, precision)) / shape : 1.0;
            total += shrinkage + fall / noise;
        }
        return {total};
    }
    // What is left of a target's sum of squares.
    double residual(std::size_t t, double precision) const {
        const double* own = squares.data() + t * eigenvalues.size();
        double explained = 0.0;
        for (std::size_t j = 0; j < eigenvalues.size(); ++j) explained += own[j] / (eigenvalues.data()[j] + precision);
        return std::max(yy.data()[t] - explained, rounding.data()[t]);
    }
};

// Any evidence that Python computes: value and gradients as one tuple.
template <std::size_t N>
struct AnyEvidence {
    const nb::callable& function;

    std::vector<double> at(const Logs<N>& at) const {
        const auto found = nb::cast<std::vector<double>>(function(nb::cast(std::vector<double>(at.begin(), at.end()))));
        require(found.size() == N + 1, "an evidence is a value and its gradient");
        return found;
    }
    double value(const Logs<N>& logs) const { return at(logs)[0]; }
    Logs<N> gradient(const Logs<N>& logs) const {
        const std::vector<double> found = at(logs);
        Logs<N> gradients;
        std::copy(found.begin() + 1, found.end(), gradients.begin());
        return gradients;
    }
};

std::pair<std::vector<double>, bool> maximize_any(const nb::callable& evidence, const std::vector<double>& low,
                                                  const std::vector<double>& high, std::size_t points) {
    require(low.size() == high.size() && (low.size() == 1 || low.size() == 2) && points > 1, "one or two unknowns");
    for (std::size_t n = 0; n < low.size(); ++n) require(low[n] <= high[n], "bounds that are none");
    if (low.size() == 1) {
        const auto found = maximize<1>(AnyEvidence<1>{evidence}, {Axis(low[0], high[0], points)});
        return {{found.at[0]}, found.flat};
    }
    const auto found =
        maximize<2>(AnyEvidence<2>{evidence}, {Axis(low[0], high[0], points), Axis(low[1], high[1], points)});
    return {{found.at[0], found.at[1]}, found.flat};
}

void require_levels(const In<double, 3>& counts, const In<double, 2>& shares, std::size_t group) {
    require(shares.shape(0) == counts.shape(0) && shares.shape(1) == counts.shape(2), "counts and shares do not fit");
    // A column that no row has a cell of has no levels, and no groups of them.
    require(counts.shape(2) == 0 || (group > 0 && counts.shape(2) % group == 0), "levels do not fall into groups");
    bool fine = true;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t levels = counts.shape(2), column = i / (counts.shape(1) * levels);
        const double share = shares.data()[column * levels + i % levels];
        fine = fine && (!(counts.data()[i] > 0.0) || share > 0.0);
    }
    require(fine, "counts of levels that have no share");
}

LevelEvidence levels_of(const In<double, 3>& counts, const In<double, 2>& shares, std::size_t group,
                        std::size_t column) {
    const std::size_t classes = counts.shape(1), levels = counts.shape(2);
    return {counts.data() + column * classes * levels, shares.data() + column * levels, classes, levels, group};
}

// The sample sizes of columns (n,) with counts (n, C, K) and shares (n, K), whose levels fall into
// groups: a class's rows are all in each of them.
Out<double> level_sample_sizes(In<double, 3> counts, In<double, 2> shares, std::size_t group,
                               std::pair<double, double> ends) {
    require_levels(counts, shares, group);
    const Axes<1> axes = {axis_between(ends.first, ends.second, FEW_POINTS)};
    Out<double> sizes = make_array<double>({counts.shape(0)}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(counts.shape(0), SEARCH * counts.shape(1) * counts.shape(2));
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t j = ranges.start(range); j < ranges.stop(range); ++j)
            sizes.data()[j] = std::exp(maximize<1>(levels_of(counts, shares, group, j), axes).at[0]);
    });
    return sizes;
}

// Log evidence of such columns, or its gradient by the log of their sample sizes.
template <bool Gradient>
Out<double> level_evidence(In<double, 3> counts, In<double, 2> shares, std::size_t group, In<double, 1> sizes) {
    require_levels(counts, shares, group);
    require(sizes.size() == counts.shape(0), "columns and sample sizes do not fit");
    require_positive(sizes, "sample sizes of 0 and below");
    Out<double> found = make_array<double>({sizes.size()}, false);
    for (std::size_t j = 0; j < sizes.size(); ++j) {
        const LevelEvidence evidence = levels_of(counts, shares, group, j);
        const double size = sizes.data()[j];
        found.data()[j] =
            Gradient ? evidence.gradient({std::log(size)})[0] - 1.0 / (1.0 + size) : evidence.log_evidence(size);
    }
    return found;
}

PseudocountEvidence pseudocounts_of(In<double, 1> counts, In<double, 1> times, In<double, 1> totals,
                                    In<double, 1> levels, In<double, 1> groups) {
    require(counts.size() == times.size() && totals.size() == levels.size() && totals.size() == groups.size(),
            "counts and groups do not fit");
    require_positive(levels, "groups without levels");
    return {counts, times, totals, levels, groups};
}

double best_pseudocount(In<double, 1> counts, In<double, 1> times, In<double, 1> totals, In<double, 1> levels,
                        In<double, 1> groups, std::pair<double, double> ends, double otherwise) {
    const PseudocountEvidence evidence = pseudocounts_of(counts, times, totals, levels, groups);
    const Axes<1> axes = {axis_between(ends.first, ends.second, MANY_POINTS)};
    nb::gil_scoped_release release;
    const Maximum<1> found = maximize<1>(evidence, axes);
    return found.flat ? otherwise : std::exp(found.at[0]);
}

void require_events(const In<double, 2>& seen, const In<double, 2>& events, const In<double, 1>& centre) {
    require(seen.shape(0) == events.shape(0) && seen.shape(1) == events.shape(1) && seen.shape(1) == centre.size(),
            "rows and events do not fit");
    require_positive(centre, "rates of 0 and below");
}

EventEvidence events_of(const In<double, 2>& seen, const In<double, 2>& events, const In<double, 1>& centre,
                        std::size_t j) {
    return {seen.data() + j, events.data() + j, seen.shape(0), seen.shape(1), centre.data()[j]};
}

Out<double> event_sample_sizes(In<double, 2> seen, In<double, 2> events, In<double, 1> centre,
                               std::pair<double, double> ends, double otherwise) {
    require_events(seen, events, centre);
    const Axes<1> axes = {axis_between(ends.first, ends.second, MANY_POINTS)};
    Out<double> sizes = make_array<double>({centre.size()}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(centre.size(), SEARCH * seen.shape(0));
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t j = ranges.start(range); j < ranges.stop(range); ++j) {
            const Maximum<1> found = maximize<1>(events_of(seen, events, centre, j), axes);
            sizes.data()[j] = found.flat ? otherwise : std::exp(found.at[0]);
        }
    });
    return sizes;
}

auto event_evidence(In<double, 2> seen, In<double, 2> events, In<double, 1> centre, double size) {
    require_events(seen, events, centre);
    require(size > 0.0, "sample sizes of 0 and below");
    Out<double> values = make_array<double>({centre.size()}, false),
                gradients = make_array<double>({centre.size()}, false);
    for (std::size_t j = 0; j < centre.size(); ++j) {
        const EventEvidence evidence = events_of(seen, events, centre, j);
        values.data()[j] = evidence.value({std::log(size)});
        gradients.data()[j] = evidence.gradient({std::log(size)})[0];
    }
    return std::make_pair(values, gradients);
}

void require_cells(const In<double, 2>& rows, const In<double, 2>& scatter, const In<double, 2>& away,
                   const In<double, 1>& variance, std::size_t group) {
    for (const auto* one : {&scatter, &away})
        require(one->shape(0) == rows.shape(0) && one->shape(1) == rows.shape(1), "parts of cells do not fit");
    require(variance.size() == rows.shape(0), "cells and variances do not fit");
    require(group > 0 && rows.shape(1) % group == 0, "cells do not fall into groups");
}

NormalEvidence normals_of(const In<double, 2>& rows, const In<double, 2>& scatter, const In<double, 2>& away,
                          const In<double, 1>& variance, std::size_t group, std::size_t j) {
    const std::size_t cells = rows.shape(1), first = j * cells;
    return {rows.data() + first, scatter.data() + first, away.data() + first, cells, group, variance.data()[j]};
}

// The sample sizes of mean and variance, (n, 2), by cells (n, m).
Out<double> normal_sample_sizes(In<double, 2> rows, In<double, 2> scatter, In<double, 2> away, In<double, 1> variance,
                                std::size_t group, std::pair<double, double> low, std::pair<double, double> high) {
    require_cells(rows, scatter, away, variance, group);
    const Axes<2> axes = {axis_between(low.first, high.first, FEW_POINTS),
                          axis_between(low.second, high.second, FEW_POINTS)};
    Out<double> sizes = make_array<double>({rows.shape(0), 2}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(rows.shape(0), SEARCH * rows.shape(1));
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t j = ranges.start(range); j < ranges.stop(range); ++j) {
            const Logs<2> at = maximize<2>(normals_of(rows, scatter, away, variance, group, j), axes).at;
            for (std::size_t n = 0; n < 2; ++n) sizes.data()[2 * j + n] = std::exp(at[n]);
        }
    });
    return sizes;
}

auto normal_evidence(In<double, 2> rows, In<double, 2> scatter, In<double, 2> away, In<double, 1> variance,
                     std::size_t group, double k, double a) {
    require_cells(rows, scatter, away, variance, group);
    require(k > 0.0 && a > 0.0, "sample sizes of 0 and below");
    Out<double> values = make_array<double>({rows.shape(0)}, false),
                gradients = make_array<double>({rows.shape(0), 2}, false);
    for (std::size_t j = 0; j < rows.shape(0); ++j) {
        const NormalEvidence evidence = normals_of(rows, scatter, away, variance, group, j);
        values.data()[j] = evidence.value({std::log(k), std::log(a)});
        const Logs<2> gradient = evidence.gradient({std::log(k), std::log(a)});
        std::copy(gradient.begin(), gradient.end(), gradients.data() + 2 * j);
    }
    return std::make_pair(values, gradients);
}

CovarianceEvidence covariances_of(const In<double, 2>& values, const In<double, 2>& away, const In<double, 1>& rows,
                                  bool tied) {
    const std::size_t classes = away.shape(0), d = away.shape(1);
    require(values.shape(0) == (tied ? 1 : classes) && values.shape(1) == d && rows.size() == classes,
            "eigenvalues, means and rows do not fit");
    return {values.data(), away.data(), rows.data(), classes, d, tied, {}};
}

// The sample sizes of the location and, half, of the covariance; NaN if means are so far away that
// a determinant has no digit left.
std::pair<double, double> covariance_sample_sizes(In<double, 2> values, In<double, 2> away, In<double, 1> rows,
                                                  bool tied, std::pair<double, double> low,
                                                  std::pair<double, double> high) {
    const CovarianceEvidence evidence = covariances_of(values, away, rows, tied);
    // From hardly any row to more than most data have: 0.01, 0.1, ..., 100.
    const double first = std::log(0.01), spacing = std::log(10.0);
    Axes<2> axes = {axis_between(low.first, high.first, 2), axis_between(low.second, high.second, 2)};
    for (Axis& axis : axes) axis = {axis.low, axis.high, 5, first, spacing};
    nb::gil_scoped_release release;
    const Logs<2> at = maximize<2>(evidence, axes).at;
    constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
    return evidence.lost ? std::make_pair(NONE, NONE) : std::make_pair(std::exp(at[0]), std::exp(at[1]));
}

double covariance_evidence(In<double, 2> values, In<double, 2> away, In<double, 1> rows, bool tied, double k,
                           double half) {
    require(k > 0.0 && half > 0.0, "sample sizes of 0 and below");
    return covariances_of(values, away, rows, tied).value({std::log(k), std::log(half)});
}

CoefficientEvidence coefficients_of(In<double, 1> eigenvalues, In<double, 2> squares, In<double, 1> yy,
                                    In<double, 1> rounding, In<double, 1> noise_scale, double shape) {
    require(squares.shape(0) == yy.size() && squares.shape(1) == eigenvalues.size() && rounding.size() == yy.size(),
            "targets and coefficients do not fit");
    require(noise_scale.size() == 0 || noise_scale.size() == yy.size(), "targets and noise do not fit");
    return {eigenvalues, squares, yy, rounding, noise_scale, shape};
}

// The scale of most evidence between two, or NaN if all are alike.
double best_coefficient_scale(In<double, 1> eigenvalues, In<double, 2> squares, In<double, 1> yy,
                              In<double, 1> rounding, In<double, 1> noise_scale, double shape,
                              std::pair<double, double> ends) {
    const CoefficientEvidence evidence = coefficients_of(eigenvalues, squares, yy, rounding, noise_scale, shape);
    const Axes<1> axes = {axis_between(ends.first, ends.second, 5 * MANY_POINTS)};
    nb::gil_scoped_release release;
    const Maximum<1> found = maximize<1>(evidence, axes);
    return found.flat ? std::numeric_limits<double>::quiet_NaN() : std::exp(found.at[0]);
}

}  // namespace

void bind_prior_sample_sizes(nb::module_& m) {
    using namespace nb::literals;
    m.def("maximize", &maximize_any, "evidence"_a, "low"_a, "high"_a, "points"_a,
          "Return where a function, of value and gradients, is largest, and if it is flat: for tests.");
    m.def("level_sample_sizes", &level_sample_sizes, "counts"_a, "shares"_a, "group"_a, "ends"_a,
          "Return what the prior shares (n, K) of counts (n, C, K) are worth.");
    m.def("level_evidence", &level_evidence<false>, "counts"_a, "shares"_a, "group"_a, "sizes"_a,
          "Return the log evidences (n,) of counts (n, C, K).");
    m.def("level_gradients", &level_evidence<true>, "counts"_a, "shares"_a, "group"_a, "sizes"_a,
          "Return their gradients by the log of the sample sizes: for tests.");
    m.def("best_pseudocount", &best_pseudocount, "counts"_a, "times"_a, "totals"_a, "levels"_a, "groups"_a, "ends"_a,
          "otherwise"_a, "Return the pseudocount with most evidence, or `otherwise` if all are alike.");
    m.def("event_sample_sizes", &event_sample_sizes, "seen"_a, "events"_a, "centre"_a, "ends"_a, "otherwise"_a,
          "Return what prior rates (d,) are worth, or `otherwise` for columns never seen.");
    m.def("event_evidence", &event_evidence, "seen"_a, "events"_a, "centre"_a, "size"_a,
          "Return the log evidences of events, (d,), and their gradients by the log sample size.");
    m.def("normal_sample_sizes", &normal_sample_sizes, "rows"_a, "scatter"_a, "away"_a, "variance"_a, "group"_a,
          "low"_a, "high"_a, "Return what prior means and variances of cells (n, m) are worth, (n, 2).");
    m.def("normal_evidence", &normal_evidence, "rows"_a, "scatter"_a, "away"_a, "variance"_a, "group"_a, "k"_a, "a"_a,
          "Return the log evidences of cells, (n,), and their gradients by log k and log a, (n, 2).");
    m.def("covariance_sample_sizes", &covariance_sample_sizes, "values"_a, "away"_a, "rows"_a, "tied"_a, "low"_a,
          "high"_a, "Return what the prior location is worth, and half of what the prior covariance is.");
    m.def("covariance_evidence", &covariance_evidence, "values"_a, "away"_a, "rows"_a, "tied"_a, "k"_a, "half"_a,
          "Return the log evidence of moments of whole rows.");
    m.def("best_coefficient_scale", &best_coefficient_scale, "eigenvalues"_a, "squares"_a, "yy"_a, "rounding"_a,
          "noise_scale"_a, "shape"_a, "ends"_a,
          "Return the scale of coefficients with most evidence, or NaN if all are alike.");
    m.def(
        "gamma_steps",
        [](double z, double step) {
            require(z > 0.0 && step >= 0.0, "steps of gamma functions below 0");
            return std::make_pair(log_gamma_step(z, step), digamma_step(z, step));
        },
        "z"_a, "step"_a, "Return log Gamma(z + step) - log Gamma(z), and the same of digamma: for tests.");
}

}  // namespace suffice
