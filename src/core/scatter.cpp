// Sums of outer products of x - origin by class, over dense rows without missing values.
#include <algorithm>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "blas.h"
#include "loops/checks.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

// Rows sorted by class together, so that their products are taken many at a time.
constexpr std::size_t BLOCK = 1024;
// Rows multiplied at once: small enough that BLAS neither packs the operands nor takes its lock.
constexpr std::size_t CHUNK = 128;
// Above this many columns threads share the columns of one product, below it the rows.
constexpr std::size_t NARROW = 128;
// Columns of a product that are multiplied with themselves and those after them.
constexpr std::size_t PANEL = 64;

// Rows of cells with targets beside them, which the loops see as wider rows.
template <class T>
struct JoinedCells {
    using Cell = double;

    Cells<T> x;
    const double* targets;  // (n, t)
    std::size_t count;

    std::size_t room(std::size_t rows) const { return rows * (x.columns + count); }

    const double* block(std::size_t start, std::size_t stop, double* buffer) const {
        std::vector<T> cells(x.room(1));
        double* into = buffer;
        for (std::size_t i = start; i < stop; ++i) {
            const T* row = x.block(i, i + 1, cells.data());
            for (std::size_t j = 0; j < x.columns; ++j) *into++ = static_cast<double>(row[j]);
            for (std::size_t j = 0; j < count; ++j) *into++ = targets[i * count + j];
        }
        return buffer;
    }
};

struct PackedRows;

struct ScatterSums {
    double* weight;  // (C,)
    double* sum_x;   // (C, d)
    double* sum_xx;  // (C, d, d), only its upper panels
};

struct WeightedRows {
    const std::int32_t* codes;
    const double* weights;  // null if every row weighs 1
    const double* origin;   // (C, d)
    std::size_t classes, columns;

    // Copy rows class by class, less their origin, and with weights once more times them.
    template <class T>
    void pack(const T* x, std::size_t start, std::size_t rows, PackedRows& packed, const ScatterSums& sums) const;
};

// A block of rows, sorted by class.
struct PackedRows {
    std::size_t columns;
    std::vector<std::size_t> ends;  // where each class ends
    std::vector<double> plain;      // (BLOCK, d)
    std::vector<double> weighted;   // the same, or empty if every row weighs 1

    explicit PackedRows(const WeightedRows& rows)
        : columns(rows.columns),
          ends(rows.classes + 1),
          plain(BLOCK * columns),
          weighted(rows.weights ? BLOCK * columns : 0) {}

    // Add plain[:, low:high]' weighted[:, low:] to the products of class c, high being the panel's end.
    void add_panel(const Blas& blas, std::size_t c, std::size_t low, double* products) const {
        const std::size_t high = std::min(low + PANEL, columns);
        for (std::size_t first = c ? ends[c - 1] : 0; first < ends[c]; first += CHUNK) {
            const std::size_t from = first * columns + low, rows = std::min(CHUNK, ends[c] - first);
            blas.multiply(plain.data() + from, columns, true, (weighted.empty() ? plain : weighted).data() + from,
                          columns, false, high - low, rows, columns - low, 1.0, products + low * columns + low,
                          columns);
        }
    }
};

template <class T>
void WeightedRows::pack(const T* x, std::size_t start, std::size_t rows, PackedRows& packed,
                        const ScatterSums& sums) const {
    std::size_t* ends = packed.ends.data();
    std::fill_n(ends, classes + 1, 0);
    for (std::size_t i = 0; i < rows; ++i) ++ends[codes[start + i] + 1];
    for (std::size_t c = 0; c < classes; ++c) ends[c + 1] += ends[c];
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t c = static_cast<std::size_t>(codes[start + i]), at = ends[c]++ * columns;
        const double w = weights ? weights[start + i] : 1.0;
        const T* row = x + i * columns;
        const double* centre = origin + c * columns;
        double* __restrict copy = packed.plain.data() + at;
        double* __restrict sum = sums.sum_x + c * columns;
        sums.weight[c] += w;
        for (std::size_t j = 0; j < columns; ++j) {
            copy[j] = static_cast<double>(row[j]) - centre[j];
            sum[j] += w * copy[j];
        }
        for (std::size_t j = 0; j < packed.weighted.size() / BLOCK; ++j) packed.weighted[at + j] = w * copy[j];
    }
}

