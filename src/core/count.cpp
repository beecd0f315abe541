// Sums over rows, by class.
//
// Every entry point returns first the row that it cannot take (an infinite, negative or too large
// cell), or -1; its sums are then of no use.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "blas.h"
#include "loops/checks.h"
#include "loops/moments.h"
#include "module.h"
#include "prefetch.h"
#include "special.h"
#include "threads.h"

namespace suffice {
namespace {

// Rows looked at together for missing values: with some dozens of columns they stay in the first
// cache.
constexpr std::size_t BLOCK = 64;
constexpr std::int64_t NONE = -1;

template <class T>
bool is_missing(T cell) {
    if constexpr (std::is_integral_v<T>)
        return false;
    else
        return cell != cell;
}

template <class T>
bool is_infinite(T cell) {
    if constexpr (std::is_integral_v<T>)
        return false;
    else
        return std::isinf(cell);
}

// ---- Dense rows ---------------------------------------------------------------------------------

// Sums of several kinds, each one array.
template <std::size_t K>
using Sums = std::array<double*, K>;
template <std::size_t K>
using Sizes = std::array<std::size_t, K>;

// Add up sums over ranges of dense rows: add(block, start, rows, sums) adds a block of rows and
// returns the first that it refuses, counted from the block's own, or -1.
template <std::size_t K, class T, class Add>
std::int64_t add_blocks(const Cells<T>& x, const Sums<K>& totals, const Sizes<K>& sizes, Add&& add) {
    std::size_t size = 0;
    for (std::size_t one : sizes) size += one;
    const Ranges ranges(x.rows, x.columns, size);
    std::vector<std::vector<double>> parts(ranges.count());
    std::vector<std::int64_t> refused(ranges.count(), NONE);
    // Rows that lie in place are one block, others are copied some at a time.
    const std::size_t step = x.in_place() ? ranges.step : BLOCK;
    in_parallel(ranges.count(), [&](std::size_t range) {
        parts[range].assign(size, 0.0);
        Sums<K> sums;
        double* next = parts[range].data();
        for (std::size_t k = 0; k < K; next += sizes[k++]) sums[k] = next;
        std::vector<T> buffer(x.room(BLOCK));
        for (std::size_t start = ranges.start(range); start < ranges.stop(range); start += step) {
            const std::size_t stop = std::min(start + step, ranges.stop(range));
            const std::int64_t bad = add(x.block(start, stop, buffer.data()), start, stop - start, sums);
            if (bad != NONE) {
                refused[range] = static_cast<std::int64_t>(start) + bad;
                return;
            }
        }
    });
    for (std::size_t range = 0; range < ranges.count(); ++range) {
        if (refused[range] != NONE) return refused[range];
        const double* next = parts[range].data();
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t at = 0; at < sizes[k]; ++at) totals[k][at] += *next++;
    }
    return NONE;
}

// What entry points about dense rows take.
struct DenseRows {
    AnyRows X;
    In<std::int32_t, 1> codes;
    In<double, 1> weights;
    std::size_t classes;

    std::size_t columns() const { return X.shape(1); }
    std::size_t code(std::size_t row) const { return static_cast<std::size_t>(codes.data()[row]); }
    double weight(std::size_t row) const { return weights.shape(0) ? weights.data()[row] : 1.0; }
    const double* weights_from(std::size_t row) const { return weights.shape(0) ? weights.data() + row : nullptr; }

    void check() const {
        require(X.shape(0) == codes.shape(0), "rows and codes do not fit");
        weights_or_null(weights, X.shape(0));
        require_codes(codes, classes);
    }

    // `add_blocks` of the cells, whatever their type.
    template <std::size_t K, class Add>
    std::int64_t add_up(const Sums<K>& totals, const Sizes<K>& sizes, Add&& add) const {
        check();
        nb::gil_scoped_release release;
        return with_cells(X, [&](auto x) { return add_blocks<K>(x, totals, sizes, add); });
    }

