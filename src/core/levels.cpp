// Levels of columns: scores looked up in tables, counts by class, bins of numbers, and what several
// columns of levels say together. Numbers that are not cut into levels score by a slope.
//
// Codes of levels count from 0; a gap is negative. A table of scores has a row for each level, then
// one for all codes beyond, which are levels that nobody knows, and one for gaps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "loops/scores.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

using Codes = In<std::int32_t, 1>;

// The row of a table that a code has.
std::size_t row_of(std::int32_t code, std::size_t table_rows) {
    return code < 0 ? table_rows - 1 : std::min(static_cast<std::size_t>(code), table_rows - 2);
}

// Do work(i) of every row. Each range has a copy of `work`, whose pointers then stay in registers.
template <class Work>
void for_rows(std::size_t rows, std::size_t columns, Work work) {
    const Ranges ranges(rows, columns);
    in_parallel(ranges.count(), [&](std::size_t range) {
        const Work mine = work;
        const std::size_t stop = ranges.stop(range);
        for (std::size_t i = ranges.start(range); i < stop; ++i) mine(i);
    });
}

// Write to each row of out (n, C) the C numbers at from(i): rows of one to four numbers without a
// loop.
template <class From>
void copy_rows(std::size_t rows, std::size_t classes, double* out, From from) {
    auto copy = [&](auto size) {
        constexpr std::size_t N = decltype(size)::value;
        for_rows(rows, classes, [=](std::size_t i) {
            const double* row = from(i);
            for (std::size_t c = 0; c < (N ? N : classes); ++c) out[i * (N ? N : classes) + c] = row[c];
        });
    };
    switch (classes) {
        case 1:
            return copy(std::integral_constant<std::size_t, 1>());
        case 2:
            return copy(std::integral_constant<std::size_t, 2>());
        case 3:
            return copy(std::integral_constant<std::size_t, 3>());
        case 4:
            return copy(std::integral_constant<std::size_t, 4>());
        default:
            return copy(std::integral_constant<std::size_t, 0>());
    }
}

// The scores of levels (n, C) by a table (levels + 2, C).
auto gather_levels(Codes codes, In<double, 2> table) {
    const std::size_t classes = table.shape(1), table_rows = table.shape(0);
    require(table_rows >= 2, "a table without rows for what is unknown");
    auto out = make_array<double>({codes.shape(0), classes}, false);
    nb::gil_scoped_release release;
    copy_rows(codes.shape(0), classes, out.data(), [=, level = codes.data(), scores = table.data()](std::size_t i) {
        return scores + row_of(level[i], table_rows) * classes;
    });
    return out;
}

// The same, by the columns of each row's fold: a table (levels + 2, folds * C).
auto gather_fold_levels(Codes codes, Codes folds, In<double, 2> table, std::size_t classes) {
    const std::size_t width = table.shape(1), table_rows = table.shape(0);
    require(table_rows >= 2, "a table without rows for what is unknown");
    require(folds.shape(0) == codes.shape(0) && classes > 0, "codes and folds do not fit");
    require_codes(folds, width / classes);
    auto out = make_array<double>({codes.shape(0), classes}, false);
    nb::gil_scoped_release release;
    copy_rows(codes.shape(0), classes, out.data(),
              [=, level = codes.data(), fold = folds.data(), scores = table.data()](std::size_t i) {
                  return scores + row_of(level[i], table_rows) * width + static_cast<std::size_t>(fold[i]) * classes;
              });
    return out;
}

// The same, by a second table for each row's own class, which has not learned the row.
auto gather_left_out_levels(Codes codes, Codes own, In<double, 2> table, In<double, 2> left_out) {
    const std::size_t classes = table.shape(1), table_rows = table.shape(0);
    require(table_rows >= 2, "a table without rows for what is unknown");
    require(left_out.shape(0) == table_rows && left_out.shape(1) == classes, "tables do not fit");
    require(own.shape(0) == codes.shape(0), "codes and classes do not fit");
    require_codes(own, classes);
    auto out = gather_levels(codes, table);
    nb::gil_scoped_release release;
    for_rows(codes.shape(0), 1,
             [=, level = codes.data(), mine = own.data(), scores = left_out.data(), to = out.data()](std::size_t i) {
                 const std::size_t c = static_cast<std::size_t>(mine[i]);
                 to[i * classes + c] = scores[row_of(level[i], table_rows) * classes + c];
             });
    return out;
}

