// Log densities of rows under independent normals and Student-t's that have not learned the row: by
// arithmetic on the moments of all rows (docs: mathematics, section 3).
//
// Entry points return scores (n, C), and which rows need a refit (n,): too few digits, or nothing,
// are left of the moments of their class. Scores of such rows are of no use.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "loops/checks.h"
#include "loops/leave_one_out.h"
#include "module.h"
#include "special.h"
#include "threads.h"

namespace suffice {
namespace {

// Rows that are copied together.
constexpr std::size_t BLOCK = 64;
// 1 / (1 + u) is 1 - u, and log(1 + u) is u, to 1e-14 for u up to this.
constexpr double NEARLY_NOTHING = 1e-7;

// Rows start..stop as doubles in C order: where they are, or copied to `buffer`.
using ReadRows = std::function<const double*(std::size_t start, std::size_t stop, double* buffer)>;

template <class T>
ReadRows reader_of(const Cells<T>& x) {
    return [x](std::size_t start, std::size_t stop, double* buffer) -> const double* {
        if constexpr (std::is_same_v<T, double>) {
            return x.block(start, stop, buffer);
        } else {
            std::vector<T> room(x.room(stop - start));
            const T* block = x.block(start, stop, room.data());
            std::transform(block, block + (stop - start) * x.columns, buffer,
                           [](T cell) { return static_cast<double>(cell); });
            return buffer;
        }
    };
}

template <class T, class Index>
ReadRows reader_of(const SparseCells<T, Index>& x, std::size_t columns) {
    return [x, columns](std::size_t start, std::size_t stop, double* buffer) -> const double* {
        std::fill_n(buffer, (stop - start) * columns, 0.0);
        double* row = buffer;
        for (std::size_t i = start; i < stop; ++i, row += columns)
            for (Index at = x.indptr[i]; at < x.indptr[i + 1]; ++at)
                row[x.indices[at]] += static_cast<double>(x.data[at]);
        return buffer;
    };
}

// How all rows are read.
struct Model {
    In<std::int32_t, 1> codes;
    In<double, 1> weights;
    // Weight, origin, sum of x - origin, scatter, and location and pseudo-rows of the prior (0 if
    // there is none), (6, C, d).
    In<double, 3> moments;
    // The squares of the prior and of other classes that share a variance, and what squares are
    // divided by before a row is left out: (C, d), or (C, 1) where features share a variance.
    In<double, 2> others, divisors;
    bool over_classes, over_features;
    // The part of a weight or variance that must be left without a row.
    double kept;

    std::size_t classes() const { return moments.shape(1); }
    std::size_t columns() const { return moments.shape(2); }
    ClassMoments of_class(std::size_t c) const {
        const double* first = moments.data() + c * columns();
        const std::size_t step = classes() * columns();
        return {first, first + step, first + 2 * step, first + 3 * step, first + 4 * step, first + 5 * step};
    }

    std::size_t code(std::size_t row) const { return static_cast<std::size_t>(codes.data()[row]); }
    double row_weight(std::size_t row) const { return weights.shape(0) ? weights.data()[row] : 1.0; }

    void check(const In<double, 2>& scores) const {
        const std::size_t rows = codes.shape(0);
        require(moments.shape(0) == 6, "not six moments");
        weights_or_null(weights, rows);
        require_codes(codes, classes());
        const std::size_t variances = over_features ? 1 : columns();
        for (const auto* one : {&others, &divisors})
            require(one->shape(0) == classes() && one->shape(1) == variances, "moments and sums of squares do not fit");
        require((scores.shape(0) == 0 || scores.shape(0) == rows) && scores.shape(1) == classes(),
                "rows and scores do not fit");
    }
};

// A row, and what is left of its class without it, all (d,).
struct Left {
    std::vector<double> cell;  // 0 where missing
    std::vector<double> seen;  // 0 where missing, else 1
    std::vector<double> weight;
    std::vector<double> squares;             // about mean and location
    std::vector<double> away;                // the cell's distance from the centre, 0 where missing
    std::vector<double> numerator, divisor;  // of the variance
    std::vector<double> room;

    explicit Left(std::size_t columns)
        : cell(columns),
          seen(columns),
          weight(columns),
          squares(columns),
          away(columns),
          numerator(columns),
          divisor(columns),
          room(padded(columns)) {}