    // The same, row by row: add(row, c, w, sums) says whether it takes a row of cells.
    template <std::size_t K, class Add>
    std::int64_t add_up_rows(const Sums<K>& totals, const Sizes<K>& sizes, Add&& add) const {
        return add_up<K>(totals, sizes,
                         [&](const auto* block, std::size_t start, std::size_t size, const Sums<K>& sums) {
                             for (std::size_t i = 0; i < size; ++i, block += columns())
                                 if (!add(block, code(start + i), weight(start + i), sums))
                                     return static_cast<std::int64_t>(i);
                             return NONE;
                         });
    }
};

// The first row with an infinite cell, or -1.
template <class T>
std::int64_t first_infinite(const T* x, std::size_t rows, std::size_t columns) {
    for (std::size_t at = 0; at < rows * columns; ++at)
        if (is_infinite(x[at])) return static_cast<std::int64_t>(at / columns);
    return NONE;
}

// Moments about origins (C, d): the weight of all rows (C,), the weight that each column was seen
// with (C, d), and the sums of x - origin and of its squares (C, d). The weight seen is no
// difference, so a light row beside heavy ones with missing values has all its digits.
auto moments(AnyRows X, In<std::int32_t, 1> codes, In<double, 1> weights, In<double, 2> origin) {
    const DenseRows rows{X, codes, weights, origin.shape(0)};
    const std::size_t classes = rows.classes, columns = rows.columns(), cells = classes * columns;
    require(origin.shape(1) == columns, "rows and origins do not fit");
    auto row_weight = make_array<double>({classes}), whole_weight = make_array<double>({classes});
    auto seen = make_array<double>({classes, columns});
    auto sum_x = make_array<double>({classes, columns}), sum_xx = make_array<double>({classes, columns});
    const std::int64_t refused = rows.add_up<5>(
        {row_weight.data(), whole_weight.data(), seen.data(), sum_x.data(), sum_xx.data()},
        {classes, classes, cells, cells, cells},
        [&](const auto* block, std::size_t start, std::size_t size, const Sums<5>& sums) {
            const auto& loops = moment_loops<std::decay_t<decltype(*block)>>();
            const MomentSums parts{classes, sums[0], sums[1], sums[2], sums[3], sums[4]};
            // A long block is read once: what is missing or infinite shows in its sums.
            if (size > BLOCK) {
                loops.add_whole(block, codes.data() + start, rows.weights_from(start), size, columns, origin.data(),
                                parts);
                const auto finite = check_loops<double>().finite;
                if (finite(sums[3], cells) && finite(sums[4], cells)) return NONE;
                for (double* one : {sums[0], sums[1]}) std::fill_n(one, classes, 0.0);
                for (double* one : {sums[2], sums[3], sums[4]}) std::fill_n(one, cells, 0.0);
            }
            for (std::size_t first = 0; first < size; first += BLOCK) {
                const std::size_t here = std::min(BLOCK, size - first);
                const auto* some = block + first * columns;
                const bool whole = check_loops<std::decay_t<decltype(*block)>>().finite(some, here * columns);
                const std::int64_t bad = whole ? NONE : first_infinite(some, here, columns);
                if (bad != NONE) return static_cast<std::int64_t>(first) + bad;
                (whole ? loops.add_whole : loops.add_seen)(some, codes.data() + start + first,
                                                           rows.weights_from(start + first), here, columns,
                                                           origin.data(), parts);
            }
            return NONE;
        });
    for (std::size_t at = 0; at < cells; ++at) seen.data()[at] += whole_weight.data()[at / columns];
    return std::make_tuple(refused, row_weight, seen, sum_x, sum_xx);
}

// Cells above a threshold, or of a threshold of NaN the cells, 0 or 1, themselves: the weight of
// rows (C,), of missing values (C, d) and of ones (C, d).
auto ones(AnyRows X, In<std::int32_t, 1> codes, In<double, 1> weights, std::size_t classes, double threshold) {
    const DenseRows rows{X, codes, weights, classes};
    const std::size_t columns = rows.columns(), cells = classes * columns;
    const bool as_is = threshold != threshold;
    auto row_weight = make_array<double>({classes});
    auto missing = make_array<double>({classes, columns}), found = make_array<double>({classes, columns});
    const std::int64_t refused = rows.add_up_rows<3>(
        {row_weight.data(), missing.data(), found.data()}, {classes, cells, cells},
        [&](const auto* row, std::size_t c, double w, const Sums<3>& sums) {
            sums[0][c] += w;
            bool infinite = false;
            for (std::size_t j = 0; j < columns; ++j) {
                const double cell = static_cast<double>(row[j]);
                const bool gap = cell != cell;
                infinite = infinite || std::isinf(cell);
                sums[1][c * columns + j] += gap ? w : 0.0;
                sums[2][c * columns + j] += gap ? 0.0 : as_is ? w * cell : cell > threshold ? w : 0.0;
            }
            return !infinite;
        });
    return std::make_tuple(refused, row_weight, missing, found);
}

// Rows of counts: the weight of rows (C,), the counts (C, d), and the log of the number of orders
// of its events that a row stands for (C,). Missing values are passed over.
auto words(AnyRows X, In<std::int32_t, 1> codes, In<double, 1> weights, std::size_t classes) {
    const DenseRows rows{X, codes, weights, classes};
    const std::size_t columns = rows.columns();
    auto row_weight = make_array<double>({classes}), log_orderings = make_array<double>({classes});
    auto sum_x = make_array<double>({classes, columns});
    const std::int64_t refused = rows.add_up_rows<3>(
        {row_weight.data(), sum_x.data(), log_orderings.data()}, {classes, classes * columns, classes},
        [&](const auto* row, std::size_t c, double w, const Sums<3>& sums) {
            Orderings orderings;
            for (std::size_t j = 0; j < columns; ++j) {
                const double cell = static_cast<double>(row[j]);
                if (cell < 0.0 || std::isinf(cell)) return false;
                if (cell != cell) continue;
                sums[1][c * columns + j] += w * cell;
                orderings.add(cell);
            }
            sums[0][c] += w;
            sums[2][c] += w * orderings.log_number();
            return true;
        });
    return std::make_tuple(refused, row_weight, sum_x, log_orderings);
}

// Rows of numbers of events: the weight of rows (C,), of missing values (C, d), the events (C, d)
// and the sums of log x! (C, d).
auto events(AnyRows X, In<std::int32_t, 1> codes, In<double, 1> weights, std::size_t classes) {
    const DenseRows rows{X, codes, weights, classes};
    const std::size_t columns = rows.columns(), cells = classes * columns;
    auto row_weight = make_array<double>({classes}), missing = make_array<double>({classes, columns});
    auto sum_x = make_array<double>({classes, columns}), log_factorials = make_array<double>({classes, columns});
    const std::int64_t refused = rows.add_up_rows<4>(
        {row_weight.data(), missing.data(), sum_x.data(), log_factorials.data()}, {classes, cells, cells, cells},
        [&](const auto* row, std::size_t c, double w, const Sums<4>& sums) {
            sums[0][c] += w;
            for (std::size_t j = 0; j < columns; ++j) {
                const double cell = static_cast<double>(row[j]);
                const std::size_t at = c * columns + j;
                if (cell == 0.0) continue;
                if (cell < 0.0 || std::isinf(cell)) return false;
                if (cell != cell) {
                    sums[1][at] += w;
                    continue;
                }
                sums[2][at] += w * cell;
                sums[3][at] += w * log_factorial(cell);
            }
            return true;
        });
    return std::make_tuple(refused, row_weight, missing, sum_x, log_factorials);
}

// What a range of dense levels adds up to.
struct LevelCounts {
    std::vector<std::int64_t> highest;  // (d,), -1 where there is no level
    std::vector<double> row_weight;     // (C,)
    std::vector<double> counts;         // (C, levels of all columns)
    std::int64_t refused = NONE, fractional = NONE;
    bool too_many = false;  // levels for a table of this range alone
};

// Numbers that the table of one range may hold; of more, all ranges are counted once more.
constexpr std::size_t MAX_RANGE_LEVELS = std::size_t(1) << 16;

// Where the levels of each column begin among those of all columns, and last how many they are.
std::vector<std::size_t> level_offsets(const std::vector<std::int64_t>& highest) {
    std::vector<std::size_t> offsets(highest.size() + 1);
    for (std::size_t j = 0; j < highest.size(); ++j)
        offsets[j + 1] = offsets[j] + static_cast<std::size_t>(highest[j] + 1);
    return offsets;
}

// Look for the highest levels of some rows, and for cells that are none.
template <class T>
void look_at_levels(const T* x, std::size_t start, std::size_t rows, std::size_t columns, T* most, LevelCounts& part) {
    T least = T(0), fraction = T(0);
    for (std::size_t i = 0; i < rows; ++i) {
        const T* row = x + i * columns;
        for (std::size_t j = 0; j < columns; ++j) {
            // Comparisons with a missing value are false.
            least = row[j] < least ? row[j] : least;
            most[j] = row[j] > most[j] ? row[j] : most[j];
            if constexpr (!std::is_integral_v<T>) fraction = row[j] - std::floor(row[j]) > fraction ? T(1) : fraction;
        }
    }
    T top = T(0);
    for (std::size_t j = 0; j < columns; ++j) top = std::max(top, most[j]);
    constexpr double BEYOND = 9007199254740992.0;  // 2^53
    if (static_cast<double>(least) > -1.0 && static_cast<double>(top) <= BEYOND &&
        (fraction == T(0) || part.fractional != NONE))
        return;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            const double cell = static_cast<double>(x[i * columns + j]);
            if (cell <= -1.0 || cell > BEYOND) {
                part.refused = static_cast<std::int64_t>(start + i);
                return;
            }
            if (part.fractional == NONE && cell == cell && cell != std::trunc(cell))
                part.fractional = static_cast<std::int64_t>(start + i);
        }
    }
}

