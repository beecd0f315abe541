// Log-likelihoods of counts, levels and zeros and ones, by tables (V, C) of log-probabilities.
//
// Entry points return a row that cannot be scored (an infinite or negative cell), or -1, how many
// rows are impossible, and the answer. Missing values (NaN) are passed over.
#include <algorithm>
#include <cmath>
#include <limits>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "blas.h"
#include "loops/checks.h"
#include "loops/tables.h"
#include "module.h"
#include "scores.h"
#include "special.h"

namespace suffice {
namespace {

constexpr std::int64_t NONE = -1;
constexpr double INF = std::numeric_limits<double>::infinity();

// ---- Scores that are linear in the cells --------------------------------------------------------

// x table + bias (C,). A missing value subtracts its row of missing_bias (V, C), if that is not
// empty, and if exp(table) adds up to one total over the columns takes its share out of it. Cells
// below `lowest` are refused.
struct LinearTable {
    In<double, 2> table;
    In<double, 1> bias;
    In<double, 2> missing_bias;
    double lowest;
    bool one_total;

    std::size_t words() const { return table.shape(0); }
    std::size_t classes() const { return table.shape(1); }

    void check(const In<double, 1>& log_prior) const {
        require(log_prior.shape(0) == classes() && bias.shape(0) == classes(), "classes and table do not fit");
        require(missing_bias.size() == 0 || (missing_bias.shape(0) == words() && missing_bias.shape(1) == classes()),
                "table and bias of missing values do not fit");
    }

    bool is_finite() const { return check_loops<double>().finite(table.data(), table.size()); }

    template <class T>
    bool is_plain(const T* cells, std::size_t size) const {
        return check_loops<T>().finite_from(cells, size, lowest);
    }

    // Add any row to sums (C,), its cells given by value(at) and column(at); say whether it can be
    // taken. A zero adds nothing, even where the table is infinite.
    template <class Value, class Column>
    bool add_row(std::size_t cells, Value&& value, Column&& column, double* sums) const {
        double length = 0.0;
        bool missing = false;
        for (std::size_t at = 0; at < cells; ++at) {
            const double x = value(at);
            const std::size_t j = column(at);
            if (x != x) {
                missing = true;
                for (std::size_t c = 0; c < classes() && missing_bias.size() > 0; ++c)
                    sums[c] -= missing_bias.data()[j * classes() + c];
            } else if (std::isinf(x) || x < lowest) {
                return false;
            } else if (x != 0.0) {
                length += x;
                for (std::size_t c = 0; c < classes(); ++c) sums[c] += x * table.data()[j * classes() + c];
            }
        }
        if (!one_total || !missing || length == 0.0) return true;
        // Added up over the columns that are seen: 1 less the others would lose a small rest.
        std::vector<char> seen(words(), 1);
        for (std::size_t at = 0; at < cells; ++at)
            if (value(at) != value(at)) seen[column(at)] = 0;
        for (std::size_t c = 0; c < classes(); ++c) {
            double total = 0.0;
            for (std::size_t v = 0; v < words(); ++v)
                if (seen[v]) total += std::exp(table.data()[v * classes() + c]);
            if (total > 0.0) sums[c] -= length * std::log(total);
        }
        return true;
    }
};

// Rows of a dense table that are multiplied at once.
constexpr std::size_t BLOCK = 64;

Answers table_scores(AnyRows X, In<double, 2> table, In<double, 1> bias, In<double, 2> missing_bias, double lowest,
                     bool one_total, In<double, 1> log_prior, const std::string& answer) {
    const LinearTable model{table, bias, missing_bias, lowest, one_total};
    model.check(log_prior);
    const std::size_t columns = model.words(), classes = model.classes();
    require(X.shape(1) == columns, "rows and table do not fit");
    const bool finite = model.is_finite();
    const Blas& library = blas();
    return with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return answer_rows(
            x.rows, columns, log_prior, answer_of(answer), [&](std::size_t start, std::size_t stop, double* joint) {
                std::vector<T> buffer(x.room(BLOCK));
                std::vector<double> numbers(std::is_same_v<T, double> ? 0 : BLOCK * columns);
                for (std::size_t first = start; first < stop; first += BLOCK) {
                    const std::size_t rows = std::min(BLOCK, stop - first);
                    const T* block = x.block(first, first + rows, buffer.data());
                    double* scores = joint + (first - start) * classes;
                    for (std::size_t at = 0; at < rows * classes; ++at) scores[at] += bias.data()[at % classes];
                    if (finite && model.is_plain(block, rows * columns)) {
                        const double* cells;
                        if constexpr (std::is_same_v<T, double>) {
                            cells = block;
                        } else {
                            std::copy_n(block, rows * columns, numbers.data());
                            cells = numbers.data();
                        }
                        if (columns > 0)
                            library.multiply(cells, columns, false, table.data(), classes, false, rows, columns,
                                             classes, 1.0, scores, classes);
                        continue;
                    }
                    for (std::size_t i = 0; i < rows; ++i) {
                        const T* row = block + i * columns;
                        auto value = [&](std::size_t at) { return static_cast<double>(row[at]); };
                        if (!model.add_row(columns, value, [](std::size_t at) { return at; }, scores + i * classes))
                            return static_cast<std::int64_t>(first - start + i);
                    }
                }
                return NONE;
            });
    });
}

// The stored cells of a sparse row as doubles.
template <class T>
const double* as_doubles(const T* cells, std::size_t size, std::vector<double>& buffer) {
    if constexpr (std::is_same_v<T, double>) {
        return cells;
    } else {
        buffer.assign(cells, cells + size);
        return buffer.data();
    }
}

// Cells that a sparse row has on average, as far as time goes.
template <class T, class Index>
std::size_t cells_per_row(const SparseCells<T, Index>& x) {
    return x.rows == 0 ? 0 : static_cast<std::size_t>(x.indptr[x.rows]) / x.rows;
}