// The first row of a level that there is not, or -1, and the weight of each level by class,
// (C, levels); gaps are passed over.
auto level_counts(Codes codes, Codes own, In<double, 1> weights, std::size_t classes, std::size_t levels) {
    const std::size_t rows = codes.shape(0);
    require(own.shape(0) == rows, "codes and classes do not fit");
    require_codes(own, classes);
    const double* w = weights_or_null(weights, rows);
    auto counts = make_array<double>({classes, levels});
    std::int64_t unknown = -1;
    {
        nb::gil_scoped_release release;
        const Ranges ranges(rows, 1, classes * levels);
        std::vector<std::vector<double>> parts(ranges.count());
        std::vector<std::int64_t> first_unknown(ranges.count(), -1);
        in_parallel(ranges.count(), [&](std::size_t range) {
            // The first range adds to the answer itself.
            if (range > 0) parts[range].assign(classes * levels, 0.0);
            double* sums = range > 0 ? parts[range].data() : counts.data();
            const std::int32_t *level = codes.data(), *mine = own.data();
            const std::size_t stop = ranges.stop(range);
            for (std::size_t i = ranges.start(range); i < stop; ++i) {
                const std::int32_t code = level[i];
                if (code < 0) continue;
                if (static_cast<std::size_t>(code) >= levels) {
                    first_unknown[range] = static_cast<std::int64_t>(i);
                    return;
                }
                sums[static_cast<std::size_t>(mine[i]) * levels + static_cast<std::size_t>(code)] += w ? w[i] : 1.0;
            }
        });
        for (std::size_t range = 0; range < ranges.count() && unknown < 0; ++range) {
            unknown = first_unknown[range];
            for (std::size_t at = 0; at < parts[range].size(); ++at) counts.data()[at] += parts[range][at];
        }
    }
    return std::make_tuple(unknown, counts);
}

// How many of the edges, in order, are at or below each number; -1 of NaN.
auto find_bins(In<double, 1> x, In<double, 1> edges) {
    auto codes = make_array<std::int32_t>({x.shape(0)}, false);
    nb::gil_scoped_release release;
    for_rows(x.shape(0), 1,
             [=, x = x.data(), cuts = edges.data(), all = edges.shape(0), to = codes.data()](std::size_t i) {
                 const double v = x[i];
                 std::size_t below = 0, size = all;
                 // Halved without a branch, which nobody could predict.
                 for (; size > 1; size -= size / 2) below += cuts[below + size / 2 - 1] <= v ? size / 2 : 0;
                 if (size == 1) below += cuts[below] <= v ? 1 : 0;
                 to[i] = v != v ? -1 : static_cast<std::int32_t>(below);
             });
    return codes;
}

// Add to scores (n, C) the coefficients (C,) times (x - centre) / scale, at most `most` to either
// side; NaN adds nothing.
void add_deviations(In<double, 1> x, double centre, double scale, double most, In<double, 1> coefficients,
                    InOut<double, 2> scores) {
    const std::size_t classes = scores.shape(1);
    require(x.shape(0) == scores.shape(0) && coefficients.shape(0) == classes,
            "numbers, coefficients and scores do not fit");
    nb::gil_scoped_release release;
    for_rows(x.shape(0), classes, [=, x = x.data(), slope = coefficients.data(), to = scores.data()](std::size_t i) {
        const double far = (x[i] - centre) / scale;
        if (far != far) return;
        const double here = std::min(std::max(far, -most), most);
        for (std::size_t c = 0; c < classes; ++c) to[i * classes + c] += here * slope[c];
    });
}

// ---- Combinations -------------------------------------------------------------------------------

// One number for each row of codes (n, d): sum_j min(code_j, sizes_j) steps_j, or -1 with a gap.
auto combination_keys(In<std::int32_t, 2> codes, In<std::int64_t, 1> sizes, In<std::int64_t, 1> steps) {
    const std::size_t columns = codes.shape(1);
    require(sizes.shape(0) == columns && steps.shape(0) == columns, "codes, sizes and steps do not fit");
    auto keys = make_array<std::int64_t>({codes.shape(0)}, false);
    nb::gil_scoped_release release;
    for_rows(codes.shape(0), columns,
             [=, all = codes.data(), most = sizes.data(), step = steps.data(), to = keys.data()](std::size_t i) {
                 const std::int32_t* row = all + i * columns;
                 std::uint64_t key = 0;
                 bool gap = false;
                 for (std::size_t j = 0; j < columns; ++j) {
                     gap = gap || row[j] < 0;
                     const std::int64_t level = std::min(static_cast<std::int64_t>(row[j]), most[j]);
                     key += static_cast<std::uint64_t>(level) * static_cast<std::uint64_t>(step[j]);
                 }
                 to[i] = gap ? -1 : static_cast<std::int64_t>(key);
             });
    return keys;
}