// Add the weights of some rows to those of their levels; fractions are cut off.
template <class T>
void add_levels(const DenseRows& rows, const T* x, std::size_t start, std::size_t size, const std::size_t* offsets,
                double* row_weight, double* counts) {
    const std::size_t columns = rows.columns();
    for (std::size_t i = 0; i < size; ++i, x += columns) {
        const std::size_t c = rows.code(start + i);
        const double w = rows.weight(start + i);
        row_weight[c] += w;
        double* mine = counts + c * offsets[columns];
        for (std::size_t j = 0; j < columns; ++j)
            if (!is_missing(x[j])) mine[offsets[j] + static_cast<std::size_t>(static_cast<std::int64_t>(x[j]))] += w;
    }
}

// Levels 0, 1, 2, ... of every column: the first row with a fraction, or -1, the highest level of
// each column (d,), -1 where there is none, the weight of rows (C,) and of the levels of all
// columns, one after the other, (C, levels). Nothing is counted if a level is max_levels or more.
auto levels(AnyRows X, In<std::int32_t, 1> codes, In<double, 1> weights, std::size_t classes, std::int64_t max_levels) {
    const DenseRows rows{X, codes, weights, classes};
    rows.check();
    const std::size_t columns = rows.columns();
    LevelCounts whole;
    whole.highest.assign(columns, NONE);
    std::vector<std::size_t> offsets;
    {
        nb::gil_scoped_release release;
        with_cells(X, [&](auto x) {
            using T = typename decltype(x)::Cell;
            const Ranges ranges(x.rows, columns);
            std::vector<LevelCounts> parts(ranges.count());
            in_parallel(ranges.count(), [&](std::size_t range) {
                LevelCounts& part = parts[range];
                // Below every level, so that a column of missing values has none.
                std::vector<T> most(columns, std::is_signed_v<T> ? T(-1) : T(0)), buffer(x.room(BLOCK));
                auto each_block = [&](auto&& work) {
                    for (std::size_t start = ranges.start(range); start < ranges.stop(range); start += BLOCK) {
                        const std::size_t stop = std::min(start + BLOCK, ranges.stop(range));
                        work(x.block(start, stop, buffer.data()), start, stop - start);
                    }
                };
                each_block([&](const T* block, std::size_t start, std::size_t size) {
                    if (part.refused == NONE) look_at_levels(block, start, size, columns, most.data(), part);
                });
                if (part.refused != NONE) return;
                for (T cell : most) part.highest.push_back(static_cast<std::int64_t>(cell));
                const std::vector<std::size_t> here = level_offsets(part.highest);
                part.too_many = classes * here[columns] > MAX_RANGE_LEVELS;
                if (part.too_many) return;
                part.row_weight.assign(classes, 0.0);
                part.counts.assign(classes * here[columns], 0.0);
                each_block([&](const T* block, std::size_t start, std::size_t size) {
                    add_levels(rows, block, start, size, here.data(), part.row_weight.data(), part.counts.data());
                });
            });
            bool again = false;
            for (const LevelCounts& part : parts) {
                if (whole.refused == NONE) whole.refused = part.refused;
                if (whole.fractional == NONE) whole.fractional = part.fractional;
                if (part.refused != NONE) return;
                again = again || part.too_many;
                for (std::size_t j = 0; j < columns; ++j)
                    whole.highest[j] = std::max(whole.highest[j], part.highest[j]);
            }
            offsets = level_offsets(whole.highest);
            for (std::int64_t high : whole.highest)
                if (high >= max_levels) return;
            whole.row_weight.assign(classes, 0.0);
            whole.counts.assign(classes * offsets[columns], 0.0);
            if (again) {
                const Sums<2> totals{whole.row_weight.data(), whole.counts.data()};
                add_blocks<2>(x, totals, {classes, whole.counts.size()},
                              [&](const T* block, std::size_t start, std::size_t size, const Sums<2>& sums) {
                                  add_levels(rows, block, start, size, offsets.data(), sums[0], sums[1]);
                                  return NONE;
                              });
                return;
            }
            for (const LevelCounts& part : parts) {
                const std::vector<std::size_t> here = level_offsets(part.highest);
                for (std::size_t c = 0; c < classes; ++c) {
                    whole.row_weight[c] += part.row_weight[c];
                    const double* from = part.counts.data() + c * here[columns];
                    double* into = whole.counts.data() + c * offsets[columns];
                    for (std::size_t j = 0; j < columns; ++j)
                        for (std::size_t k = 0; k < here[j + 1] - here[j]; ++k)
                            into[offsets[j] + k] += from[here[j] + k];
                }
            }
        });
    }
    auto counts = make_array<double>({classes, classes ? whole.counts.size() / classes : 0}, false);
    std::copy(whole.counts.begin(), whole.counts.end(), counts.data());
    return std::make_tuple(whole.refused, whole.fractional, to_array(whole.highest), to_array(whole.row_weight),
                           counts);
}