Answers sparse_table_scores(AnyVector data, AnyVector indices, AnyVector indptr, In<double, 2> table,
                            In<double, 1> bias, In<double, 2> missing_bias, double lowest, bool one_total,
                            In<double, 1> log_prior, const std::string& answer) {
    const LinearTable model{table, bias, missing_bias, lowest, one_total};
    model.check(log_prior);
    const std::size_t classes = model.classes();
    const bool finite = model.is_finite();
    return with_unchecked_sparse(data, indices, indptr, [&](auto x) {
        using Index = std::decay_t<decltype(*x.indices)>;
        const TableLoops<Index>& loops = table_loops<Index>();
        return answer_rows(
            x.rows, cells_per_row(x), log_prior, answer_of(answer),
            [&](std::size_t begin, std::size_t end, double* joint) {
                std::int64_t refused = NONE;
                std::vector<double> buffer;
                x.each_block(begin, end, [&](std::size_t start, std::size_t stop) {
                    require_within(x.is_within(start, stop, model.words()));
                    const bool plain = finite && model.is_plain(x.data + x.indptr[start], x.cells(start, stop));
                    for (std::size_t i = start; i < stop && refused == NONE; ++i) {
                        double* sums = joint + (i - begin) * classes;
                        for (std::size_t c = 0; c < classes; ++c) sums[c] += bias.data()[c];
                        const Index first = x.indptr[i];
                        const std::size_t cells = x.cells(i, i + 1);
                        if (plain) {
                            const StoredCells<Index> row{x.indices + first, x.indices + x.indptr[stop], cells};
                            loops.add_linear(as_doubles(x.data + first, cells, buffer), row, table.data(), classes,
                                             sums);
                            continue;
                        }
                        auto value = [&](std::size_t at) {
                            return static_cast<double>(x.data[static_cast<std::size_t>(first) + at]);
                        };
                        auto column = [&](std::size_t at) {
                            return static_cast<std::size_t>(x.indices[static_cast<std::size_t>(first) + at]);
                        };
                        if (!model.add_row(cells, value, column, sums)) refused = static_cast<std::int64_t>(i - begin);
                    }
                    return refused == NONE;
                });
                return refused;
            });
    });
}

// ---- The best of many classes, screened ---------------------------------------------------------

// A table of log-probabilities does not fit the near caches, and reading it is most of what scoring
// costs. So each word's row is rounded to small whole numbers, (value - middle) / step; scores made
// of them are off by at most half a step a count, and where several classes are within that bound
// of the best, these are scored exactly. The answer is the one of exact scores.
//
// A row of few classes fills one line of cache in two bytes each, and all rows have one step, so
// that nothing else is read; rows of many classes have one byte each and a step of their own.
class RoundedTable {
  public:
    explicit RoundedTable(In<double, 2> table)
        : words(table.shape(0)),
          classes(table.shape(1)),
          fine(classes <= FINE_COLUMNS),
          columns(fine ? FINE_COLUMNS : (classes + REGISTER - 1) / REGISTER * REGISTER) {
        require(classes > 0 || words == 0, "a table without classes");
        nb::gil_scoped_release release;
        memory_.resize(words * columns * (fine ? 2 : 1) + LINE);
        // From a multiple of a line of cache on, so that a row begins a line.
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory_.data());
        codes_ = memory_.data() + (LINE - begin % LINE) % LINE;
        std::vector<double> middles(words), widths(words);
        const Ranges ranges(words, classes);
        in_parallel(ranges.count(), [&](std::size_t range) {
            for (std::size_t v = ranges.start(range); v < ranges.stop(range); ++v) {
                const double* row = table.data() + v * classes;
                double ends[2];
                round_loops().find_ends(row, classes, ends);
                middles[v] = 0.5 * (ends[0] + ends[1]);
                widths[v] = ends[1] - ends[0];
                // Rounded to whole numbers, NaN or infinity could be any.
                require(
                    check_loops<double>().finite(row, classes) && std::isfinite(middles[v]) && std::isfinite(widths[v]),
                    "a table that is not finite");
            }
        });
        double widest = 0.0;
        for (double width : widths) widest = std::max(widest, width);
        steps.resize(fine ? 1 : words);
        for (std::size_t k = 0; k < steps.size(); ++k)
            steps[k] = std::max((fine ? widest : widths[k]) / (2.0 * room()), MIN_STEP);
        in_parallel(ranges.count(), [&](std::size_t range) {
            for (std::size_t v = ranges.start(range); v < ranges.stop(range); ++v) {
                const double* row = table.data() + v * classes;
                const double inverse = 1.0 / steps[fine ? 0 : v];
                if (fine)
                    round_loops().round_fine(row, classes, middles[v], inverse,
                                             reinterpret_cast<std::int16_t*>(codes_) + v * columns);
                else
                    round_loops().round_coarse(row, classes, middles[v], inverse, codes_ + v * columns);
            }
        });
    }

    float score_step() const { return fine ? static_cast<float>(steps[0]) : 1.0f; }
    // The largest number of steps.
    double room() const { return fine ? 32767.0 : 127.0; }

    // Write the scores of a row in units of `score_step`, but for what all classes share, to scores
    // (columns,); return how large its steps are together.
    template <class T, class Index>
    double score(const T* data, const StoredCells<Index>& row, std::vector<double>& buffer, std::vector<float>& factors,
                 float* scores) const {
        if (factors.size() < row.cells) factors.resize(row.cells);
        const double* cells = as_doubles(data, row.cells, buffer);
        const TableLoops<Index>& loops = table_loops<Index>();
        const double size = loops.to_factors(cells, row, fine ? nullptr : steps.data(), factors.data());
        if (!fine) {
            loops.add_coarse(factors.data(), row, codes_, columns, scores);
            return size;
        }
        loops.add_fine(factors.data(), row, reinterpret_cast<const std::int16_t*>(codes_), scores);
        return steps[0] * size;
    }

    const std::size_t words, classes;
    const bool fine;
    const std::size_t columns;
    std::vector<double> steps;  // (1,) or (V,)

  private:
    // Bytes in a line of cache and in the widest vector register; a word that all classes have alike needs a
    // step too.
    static constexpr std::size_t LINE = 64, REGISTER = 64;
    static constexpr double MIN_STEP = 1e-290;
    std::vector<std::int8_t> memory_;
    std::int8_t* codes_;
};

