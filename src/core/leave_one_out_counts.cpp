// Log-likelihoods of rows of counts, levels and events without the row itself: by arithmetic on
// the counts of all rows.
//
// Scores are those of each row's own class, (n,), unless an entry point says otherwise. A score of
// NaN asks the caller for a refit.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "special.h"
#include "threads.h"

namespace suffice {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
// What is left of a count that was the row's own is rounding: 2^-52 times some thousand additions.
constexpr double ROUNDING = 1.0 / (std::int64_t(1) << 40);

// The count without what the row adds to it; 0 where that is rounding.
double without(double count, double added) {
    const double rest = count - added;
    return rest > ROUNDING * count ? rest : 0.0;
}

// Pseudocounts of two axes, of which many may be one number in memory, that numpy broadcasts.
using Pseudocounts = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

struct Broadcast {
    const double* data;
    std::int64_t row_step, column_step;

    explicit Broadcast(const Pseudocounts& numbers)
        : data(numbers.data()), row_step(numbers.stride(0)), column_step(numbers.stride(1)) {}
    double operator()(std::size_t row, std::size_t column) const {
        return data[static_cast<std::int64_t>(row) * row_step + static_cast<std::int64_t>(column) * column_step];
    }
};

void require_shape(const Pseudocounts& numbers, std::size_t rows, std::size_t columns) {
    require(numbers.shape(0) == rows && numbers.shape(1) == columns, "counts and pseudocounts do not fit");
}

// ---- Rows ---------------------------------------------------------------------------------------

// Classes and weights of rows.
struct Labels {
    In<std::int32_t, 1> codes;
    In<double, 1> weights;

    std::size_t code(std::size_t row) const { return static_cast<std::size_t>(codes.data()[row]); }
    double weight(std::size_t row) const { return weights.shape(0) ? weights.data()[row] : 1.0; }

    void check(std::size_t rows, std::size_t classes) const {
        require(codes.shape(0) == rows, "rows and codes do not fit");
        weights_or_null(weights, rows);
        require_codes(codes, classes);
    }

    // The numbers of the rows start..stop, by class and then by weight.
    std::vector<std::size_t> order(std::size_t start, std::size_t stop, std::size_t classes) const {
        std::vector<std::size_t> ends(classes + 1), numbers(stop - start);
        for (std::size_t i = start; i < stop; ++i) ++ends[code(i) + 1];
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        for (std::size_t i = start; i < stop; ++i) numbers[ends[code(i)]++] = i;
        if (weights.shape(0) == 0) return numbers;
        for (std::size_t c = 0, first = 0; c < classes; first = ends[c++])
            std::stable_sort(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                             numbers.begin() + static_cast<std::ptrdiff_t>(ends[c]),
                             [&](std::size_t one, std::size_t other) { return weight(one) < weight(other); });
        return numbers;
    }
};

// Some rows, read one at a time: each(row, use) calls use(column, cell) for every cell of a dense row,
// and for every stored cell of a sparse one.
template <class Rows>
struct Reader;

template <class T>
struct Reader<Cells<T>> {
    std::size_t first, columns;
    std::vector<T> buffer;
    const T* block;

    Reader(const Cells<T>& x, std::size_t start, std::size_t stop)
        : first(start), columns(x.columns), buffer(x.room(stop - start)), block(x.block(start, stop, buffer.data())) {}
    static std::size_t cells_per_row(const Cells<T>& x) { return x.columns; }
    template <class Use>
    void each(std::size_t row, Use&& use) const {
        const T* cells = block + (row - first) * columns;
        for (std::size_t j = 0; j < columns; ++j) use(j, static_cast<double>(cells[j]));
    }
};

template <class T, class Index>
struct Reader<SparseCells<T, Index>> {
    const SparseCells<T, Index>& x;