    // Leave a row of weight w out of class c.
    void leave_out(const Model& model, const double* x, std::size_t c, double w) {
        const std::size_t columns = cell.size();
        leave_one_out_loops().leave_out(x, model.of_class(c), w, columns,
                                        {cell.data(), seen.data(), weight.data(), squares.data(), away.data()});
        const double *others = model.others.data(), *divisors = model.divisors.data();
        if (model.over_features) {
            const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
            std::fill(numerator.begin(), numerator.end(), others[c] + sum);
            std::fill(divisor.begin(), divisor.end(), divisors[c] - w * std::accumulate(seen.begin(), seen.end(), 0.0));
            return;
        }
        for (std::size_t j = 0; j < columns; ++j) {
            numerator[j] = others[c * columns + j] + squares[j];
            divisor[j] = divisors[c * columns + j] - w * seen[j];
        }
    }

    // Whether too few digits, or nothing, are left of a weight or variance; `floor` is added to
    // variances.
    bool is_too_little(const Model& model, std::size_t c, double floor) const {
        const ClassMoments all = model.of_class(c);
        const std::size_t columns = cell.size();
        const double whole = model.over_features ? std::accumulate(all.scatter, all.scatter + columns, 0.0) : 0.0;
        int little = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            const double spread = numerator[j] + floor * divisor[j];
            little |= !(weight[j] >= model.kept * all.weight[j]) | !(spread > 0.0) | !(divisor[j] > 0.0);
            little |= spread < model.kept * (model.over_features ? whole : all.scatter[j]);
        }
        return little != 0;
    }

    bool is_missing_some() const { return std::find(seen.begin(), seen.end(), 0.0) != seen.end(); }
};

// What entry points return: scores (n, C), of which own classes' or all are new, and the rows that
// need a refit.
using Scores = std::tuple<Out<double>, Out<bool>>;

// Score rows on all threads: score(x, row, left, scores) writes those of a row and says whether they
// can be trusted. `given` are scores that it begins with, or none, which are zeros.
template <class Score>
Scores score_rows(const Model& model, std::size_t rows, const ReadRows& read, const In<double, 2>& given,
                  Score&& score) {
    const std::size_t classes = model.classes(), columns = model.columns();
    require(model.codes.shape(0) == rows, "rows and codes do not fit");
    auto scores = make_array<double>({rows, classes});
    auto needs_refit = make_array<bool>({rows});
    nb::gil_scoped_release release;
    const Ranges ranges(rows, 4 * std::max<std::size_t>({columns, classes, 1}));
    in_parallel(ranges.count(), [&](std::size_t range) {
        std::vector<double> buffer(BLOCK * columns);
        Left left(columns);
        for (std::size_t start = ranges.start(range); start < ranges.stop(range); start += BLOCK) {
            const std::size_t stop = std::min(start + BLOCK, ranges.stop(range));
            const double* block = read(start, stop, buffer.data());
            if (given.shape(0))
                std::copy(given.data() + start * classes, given.data() + stop * classes,
                          scores.data() + start * classes);
            for (std::size_t row = start; row < stop; ++row)
                needs_refit.data()[row] =
                    !score(block + (row - start) * columns, row, left, scores.data() + row * classes);
        }
    });
    return {scores, needs_refit};
}

// ---- Normals ------------------------------------------------------------------------------------

struct Normals : Model {
    In<double, 3> distribution;  // of all rows: means, precisions, log norms, (3, C, d)
    In<double, 2> pooled;        // of all rows: weight, origin, mean of x - origin, scatter, (4, d)
    double smoothing;            // the part of the widest variance of all rows that is added to all
    double widest;               // that variance
    bool only_own;               // whether the scores of other classes are there

    std::vector<double> constants = {};           // (C,): sums of log norms
    std::vector<double> highest = {}, sums = {};  // (C,): of precisions
    // For rows without missing values, of weight 1, whose variances nothing shares: terms
    // of the classes, whether enough is left of a class, and columns by the variance that a row may
    // leave, the widest first.
    std::vector<double> terms = {};
    std::vector<char> is_enough = {};
    std::vector<double> means = {}, precisions = {};  // (C, d), padded
    std::vector<double> all_seen = {};                // (d,): ones
    std::vector<std::size_t> widest_first = {};