// What rounding to steps takes away from a count.
constexpr double HALF_A_STEP = 0.5 + 1e-9;
// Half a unit in the last place of a float32: what one addition may round away, relative.
constexpr double UNIT = 1.0 / (1 << 24);

// The best class of sparse rows under a finite table and its rounding, (n,); none if a row has a cell
// that is missing, infinite or below `lowest`.
std::optional<Out<std::int64_t>> best_screened(AnyVector data, AnyVector indices, AnyVector indptr, In<double, 2> table,
                                               const RoundedTable& rounded, In<double, 1> log_prior, double lowest) {
    const std::size_t classes = table.shape(1);
    require(log_prior.shape(0) == classes && classes > 0, "classes and table do not fit");
    require(rounded.words == table.shape(0) && rounded.classes == classes, "a table and the rounding of another");
    const LinearTable model{table, log_prior, In<double, 2>(make_array<double>({0, 0})), lowest, false};
    auto best = make_array<std::int64_t>({indptr.shape(0) > 0 ? indptr.shape(0) - 1 : 0}, false);
    bool plain = true;
    {
        nb::gil_scoped_release release;
        double largest = 0.0;
        for (std::size_t c = 0; c < classes; ++c)
            if (std::isfinite(log_prior.data()[c])) largest = std::max(largest, std::abs(log_prior.data()[c]));
        std::vector<float> prior(log_prior.data(), log_prior.data() + classes);
        plain = with_unchecked_sparse(data, indices, indptr, [&](auto x) {
            using Index = std::decay_t<decltype(*x.indices)>;
            const Ranges ranges(x.rows, std::max(classes, cells_per_row(x)));
            std::vector<char> taken(ranges.count(), 1);
            in_parallel(ranges.count(), [&](std::size_t range) {
                std::vector<float> scores(rounded.columns), factors;
                std::vector<double> buffer;
                x.each_block(ranges.start(range), ranges.stop(range), [&](std::size_t start, std::size_t stop) {
                    require_within(x.is_within(start, stop, table.shape(0)));
                    if (!model.is_plain(x.data + x.indptr[start], x.cells(start, stop))) {
                        taken[range] = 0;
                        return false;
                    }
                    for (std::size_t i = start; i < stop; ++i) {
                        const Index first = x.indptr[i];
                        const StoredCells<Index> row{x.indices + first, x.indices + x.indptr[stop], x.cells(i, i + 1)};
                        const double size = rounded.score(x.data + first, row, buffer, factors, scores.data());
                        const float largest_score =
                            round_loops().add_prior(scores.data(), rounded.score_step(), prior.data(), classes);
                        // Half a step a count, a little more because steps were divided by as products
                        // with their inverse, and what so many roundings of at most `room` steps take away.
                        const double slack = HALF_A_STEP * size + static_cast<double>(row.cells + 8) * UNIT *
                                                                      (rounded.room() * size + largest);
                        const float close = std::nextafterf(
                            static_cast<float>(static_cast<double>(largest_score) - 2.0 * slack), -HUGE_VALF);
                        const std::size_t rivals = round_loops().count_close(scores.data(), close, classes);
                        std::size_t top = static_cast<std::size_t>(
                            std::find(scores.begin(), scores.end(), largest_score) - scores.begin());
                        double highest = -INF;
                        for (std::size_t c = 0; c < classes && rivals != 1; ++c) {
                            if (scores[c] < close) continue;
                            double total = log_prior.data()[c];
                            for (std::size_t at = 0; at < row.cells; ++at)
                                total += static_cast<double>(x.data[static_cast<std::size_t>(first) + at]) *
                                         table.data()[static_cast<std::size_t>(row.indices[at]) * classes + c];
                            if (total > highest) {
                                highest = total;
                                top = c;
                            }
                        }
                        best.data()[i] = static_cast<std::int64_t>(top);
                    }
                    return true;
                });
            });
            return std::all_of(taken.begin(), taken.end(), [](char one) { return one != 0; });
        });
    }
    if (!plain) return std::nullopt;
    return best;
}

// ---- Zeros and ones, levels ---------------------------------------------------------------------