// The mutual information (n,) of rows and columns of tables of counts (n, C, K), in nats: that of the
// shares p in the table, sum p log(p / (p of the row, p of the column)); 0 of a table of nothing.
auto table_information(In<double, 3> counts) {
    const std::size_t tables = counts.shape(0), classes = counts.shape(1), levels = counts.shape(2),
                      cells = classes * levels;
    auto information = make_array<double>({tables});
    nb::gil_scoped_release release;
    // Tables whose logarithms are taken together, while they are in the first cache.
    const std::size_t together = std::max<std::size_t>(1, 1024 / std::max<std::size_t>(1, cells));
    const Ranges ranges(tables, 8 * cells);
    in_parallel(ranges.count(), [&](std::size_t range) {
        std::vector<double> shares(together * cells), ratios(together * cells), across(levels);
        for (std::size_t first = ranges.start(range); first < ranges.stop(range); first += together) {
            const std::size_t here = std::min(together, ranges.stop(range) - first);
            for (std::size_t t = 0; t < here; ++t) {
                const double* table = counts.data() + (first + t) * cells;
                double *share = shares.data() + t * cells, *ratio = ratios.data() + t * cells, total = 0.0;
                for (std::size_t at = 0; at < cells; ++at) total += table[at];
                if (!(total > 0.0)) total = 1.0;
                std::fill(across.begin(), across.end(), 0.0);
                for (std::size_t c = 0; c < classes; ++c)
                    for (std::size_t k = 0; k < levels; ++k)
                        across[k] += share[c * levels + k] = table[c * levels + k] / total;
                for (std::size_t c = 0; c < classes; ++c, share += levels, ratio += levels) {
                    double down = 0.0;
                    for (std::size_t k = 0; k < levels; ++k) down += share[k];
                    for (std::size_t k = 0; k < levels; ++k)
                        ratio[k] = share[k] > 0.0 ? share[k] / (down * across[k]) : 1.0;
                }
            }
            score_loops().logarithms(ratios.data(), here * cells);
            for (std::size_t t = 0; t < here; ++t)
                for (std::size_t at = t * cells; at < (t + 1) * cells; ++at)
                    information.data()[first + t] += shares[at] * ratios[at];
        }
    });
    return information;
}

// By how many nats the classes are told better by two columns of levels together than by each.
//
// By each: q = p(c) p(a | c) p(b | c), with one supposed row a level, made to add up to 1.
// Together: (n_abc + s q) / (n_ab + s) without a row of weight 1, by the best strength s.
// `counts` is the weight of each class and pair of levels, (C, A, B).
double gain_of_pair(const double* counts, std::size_t classes, std::size_t many, std::size_t more,
                    const In<double, 1>& strengths) {
    const std::size_t pairs = many * more;
    std::vector<double> down(classes * many), across(classes * more), total(classes), start(classes), shares(classes);
    double whole = static_cast<double>(classes);
    for (std::size_t c = 0; c < classes; ++c) {
        for (std::size_t a = 0; a < many; ++a) {
            for (std::size_t b = 0; b < more; ++b) {
                const double n = counts[c * pairs + a * more + b];
                down[c * many + a] += n;
                across[c * more + b] += n;
            }
            total[c] += down[c * many + a];
        }
        whole += total[c];
    }
    for (std::size_t c = 0; c < classes; ++c)
        start[c] = std::log((total[c] + 1.0) / whole) - std::log(total[c] + static_cast<double>(many)) -
                   std::log(total[c] + static_cast<double>(more));
    for (double& n : down) n = std::log(n + 1.0);
    for (double& n : across) n = std::log(n + 1.0);
    std::vector<double> gains(strengths.shape(0));
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        const std::size_t a = pair / more, b = pair % more;
        double held = 0.0;
        for (std::size_t c = 0; c < classes; ++c) held += counts[c * pairs + pair];
        if (!(held > 0.0)) continue;
        double top = -std::numeric_limits<double>::infinity(), added = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            shares[c] = start[c] + down[c * many + a] + across[c * more + b];
            top = std::max(top, shares[c]);
        }
        for (double& share : shares) added += share = std::exp(share - top);
        for (std::size_t c = 0; c < classes; ++c) {
            const double n = counts[c * pairs + pair];
            if (!(n > 0.0)) continue;
            const double q = shares[c] / added, out = std::min(1.0, n);
            for (std::size_t s = 0; s < gains.size(); ++s) {
                const double strength = strengths.data()[s];
                gains[s] += n * (std::log((n - out + strength * q) / (held - out + strength)) - std::log(q));
            }
        }
    }
    return *std::max_element(gains.begin(), gains.end());
}

