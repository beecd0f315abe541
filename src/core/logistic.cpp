// The log-likelihood of logistic and softmax regressions: loss, gradient and Hessian in one pass.
//
// Scores are of K classes beside a last one whose score is 0. Weights V (K, width) are of columns
// measured as (x - centre) inverse; with an intercept the last of them is that of a column of ones.
#include <algorithm>
#include <cmath>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "blas.h"
#include "loops/logistic.h"
#include "loops/tables.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

// Columns of a symmetric product that are multiplied with themselves and those before them.
constexpr std::size_t PANEL = 32;
// Products of numbers after which a thread looks for signals: some hundredths of a second.
constexpr std::size_t PIECE = std::size_t(1) << 26;

// Do work(range, first, last, low) for rows first..last of each range, `low` rows after its start.
// Ranges that hold many sums are long: they are taken a piece at a time, so that Ctrl-C is answered.
template <class Work>
void in_pieces(const Ranges& ranges, std::size_t work_a_row, Work&& work) {
    const std::size_t piece =
        std::max<std::size_t>(1, PIECE / std::max<std::size_t>(1, work_a_row) / CHUNK_ROWS) * CHUNK_ROWS;
    for (std::size_t done = 0; ranges.count() > 0 && done < ranges.step; done += piece) {
        in_parallel(ranges.count(), [&](std::size_t range) {
            const std::size_t start = ranges.start(range), stop = ranges.stop(range);
            if (start + done < stop) work(range, start + done, std::min(start + done + piece, stop), done);
        });
    }
}

// Rows of a chunk that are taken together where no product of matrices gains by more: with some
// dozens of columns they stay in the first cache, beside the rows that come after them.
constexpr std::size_t PIECE_ROWS = 16;

// What ranges of rows add up.
struct Sums {
    ChunkLoss loss{0.0, 0.0};
    double seen = 0.0;             // weight of the rows in the Hessian
    std::vector<double> gradient;  // of the loss, (K, step)
    std::vector<double> hessian;   // (K width, K width); see `Model::mirror`

    void add(const ChunkLoss& more) {
        loss.total += more.total;
        loss.worst = std::max(loss.worst, more.worst);
    }

    void add(const Sums& more) {
        add(more.loss);
        seen += more.seen;
        for (std::size_t at = 0; at < gradient.size(); ++at) gradient[at] += more.gradient[at];
        for (std::size_t at = 0; at < hessian.size(); ++at) hessian[at] += more.hessian[at];
    }
};

// Rows of a chunk and what is computed of them.
struct Chunk {
    std::vector<double> cells;   // (CHUNK_ROWS, step)
    std::vector<double> scores;  // (CHUNK_ROWS, K + 1), or (CHUNK_ROWS,) if K is 1
    std::vector<double> factors, scaled, by_class;
};

struct Model {
    std::size_t free, columns, width, step;  // step: width, and zeros up to a multiple of lanes
    std::vector<double> V;                   // (K, step)
    const std::int32_t* codes;
    const double* weights;  // null if every row weighs 1
    const double* base;     // null, or added to the scores (n,) of the one class
    bool intercept;
    std::size_t sample;  // the Hessian is of every so many chunks; 0 is none
    const Blas& library;

    std::size_t size() const { return free * width; }

    Sums make_sums() const {
        Sums sums;
        sums.gradient.resize(free * step);
        sums.hessian.resize(sample ? size() * size() : 0);
        return sums;
    }

    Chunk make_chunk() const {
        Chunk chunk{std::vector<double>(CHUNK_ROWS * step),
                    std::vector<double>(CHUNK_ROWS * (free + 1)),
                    std::vector<double>(CHUNK_ROWS),
                    {},
                    {}};
        if (intercept)
            for (std::size_t i = 0; i < CHUNK_ROWS; ++i) chunk.cells[i * step + columns] = 1.0;
        if (sample) chunk.scaled.resize(CHUNK_ROWS * step);
        if (sample && free > 1) chunk.by_class.resize(CHUNK_ROWS * size());
        return chunk;
    }