// log_one[v, c] where a cell is above the threshold, log_zero[v, c] where it is not. Where both
// tables are finite, by the sum of all log_zero and a product with the log odds.
Answers binary_scores(AnyRows X, double threshold, In<double, 2> log_one, In<double, 2> log_zero,
                      In<double, 1> log_prior, const std::string& answer) {
    const std::size_t columns = X.shape(1), classes = log_prior.shape(0);
    for (const auto* one : {&log_one, &log_zero})
        require(one->shape(0) == columns && one->shape(1) == classes, "rows and tables do not fit");
    const auto finite = check_loops<double>().finite;
    const bool by_product =
        finite(log_one.data(), log_one.size()) && finite(log_zero.data(), log_zero.size()) && columns > 0;
    std::vector<double> log_odds(by_product ? columns * classes : 0), bias(classes);
    for (std::size_t at = 0; at < log_odds.size(); ++at) {
        log_odds[at] = log_one.data()[at] - log_zero.data()[at];
        bias[at % classes] += log_zero.data()[at];
    }
    const Blas& library = blas();
    return with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return answer_rows(x.rows, columns, log_prior, answer_of(answer),
                           [&](std::size_t start, std::size_t stop, double* joint) {
                               std::vector<T> buffer(x.room(BLOCK));
                               std::vector<double> ones(by_product ? BLOCK * columns : 0);
                               for (std::size_t first = start; first < stop; first += BLOCK, joint += BLOCK * classes) {
                                   const std::size_t rows = std::min(BLOCK, stop - first);
                                   const T* block = x.block(first, first + rows, buffer.data());
                                   for (std::size_t at = 0; at < rows * classes; ++at) joint[at] += bias[at % classes];
                                   for (std::size_t at = 0; at < rows * columns; ++at) {
                                       const double cell = static_cast<double>(block[at]);
                                       const std::size_t i = at / columns, v = at % columns;
                                       const bool one = cell > threshold;
                                       if (std::isinf(cell)) return static_cast<std::int64_t>(first - start + i);
                                       if (by_product) ones[at] = one ? 1.0 : 0.0;
                                       if (by_product && cell == cell) continue;
                                       if (cell != cell && !by_product) continue;
                                       const double* terms = (one ? log_one : log_zero).data() + v * classes;
                                       for (std::size_t c = 0; c < classes; ++c)
                                           joint[i * classes + c] += by_product ? -terms[c] : terms[c];
                                   }
                                   if (by_product)
                                       library.multiply(ones.data(), columns, false, log_odds.data(), classes, false,
                                                        rows, columns, classes, 1.0, joint, classes);
                               }
                               return NONE;
                           });
    });
}

// bias (C,) and log_odds[v, c] for every stored cell above the threshold, which is 0 or more;
// log_zero[v, c] is taken away where a value is missing.
Answers sparse_binary_scores(AnyVector data, AnyVector indices, AnyVector indptr, double threshold,
                             In<double, 2> log_odds, In<double, 2> log_zero, In<double, 1> bias,
                             In<double, 1> log_prior, const std::string& answer) {
    const std::size_t words = log_odds.shape(0), classes = log_prior.shape(0);
    require(log_odds.shape(1) == classes && bias.shape(0) == classes, "classes and tables do not fit");
    require(log_zero.shape(0) == words && log_zero.shape(1) == classes, "tables do not fit");
    return with_sparse(data, indices, indptr, words, [&](auto x) {
        using Index = std::decay_t<decltype(*x.indices)>;
        return answer_rows(x.rows, cells_per_row(x), log_prior, answer_of(answer),
                           [&](std::size_t start, std::size_t stop, double* joint) {
                               std::vector<Index> present;
                               std::vector<double> ones;
                               for (std::size_t i = start; i < stop; ++i, joint += classes) {
                                   for (std::size_t c = 0; c < classes; ++c) joint[c] += bias.data()[c];
                                   present.clear();
                                   for (Index at = x.indptr[i]; at < x.indptr[i + 1]; ++at) {
                                       const double cell = static_cast<double>(x.data[at]);
                                       const Index j = x.indices[at];
                                       if (cell > threshold && !std::isinf(cell))
                                           present.push_back(j);
                                       else if (cell != cell)
                                           for (std::size_t c = 0; c < classes; ++c)
                                               joint[c] -= log_zero.data()[static_cast<std::size_t>(j) * classes + c];
                                       else if (std::isinf(cell))
                                           return static_cast<std::int64_t>(i - start);
                                   }
                                   if (ones.size() < present.size()) ones.resize(present.size(), 1.0);
                                   const StoredCells<Index> row{present.data(), present.data() + present.size(),
                                                                present.size()};
                                   table_loops<Index>().add_linear(ones.data(), row, log_odds.data(), classes, joint);
                               }
                               return NONE;
                           });
    });
}

// Whole numbers beyond it are not all doubles.
constexpr double LARGEST_LEVEL = 9007199254740992.0;

// Add the scores of a row of levels, table (levels of all columns, 2), under two classes. Four sums for
// each class: one alone would wait for itself at every column.
template <class T>
void add_pairs(const T* row, const std::int64_t* offsets, std::size_t columns, const double* table, double* joint) {
    double sums[4][2] = {};
    auto add = [&](std::size_t j, double* sum) {
        const double* scores = table + 2 * static_cast<std::size_t>(offsets[j] + static_cast<std::int64_t>(row[j]));
        sum[0] += scores[0];
        sum[1] += scores[1];
    };
    std::size_t j = 0;
    for (; j + 4 <= columns; j += 4)
        for (std::size_t part = 0; part < 4; ++part) add(j + part, sums[part]);
    for (; j < columns; ++j) add(j, sums[0]);
    for (std::size_t c = 0; c < 2; ++c) joint[c] += (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
}

// The log-probability of each cell's level, table (levels of all columns, C), column j from
// offsets[j] on; a level beyond levels[j] adds unseen (d, C). Fractions are cut off, cells at or
// below -1 and beyond 2^53 refused.
Answers level_scores(AnyRows X, In<std::int64_t, 1> offsets, In<std::int64_t, 1> levels, In<double, 2> table,
                     In<double, 2> unseen, In<double, 1> log_prior, const std::string& answer) {
    const std::size_t columns = X.shape(1), classes = log_prior.shape(0);
    require(offsets.shape(0) == columns && levels.shape(0) == columns && unseen.shape(0) == columns,
            "columns and tables do not fit");
    require(table.shape(1) == classes && unseen.shape(1) == classes, "classes and tables do not fit");
    const std::int64_t rows = static_cast<std::int64_t>(table.shape(0));
    for (std::size_t j = 0; j < columns; ++j) {
        const std::int64_t offset = offsets.data()[j], many = levels.data()[j];
        require(offset >= 0 && offset <= rows && many >= 0 && many <= rows - offset, "levels beyond their table");
    }
    // Of the cells of a block, so that they can be checked as they lie.
    std::vector<std::int64_t> limits(classes == 2 ? BLOCK * columns : 0);
    for (std::size_t at = 0; at < limits.size(); ++at) limits[at] = levels.data()[at % columns];
    return with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return answer_rows(
            x.rows, columns, log_prior, answer_of(answer), [&](std::size_t start, std::size_t stop, double* joint) {
                std::vector<T> buffer(x.room(BLOCK));
                const std::vector<double> nothing(classes);
                for (std::size_t first = start; first < stop; first += BLOCK) {
                    const std::size_t last = std::min(first + BLOCK, stop);
                    const T* row = x.block(first, last, buffer.data());
                    const bool plain =
                        classes == 2 && check_loops<T>().levels(row, limits.data(), (last - first) * columns);
                    for (std::size_t i = first; i < last; ++i, row += columns, joint += classes) {
                        bool refused = false;
                        // The scores of a cell's level; none of a missing value.
                        auto scores_of = [&](std::size_t j) -> const double* {
                            if (is_level(row[j], levels.data()[j]))
                                return table.data() +
                                       static_cast<std::size_t>(offsets.data()[j] + static_cast<std::int64_t>(row[j])) *
                                           classes;
                            const double cell = static_cast<double>(row[j]);
                            if (cell != cell) return nothing.data();
                            refused = refused || cell <= -1.0 || cell > LARGEST_LEVEL;
                            return unseen.data() + j * classes;
                        };
                        if (plain)
                            add_pairs(row, offsets.data(), columns, table.data(), joint);
                        else
                            for (std::size_t j = 0; j < columns; ++j) {
                                const double* scores = scores_of(j);
                                for (std::size_t c = 0; c < classes; ++c) joint[c] += scores[c];
                            }
                        if (refused) return static_cast<std::int64_t>(i - start);
                    }
                }
                return NONE;
            });
    });
}