// ---- Sparse rows --------------------------------------------------------------------------------

// Runs that sparse rows are cut into: each thread takes the next.
constexpr std::size_t RUNS = 8;

// Sparse rows as they are taken: in their own order, each run with sums of all classes, or where
// that would be too many sums class by class. Then a run has the sums of its class alone: they stay
// in cache while its rows are read.
struct Runs {
    struct Run {
        std::size_t first, last, code;  // the code where rows are taken class by class
    };

    const bool by_class;
    std::vector<std::size_t> order;  // of rows, where they are taken class by class
    std::vector<Run> runs;

    Runs(const In<std::int32_t, 1>& codes, std::size_t classes, std::size_t sums)
        : by_class(RUNS * classes * sums > range_sums) {
        const std::size_t rows = codes.shape(0), share = std::max<std::size_t>(1, (rows + RUNS - 1) / RUNS);
        if (!by_class) {
            for (std::size_t first = 0; first < rows; first += share)
                runs.push_back({first, std::min(first + share, rows), 0});
            return;
        }
        order.resize(rows);
        std::vector<std::size_t> ends(classes + 1);
        for (std::size_t i = 0; i < rows; ++i) ++ends[static_cast<std::size_t>(codes.data()[i]) + 1];
        for (std::size_t c = 0; c < classes; ++c) ends[c + 1] += ends[c];
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t first = ends[c]; first < ends[c + 1]; first += share)
                runs.push_back({first, std::min(first + share, ends[c + 1]), c});
        for (std::size_t i = 0; i < rows; ++i) order[ends[static_cast<std::size_t>(codes.data()[i])]++] = i;
    }
};