    double weight(std::size_t row) const { return weights ? weights[row] : 1.0; }

    // Add the rows start..start + rows, which the chunk holds.
    void add_chunk(Chunk& chunk, std::size_t start, std::size_t rows, bool curved, Sums& sums) const {
        if (free == 1)
            add_two_classes(chunk, start, rows, curved, sums);
        else
            add_classes(chunk, start, rows, curved, sums);
        if (!curved) return;
        for (std::size_t i = 0; i < rows; ++i) sums.seen += weight(start + i);
    }

    void add_two_classes(Chunk& chunk, std::size_t start, std::size_t rows, bool curved, Sums& sums) const {
        const LogisticLoops& loops = logistic_loops();
        double* margins = chunk.scores.data();
        for (std::size_t i = 0; i < rows; ++i) margins[i] = base ? base[start + i] : 0.0;
        loops.add_margins(chunk.cells.data(), rows, step, V.data(), margins);
        sums.add(
            loops.two_classes(margins, codes + start, weights ? weights + start : nullptr, rows, chunk.factors.data()));
        loops.add_rows(chunk.cells.data(), margins, rows, step, sums.gradient.data());
        if (curved) add_symmetric(chunk, rows, 0, sums);
    }

    void add_classes(Chunk& chunk, std::size_t start, std::size_t rows, bool curved, Sums& sums) const {
        const std::size_t classes = free + 1;
        double* scores = chunk.scores.data();
        library.multiply(chunk.cells.data(), step, false, V.data(), step, true, rows, step, free, 0.0, scores, classes);
        for (std::size_t i = 0; i < rows; ++i) scores[i * classes + free] = 0.0;
        sums.add(
            logistic_loops().softmax_loss(scores, codes + start, weights ? weights + start : nullptr, rows, classes));
        if (curved) add_curvature(chunk, start, rows, sums);
        for (std::size_t i = 0; i < rows; ++i) {
            const double w = weight(start + i);
            for (std::size_t k = 0; k < free; ++k) scores[i * classes + k] *= w;
            scores[i * classes + static_cast<std::size_t>(codes[start + i])] -= w;
        }
        library.multiply(scores, classes, true, chunk.cells.data(), step, false, free, rows, step, 1.0,
                         sums.gradient.data(), step);
    }

    // Add sum_i w_i p_k (1{k=l} - p_l) x x^T for l <= k, with the sign of l = k for all.
    void add_curvature(Chunk& chunk, std::size_t start, std::size_t rows, Sums& sums) const {
        const LogisticLoops& loops = logistic_loops();
        const double* cells = chunk.cells.data();
        for (std::size_t k = 0; k < free; ++k) {
            const double* proba = chunk.scores.data() + k;
            for (std::size_t i = 0; i < rows; ++i)
                chunk.factors[i] = std::sqrt(weight(start + i)) * proba[i * (free + 1)];
            loops.scale_rows(cells, chunk.factors.data(), rows, step, width, chunk.by_class.data() + k * width, size());
            if (k > 0 && width > 0)
                library.multiply(chunk.by_class.data() + k * width, size(), true, chunk.by_class.data(), size(), false,
                                 width, rows, k * width, 1.0, sums.hessian.data() + k * width * size(), size());
            for (std::size_t i = 0; i < rows; ++i)
                chunk.factors[i] = weight(start + i) * proba[i * (free + 1)] * (1.0 - proba[i * (free + 1)]);
            add_symmetric(chunk, rows, k, sums);
        }
    }

    // Add sum_i factors_i x x^T to the block of class k, of which only lower panels are written.
    void add_symmetric(Chunk& chunk, std::size_t rows, std::size_t k, Sums& sums) const {
        const double* cells = chunk.cells.data();
        logistic_loops().scale_rows(cells, chunk.factors.data(), rows, step, step, chunk.scaled.data(), step);
        for (std::size_t low = 0; low < width; low += PANEL) {
            const std::size_t high = std::min(low + PANEL, width);
            library.multiply(chunk.scaled.data() + low, step, true, cells, step, false, high - low, rows, high, 1.0,
                             sums.hessian.data() + (k * width + low) * size() + k * width, size());
        }
    }