// ---- Counts with their rates integrated out -----------------------------------------------------

// sum_v log_rising(pseudo[v, c], x) + slope[v, c] x, slope (V, C) or empty, and bias (C,). With
// totals (C,) given (not empty) log_rising of the total and the sum of x is subtracted: the Polya
// distribution, in whose total the columns of missing values have no part. A missing value
// subtracts its row of missing_bias (V, C), if that is not empty.
struct IntegratedCounts {
    In<double, 2> pseudo, slope;
    In<double, 1> totals, bias;
    In<double, 2> missing_bias;

    std::size_t words() const { return pseudo.shape(0); }
    std::size_t classes() const { return pseudo.shape(1); }

    void check(const In<double, 1>& log_prior) const {
        require(log_prior.shape(0) == classes() && bias.shape(0) == classes(), "classes and table do not fit");
        require(totals.shape(0) == 0 || totals.shape(0) == classes(), "classes and totals do not fit");
        for (const auto* one : {&slope, &missing_bias})
            require(one->size() == 0 || (one->shape(0) == words() && one->shape(1) == classes()), "tables do not fit");
    }

    void subtract_length(const double* whole, double length, double* scores) const {
        for (std::size_t c = 0; c < classes(); ++c) {
            if (whole[c] > 0.0)
                scores[c] -= log_rising(whole[c], length);
            else if (length > 0.0)
                scores[c] = -INF;  // a class that has no word at all
        }
    }

    // As LinearTable's.
    template <class Value, class Column>
    bool add_row(std::size_t cells, Value&& value, Column&& column, double* scores) const {
        double length = 0.0;
        bool missing = false;
        for (std::size_t c = 0; c < classes(); ++c) scores[c] += bias.data()[c];
        for (std::size_t at = 0; at < cells; ++at) {
            const double x = value(at);
            if (x == 0.0) continue;
            const std::size_t from = column(at) * classes();
            if (x != x) {
                missing = true;
                for (std::size_t c = 0; c < classes() && missing_bias.size() > 0; ++c)
                    scores[c] -= missing_bias.data()[from + c];
                continue;
            }
            if (x < 0.0 || std::isinf(x)) return false;
            length += x;
            for (std::size_t c = 0; c < classes(); ++c) scores[c] += log_rising(pseudo.data()[from + c], x);
            for (std::size_t c = 0; c < classes() && slope.size() > 0; ++c) scores[c] += slope.data()[from + c] * x;
        }
        if (totals.shape(0) == 0) return true;
        if (!missing) {
            subtract_length(totals.data(), length, scores);
            return true;
        }
        std::vector<char> seen(words(), 1);
        for (std::size_t at = 0; at < cells; ++at)
            if (value(at) != value(at)) seen[column(at)] = 0;
        std::vector<double> left(classes());
        for (std::size_t v = 0; v < words(); ++v)
            for (std::size_t c = 0; c < classes() && seen[v]; ++c) left[c] += pseudo.data()[v * classes() + c];
        subtract_length(left.data(), length, scores);
        return true;
    }
};

Answers integrated_count_scores(AnyRows X, In<double, 2> pseudo, In<double, 2> slope, In<double, 1> totals,
                                In<double, 1> bias, In<double, 2> missing_bias, In<double, 1> log_prior,
                                const std::string& answer) {
    const IntegratedCounts model{pseudo, slope, totals, bias, missing_bias};
    model.check(log_prior);
    require(X.shape(1) == model.words(), "rows and table do not fit");
    return with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return answer_rows(x.rows, x.columns * 16, log_prior, answer_of(answer),
                           [&](std::size_t start, std::size_t stop, double* joint) {
                               std::vector<T> buffer(x.room(1));
                               for (std::size_t i = start; i < stop; ++i, joint += model.classes()) {
                                   const T* row = x.block(i, i + 1, buffer.data());
                                   auto value = [&](std::size_t at) { return static_cast<double>(row[at]); };
                                   if (!model.add_row(x.columns, value, [](std::size_t at) { return at; }, joint))
                                       return static_cast<std::int64_t>(i - start);
                               }
                               return NONE;
                           });
    });
}