    const double* mean(std::size_t c) const { return distribution.data() + c * columns(); }
    const double* precision(std::size_t c) const { return distribution.data() + (classes() + c) * columns(); }
    const double* log_norm(std::size_t c) const { return distribution.data() + (2 * classes() + c) * columns(); }
    const double* pool(std::size_t kind) const { return pooled.data() + kind * columns(); }
    bool is_separate() const { return !over_classes && !over_features; }

    void prepare(const In<double, 2>& scores) {
        check(scores);
        require(distribution.shape(0) == 3 && distribution.shape(1) == classes() && distribution.shape(2) == columns(),
                "moments and normals do not fit");
        require(pooled.shape(0) == 4 && pooled.shape(1) == columns(), "moments and those of all rows do not fit");
        for (std::size_t c = 0; c < classes(); ++c) {
            constants.push_back(std::accumulate(log_norm(c), log_norm(c) + columns(), 0.0));
            sums.push_back(std::accumulate(precision(c), precision(c) + columns(), 0.0));
            highest.push_back(columns() ? *std::max_element(precision(c), precision(c) + columns()) : 0.0);
        }
        if (is_separate()) make_terms();
        all_seen.assign(columns(), 1.0);
        std::vector<double> most(columns());
        for (std::size_t j = 0; j < columns(); ++j) most[j] = pool(0)[j] > 1.0 ? pool(3)[j] / (pool(0)[j] - 1.0) : 0.0;
        widest_first.resize(columns());
        std::iota(widest_first.begin(), widest_first.end(), std::size_t(0));
        std::sort(widest_first.begin(), widest_first.end(),
                  [&](std::size_t one, std::size_t other) { return most[one] > most[other]; });
    }

    void make_terms() {
        const std::size_t d = columns();
        terms.assign(classes() * terms_size(d), 0.0);
        means.assign(classes() * padded(d), 0.0);
        precisions.assign(classes() * padded(d), 0.0);
        is_enough.assign(classes(), 1);
        for (std::size_t c = 0; c < classes(); ++c) {
            double* mine = terms.data() + c * terms_size(d);
            const ClassMoments all = of_class(c);
            std::copy_n(mean(c), d, means.data() + c * padded(d));
            std::copy_n(precision(c), d, precisions.data() + c * padded(d));
            for (std::size_t j = 0; j < d; ++j) {
                const double n = all.weight[j] - 1.0, divisor = divisors.data()[c * d + j] - 1.0;
                if (!(n > 0.0 && n >= kept * all.weight[j] && divisor > 0.0)) is_enough[c] = 0;
                const double values[TERMS] = {all.origin[j],
                                              all.sum_x[j] / all.weight[j],
                                              all.sum_x[j],
                                              n,
                                              all.scatter[j],
                                              all.weight[j] / n,
                                              all.location[j],
                                              all.pseudo_rows[j],
                                              n / (all.pseudo_rows[j] + n),
                                              others.data()[c * d + j],
                                              1.0 / divisor,
                                              precision(c)[j]};
                for (std::size_t kind = 0; kind < TERMS; ++kind) mine[term_at(kind, j)] = values[kind];
            }
        }
    }

    // The widest variance of all rows without the row x.
    double widest_without(const double* x, double w) const {
        double found = 0.0;
        for (std::size_t j = 0; j < columns(); ++j) {
            const bool missing = x[j] != x[j];
            const double all = pool(0)[j], n = all - (missing ? 0.0 : w);
            const double off = missing ? 0.0 : (x[j] - pool(1)[j]) - pool(2)[j];
            if (n > 0.0) found = std::max(found, (pool(3)[j] - w * all / n * off * off) / n);
        }
        return found;
    }

    // The same of a row of weight 1 without missing values: a column whose scatter could not reach
    // what was found ends the search.
    double widest_without(const double* x) const {
        double found = 0.0;
        for (std::size_t j : widest_first) {
            const double all = pool(0)[j], n = all - 1.0;
            if (!(pool(3)[j] > found * n)) break;
            const double off = (x[j] - pool(1)[j]) - pool(2)[j];
            found = std::max(found, (pool(3)[j] - all / n * off * off) / n);
        }
        return found;
    }

    // The sum of the log norms of the columns seen.
    double constant(std::size_t c, const Left& left, bool missing) const {
        double sum = constants[c];
        for (std::size_t j = 0; j < (missing ? columns() : 0); ++j)
            if (left.seen[j] == 0.0) sum -= log_norm(c)[j];
        return sum;
    }