    // Fill in the upper half of the Hessian, and give blocks of two classes their sign.
    void mirror(double* hessian) const {
        for (std::size_t a = 0; a < size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (a / width != b / width) hessian[a * size() + b] *= -1.0;
                hessian[b * size() + a] = hessian[a * size() + b];
            }
        }
    }
};

Model make_model(const In<std::int32_t, 1>& codes, const In<double, 1>& weights, const double* base,
                 const In<double, 1>& centre, const In<double, 1>& inverse, const In<double, 2>& V, bool intercept,
                 std::size_t sample, std::size_t rows) {
    const std::size_t columns = centre.shape(0), free = V.shape(0), width = V.shape(1);
    require(codes.shape(0) == rows && inverse.shape(0) == columns, "rows, codes and columns do not fit");
    require(free > 0 && width == columns + (intercept ? 1 : 0), "columns and weights do not fit");
    require_codes(codes, free + 1);
    const std::size_t step = std::max<std::size_t>(1, (width + CHUNK_LANES - 1) / CHUNK_LANES) * CHUNK_LANES;
    std::vector<double> padded(free * step);
    for (std::size_t k = 0; k < free; ++k) std::copy_n(V.data() + k * width, width, padded.data() + k * step);
    return Model{free, columns,   width,  step,  std::move(padded), codes.data(), weights_or_null(weights, rows),
                 base, intercept, sample, blas()};
}

// Add up rows a chunk at a time; take(first, rows, cells) writes rows into a chunk. Returns the
// loss, the greatest loss of a row, the weight of rows in the Hessian, gradient and Hessian.
template <class Take>
auto add_up(const Model& model, std::size_t rows, Take&& make_take) {
    Sums total = model.make_sums();
    auto gradient = make_array<double>({model.free, model.width}, false);
    const std::size_t side = model.sample ? model.size() : 0;
    auto hessian = make_array<double>({side, side}, false);
    {
        nb::gil_scoped_release release;
        const Ranges ranges(rows, model.columns, total.gradient.size() + total.hessian.size());
        std::vector<Sums> parts(ranges.count());
        const std::size_t products = model.size() * (2 + (model.sample ? model.size() / model.sample : 0));
        in_pieces(ranges, products, [&](std::size_t range, std::size_t first, std::size_t last, std::size_t done) {
            if (done == 0) parts[range] = model.make_sums();
            Chunk chunk = model.make_chunk();
            auto take = make_take();
            for (; first < last; first += CHUNK_ROWS, done += CHUNK_ROWS) {
                const std::size_t here = std::min(CHUNK_ROWS, last - first);
                const bool curved = model.sample > 0 && done / CHUNK_ROWS % model.sample == 0;
                const std::size_t piece = model.free == 1 && !curved ? PIECE_ROWS : CHUNK_ROWS;
                for (std::size_t at = 0; at < here; at += piece) {
                    const std::size_t some = std::min(piece, here - at);
                    take(first + at, some, chunk.cells.data());
                    model.add_chunk(chunk, first + at, some, curved, parts[range]);
                }
            }
        });
        for (const Sums& part : parts) total.add(part);
        for (std::size_t k = 0; k < model.free; ++k)
            std::copy_n(total.gradient.data() + k * model.step, model.width, gradient.data() + k * model.width);
        if (side > 0) {
            model.mirror(total.hessian.data());
            std::copy(total.hessian.begin(), total.hessian.end(), hessian.data());
        }
    }
    return std::make_tuple(total.loss.total, total.loss.worst, total.seen, gradient, hessian);
}

using Derivatives = std::tuple<double, double, double, Out<double>, Out<double>>;