Answers sparse_integrated_count_scores(AnyVector data, AnyVector indices, AnyVector indptr, In<double, 2> pseudo,
                                       In<double, 2> slope, In<double, 1> totals, In<double, 1> bias,
                                       In<double, 2> missing_bias, In<double, 1> log_prior, const std::string& answer) {
    const IntegratedCounts model{pseudo, slope, totals, bias, missing_bias};
    model.check(log_prior);
    return with_sparse(data, indices, indptr, model.words(), [&](auto x) {
        return answer_rows(x.rows, 16 * cells_per_row(x), log_prior, answer_of(answer),
                           [&](std::size_t start, std::size_t stop, double* joint) {
                               for (std::size_t i = start; i < stop; ++i, joint += model.classes()) {
                                   const std::size_t first = static_cast<std::size_t>(x.indptr[i]),
                                                     cells = static_cast<std::size_t>(x.indptr[i + 1]) - first;
                                   auto value = [&](std::size_t at) { return static_cast<double>(x.data[first + at]); };
                                   auto column = [&](std::size_t at) {
                                       return static_cast<std::size_t>(x.indices[first + at]);
                                   };
                                   if (!model.add_row(cells, value, column, joint))
                                       return static_cast<std::int64_t>(i - start);
                               }
                               return NONE;
                           });
    });
}

// ---- Tables -------------------------------------------------------------------------------------

// Words that are laid out together, class by class: what is read of a class is then some lines of cache,
// and what is written stays in the second one.
constexpr std::size_t WORD_TILE = 32;

// log(counts[c, v] + pseudo[c, v]) - log_totals[c] as a table (V, C): a word's classes lie together,
// which is how rows are scored. With everyone (V,) given (not empty), everyone[v] - counts[c, v] is
// taken for the count: that of the other classes. pseudo is (C, V), (1, V), (C, 1) or (1, 1).
auto log_table(In<double, 2> counts, In<double, 1> everyone, In<double, 2> pseudo, In<double, 1> log_totals) {
    const std::size_t classes = counts.shape(0), words = counts.shape(1);
    require((pseudo.shape(0) == classes || pseudo.shape(0) == 1) && (pseudo.shape(1) == words || pseudo.shape(1) == 1),
            "pseudocounts do not fit");
    require(log_totals.shape(0) == classes && (everyone.shape(0) == 0 || everyone.shape(0) == words),
            "counts and totals do not fit");
    auto table = make_array<double>({words, classes}, false);
    nb::gil_scoped_release release;
    const std::size_t class_step = pseudo.shape(0) == 1 ? 0 : pseudo.shape(1), word_step = pseudo.shape(1) == 1 ? 0 : 1;
    const bool of_others = everyone.shape(0) > 0;
    const Ranges ranges((words + WORD_TILE - 1) / WORD_TILE, 16 * WORD_TILE * classes);
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t first = ranges.start(range) * WORD_TILE;
             first < std::min(ranges.stop(range) * WORD_TILE, words); first += WORD_TILE) {
            const std::size_t last = std::min(first + WORD_TILE, words);
            double* rows = table.data() + first * classes;
            for (std::size_t c = 0; c < classes; ++c) {
                const double *mine = counts.data() + c * words, *added = pseudo.data() + c * class_step;
                for (std::size_t v = first; v < last; ++v) {
                    const double count = of_others ? std::max(everyone.data()[v] - mine[v], 0.0) : mine[v];
                    rows[(v - first) * classes + c] = count + added[v * word_step];
                }
            }
            score_loops().logarithms(rows, (last - first) * classes);
            for (std::size_t v = first; v < last; ++v, rows += classes)
                for (std::size_t c = 0; c < classes; ++c) rows[c] -= log_totals.data()[c];
        }
    });
    return table;
}

// Each row's sum of cells and sum of log x!, (n,) both; missing and negative cells add nothing.
auto row_log_factorials(AnyRows X) {
    auto lengths = make_array<double>({X.shape(0)}), logs = make_array<double>({X.shape(0)});
    nb::gil_scoped_release release;
    with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        const Ranges ranges(x.rows, x.columns);
        in_parallel(ranges.count(), [&](std::size_t range) {
            std::vector<T> buffer(x.room(1));
            for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
                const T* row = x.block(i, i + 1, buffer.data());
                for (std::size_t v = 0; v < x.columns; ++v) {
                    const double cell = static_cast<double>(row[v]);
                    if (!(cell > 0.0)) continue;
                    lengths.data()[i] += cell;
                    logs.data()[i] += log_factorial(cell);
                }
            }
        });
    });
    return std::make_tuple(lengths, logs);
}

auto sparse_row_log_factorials(AnyVector data, AnyVector indices, AnyVector indptr) {
    const std::size_t rows = indptr.shape(0) > 0 ? indptr.shape(0) - 1 : 0;
    auto lengths = make_array<double>({rows}), logs = make_array<double>({rows});
    nb::gil_scoped_release release;
    with_sparse(data, indices, indptr, std::numeric_limits<std::size_t>::max(), [&](auto x) {
        const Ranges ranges(x.rows, cells_per_row(x));
        in_parallel(ranges.count(), [&](std::size_t range) {
            for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
                for (auto at = x.indptr[i]; at < x.indptr[i + 1]; ++at) {
                    const double cell = static_cast<double>(x.data[at]);
                    if (!(cell > 0.0)) continue;
                    lengths.data()[i] += cell;
                    logs.data()[i] += log_factorial(cell);
                }
            }
        });
    });
    return std::make_tuple(lengths, logs);
}

// ---- Many pseudocounts at once ------------------------------------------------------------------