    // Write the scores of a row; whether they can be trusted.
    bool score(const double* x, std::size_t row, Left& left, double* scores) const {
        const double w = row_weight(row), before = smoothing * widest;
        const bool whole = is_separate() && w == 1.0 && check_loops<double>().finite(x, columns());
        double floor = before;
        if (smoothing > 0.0) {
            const double now = whole ? widest_without(x) : widest_without(x, w);
            floor = smoothing * now;
            if (now < kept * widest) return false;
        }
        return whole ? score_whole(x, code(row), floor, floor - before, left, scores)
                     : score_any(x, code(row), w, floor, floor - before, left, scores);
    }

  private:
    // A row of weight 1 without missing values, whose variances nothing shares; they are `more` than
    // those of all rows.
    bool score_whole(const double* row, std::size_t c, double floor, double more, Left& left, double* scores) const {
        const LeaveOneOutLoops& loops = leave_one_out_loops();
        const std::size_t d = columns();
        double own = 0.0;
        double* x = left.room.data();  // zeros beyond the row
        std::copy_n(row, d, x);
        if (!is_enough[c] || !loops.own(x, terms.data() + c * terms_size(d), d, floor, kept, &own)) return false;
        scores[c] = constants[c] - 0.5 * own;
        for (std::size_t k = 0; k < (only_own ? 0 : classes()); ++k) {
            if (k == c) continue;
            double squares[2];
            if (std::abs(more) * highest[k] <= NEARLY_NOTHING) {
                loops.squares(x, means.data() + k * padded(d), precisions.data() + k * padded(d), d, squares);
                scores[k] = constants[k] - 0.5 * (squares[0] - more * squares[1] + more * sums[k]);
            } else {
                scores[k] = constants[k] - 0.5 * loops.widened(x, all_seen.data(), mean(k), precision(k), more, d);
            }
        }
        return true;
    }

    bool score_any(const double* x, std::size_t c, double w, double floor, double more, Left& left,
                   double* scores) const {
        const LeaveOneOutLoops& loops = leave_one_out_loops();
        const std::size_t d = columns();
        left.leave_out(*this, x, c, w);
        if (w > 0.0 && left.is_too_little(*this, c, floor)) return false;
        const bool missing = left.is_missing_some();
        auto widened = [&](std::size_t k, double by) {
            return constant(k, left, missing) -
                   0.5 * loops.widened(left.cell.data(), left.seen.data(), mean(k), precision(k), by, d);
        };
        if (w == 0.0) {  // nothing is left out
            for (std::size_t k = 0; k < (only_own ? 0 : classes()); ++k) scores[k] = widened(k, 0.0);
            return true;
        }
        LogProduct ratios;
        double own = 0.0;
        std::vector<double>& inverse = left.room;  // of variances, 0 where missing
        for (std::size_t j = 0; j < d; ++j) {
            const double variance = left.numerator[j] / left.divisor[j] + floor;
            if (left.seen[j] != 0.0) ratios.multiply(variance * precision(c)[j]);
            inverse[j] = left.seen[j] / variance;
            own += left.away[j] * left.away[j] * inverse[j];
        }
        const double logs = ratios.log();
        scores[c] = constant(c, left, missing) - 0.5 * (logs + own);
        for (std::size_t k = 0; k < (only_own ? 0 : classes()); ++k) {
            if (k == c) continue;
            if (!over_classes) {
                scores[k] = widened(k, more);
                continue;
            }
            double distance = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double off = left.cell[j] - mean(k)[j];
                distance += off * off * inverse[j];
            }
            scores[k] = constant(k, left, missing) - 0.5 * (logs + distance);
        }
        return true;
    }
};

Scores normals(std::size_t rows, const ReadRows& read, Normals&& model, const In<double, 2>& scores) {
    model.prepare(scores);
    return score_rows(model, rows, read, scores, [&](const double* x, std::size_t row, Left& left, double* out) {
        return model.score(x, row, left, out);
    });
}

// ---- Student-t's --------------------------------------------------------------------------------

struct Students : Model {
    In<double, 2> locations;             // of all rows, (C, d)
    std::vector<double> stretches = {};  // 1 + 1 / rows of all rows, (C, d)