// What entry points about sparse rows take.
struct SparseRows {
    AnyVector data, indices, indptr;
    In<std::int32_t, 1> codes;
    In<double, 1> weights;
    std::size_t classes, columns;

    double weight(std::size_t row) const { return weights.shape(0) ? weights.data()[row] : 1.0; }

    // Check what there is of each row, and return the weight of rows (C,).
    Out<double> row_weights() const {
        require(indptr.shape(0) == codes.shape(0) + 1, "rows and codes do not fit");
        weights_or_null(weights, codes.shape(0));
        require_codes(codes, classes);
        auto sums = make_array<double>({classes});
        for (std::size_t i = 0; i < codes.shape(0); ++i) sums.data()[codes.data()[i]] += weight(i);
        return sums;
    }

    // Add up sums (C, sizes[k]) of the classes: add(x, row, c, w, sums) adds a row to the sums of
    // its class and says whether it takes it. Returns a refused row, or -1, and the weight of rows
    // (C,). The first run of a class writes to the totals, later ones to sums of their own, that
    // are added afterwards in order.
    template <std::size_t K, class Add>
    std::tuple<std::int64_t, Out<double>> add_up(const Sums<K>& totals, const Sizes<K>& sizes, Add&& add) const {
        auto row_weight = row_weights();
        std::int64_t refused = NONE;
        {
            nb::gil_scoped_release release;
            std::size_t size = 0;
            for (std::size_t one : sizes) size += one;
            const Runs cut(codes, classes, size);
            refused = with_sparse(data, indices, indptr, columns,
                                  [&](auto x) { return add_runs<K>(x, cut, totals, sizes, add); });
        }
        return {refused, row_weight};
    }