// Moments with products about origins (C, d): the weight of rows (C,), the sums of x - origin
// (C, d) and of its outer products (C, d, d). Blocks of rows with a cell that is not finite are
// left out, and the numbers of their rows returned last. Targets (n, t) are further cells of rows.
auto scatter(AnyRows X, In<double, 2> targets, In<std::int32_t, 1> codes, In<double, 1> weights, In<double, 2> origin) {
    const std::size_t classes = origin.shape(0), columns = origin.shape(1), size = X.shape(0);
    require(size == codes.shape(0) && X.shape(1) + targets.shape(1) == columns, "rows, codes and origins do not fit");
    require(targets.shape(1) == 0 || targets.shape(0) == size, "rows and targets do not fit");
    require_codes(codes, classes);
    const WeightedRows rows{codes.data(), weights_or_null(weights, size), origin.data(), classes, columns};
    auto weight = make_array<double>({classes}), sum_x = make_array<double>({classes, columns});
    auto sum_xx = make_array<double>({classes, columns, columns});
    const ScatterSums totals{weight.data(), sum_x.data(), sum_xx.data()};
    std::vector<std::int64_t> left_out;
    const Blas& library = blas();
    {
        nb::gil_scoped_release release;
        auto add_up = [&](auto x) {
            using T = typename decltype(x)::Cell;
            const auto& loops = check_loops<T>();
            // Packs the block that starts with a row; says whether it was finite.
            auto pack = [&](std::size_t start, std::size_t stop, T* buffer, PackedRows& packed,
                            const ScatterSums& sums) {
                const T* block = x.block(start, stop, buffer);
                if (!loops.finite(block, (stop - start) * columns)) return false;
                rows.pack(block, start, stop - start, packed, sums);
                return true;
            };
            auto leave_out = [](std::vector<std::int64_t>& list, std::size_t start, std::size_t stop) {
                for (std::size_t i = start; i < stop; ++i) list.push_back(static_cast<std::int64_t>(i));
            };
            if (columns <= NARROW) {
                const std::size_t numbers = classes * (1 + columns + columns * columns);
                const Ranges ranges(size, columns, numbers);
                std::vector<std::vector<double>> parts(ranges.count());
                std::vector<std::vector<std::int64_t>> odd(ranges.count());
                in_parallel(ranges.count(), [&](std::size_t range) {
                    parts[range].assign(numbers, 0.0);
                    double* part = parts[range].data();
                    const ScatterSums sums{part, part + classes, part + classes + classes * columns};
                    std::vector<T> buffer(x.room(BLOCK));
                    PackedRows packed(rows);
                    for (std::size_t start = ranges.start(range); start < ranges.stop(range); start += BLOCK) {
                        const std::size_t stop = std::min(start + BLOCK, ranges.stop(range));
                        if (!pack(start, stop, buffer.data(), packed, sums)) {
                            leave_out(odd[range], start, stop);
                            continue;
                        }
                        for (std::size_t c = 0; c < classes; ++c)
                            for (std::size_t low = 0; low < columns; low += PANEL)
                                packed.add_panel(library, c, low, sums.sum_xx + c * columns * columns);
                    }
                });
                for (std::size_t range = 0; range < ranges.count(); ++range) {
                    const double* part = parts[range].data();
                    for (std::size_t at = 0; at < weight.size(); ++at) weight.data()[at] += *part++;
                    for (std::size_t at = 0; at < sum_x.size(); ++at) sum_x.data()[at] += *part++;
                    for (std::size_t at = 0; at < sum_xx.size(); ++at) sum_xx.data()[at] += *part++;
                    left_out.insert(left_out.end(), odd[range].begin(), odd[range].end());
                }
                return;
            }
            // Each thread with sums of its own, as for narrow rows, would take too much memory.
            std::vector<T> buffer(x.room(BLOCK));
            PackedRows packed(rows);
            for (std::size_t start = 0; start < size; start += BLOCK) {
                const std::size_t stop = std::min(start + BLOCK, size);
                if (!pack(start, stop, buffer.data(), packed, totals)) {
                    leave_out(left_out, start, stop);
                    continue;
                }
                in_parallel((columns + PANEL - 1) / PANEL, [&](std::size_t panel) {
                    for (std::size_t c = 0; c < classes; ++c)
                        packed.add_panel(library, c, panel * PANEL, totals.sum_xx + c * columns * columns);
                });
            }
        };
        with_cells(X, [&](auto x) {
            if (targets.shape(1) == 0)
                add_up(x);
            else
                add_up(JoinedCells<typename decltype(x)::Cell>{x, targets.data(), targets.shape(1)});
        });
        for (std::size_t c = 0; c < classes; ++c) {
            double* products = sum_xx.data() + c * columns * columns;
            for (std::size_t j = 0; j < columns; ++j)
                for (std::size_t k = 0; k < j; ++k) products[j * columns + k] = products[k * columns + j];
        }
    }
    return std::make_tuple(weight, sum_x, sum_xx, to_array(left_out));
}

}  // namespace

void bind_scatter(nb::module_& m) {
    using namespace nb::literals;
    m.def("scatter", &scatter, "X"_a, "targets"_a, "codes"_a, "weights"_a, "origin"_a,
          "Return weights (C,), sums (C, d), outer products (C, d, d), and rows left out.");
}

}  // namespace suffice