    void prepare(const In<double, 2>& scores) {
        check(scores);
        require(locations.shape(0) == classes() && locations.shape(1) == columns(), "moments and locations do not fit");
        const ClassMoments all = of_class(0);
        for (std::size_t at = 0; at < classes() * columns(); ++at)
            stretches.push_back(1.0 + 1.0 / (all.pseudo_rows[at] + all.weight[at]));
    }

    // Write the scores of a row, where classes share no variance only that of its own class; whether
    // they can be trusted.
    bool score(const double* x, std::size_t row, Left& left, double* scores) const {
        const std::size_t c = code(row), d = columns();
        left.leave_out(*this, x, c, row_weight(row));
        if (left.is_too_little(*this, c, 0.0)) return false;
        for (std::size_t j = 0; j < d; ++j) left.room[j] = 1.0 + 1.0 / (of_class(c).pseudo_rows[j] + left.weight[j]);
        scores[c] = density(left, left.room.data());
        for (std::size_t k = 0; k < (over_classes ? classes() : 0); ++k) {
            if (k == c) continue;
            for (std::size_t j = 0; j < d; ++j)
                left.away[j] = (left.cell[j] - locations.data()[k * d + j]) * left.seen[j];
            scores[k] = density(left, stretches.data() + k * d);
        }
        return true;
    }

  private:
    static constexpr double PI = 3.14159265358979323846;
    static constexpr double HIGH = 1e200;  // a product is taken the logarithm of before it is beyond this

    double density(const Left& left, const double* stretch) const {
        return over_features ? joint_density(left, stretch) : separate_density(left, stretch);
    }

    // The log density of independent t's of squared scales numerator / degrees * stretch, the divisor
    // being the degrees. Neighbours of the same degrees share one gamma function and one logarithm.
    double separate_density(const Left& left, const double* stretch) const {
        double total = 0.0, degrees = 0.0, step = 0.0;
        double beyond = 0.0;  // what the product of 1 + tail has beyond 1, which would hide its digits
        LogProduct spreads;
        for (std::size_t j = 0; j < columns(); ++j) {
            if (left.seen[j] == 0.0) continue;
            const double spread = left.numerator[j] * stretch[j], tail = left.away[j] * left.away[j] / spread;
            if (left.divisor[j] != degrees) {
                total -= 0.5 * (degrees + 1.0) * std::log1p(beyond);
                beyond = 0.0;
                degrees = left.divisor[j];
                step = log_gamma_step(0.5 * degrees, 0.5) - 0.5 * std::log(PI);
            }
            if ((1.0 + beyond) * (1.0 + tail) > HIGH) {
                total -= 0.5 * (degrees + 1.0) * std::log1p(beyond);
                beyond = tail;  // which may be infinite
            } else {
                beyond += tail + beyond * tail;
            }
            spreads.multiply(spread);
            total += step;
        }
        return total - 0.5 * (degrees + 1.0) * std::log1p(beyond) - 0.5 * spreads.log();
    }

    // The log density of the one t of features that share a variance.
    double joint_density(const Left& left, const double* stretch) const {
        if (columns() == 0) return 0.0;
        const double numerator = left.numerator[0], degrees = left.divisor[0];
        double squares = 0.0, cells = 0.0;
        LogProduct stretches;
        for (std::size_t j = 0; j < columns(); ++j) {
            if (left.seen[j] == 0.0) continue;
            cells += 1.0;
            squares += left.away[j] * left.away[j] / stretch[j];
            stretches.multiply(stretch[j]);
        }
        const double logs = stretches.log() + cells * std::log(PI * numerator);
        const double tail = 0.5 * (degrees + cells) * std::log1p(squares / numerator);
        return log_gamma_step(0.5 * degrees, 0.5 * cells) - 0.5 * logs - tail;
    }
};

Scores students(std::size_t rows, const ReadRows& read, Students&& model, const In<double, 2>& scores) {
    model.prepare(scores);
    return score_rows(model, rows, read, scores, [&](const double* x, std::size_t row, Left& left, double* out) {
        return model.score(x, row, left, out);
    });
}

// ---- Entry points -------------------------------------------------------------------------------

using Codes = In<std::int32_t, 1>;
using Weights = In<double, 1>;