// Multinomial scores of rows of whole numbers by the counts of all folds but their own, under every
// pseudocount: -log p of the row's own class, the best class and its probability, (3, n, A).
//
// Counts are whole numbers, so log(count + alpha) is looked up in log_counts (M, A), a table that
// all words, classes and folds share. counts (C, V) are of all rows, and a fold's own are taken off
// them while it is scored; log_totals (F, C, A) are the logs of the classes' totals, pseudocounts
// included, and log_priors (F, C) those of the classes, both given all other folds.
auto alpha_scores(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes,
                  In<std::int64_t, 1> folds, In<double, 2> counts, In<double, 2> log_counts, In<double, 3> log_totals,
                  In<double, 2> log_priors) {
    const std::size_t all = log_totals.shape(0), classes = counts.shape(0), words = counts.shape(1),
                      alphas = log_counts.shape(1);
    const std::size_t rows = codes.shape(0);
    require(folds.shape(0) == rows && indptr.shape(0) == rows + 1, "rows and folds do not fit");
    require(log_totals.shape(1) == classes && log_totals.shape(2) == alphas, "totals do not fit");
    require(log_priors.shape(0) == all && log_priors.shape(1) == classes, "priors do not fit");
    require_codes(codes, classes);
    auto out = make_array<double>({3, rows, alphas}, false);
    nb::gil_scoped_release release;
    std::vector<std::vector<std::size_t>> members(all);
    for (std::size_t i = 0; i < rows; ++i) {
        require(folds.data()[i] >= 0 && static_cast<std::size_t>(folds.data()[i]) < all, "a fold that there is not");
        members[static_cast<std::size_t>(folds.data()[i])].push_back(i);
    }
    for (std::size_t at = 0; at < counts.size(); ++at)
        require(counts.data()[at] >= 0.0 && counts.data()[at] < static_cast<double>(log_counts.shape(0)),
                "counts beyond their logarithms");
    std::vector<std::int32_t> learned(words * classes);
    const Ranges tiles((words + WORD_TILE - 1) / WORD_TILE, 16 * WORD_TILE * classes);
    in_parallel(tiles.count(), [&](std::size_t range) {
        for (std::size_t tile = tiles.start(range); tile < tiles.stop(range); ++tile) {
            const std::size_t first = tile * WORD_TILE, last = std::min(first + WORD_TILE, words);
            for (std::size_t c = 0; c < classes; ++c)
                for (std::size_t v = first; v < last; ++v)
                    learned[v * classes + c] = static_cast<std::int32_t>(counts.data()[c * words + v]);
        }
    });
    // The logarithms of a count from the beginning of a line of cache on, zeros after them: what is read
    // together is then never in two lines.
    constexpr std::size_t LINE = 64, LANES = LINE / sizeof(double);
    const std::size_t width = (alphas + LANES - 1) / LANES * LANES;
    std::vector<double> memory(log_counts.shape(0) * width + LANES);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory.data());
    double* logs = memory.data() + (LINE - begin % LINE) % LINE / sizeof(double);
    for (std::size_t count = 0; count < log_counts.shape(0); ++count)
        std::copy_n(log_counts.data() + count * alphas, alphas, logs + count * width);
    with_sparse(data, indices, indptr, words, [&](auto x) {
        using Index = std::decay_t<decltype(*x.indices)>;
        // Take a fold's counts off the whole, or put them back.
        auto move_counts = [&](std::size_t fold, std::int32_t sign) {
            bool within = true;
            for (std::size_t i : members[fold])
                for (Index at = x.indptr[i]; at < x.indptr[i + 1]; ++at) {
                    std::int32_t& count = learned[static_cast<std::size_t>(x.indices[at]) * classes +
                                                  static_cast<std::size_t>(codes.data()[i])];
                    count += sign * static_cast<std::int32_t>(x.data[at]);
                    within = within && count >= 0;
                }
            return within;
        };
        for (std::size_t fold = 0; fold < all; ++fold) {
            require(move_counts(fold, -1), "rows that were not counted");
            constexpr std::size_t ROWS_AT_ONCE = 256;
            in_parallel((members[fold].size() + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, [&](std::size_t task) {
                std::vector<double> joint(classes * width), top(alphas), total(alphas), buffer;
                for (std::size_t at = task * ROWS_AT_ONCE;
                     at < std::min((task + 1) * ROWS_AT_ONCE, members[fold].size()); ++at) {
                    const std::size_t i = members[fold][at];
                    const Index first = x.indptr[i];
                    const std::size_t cells = static_cast<std::size_t>(x.indptr[i + 1] - first);
                    const double* values = as_doubles(x.data + first, cells, buffer);
                    double length = 0.0;
                    for (std::size_t k = 0; k < cells; ++k) length += values[k];
                    std::fill(joint.begin(), joint.end(), 0.0);
                    const StoredCells<Index> row{x.indices + first, x.indices + x.indptr[x.rows], cells};
                    table_loops<Index>().add_alphas(values, row, learned.data(), logs, classes, width, joint.data());
                    std::fill(top.begin(), top.end(), -INF);
                    std::fill(total.begin(), total.end(), 0.0);
                    for (std::size_t c = 0; c < classes; ++c)
                        score_loops().finish_class(
                            joint.data() + c * width, log_totals.data() + (fold * classes + c) * alphas,
                            log_priors.data()[fold * classes + c], length, static_cast<double>(c), alphas, top.data(),
                            out.data() + (rows + i) * alphas);
                    for (std::size_t c = 0; c < classes; ++c)
                        score_loops().add_powers(joint.data() + c * width, top.data(), alphas, total.data());
                    const std::size_t own = static_cast<std::size_t>(codes.data()[i]);
                    for (std::size_t a = 0; a < alphas; ++a) {
                        out.data()[i * alphas + a] = top[a] + std::log(total[a]) - joint[own * width + a];
                        out.data()[(2 * rows + i) * alphas + a] = 1.0 / total[a];
                    }
                }
            });
            move_counts(fold, 1);
        }
    });
    return out;
}