// Derivatives of dense rows; the Hessian is that of every `sample`-th chunk of them, 0 is none.
// base (n,), if there is any, is added to the scores of the one class.
Derivatives softmax_derivatives(AnyRows X, In<double, 1> base, In<std::int32_t, 1> codes, In<double, 1> weights,
                                In<double, 1> centre, In<double, 1> inverse, In<double, 2> V, bool intercept,
                                std::size_t sample) {
    require(X.shape(1) == centre.shape(0), "rows and columns do not fit");
    require(base.shape(0) == 0 || (base.shape(0) == X.shape(0) && V.shape(0) == 1), "rows and their scores do not fit");
    const Model model = make_model(codes, weights, base.shape(0) ? base.data() : nullptr, centre, inverse, V, intercept,
                                   sample, X.shape(0));
    return with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return add_up(model, x.rows, [&] {
            return [&, buffer = std::vector<T>(x.room(CHUNK_ROWS))](std::size_t first, std::size_t rows,
                                                                    double* cells) mutable {
                const T* block = x.block(first, first + rows, buffer.data());
                standardize_loop<T>()(block, rows, x.columns, centre.data(), inverse.data(), cells, model.step);
            };
        });
    });
}

// The same of sparse rows, made dense a chunk at a time.
Derivatives crowded_softmax_derivatives(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes,
                                        In<double, 1> weights, In<double, 1> centre, In<double, 1> inverse,
                                        In<double, 2> V, bool intercept, std::size_t sample) {
    const std::size_t columns = centre.shape(0);
    return with_sparse(data, indices, indptr, columns, [&](auto x) {
        const Model model = make_model(codes, weights, nullptr, centre, inverse, V, intercept, sample, x.rows);
        return add_up(model, x.rows, [&] {
            return [&](std::size_t first, std::size_t rows, double* cells) {
                for (std::size_t i = first; i < first + rows; ++i, cells += model.step) {
                    for (std::size_t j = 0; j < columns; ++j) cells[j] = -centre.data()[j] * inverse.data()[j];
                    for (auto at = x.indptr[i]; at < x.indptr[i + 1]; ++at) {
                        const std::size_t j = static_cast<std::size_t>(x.indices[at]);
                        cells[j] = (static_cast<double>(x.data[at]) - centre.data()[j]) * inverse.data()[j];
                    }
                }
            };
        });
    });
}