// The gains of all pairs of columns, (d, d), below the diagonal; -inf above it, and where a table
// of classes and levels would have more than `max_cells` cells. Codes are (d, n), without gaps.
auto pair_gains(In<std::int32_t, 2> codes, In<std::int64_t, 1> levels, Codes own, In<double, 1> weights,
                std::size_t classes, In<double, 1> strengths, std::size_t max_cells) {
    const std::size_t columns = codes.shape(0), rows = codes.shape(1);
    require(levels.shape(0) == columns && own.shape(0) == rows, "codes, levels and classes do not fit");
    require(strengths.shape(0) > 0, "no strengths");
    require_codes(own, classes);
    for (std::size_t j = 0; j < columns; ++j)
        require(levels.data()[j] >= 0 && (rows == 0 || largest_index(codes.data() + j * rows, rows) <
                                                           static_cast<std::uint64_t>(levels.data()[j])),
                "codes of levels that there are not");
    const double* w = weights_or_null(weights, rows);
    auto gains = make_array<double>({columns, columns}, false);
    std::fill_n(gains.data(), columns * columns, -std::numeric_limits<double>::infinity());
    nb::gil_scoped_release release;
    std::vector<std::pair<std::size_t, std::size_t>> tried;
    for (std::size_t a = 0; a < columns; ++a)
        for (std::size_t b = 0; b < a; ++b) {
            const std::size_t many = static_cast<std::size_t>(levels.data()[a]),
                              more = static_cast<std::size_t>(levels.data()[b]);
            const bool none = many == 0 || more == 0 || classes == 0;
            if (!none && more <= max_cells / classes && many <= max_cells / classes / more) tried.emplace_back(a, b);
        }
    in_parallel(tried.size(), [&](std::size_t task) {
        const auto [a, b] = tried[task];
        const std::size_t many = static_cast<std::size_t>(levels.data()[a]),
                          more = static_cast<std::size_t>(levels.data()[b]);
        const std::int32_t *left = codes.data() + a * rows, *right = codes.data() + b * rows, *mine = own.data();
        std::vector<double> counts(classes * many * more);
        double* sums = counts.data();
        for (std::size_t i = 0; i < rows; ++i) {
            const std::size_t at =
                (static_cast<std::size_t>(mine[i]) * many + static_cast<std::size_t>(left[i])) * more;
            sums[at + static_cast<std::size_t>(right[i])] += w ? w[i] : 1.0;
        }
        gains.data()[a * columns + b] = gain_of_pair(sums, classes, many, more, strengths);
    });
    return gains;
}

}  // namespace

void bind_levels(nb::module_& m) {
    using namespace nb::literals;
    m.def("gather_levels", &gather_levels, "codes"_a, "table"_a,
          "Return the rows (n, C) of a table (levels + 2, C) that codes have.");
    m.def("gather_fold_levels", &gather_fold_levels, "codes"_a, "folds"_a, "table"_a, "classes"_a,
          "Return the rows (n, C) of each row's fold in a table (levels + 2, folds * C).");
    m.def("gather_left_out_levels", &gather_left_out_levels, "codes"_a, "own"_a, "table"_a, "left_out"_a,
          "Return the rows (n, C) of a table (levels + 2, C), by another for each row's own class.");
    m.def("level_counts", &level_counts, "codes"_a, "own"_a, "weights"_a, "classes"_a, "levels"_a,
          "Return a row of an unknown level, or -1, and the weight of levels by class (C, levels).");
    m.def("find_bins", &find_bins, "x"_a, "edges"_a, "Return how many edges are at or below each number, -1 of NaN.");
    m.def("add_deviations", &add_deviations, "x"_a, "centre"_a, "scale"_a, "most"_a, "coefficients"_a, "scores"_a,
          "Add coefficients (C,) times (x - centre) / scale, clipped, to scores (n, C).");
    m.def("combination_keys", &combination_keys, "codes"_a, "sizes"_a, "steps"_a,
          "Return one number for each row of codes (n, d), -1 with a gap.");
    m.def("table_information", &table_information, "counts"_a,
          "Return the mutual information (n,) of rows and columns of tables (n, C, K), in nats.");
    m.def("pair_gains", &pair_gains, "codes"_a, "levels"_a, "own"_a, "weights"_a, "classes"_a, "strengths"_a,
          "max_cells"_a, "Return what pairs of columns (d, n) tell of the class beyond each, in nats (d, d).");
}

}  // namespace suffice