template <class Score>
Scores with_dense(const AnyRows& X, const In<double, 3>& moments, Score&& score) {
    require(X.shape(1) == moments.shape(2), "rows and moments do not fit");
    return with_cells(X, [&](auto x) { return score(x.rows, reader_of(x)); });
}

template <class Score>
Scores with_stored(const AnyVector& data, const AnyVector& indices, const AnyVector& indptr,
                   const In<double, 3>& moments, Score&& score) {
    return with_sparse(data, indices, indptr, moments.shape(2),
                       [&](auto x) { return score(x.rows, reader_of(x, moments.shape(2))); });
}

}  // namespace

void bind_leave_one_out_moments(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "leave_one_out_normal",
        [](AnyRows X, Codes codes, Weights weights, In<double, 3> moments, In<double, 2> others, In<double, 2> divisors,
           bool over_classes, bool over_features, double kept, In<double, 3> distribution, In<double, 2> pooled,
           double smoothing, double widest, In<double, 2> scores) {
            return with_dense(X, moments, [&](std::size_t rows, const ReadRows& read) {
                return normals(rows, read,
                               {{codes, weights, moments, others, divisors, over_classes, over_features, kept},
                                distribution,
                                pooled,
                                smoothing,
                                widest,
                                scores.shape(0) > 0},
                               scores);
            });
        },
        "X"_a, "codes"_a, "weights"_a, "moments"_a, "others"_a, "divisors"_a, "over_classes"_a, "over_features"_a,
        "kept"_a, "distribution"_a, "pooled"_a, "smoothing"_a, "widest"_a, "scores"_a,
        "Return normal log densities without the row (n, C), and the rows that need a refit (n,).");
    m.def(
        "leave_one_out_sparse_normal",
        [](AnyVector data, AnyVector indices, AnyVector indptr, Codes codes, Weights weights, In<double, 3> moments,
           In<double, 2> others, In<double, 2> divisors, bool over_classes, bool over_features, double kept,
           In<double, 3> distribution, In<double, 2> pooled, double smoothing, double widest, In<double, 2> scores) {
            return with_stored(data, indices, indptr, moments, [&](std::size_t rows, const ReadRows& read) {
                return normals(rows, read,
                               {{codes, weights, moments, others, divisors, over_classes, over_features, kept},
                                distribution,
                                pooled,
                                smoothing,
                                widest,
                                scores.shape(0) > 0},
                               scores);
            });
        },
        "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "moments"_a, "others"_a, "divisors"_a,
        "over_classes"_a, "over_features"_a, "kept"_a, "distribution"_a, "pooled"_a, "smoothing"_a, "widest"_a,
        "scores"_a, "Return normal log densities without the row (n, C), and the rows that need a refit (n,).");
    m.def(
        "leave_one_out_student",
        [](AnyRows X, Codes codes, Weights weights, In<double, 3> moments, In<double, 2> others, In<double, 2> divisors,
           bool over_classes, bool over_features, double kept, In<double, 2> locations, In<double, 2> scores) {
            return with_dense(X, moments, [&](std::size_t rows, const ReadRows& read) {
                return students(
                    rows, read,
                    {{codes, weights, moments, others, divisors, over_classes, over_features, kept}, locations},
                    scores);
            });
        },
        "X"_a, "codes"_a, "weights"_a, "moments"_a, "others"_a, "divisors"_a, "over_classes"_a, "over_features"_a,
        "kept"_a, "locations"_a, "scores"_a,
        "Return Student log densities without the row (n, C), and the rows that need a refit (n,).");
    m.def(
        "leave_one_out_sparse_student",
        [](AnyVector data, AnyVector indices, AnyVector indptr, Codes codes, Weights weights, In<double, 3> moments,
           In<double, 2> others, In<double, 2> divisors, bool over_classes, bool over_features, double kept,
           In<double, 2> locations, In<double, 2> scores) {
            return with_stored(data, indices, indptr, moments, [&](std::size_t rows, const ReadRows& read) {
                return students(
                    rows, read,
                    {{codes, weights, moments, others, divisors, over_classes, over_features, kept}, locations},
                    scores);
            });
        },
        "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "moments"_a, "others"_a, "divisors"_a,
        "over_classes"_a, "over_features"_a, "kept"_a, "locations"_a, "scores"_a,
        "Return Student log densities without the row (n, C), and the rows that need a refit (n,).");
}

}  // namespace suffice