  private:
    template <std::size_t K, class Rows, class Add>
    std::int64_t add_runs(const Rows& x, const Runs& cut, const Sums<K>& totals, const Sizes<K>& sizes,
                          Add&& add) const {
        std::vector<std::array<std::vector<double>, K>> extra(cut.runs.size());
        std::vector<std::int64_t> refused(cut.runs.size(), NONE);
        const std::size_t held = cut.by_class ? 1 : classes;  // classes of which a run has sums
        in_parallel(cut.runs.size(), [&](std::size_t number) {
            const Runs::Run& run = cut.runs[number];
            const bool first = number == 0 || (cut.by_class && cut.runs[number - 1].code != run.code);
            Sums<K> mine;
            for (std::size_t k = 0; k < K; ++k) {
                if (!first) extra[number][k].assign(held * sizes[k], 0.0);
                mine[k] = first ? totals[k] + run.code * sizes[k] : extra[number][k].data();
            }
            for (std::size_t at = run.first; at < run.last; ++at) {
                const std::size_t row = cut.by_class ? cut.order[at] : at,
                                  c = static_cast<std::size_t>(codes.data()[row]);
                if (cut.by_class && at + 2 < run.last) prefetch_cells(x, cut.order[at + 2]);
                Sums<K> sums;
                for (std::size_t k = 0; k < K; ++k) sums[k] = mine[k] + (cut.by_class ? 0 : c * sizes[k]);
                if (!add(x, row, c, weight(row), sums)) {
                    refused[number] = static_cast<std::int64_t>(row);
                    return;
                }
            }
        });
        std::int64_t first_refused = NONE;
        for (std::size_t number = 0; number < cut.runs.size(); ++number) {
            if (refused[number] != NONE && (first_refused == NONE || refused[number] < first_refused))
                first_refused = refused[number];
            for (std::size_t k = 0; k < K; ++k)
                for (std::size_t at = 0; at < extra[number][k].size(); ++at)
                    totals[k][cut.runs[number].code * sizes[k] + at] += extra[number][k][at];
        }
        return first_refused;
    }

    // Ask for a row's memory: rows that are not taken in order would be waited for.
    template <class T, class Index>
    static void prefetch_cells(const SparseCells<T, Index>& x, std::size_t row) {
        constexpr Index LINE = 64;
        for (Index at = x.indptr[row]; at < x.indptr[row + 1]; at += LINE / static_cast<Index>(sizeof(T)))
            prefetch(x.data + at);
        for (Index at = x.indptr[row]; at < x.indptr[row + 1]; at += LINE / static_cast<Index>(sizeof(Index)))
            prefetch(x.indices + at);
    }
};

// As `moments`, of the stored cells: the weight of rows (C,), of stored cells and of missing ones
// among them, the sums of x - origin and of its squares, all (C, V).
auto sparse_moments(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes,
                    In<double, 1> weights, In<double, 2> origin) {
    const std::size_t classes = origin.shape(0), columns = origin.shape(1);
    const SparseRows rows{data, indices, indptr, codes, weights, classes, columns};
    auto stored = make_array<double>({classes, columns}), missing = make_array<double>({classes, columns});
    auto sum_x = make_array<double>({classes, columns}), sum_xx = make_array<double>({classes, columns});
    const auto [refused, row_weight] = rows.add_up<4>(
        {stored.data(), missing.data(), sum_x.data(), sum_xx.data()}, {columns, columns, columns, columns},
        [&](const auto& x, std::size_t row, std::size_t c, double w, const Sums<4>& sums) {
            for (auto at = x.indptr[row]; at < x.indptr[row + 1]; ++at) {
                const double cell = static_cast<double>(x.data[at]);
                const auto j = x.indices[at];
                sums[0][j] += w;
                if (cell != cell) {
                    sums[1][j] += w;
                    continue;
                }
                if (std::isinf(cell)) return false;
                const double d = cell - origin.data()[c * columns + static_cast<std::size_t>(j)];
                sums[2][j] += w * d;
                sums[3][j] += w * d * d;
            }
            return true;
        });
    return std::make_tuple(refused, row_weight, stored, missing, sum_x, sum_xx);
}