    Reader(const SparseCells<T, Index>& x, std::size_t, std::size_t) : x(x) {}
    static std::size_t cells_per_row(const SparseCells<T, Index>& x) {
        return x.rows == 0 ? 0 : static_cast<std::size_t>(x.indptr[x.rows]) / x.rows;
    }
    template <class Use>
    void each(std::size_t row, Use&& use) const {
        for (Index at = x.indptr[row]; at < x.indptr[row + 1]; ++at)
            use(static_cast<std::size_t>(x.indices[at]), static_cast<double>(x.data[at]));
    }
};

template <class Rows>
constexpr bool is_sparse = false;
template <class T, class Index>
constexpr bool is_sparse<SparseCells<T, Index>> = true;

// A logarithm takes as long as adding up so many cells.
constexpr std::size_t LOGARITHM = 16;

// Write model.score(reader, row, c, w) of all rows; every range has a copy of the model, which may
// hold room.
template <class Model, class Rows>
Out<double> score_rows(const Rows& x, const Labels& labels, const Model& model) {
    auto scores = make_array<double>({x.rows}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(x.rows, LOGARITHM * std::max<std::size_t>(1, Reader<Rows>::cells_per_row(x)));
    in_parallel(ranges.count(), [&](std::size_t range) {
        Model mine(model);
        const Reader<Rows> reader(x, ranges.start(range), ranges.stop(range));
        for (std::size_t row = ranges.start(range); row < ranges.stop(range); ++row)
            scores.data()[row] = mine.score(reader, row, labels.code(row), labels.weight(row));
    });
    return scores;
}

// The same of models that make tables of so many columns whenever class or weight change: rows are
// taken in that order, in few ranges. Dense rows are ordered within their range only, in which they
// may have been copied; of sparse rows, tables would take longer than the rows themselves.
template <class Model, class Rows>
Out<double> score_groups(const Rows& x, const Labels& labels, const Model& model, std::size_t columns,
                         std::size_t classes) {
    auto scores = make_array<double>({x.rows}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(x.rows, LOGARITHM * std::max<std::size_t>(1, Reader<Rows>::cells_per_row(x)),
                        LOGARITHM * columns);
    const std::vector<std::size_t> all =
        is_sparse<Rows> ? labels.order(0, x.rows, classes) : std::vector<std::size_t>();
    in_parallel(ranges.count(), [&](std::size_t range) {
        const std::size_t start = ranges.start(range), stop = ranges.stop(range);
        Model mine(model);
        const Reader<Rows> reader(x, start, stop);
        const std::vector<std::size_t> some =
            is_sparse<Rows> ? std::vector<std::size_t>() : labels.order(start, stop, classes);
        const std::size_t* order = is_sparse<Rows> ? all.data() + start : some.data();
        for (std::size_t at = 0; at < stop - start; ++at) {
            const std::size_t row = order[at];
            scores.data()[row] = mine.score(reader, row, labels.code(row), labels.weight(row));
        }
    });
    return scores;
}

// ---- Words --------------------------------------------------------------------------------------

// The multinomial, or of `polya` that with probabilities integrated out. counts and pseudo are
// (C, V), totals and added (C,) their sums.
struct Words {
    const double *counts, *totals, *added;
    Broadcast pseudo;
    std::size_t columns;
    bool polya;
    std::vector<unsigned char> seen = {};  // (V,), all 1 between rows; made at the first missing value

    template <class Rows>
    double score(const Reader<Rows>& reader, std::size_t row, std::size_t c, double w) {
        const double* mine = counts + c * columns;
        double length = 0.0;
        bool missing = false;
        LogProduct factors;
        reader.each(row, [&](std::size_t v, double x) {
            missing = missing || x != x;
            if (x == 0.0 || x != x) return;
            length += x;
            const double chance = without(mine[v], w * x) + pseudo(c, v);
            if (polya)
                factors.multiply_rising(chance, x);
            else
                factors.multiply(chance, x);
        });
        const double score = factors.log();
        const double total =
            missing ? total_seen(reader, row, c, w * length) : without(totals[c], w * length) + added[c];
        if (total > 0.0) return score - (polya ? log_rising(total, length) : length * std::log(total));
        return polya && length > 0.0 ? -INF : score;
    }

    // The total of the columns that the row has seen, added up: that of all less that of the missing
    // ones may be little.
    template <class Rows>
    double total_seen(const Reader<Rows>& reader, std::size_t row, std::size_t c, double length) {
        if (seen.empty()) seen.assign(columns, 1);
        reader.each(row, [&](std::size_t v, double x) { seen[v] = x == x; });
        double held = 0.0, supposed = 0.0;
        for (std::size_t v = 0; v < columns; ++v) {
            held += seen[v] ? counts[c * columns + v] : 0.0;
            supposed += seen[v] ? pseudo(c, v) : 0.0;
        }
        reader.each(row, [&](std::size_t v, double) { seen[v] = 1; });
        return without(held, length) + supposed;
    }
};

template <class Rows>
Out<double> words(const Rows& x, const Labels& labels, const In<double, 2>& counts, const Pseudocounts& pseudo,
                  const In<double, 1>& totals, const In<double, 1>& added, bool polya) {
    const std::size_t classes = counts.shape(0), columns = counts.shape(1);
    labels.check(x.rows, classes);
    require_shape(pseudo, classes, columns);
    require(totals.shape(0) == classes && added.shape(0) == classes, "counts and totals do not fit");
    const Words model{counts.data(), totals.data(), added.data(), Broadcast(pseudo), columns, polya};
    return score_rows(x, labels, model);
}

// ---- The complement rule ------------------------------------------------------------------------

// The counts of all other classes. A row is among them for every class but its own, so that all
// scores but its own change: those of a row's own class are copied from `scores` (n, C).
//
// counts and pseudo are (V, C), totals and added (C,) their sums. With `norm` the weights of a class
// add up to 1: log_sums (C,) are sums of log(counts + pseudo) where that is finite, and zeros (C,)
// how many words it is not finite for, which then share all the weight.
struct Complement {
    In<double, 2> counts;
    Pseudocounts pseudo;
    In<double, 1> totals, added, log_sums;
    In<std::int64_t, 1> zeros;
    bool norm;

    template <class Rows>
    Out<double> scores(const Rows& x, const Labels& labels, const In<double, 2>& before) const {
        const std::size_t words = counts.shape(0), classes = counts.shape(1);
        labels.check(x.rows, classes);
        require_shape(pseudo, words, classes);
        for (const auto* one : {&totals, &added, &log_sums})
            require(one->shape(0) == classes, "counts and sums do not fit");
        require(zeros.shape(0) == classes, "counts and sums do not fit");
        require(before.shape(0) == x.rows && before.shape(1) == classes, "rows and scores do not fit");
        const Broadcast prior(pseudo);
        auto out = make_array<double>({x.rows, classes}, false);
        nb::gil_scoped_release release;
        const Ranges ranges(x.rows, LOGARITHM * classes * std::max<std::size_t>(1, Reader<Rows>::cells_per_row(x)));
        in_parallel(ranges.count(), [&](std::size_t range) {
            const Reader<Rows> reader(x, ranges.start(range), ranges.stop(range));
            std::vector<Sums> sums(classes);
            for (std::size_t row = ranges.start(range); row < ranges.stop(range); ++row) {
                const std::size_t c = labels.code(row);
                const double w = labels.weight(row);
                for (std::size_t k = 0; k < classes; ++k) sums[k] = Sums{{}, {}, 0.0, 0.0, zeros.data()[k]};
                double length = 0.0;
                reader.each(row, [&](std::size_t v, double cell) {
                    if (cell == 0.0 || cell != cell) return;
                    length += cell;
                    for (std::size_t k = 0; k < classes; ++k)
                        if (k != c) sums[k].add(cell, counts.data()[v * classes + k], w * cell, prior(v, k), norm);
                });
                double* scores = out.data() + row * classes;
                for (std::size_t k = 0; k < classes; ++k) {
                    const double total = without(totals.data()[k], w * length) + added.data()[k];
                    const double log_total = total > 0.0 ? std::log(total) : 0.0;
                    scores[k] = k == c
                                    ? before.data()[row * classes + k]
                                    : sums[k].score(log_total,
                                                    log_sums.data()[k] - static_cast<double>(words) * log_total, norm);
                }
            }
        });
        return out;
    }

  private:
    // What the cells of a row add up to under one class.
    struct Sums {
        LogProduct own;     // of the counts of words that other rows have, to the power of x
        LogProduct change;  // of all counts, by that the row is left out
        double length;      // events of words that other rows have
        double lost;        // events of words that no other row has
        std::int64_t zeros;

        void add(double x, double count, double taken, double prior, bool norm) {
            const double now = count + prior, rest = without(count, taken) + prior;
            if (rest > 0.0) {
                own.multiply(rest, x);
                length += x;
                if (norm) change.multiply(rest / now);
            } else {
                lost += x;
                if (norm && now > 0.0) {
                    change.multiply(1.0 / now);
                    ++zeros;
                }
            }
        }

        // With `all_logs`, the sum of log shares of all words before the row is left out.
        double score(double log_total, double all_logs, bool norm) const {
            const double mine = own.log() - length * log_total;
            if (!norm) return lost > 0.0 ? INF : -mine;
            if (zeros > 0) return lost / static_cast<double>(zeros);
            const double all = all_logs + change.log();
            return mine / (all != 0.0 ? all : 1.0);
        }
    };
};

// ---- Ones ---------------------------------------------------------------------------------------

// log(part / total); of nothing that was ever seen, log 1.
double log_share(double part, double total) { return total > 0.0 ? std::log(part / total) : 0.0; }

// Bernoulli's: present and absent are counts, more and less their pseudocounts, all (C, V). Cells
// are taken as they are if the threshold is NaN. Rows of one class and weight share the score of a
// row of zeros.
struct Ones {
    const double *present, *absent;
    Broadcast more, less;
    std::size_t columns;
    double threshold;
    // Of the class and weight that rows are of: log probabilities of zero (V,), the sum of those that
    // are finite and how many are not, and what a one adds to that sum (V,).
    std::size_t code = 0;
    double weight = NOT_A_NUMBER, zeros = 0.0;
    std::int64_t impossible = 0;
    std::vector<double> zero = {}, log_odds = {};

    double total(std::size_t v) const {
        const std::size_t at = code * columns + v;
        return without(present[at] + absent[at], weight) + more(code, v) + less(code, v);
    }

    void make_tables(std::size_t c, double w) {
        code = c, weight = w, zeros = 0.0, impossible = 0;
        zero.resize(columns), log_odds.resize(columns);
        for (std::size_t v = 0; v < columns; ++v) {
            const double all = total(v);
            zero[v] = log_share(without(absent[c * columns + v], w) + less(c, v), all);
            const bool possible = zero[v] != -INF;
            impossible += !possible;
            zeros += possible ? zero[v] : 0.0;
            log_odds[v] =
                log_share(without(present[c * columns + v], w) + more(c, v), all) - (possible ? zero[v] : 0.0);
        }
    }

    template <class Rows>
    double score(const Reader<Rows>& reader, std::size_t row, std::size_t c, double w) {
        if (c != code || w != weight) make_tables(c, w);
        const bool as_is = threshold != threshold;
        double score = zeros;
        std::int64_t never = impossible;
        reader.each(row, [&](std::size_t v, double x) {
            const double cell = as_is || x != x ? x : x > threshold ? 1.0 : 0.0;
            // Ones and zeros come in an order that nobody can guess.
            score += cell == 1.0 ? log_odds[v] : 0.0;
            never -= cell != 0.0 && zero[v] == -INF;
            if (cell == 0.0 || cell == 1.0) return;
            score -= zero[v] == -INF ? 0.0 : zero[v];
            if (cell == cell) score += score_of_fraction(v, cell);
        });
        return never > 0 ? -INF : score;
    }

    double score_of_fraction(std::size_t v, double x) const {
        const std::size_t at = code * columns + v;
        const double all = total(v), rest = 1.0 - x;
        return x * log_share(without(present[at], weight * x) + more(code, v), all) +
               rest * log_share(without(absent[at], weight * rest) + less(code, v), all);
    }
};

template <class Rows>
Out<double> ones(const Rows& x, const Labels& labels, double threshold, const In<double, 2>& present,
                 const In<double, 2>& absent, const Pseudocounts& more, const Pseudocounts& less) {
    const std::size_t classes = present.shape(0), columns = present.shape(1);
    labels.check(x.rows, classes);
    require(absent.shape(0) == classes && absent.shape(1) == columns, "counts do not fit");
    require_shape(more, classes, columns);
    require_shape(less, classes, columns);
    const Ones model{present.data(), absent.data(), Broadcast(more), Broadcast(less), columns, threshold};
    return score_groups(x, labels, model, columns, classes);
}

// ---- Events -------------------------------------------------------------------------------------

// Poisson's, or of `integrated` rates the negative binomial's, without log x!: seen and sums are the
// weight and the events of each class and column, shape and rate their pseudocounts, all (C, V).
// Rows of one class and weight share the score of a row of zeros. NaN where no row is left to go by.
struct Events {
    const double *seen, *sums;
    Broadcast shape, rate;
    std::size_t columns;
    bool integrated;
    // Of the class and weight that rows are of: how many rows are left, the log-probability of no
    // event divided by the events seen, and itself, all (V,), and its sum; and log(1 + rows) (V,),
    // NaN until it is asked for.
    std::size_t code = 0;
    double weight = NOT_A_NUMBER, zeros = 0.0;
    std::vector<double> rows = {}, silence = {}, zero = {}, log_rows = {};

    void make_tables(std::size_t c, double w) {
        code = c, weight = w, zeros = 0.0;
        rows.resize(columns), silence.resize(columns), zero.resize(columns);
        log_rows.assign(columns, NOT_A_NUMBER);
        for (std::size_t v = 0; v < columns; ++v) {
            rows[v] = without(seen[c * columns + v], w) + rate(c, v);
            silence[v] = rows[v] > 0.0 ? (integrated ? -std::log1p(1.0 / rows[v]) : -1.0 / rows[v]) : NOT_A_NUMBER;
            zero[v] = (sums[c * columns + v] + shape(c, v)) * silence[v];
            zeros += zero[v];
        }
    }

    template <class Rows>
    double score(const Reader<Rows>& reader, std::size_t row, std::size_t c, double w) {
        if (c != code || w != weight) make_tables(c, w);
        double score = zeros;
        LogProduct factors;
        reader.each(row, [&](std::size_t v, double x) {
            if (x == 0.0) return;
            score -= zero[v];
            if (x != x) return;
            const double events = without(sums[c * columns + v], w * x) + shape(c, v);
            score += events * silence[v];
            if (!integrated) return factors.multiply(events / rows[v], x);
            if (log_rows[v] != log_rows[v]) log_rows[v] = std::log1p(rows[v]);
            factors.multiply_rising(events, x);
            score -= x * log_rows[v];
        });
        return score + factors.log();
    }
};

template <class Rows>
Out<double> events(const Rows& x, const Labels& labels, const In<double, 2>& seen, const In<double, 2>& sums,
                   const Pseudocounts& shape, const Pseudocounts& rate, bool integrated) {
    const std::size_t classes = sums.shape(0), columns = sums.shape(1);
    labels.check(x.rows, classes);
    require(seen.shape(0) == classes && seen.shape(1) == columns, "counts do not fit");
    require_shape(shape, classes, columns);
    require_shape(rate, classes, columns);
    const Events model{seen.data(), sums.data(), Broadcast(shape), Broadcast(rate), columns, integrated};
    return score_groups(x, labels, model, columns, classes);
}

// ---- Levels -------------------------------------------------------------------------------------

// counts and pseudo (C, levels of all columns) have column j from offsets[j]. added (C, d) is what the
// pseudocounts of a column add up to, other (C, d) that of a level never seen. highest (d,) is the
// weight of all rows at a column's highest level, infinite where it stays a level without rows: a
// row that is all of it gets NaN, for without it the column has fewer levels.
struct Levels {
    const std::int64_t* offsets;
    const double *counts, *totals, *pseudo, *added, *other;
    std::size_t columns, all_levels;
    std::vector<double> levels, highest;  // (d,)

    template <class Rows>
    double score(const Reader<Rows>& reader, std::size_t row, std::size_t c, double w) {
        LogProduct chances;
        int refit = 0;
        reader.each(row, [&](std::size_t j, double x) {
            if (x != x) return;
            const bool known = x > -1.0 && x < levels[j];
            const std::size_t cell = c * columns + j,
                              at = c * all_levels +
                                   static_cast<std::size_t>(offsets[j] + (known ? static_cast<std::int64_t>(x) : 0));
            refit |= int(known) & int(x >= levels[j] - 1.0) & int(!(highest[j] - w > ROUNDING * highest[j]));
            const double total = without(totals[cell], w) + added[cell];
            const double part = known ? without(counts[at], w) + pseudo[at] : other[cell];
            chances.multiply(total > 0.0 ? part / total : 0.0);
        });
        return refit && w > 0.0 ? NOT_A_NUMBER : chances.log();
    }
};

Out<double> levels(AnyRows X, In<std::int32_t, 1> codes, In<double, 1> weights, In<std::int64_t, 1> offsets,
                   In<std::int64_t, 1> levels, In<double, 1> highest, In<double, 2> counts, In<double, 2> totals,
                   In<double, 2> pseudo, In<double, 2> added, In<double, 2> other) {
    const Labels labels{codes, weights};
    const std::size_t columns = X.shape(1), classes = counts.shape(0), all_levels = counts.shape(1);
    labels.check(X.shape(0), classes);
    require(offsets.shape(0) == columns && levels.shape(0) == columns && highest.shape(0) == columns,
            "rows and levels do not fit");
    require(pseudo.shape(0) == classes && pseudo.shape(1) == all_levels, "counts and pseudocounts do not fit");
    for (const auto* one : {&totals, &added, &other})
        require(one->shape(0) == classes && one->shape(1) == columns, "rows and totals do not fit");
    for (std::size_t j = 0; j < columns; ++j) {
        const std::int64_t offset = offsets.data()[j], many = levels.data()[j],
                           all = static_cast<std::int64_t>(all_levels);
        require(offset >= 0 && offset <= all && many >= 0 && many <= all - offset, "levels beyond their table");
    }
    Levels model{offsets.data(),
                 counts.data(),
                 totals.data(),
                 pseudo.data(),
                 added.data(),
                 other.data(),
                 columns,
                 all_levels,
                 {},
                 {}};
    for (std::size_t j = 0; j < columns; ++j) {
        model.levels.push_back(static_cast<double>(levels.data()[j]));
        model.highest.push_back(std::min(highest.data()[j], std::numeric_limits<double>::max()));
    }
    return with_cells(X, [&](auto x) { return score_rows(x, labels, model); });
}

// ---- Entry points -------------------------------------------------------------------------------

using Codes = In<std::int32_t, 1>;
using Weights = In<double, 1>;

// Call work(x) with dense rows of so many columns.
template <class Work>
Out<double> with_dense(const AnyRows& X, std::size_t columns, Work&& work) {
    require(X.shape(1) == columns, "rows and counts do not fit");
    return with_cells(X, work);
}

}  // namespace

void bind_leave_one_out_counts(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "leave_one_out_words",
        [](AnyRows X, Codes codes, Weights weights, In<double, 2> counts, Pseudocounts pseudo, In<double, 1> totals,
           In<double, 1> added, bool polya) {
            return with_dense(X, counts.shape(1),
                              [&](auto x) { return words(x, {codes, weights}, counts, pseudo, totals, added, polya); });
        },
        "X"_a, "codes"_a, "weights"_a, "counts"_a, "pseudo"_a, "totals"_a, "added"_a, "polya"_a,
        "Return multinomial scores of rows without the row, (n,).");
    m.def(
        "leave_one_out_sparse_words",
        [](AnyVector data, AnyVector indices, AnyVector indptr, Codes codes, Weights weights, In<double, 2> counts,
           Pseudocounts pseudo, In<double, 1> totals, In<double, 1> added, bool polya) {
            return with_sparse(data, indices, indptr, counts.shape(1), [&](auto x) {
                return words(x, {codes, weights}, counts, pseudo, totals, added, polya);
            });
        },
        "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "counts"_a, "pseudo"_a, "totals"_a, "added"_a,
        "polya"_a, "Return multinomial scores of rows without the row, (n,).");
    m.def(
        "leave_one_out_complement",
        [](AnyRows X, Codes codes, Weights weights, In<double, 2> counts, Pseudocounts pseudo, In<double, 1> totals,
           In<double, 1> added, In<double, 1> log_sums, In<std::int64_t, 1> zeros, bool norm, In<double, 2> scores) {
            const Complement model{counts, pseudo, totals, added, log_sums, zeros, norm};
            return with_dense(X, counts.shape(0), [&](auto x) { return model.scores(x, {codes, weights}, scores); });
        },
        "X"_a, "codes"_a, "weights"_a, "counts"_a, "pseudo"_a, "totals"_a, "added"_a, "log_sums"_a, "zeros"_a, "norm"_a,
        "scores"_a, "Return scores of the complement rule without the row, (n, C); those of own classes stay.");
    m.def(
        "leave_one_out_sparse_complement",
        [](AnyVector data, AnyVector indices, AnyVector indptr, Codes codes, Weights weights, In<double, 2> counts,
           Pseudocounts pseudo, In<double, 1> totals, In<double, 1> added, In<double, 1> log_sums,
           In<std::int64_t, 1> zeros, bool norm, In<double, 2> scores) {
            const Complement model{counts, pseudo, totals, added, log_sums, zeros, norm};
            return with_sparse(data, indices, indptr, counts.shape(0),
                               [&](auto x) { return model.scores(x, {codes, weights}, scores); });
        },
        "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "counts"_a, "pseudo"_a, "totals"_a, "added"_a,
        "log_sums"_a, "zeros"_a, "norm"_a, "scores"_a,
        "Return scores of the complement rule without the row, (n, C); those of own classes stay.");
    m.def(
        "leave_one_out_ones",
        [](AnyRows X, Codes codes, Weights weights, double threshold, In<double, 2> present, In<double, 2> absent,
           Pseudocounts more, Pseudocounts less) {
            return with_dense(X, present.shape(1), [&](auto x) {
                return ones(x, {codes, weights}, threshold, present, absent, more, less);
            });
        },
        "X"_a, "codes"_a, "weights"_a, "threshold"_a, "present"_a, "absent"_a, "more"_a, "less"_a,
        "Return Bernoulli scores of rows without the row, (n,).");
    m.def(
        "leave_one_out_sparse_ones",
        [](AnyVector data, AnyVector indices, AnyVector indptr, Codes codes, Weights weights, double threshold,
           In<double, 2> present, In<double, 2> absent, Pseudocounts more, Pseudocounts less) {
            return with_sparse(data, indices, indptr, present.shape(1), [&](auto x) {
                return ones(x, {codes, weights}, threshold, present, absent, more, less);
            });
        },
        "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "threshold"_a, "present"_a, "absent"_a, "more"_a,
        "less"_a, "Return Bernoulli scores of rows without the row, (n,).");
    m.def(
        "leave_one_out_events",
        [](AnyRows X, Codes codes, Weights weights, In<double, 2> seen, In<double, 2> sums, Pseudocounts shape,
           Pseudocounts rate, bool integrated) {
            return with_dense(X, sums.shape(1),
                              [&](auto x) { return events(x, {codes, weights}, seen, sums, shape, rate, integrated); });
        },
        "X"_a, "codes"_a, "weights"_a, "seen"_a, "sums"_a, "shape"_a, "rate"_a, "integrated"_a,
        "Return Poisson scores of rows without the row and without log x!, (n,).");
    m.def(
        "leave_one_out_sparse_events",
        [](AnyVector data, AnyVector indices, AnyVector indptr, Codes codes, Weights weights, In<double, 2> seen,
           In<double, 2> sums, Pseudocounts shape, Pseudocounts rate, bool integrated) {
            return with_sparse(data, indices, indptr, sums.shape(1), [&](auto x) {
                return events(x, {codes, weights}, seen, sums, shape, rate, integrated);
            });
        },
        "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "seen"_a, "sums"_a, "shape"_a, "rate"_a,
        "integrated"_a, "Return Poisson scores of rows without the row and without log x!, (n,).");
    m.def("leave_one_out_levels", &levels, "X"_a, "codes"_a, "weights"_a, "offsets"_a, "levels"_a, "highest"_a,
          "counts"_a, "totals"_a, "pseudo"_a, "added"_a, "other"_a,
          "Return categorical scores of rows without the row, (n,); NaN where a column loses a level.");
}

}  // namespace suffice