// Sums of such scores (3, n, A) by fold: of losses (F, A), of rows that were answered right (F, A), and in
// each of so many bins of probability (F, A, bins) those that were right less those expected to be.
auto fold_sums(In<double, 3> scores, In<std::int32_t, 1> codes, In<std::int64_t, 1> folds, std::size_t size,
               std::size_t bins) {
    const std::size_t rows = scores.shape(1), alphas = scores.shape(2);
    require(scores.shape(0) == 3 && codes.shape(0) == rows && folds.shape(0) == rows, "rows and scores do not fit");
    require(bins > 0, "no bins");
    auto losses = make_array<double>({size, alphas}), right = make_array<double>({size, alphas}),
         gaps = make_array<double>({size, alphas, bins});
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < rows; ++i)
        require(folds.data()[i] >= 0 && static_cast<std::size_t>(folds.data()[i]) < size, "a fold that there is not");
    in_parallel(size, [&](std::size_t fold) {
        // Rows that were right and what was expected are added up apart, and subtracted last.
        std::vector<double> expected(alphas * bins);
        double* hits = gaps.data() + fold * alphas * bins;
        for (std::size_t i = 0; i < rows; ++i) {
            if (static_cast<std::size_t>(folds.data()[i]) != fold) continue;
            for (std::size_t a = 0; a < alphas; ++a) {
                const double sure = scores.data()[(2 * rows + i) * alphas + a];
                require(sure >= 0.0 && sure <= 1.0, "a probability beyond 0 and 1");
                const std::size_t bin = std::min(static_cast<std::size_t>(sure * static_cast<double>(bins)), bins - 1);
                const double hit = scores.data()[(rows + i) * alphas + a] == static_cast<double>(codes.data()[i]);
                losses.data()[fold * alphas + a] += scores.data()[i * alphas + a];
                right.data()[fold * alphas + a] += hit;
                hits[a * bins + bin] += hit;
                expected[a * bins + bin] += sure;
            }
        }
        for (std::size_t at = 0; at < expected.size(); ++at) hits[at] -= expected[at];
    });
    return std::make_tuple(losses, right, gaps);
}

}  // namespace

void bind_table_scores(nb::module_& m) {
    using namespace nb::literals;
    m.def("table_scores", &table_scores, "X"_a, "table"_a, "bias"_a, "missing_bias"_a, "lowest"_a, "one_total"_a,
          "log_prior"_a, "answer"_a, "Answer dense rows by x table + bias, table (V, C).");
    m.def("sparse_table_scores", &sparse_table_scores, "data"_a, "indices"_a, "indptr"_a, "table"_a, "bias"_a,
          "missing_bias"_a, "lowest"_a, "one_total"_a, "log_prior"_a, "answer"_a,
          "Answer sparse rows by x table + bias, table (V, C).");
    nb::class_<RoundedTable>(m, "RoundedTable", "A finite table (V, C) in whole steps, which best_screened reads.")
        .def(nb::init<In<double, 2>>(), "table"_a);
    m.def("best_screened", &best_screened, "data"_a, "indices"_a, "indptr"_a, "table"_a, "rounded"_a, "log_prior"_a,
          "lowest"_a, "Return the best class of sparse rows (n,), or None if a row is not plain.");
    m.def("binary_scores", &binary_scores, "X"_a, "threshold"_a, "log_one"_a, "log_zero"_a, "log_prior"_a, "answer"_a,
          "Answer dense rows of zeros and ones, tables (V, C).");
    m.def("sparse_binary_scores", &sparse_binary_scores, "data"_a, "indices"_a, "indptr"_a, "threshold"_a, "log_odds"_a,
          "log_zero"_a, "bias"_a, "log_prior"_a, "answer"_a, "Answer sparse rows of zeros and ones, tables (V, C).");
    m.def("level_scores", &level_scores, "X"_a, "offsets"_a, "levels"_a, "table"_a, "unseen"_a, "log_prior"_a,
          "answer"_a, "Answer rows of levels, table (levels of all columns, C).");
    m.def("integrated_count_scores", &integrated_count_scores, "X"_a, "pseudo"_a, "slope"_a, "totals"_a, "bias"_a,
          "missing_bias"_a, "log_prior"_a, "answer"_a, "Answer dense rows of counts, pseudocounts (V, C).");
    m.def("sparse_integrated_count_scores", &sparse_integrated_count_scores, "data"_a, "indices"_a, "indptr"_a,
          "pseudo"_a, "slope"_a, "totals"_a, "bias"_a, "missing_bias"_a, "log_prior"_a, "answer"_a,
          "Answer sparse rows of counts, pseudocounts (V, C).");
    m.def("log_table", &log_table, "counts"_a, "everyone"_a, "pseudo"_a, "log_totals"_a,
          "Return log(counts + pseudo) - log_totals as a table (V, C), from counts (C, V).");
    m.def("row_log_factorials", &row_log_factorials, "X"_a, "Return sums of cells and of log x! of dense rows.");
    m.def("sparse_row_log_factorials", &sparse_row_log_factorials, "data"_a, "indices"_a, "indptr"_a,
          "Return sums of cells and of log x! of sparse rows.");
    m.def("alpha_scores", &alpha_scores, "data"_a, "indices"_a, "indptr"_a, "codes"_a, "folds"_a, "counts"_a,
          "log_counts"_a, "log_totals"_a, "log_priors"_a,
          "Return losses, best classes and their probabilities (3, n, A).");
    m.def("fold_sums", &fold_sums, "scores"_a, "codes"_a, "folds"_a, "size"_a, "bins"_a,
          "Return sums of losses and hits by fold (F, A), and hits less those expected (F, A, bins).");
}

}  // namespace suffice