// Derivatives of sparse rows by their stored cells alone, under weights (columns, K) and bias (K,):
// loss, the greatest loss of a row, and the gradients by both.
auto stored_softmax_derivatives(AnyVector data, AnyVector indices, AnyVector indptr, In<std::int32_t, 1> codes,
                                In<double, 1> weights, In<double, 2> table, In<double, 1> bias) {
    const std::size_t columns = table.shape(0), free = table.shape(1), classes = free + 1;
    require(free > 0 && bias.shape(0) == free && indptr.shape(0) == codes.shape(0) + 1,
            "rows, codes and weights do not fit");
    require_codes(codes, classes);
    const double* row_weights = weights_or_null(weights, codes.shape(0));
    auto gradient = make_array<double>({columns, free}), level = make_array<double>({free});
    ChunkLoss loss{0.0, 0.0};
    with_sparse(data, indices, indptr, columns, [&](auto x) {
        using Index = std::decay_t<decltype(*x.indptr)>;
        nb::gil_scoped_release release;
        const TableLoops<Index>& tables = table_loops<Index>();
        const std::size_t stored = static_cast<std::size_t>(x.indptr[x.rows]),
                          a_row = stored / std::max<std::size_t>(1, x.rows) + 1;
        const std::size_t sums = (columns + 1) * free, step = free == 1 ? 1 : classes;
        const Ranges ranges(x.rows, a_row + free, sums);
        std::vector<std::vector<double>> parts(ranges.count());
        std::vector<ChunkLoss> losses(ranges.count());
        in_pieces(
            ranges, 2 * a_row * free, [&](std::size_t range, std::size_t first, std::size_t last, std::size_t done) {
                if (done == 0) parts[range].resize(sums);
                double *slope = parts[range].data(), *rise = slope + columns * free;
                std::vector<double> scores(CHUNK_ROWS * step), bends(CHUNK_ROWS), cells;
                for (; first < last; first += CHUNK_ROWS) {
                    const std::size_t rows = std::min(CHUNK_ROWS, last - first);
                    double* row = scores.data();
                    for (std::size_t i = first; i < first + rows; ++i, row += step) {
                        const Index begin = x.indptr[i];
                        const std::size_t count = static_cast<std::size_t>(x.indptr[i + 1] - begin);
                        cells.assign(x.data + begin, x.data + begin + count);
                        std::copy_n(bias.data(), free, row);
                        if (free > 1) row[free] = 0.0;
                        tables.add_linear(cells.data(), {x.indices + begin, x.indices + stored, count}, table.data(),
                                          free, row);
                    }
                    const double* w = row_weights ? row_weights + first : nullptr;
                    const ChunkLoss more =
                        free == 1
                            ? logistic_loops().two_classes(scores.data(), codes.data() + first, w, rows, bends.data())
                            : logistic_loops().softmax_loss(scores.data(), codes.data() + first, w, rows, classes);
                    losses[range].total += more.total;
                    losses[range].worst = std::max(losses[range].worst, more.worst);
                    row = scores.data();
                    for (std::size_t i = first; i < first + rows; ++i, row += step) {
                        if (free > 1) {
                            const double mass = row_weights ? row_weights[i] : 1.0;
                            for (std::size_t k = 0; k < free; ++k) row[k] *= mass;
                            row[codes.data()[i]] -= mass;
                        }
                        for (std::size_t k = 0; k < free; ++k) rise[k] += row[k];
                        for (Index at = x.indptr[i]; at < x.indptr[i + 1]; ++at) {
                            const double cell = static_cast<double>(x.data[at]);
                            double* into = slope + static_cast<std::size_t>(x.indices[at]) * free;
                            for (std::size_t k = 0; k < free; ++k) into[k] += cell * row[k];
                        }
                    }
                }
            });
        for (std::size_t range = 0; range < ranges.count(); ++range) {
            loss.total += losses[range].total;
            loss.worst = std::max(loss.worst, losses[range].worst);
            const double* part = parts[range].data();
            for (std::size_t at = 0; at < columns * free; ++at) gradient.data()[at] += part[at];
            for (std::size_t k = 0; k < free; ++k) level.data()[k] += part[columns * free + k];
        }
    });
    return std::make_tuple(loss.total, loss.worst, gradient, level);
}

auto exponentials(In<double, 1> x) {
    auto powers = make_array<double>({x.shape(0)}, false);
    nb::gil_scoped_release release;
    std::copy_n(x.data(), x.shape(0), powers.data());
    logistic_loops().exp_of_nonpositive(powers.data(), x.shape(0));
    return powers;
}

}  // namespace

void bind_logistic(nb::module_& m) {
    using namespace nb::literals;
    m.def("exp_of_nonpositive", &exponentials, "x"_a,
          "Return exp of numbers, all 0 or less, as loops take it: for tests.");
    m.def("softmax_derivatives", &softmax_derivatives, "X"_a, "base"_a, "codes"_a, "weights"_a, "centre"_a, "inverse"_a,
          "V"_a, "intercept"_a, "sample"_a,
          "Return loss, greatest loss, weight in the Hessian, gradient and Hessian of dense rows.");
    m.def("crowded_softmax_derivatives", &crowded_softmax_derivatives, "data"_a, "indices"_a, "indptr"_a, "codes"_a,
          "weights"_a, "centre"_a, "inverse"_a, "V"_a, "intercept"_a, "sample"_a,
          "Return the same of sparse rows, made dense.");
    m.def("stored_softmax_derivatives", &stored_softmax_derivatives, "data"_a, "indices"_a, "indptr"_a, "codes"_a,
          "weights"_a, "table"_a, "bias"_a,
          "Return loss, greatest loss and gradients by table (columns, K) and bias, by stored cells.");
}

}  // namespace suffice