// As `ones`; cells that are not stored are zeros.
auto sparse_ones(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes, In<double, 1> weights,
                 std::size_t classes, std::size_t columns, double threshold) {
    const SparseRows rows{data, indices, indptr, codes, weights, classes, columns};
    auto missing = make_array<double>({classes, columns}), found = make_array<double>({classes, columns});
    const bool as_is = threshold != threshold;
    const auto [refused, row_weight] =
        rows.add_up<2>({missing.data(), found.data()}, {columns, columns},
                       [&](const auto& x, std::size_t row, std::size_t, double w, const Sums<2>& sums) {
                           for (auto at = x.indptr[row]; at < x.indptr[row + 1]; ++at) {
                               const double cell = static_cast<double>(x.data[at]);
                               if (cell != cell)
                                   sums[0][x.indices[at]] += w;
                               else if (std::isinf(cell))
                                   return false;
                               else if (as_is)
                                   sums[1][x.indices[at]] += w * cell;
                               else if (cell > threshold)
                                   sums[1][x.indices[at]] += w;
                           }
                           return true;
                       });
    return std::make_tuple(refused, row_weight, missing, found);
}

// Tables that tasks borrow one after the other, as many as tasks run at once.
template <class Number>
class Tables {
  public:
    explicit Tables(std::size_t size) : size_(size) {}

    // Call work(table) with a table that no other thread has.
    template <class Work>
    void borrow(Work&& work) {
        std::unique_ptr<std::vector<Number>> table;
        {
            std::lock_guard<std::mutex> guard(lock_);
            if (!free_.empty()) {
                table = std::move(free_.back());
                free_.pop_back();
            }
        }
        if (!table) table = std::make_unique<std::vector<Number>>(size_);
        work(table->data());
        std::lock_guard<std::mutex> guard(lock_);
        free_.push_back(std::move(table));
    }

    // Add all tables to totals (size,).
    void add_to(double* totals) const {
        for (const auto& table : free_)
            for (std::size_t at = 0; at < size_; ++at) totals[at] += static_cast<double>((*table)[at]);
    }

  private:
    std::size_t size_;
    std::mutex lock_;
    std::vector<std::unique_ptr<std::vector<Number>>> free_;
};

// Numbers of a table of counts that stays near the processor.
constexpr std::size_t MAX_TABLE = std::size_t(1) << 23;

// Add rows of small counts, each of weight 1, to sum_x (C, V) and log_orderings (C,), and say whether
// all were such rows; if not, nothing was added. Whole numbers add up to the same in any order, so
// rows are taken as they lie, and threads share tables.
template <class Number, class Rows>
bool add_small_counts(const Rows& x, const In<std::int32_t, 1>& codes, std::size_t classes, std::size_t columns,
                      double* sum_x, double* log_orderings) {
    const std::size_t share = std::max<std::size_t>(1, (x.rows + RUNS - 1) / RUNS),
                      tasks = (x.rows + share - 1) / share;
    const auto small_counts = check_loops<typename Rows::Cell>().small_counts;
    Tables<Number> tables(classes * columns);
    std::vector<double> logs(tasks * classes);
    std::atomic<bool> small{true};
    in_parallel(tasks, [&](std::size_t task) {
        tables.borrow([&](Number* table) {
            x.each_block(task * share, std::min((task + 1) * share, x.rows), [&](std::size_t start, std::size_t stop) {
                require_within(x.is_within(start, stop, columns));
                if (!small) return false;
                if (!small_counts(x.data + x.indptr[start], x.cells(start, stop))) return small = false;
                for (std::size_t row = start; row < stop; ++row) {
                    const std::size_t c = static_cast<std::size_t>(codes.data()[row]);
                    const auto first = x.indptr[row];
                    const std::size_t cells = static_cast<std::size_t>(x.indptr[row + 1] - first);
                    Number* mine = table + c * columns;
                    Orderings orderings;
                    orderings.add_small(x.data + first, cells, [&](std::size_t at, int count) {
                        mine[x.indices[first + at]] += static_cast<Number>(count);
                    });
                    logs[task * classes + c] += orderings.log_number();
                }
                return true;
            });
        });
    });
    if (!small) return false;
    tables.add_to(sum_x);
    for (std::size_t at = 0; at < logs.size(); ++at) log_orderings[at % classes] += logs[at];
    return true;
}

// As `words`.
auto sparse_words(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes, In<double, 1> weights,
                  std::size_t classes, std::size_t columns) {
    const SparseRows rows{data, indices, indptr, codes, weights, classes, columns};
    auto sum_x = make_array<double>({classes, columns}), log_orderings = make_array<double>({classes});
    if (weights.shape(0) == 0 && classes * columns <= MAX_TABLE) {
        auto row_weight = rows.row_weights();
        nb::gil_scoped_release release;
        const bool small = with_unchecked_sparse(data, indices, indptr, [&](auto x) {
            const bool few =
                static_cast<std::size_t>(x.indptr[x.rows]) < std::numeric_limits<std::uint32_t>::max() / MAX_SMALL;
            return few ? add_small_counts<std::uint32_t>(x, codes, classes, columns, sum_x.data(), log_orderings.data())
                       : add_small_counts<std::uint64_t>(x, codes, classes, columns, sum_x.data(),
                                                         log_orderings.data());
        });
        if (small) return std::make_tuple(NONE, row_weight, sum_x, log_orderings);
    }
    const auto [refused, row_weight] =
        rows.add_up<2>({sum_x.data(), log_orderings.data()}, {columns, 1},
                       [&](const auto& x, std::size_t row, std::size_t, double w, const Sums<2>& sums) {
                           Orderings orderings;
                           for (auto at = x.indptr[row]; at < x.indptr[row + 1]; ++at) {
                               const double cell = static_cast<double>(x.data[at]);
                               if (cell == 0.0 || cell != cell) continue;
                               if (cell < 0.0 || std::isinf(cell)) return false;
                               sums[0][x.indices[at]] += w * cell;
                               orderings.add(cell);
                           }
                           sums[1][0] += w * orderings.log_number();
                           return true;
                       });
    return std::make_tuple(refused, row_weight, sum_x, log_orderings);
}

// As `events`.
auto sparse_events(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes,
                   In<double, 1> weights, std::size_t classes, std::size_t columns) {
    const SparseRows rows{data, indices, indptr, codes, weights, classes, columns};
    auto missing = make_array<double>({classes, columns}), sum_x = make_array<double>({classes, columns});
    auto log_factorials = make_array<double>({classes, columns});
    const auto [refused, row_weight] =
        rows.add_up<3>({missing.data(), sum_x.data(), log_factorials.data()}, {columns, columns, columns},
                       [&](const auto& x, std::size_t row, std::size_t, double w, const Sums<3>& sums) {
                           for (auto at = x.indptr[row]; at < x.indptr[row + 1]; ++at) {
                               const double cell = static_cast<double>(x.data[at]);
                               const auto j = x.indices[at];
                               if (cell != cell) {
                                   sums[0][j] += w;
                                   continue;
                               }
                               if (cell < 0.0 || std::isinf(cell)) return false;
                               sums[1][j] += w * cell;
                               sums[2][j] += w * log_factorial(cell);
                           }
                           return true;
                       });
    return std::make_tuple(refused, row_weight, missing, sum_x, log_factorials);
}

}  // namespace

void bind_count(nb::module_& m) {
    using namespace nb::literals;
    m.def("moments", &moments, "X"_a, "codes"_a, "weights"_a, "origin"_a,
          "Return refused row, weights (C,), weights seen, sums of x - origin and of squares (C, d).");
    m.def("ones", &ones, "X"_a, "codes"_a, "weights"_a, "classes"_a, "threshold"_a,
          "Return refused row, weights (C,), weights of missing values and of ones (C, d).");
    m.def("words", &words, "X"_a, "codes"_a, "weights"_a, "classes"_a,
          "Return refused row, weights (C,), counts (C, d) and logs of orderings (C,).");
    m.def("events", &events, "X"_a, "codes"_a, "weights"_a, "classes"_a,
          "Return refused row, weights (C,), weights missing, events, log factorials (C, d).");
    m.def("levels", &levels, "X"_a, "codes"_a, "weights"_a, "classes"_a, "max_levels"_a,
          "Return refused and fractional row, highest levels (d,), weights (C,), counts (C, levels).");
    m.def("sparse_moments", &sparse_moments, "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "origin"_a,
          "Return refused row, weights (C,), weights stored and missing, sums, squares (C, V).");
    m.def("sparse_ones", &sparse_ones, "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "classes"_a,
          "columns"_a, "threshold"_a,
          "Return refused row, weights (C,), weights of missing values and of ones (C, V).");
    m.def("sparse_words", &sparse_words, "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "classes"_a,
          "columns"_a, "Return refused row, weights (C,), counts (C, V) and logs of orderings (C,).");
    m.def("sparse_events", &sparse_events, "data"_a, "indices"_a, "indptr"_a, "codes"_a, "weights"_a, "classes"_a,
          "columns"_a, "Return refused row, weights (C,), weights missing, events, log factorials (C, V).");
}

}  // namespace suffice
