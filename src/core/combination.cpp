// The log-likelihood of weighted sums of log-likelihoods of blocks, and what leaving a row out of it
// changes. Scores are base + offsets + sum_k w_k L_k, with L (n, C, K).
#include <algorithm>
#include <cmath>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "blas.h"
#include "loops/logistic.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

// Rows and classes taken together.
constexpr std::size_t LINES = 512;
// A class of so small a probability, in a row, has no part in what leaving the row out changes.
constexpr double UNLIKELY = 1e-7;
// Classes up to which the equations of a row are solved by elimination; of more, by a series, whose
// terms shrink fast: where so many classes are likely, no row has much to say of any.
constexpr std::size_t SOLVED = 16;
constexpr int MOST_TERMS = 50;
constexpr double SMALL_TERM = 1e-9;

struct Blocks {
    const double* parts;  // (n, C, K)
    const double* base;   // (n, C)
    const std::int32_t* codes;
    const double* mass;
    const double* offsets;
    const double* weights;
    std::size_t classes, blocks;
    const Blas& library;

    std::size_t size() const { return classes + blocks; }

    // Return the loss of rows first..first + rows. Adds them to the gradient of - loss (size,), to the
    // Hessian (size, size), of which offsets by weights are left out, and to `crossed` (C, C) what is
    // to be subtracted from the Hessian of offsets.
    double add(std::size_t first, std::size_t rows, double* room, double* gradient, double* hessian,
               double* crossed) const {
        const double* L = parts + first * classes * blocks;
        double *mean = room, *proba = mean + blocks, *away = proba + rows * classes,
               *heavy = away + rows * classes * blocks;
        for (std::size_t line = 0; line < rows * classes; ++line) {
            double total = base[first * classes + line] + offsets[line % classes];
            for (std::size_t k = 0; k < blocks; ++k) total += weights[k] * L[line * blocks + k];
            proba[line] = total;
        }
        const double loss = logistic_loops().softmax_loss(proba, codes + first, mass + first, rows, classes).total;
        for (std::size_t i = 0; i < rows; ++i) {
            const double m = mass[first + i], root = std::sqrt(m);
            const std::size_t own = static_cast<std::size_t>(codes[first + i]);
            double* p = proba + i * classes;
            const double* lines = L + i * classes * blocks;
            std::fill_n(mean, blocks, 0.0);
            for (std::size_t c = 0; c < classes; ++c)
                for (std::size_t k = 0; k < blocks; ++k) mean[k] += p[c] * lines[c * blocks + k];
            for (std::size_t k = 0; k < blocks; ++k) gradient[classes + k] += m * (lines[own * blocks + k] - mean[k]);
            for (std::size_t c = 0; c < classes; ++c) {
                const std::size_t line = i * classes + c;
                const double h = m * p[c];
                gradient[c] += (c == own ? m : 0.0) - h;
                hessian[c * size() + c] += h;
                for (std::size_t k = 0; k < blocks; ++k) {
                    const double gap = lines[c * blocks + k] - mean[k];
                    away[line * blocks + k] = gap;
                    hessian[(classes + k) * size() + c] += h * gap;
                    heavy[line * blocks + k] = h * gap;
                }
                p[c] *= root;
            }
        }
        library.multiply(proba, classes, true, proba, classes, false, classes, rows, classes, 1.0, crossed, classes);
        if (blocks > 0)
            library.multiply(heavy, blocks, true, away, blocks, false, blocks, rows * classes, blocks, 1.0,
                             hessian + classes * size() + classes, size());
        return loss;
    }
};

void require_blocks(const In<double, 3>& parts, const In<std::int32_t, 1>& codes, const In<double, 1>& mass) {
    require(parts.shape(1) > 0 && codes.shape(0) == parts.shape(0) && mass.shape(0) == parts.shape(0),
            "rows and blocks do not fit");
    require_codes(codes, parts.shape(1));
}

// Loss, gradient of - loss (C + K,) by offsets and weights, and its Hessian.
auto combination_derivatives(In<double, 3> parts, In<double, 2> base, In<std::int32_t, 1> codes,
                             In<double, 1> row_weights, In<double, 1> offsets, In<double, 1> weights) {
    const std::size_t rows = parts.shape(0), classes = parts.shape(1), blocks = parts.shape(2), size = classes + blocks;
    require_blocks(parts, codes, row_weights);
    require(base.shape(0) == rows && base.shape(1) == classes, "rows and their scores do not fit");
    require(offsets.shape(0) == classes && weights.shape(0) == blocks, "blocks and weights do not fit");
    const Blocks model{parts.data(), base.data(), codes.data(), row_weights.data(), offsets.data(), weights.data(),
                       classes,      blocks,      blas()};
    auto gradient = make_array<double>({size}), hessian = make_array<double>({size, size});
    double loss = 0.0;
    {
        nb::gil_scoped_release release;
        const std::size_t sums = 1 + size + size * size + classes * classes;
        const std::size_t together = std::max<std::size_t>(1, LINES / classes);
        const Ranges ranges(rows, classes * std::max({std::size_t(1), blocks, classes / 8}), sums);
        std::vector<std::vector<double>> parts_of(ranges.count());
        in_parallel(ranges.count(), [&](std::size_t range) {
            parts_of[range].resize(sums);
            double* part = parts_of[range].data();
            std::vector<double> room(blocks + together * classes * (1 + 2 * blocks));
            for (std::size_t first = ranges.start(range); first < ranges.stop(range); first += together) {
                const std::size_t here = std::min(together, ranges.stop(range) - first);
                part[0] +=
                    model.add(first, here, room.data(), part + 1, part + 1 + size, part + 1 + size + size * size);
            }
        });
        std::vector<double> crossed(classes * classes);
        for (const std::vector<double>& one : parts_of) {
            const double* part = one.data();
            loss += *part++;
            for (std::size_t at = 0; at < size; ++at) gradient.data()[at] += *part++;
            for (std::size_t at = 0; at < size * size; ++at) hessian.data()[at] += *part++;
            for (double& sum : crossed) sum += *part++;
        }
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t d = 0; d < classes; ++d) hessian.data()[c * size + d] -= crossed[c * classes + d];
        for (std::size_t k = classes; k < size; ++k)
            for (std::size_t c = 0; c < classes; ++c) hessian.data()[c * size + k] = hessian.data()[k * size + c];
    }
    return std::make_tuple(loss, gradient, hessian);
}

// Loss, derivative of - loss by one weight, and curvature of the loss: scores are base + weight part,
// (n, C) both. A class whose base is -inf is impossible.
auto weight_derivatives(In<double, 2> part, In<double, 2> base, In<std::int32_t, 1> codes, In<double, 1> row_weights,
                        double weight) {
    const std::size_t rows = part.shape(0), classes = part.shape(1);
    require(classes > 0 && codes.shape(0) == rows && row_weights.shape(0) == rows, "rows and scores do not fit");
    require(base.shape(0) == rows && base.shape(1) == classes, "rows and their scores do not fit");
    require_codes(codes, classes);
    nb::gil_scoped_release release;
    struct Sums {
        double loss = 0.0, gradient = 0.0, curvature = 0.0;
    } total;
    const std::size_t together = std::max<std::size_t>(1, LINES / classes);
    const Ranges ranges(rows, 8 * classes);
    std::vector<Sums> parts(ranges.count());
    in_parallel(ranges.count(), [&](std::size_t range) {
        std::vector<double> proba(together * classes);
        Sums sums;
        for (std::size_t first = ranges.start(range); first < ranges.stop(range); first += together) {
            const std::size_t here = std::min(together, ranges.stop(range) - first);
            const double *L = part.data() + first * classes, *start = base.data() + first * classes;
            for (std::size_t line = 0; line < here * classes; ++line) proba[line] = start[line] + weight * L[line];
            const double* mass = row_weights.data() + first;
            sums.loss += logistic_loops().softmax_loss(proba.data(), codes.data() + first, mass, here, classes).total;
            const double* p = proba.data();
            for (std::size_t i = 0; i < here; ++i, p += classes, L += classes) {
                double mean = 0.0, square = 0.0;
                for (std::size_t c = 0; c < classes; ++c) {
                    mean += p[c] * L[c];
                    square += p[c] * L[c] * L[c];
                }
                sums.gradient += mass[i] * (L[codes.data()[first + i]] - mean);
                sums.curvature += mass[i] * (square - mean * mean);
            }
        }
        parts[range] = sums;
    });
    for (const Sums& one : parts) {
        total.loss += one.loss;
        total.gradient += one.gradient;
        total.curvature += one.curvature;
    }
    return std::make_tuple(total.loss, total.gradient, total.curvature);
}

// Solve matrix (size, size) x = answer by elimination with row exchanges; both are written over.
void solve_in_place(double* matrix, double* answer, std::size_t size) {
    for (std::size_t a = 0; a < size; ++a) {
        std::size_t best = a;
        for (std::size_t b = a + 1; b < size; ++b)
            if (std::abs(matrix[b * size + a]) > std::abs(matrix[best * size + a])) best = b;
        if (best != a) {
            std::swap_ranges(matrix + a * size, matrix + (a + 1) * size, matrix + best * size);
            std::swap(answer[a], answer[best]);
        }
        for (std::size_t b = a + 1; b < size; ++b) {
            const double factor = matrix[b * size + a] / matrix[a * size + a];
            if (factor == 0.0) continue;
            for (std::size_t j = a + 1; j < size; ++j) matrix[b * size + j] -= factor * matrix[a * size + j];
            answer[b] -= factor * answer[a];
        }
    }
    for (std::size_t a = size; a-- > 0;) {
        double total = answer[a];
        for (std::size_t j = a + 1; j < size; ++j) total -= matrix[a * size + j] * answer[j];
        answer[a] = total / matrix[a * size + a];
    }
}

// Replace u by u + M u + M M u + ..., which is (I - M)^-1 u for the M of one row among many; room
// is (2, size).
void add_series(const double* matrix, double* answer, double* room, std::size_t size) {
    double *term = room, *more = room + size;
    std::copy_n(answer, size, term);
    for (int turn = 0; turn < MOST_TERMS; ++turn) {
        double largest = 0.0;
        for (std::size_t a = 0; a < size; ++a) {
            more[a] = 0.0;
            for (std::size_t b = 0; b < size; ++b) more[a] += matrix[a * size + b] * term[b];
            largest = std::max(largest, std::abs(more[a]));
        }
        for (std::size_t a = 0; a < size; ++a) answer[a] += more[a];
        std::swap(term, more);
        if (largest < SMALL_TERM) break;
    }
}

// Scores (n, C) of each row under parameters that were fitted without it: one step of Newton's
// method from all rows to all but one, scores - G (I - B G)^-1 u, where G is x_c . H^-1 x_d with
// x_c = (e_c, L_c) and `inverse` = H^-1, B = w (diag p - p p^T), and u = w (e_own - p). Classes of
// less than UNLIKELY have no part in B and u.
auto left_out_scores(In<double, 3> parts, In<double, 2> inverse, In<std::int32_t, 1> codes, In<double, 1> row_weights,
                     In<double, 2> scores) {
    const std::size_t rows = parts.shape(0), classes = parts.shape(1), blocks = parts.shape(2), size = classes + blocks;
    require_blocks(parts, codes, row_weights);
    require(inverse.shape(0) == size && inverse.shape(1) == size, "blocks and the inverse do not fit");
    require(scores.shape(0) == rows && scores.shape(1) == classes, "rows and their scores do not fit");
    auto out = make_array<double>({rows, classes}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(rows, classes * std::max({std::size_t(1), blocks, classes}));
    in_parallel(ranges.count(), [&](std::size_t range) {
        std::vector<double> reach(classes * classes), hold(classes * classes), proba(classes), step(classes),
            line(size), room(2 * classes);
        std::vector<std::size_t> likely(classes);
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
            const double* L = parts.data() + i * classes * blocks;
            const std::size_t own = static_cast<std::size_t>(codes.data()[i]);
            const double w = row_weights.data()[i];
            std::copy_n(scores.data() + i * classes, classes, proba.data());
            logistic_loops().softmax_loss(proba.data(), codes.data() + i, nullptr, 1, classes);
            std::size_t count = 0;
            for (std::size_t c = 0; c < classes; ++c)
                if (proba[c] > UNLIKELY || c == own) likely[count++] = c;
            for (std::size_t a = 0; a < count; ++a) {
                const std::size_t d = likely[a];
                step[a] = w * ((d == own ? 1.0 : 0.0) - proba[d]);
                // H^-1 x_d, then x_c . H^-1 x_d of all classes c.
                for (std::size_t m = 0; m < size; ++m) {
                    const double* entries = inverse.data() + m * size;
                    line[m] = entries[d];
                    for (std::size_t k = 0; k < blocks; ++k) line[m] += L[d * blocks + k] * entries[classes + k];
                }
                for (std::size_t c = 0; c < classes; ++c) {
                    double total = line[c];
                    for (std::size_t k = 0; k < blocks; ++k) total += L[c * blocks + k] * line[classes + k];
                    reach[c * classes + a] = total;
                }
            }
            const bool solved = count <= SOLVED;
            for (std::size_t b = 0; b < count; ++b) {
                double mean = 0.0;
                for (std::size_t a = 0; a < count; ++a) mean += proba[likely[a]] * reach[likely[a] * classes + b];
                for (std::size_t a = 0; a < count; ++a) {
                    const double one = w * proba[likely[a]] * (reach[likely[a] * classes + b] - mean);
                    hold[a * count + b] = solved ? (a == b ? 1.0 : 0.0) - one : one;
                }
            }
            if (solved)
                solve_in_place(hold.data(), step.data(), count);
            else
                add_series(hold.data(), step.data(), room.data(), count);
            for (std::size_t c = 0; c < classes; ++c) {
                double total = scores.data()[i * classes + c];
                for (std::size_t a = 0; a < count; ++a) total -= reach[c * classes + a] * step[a];
                out.data()[i * classes + c] = total;
            }
        }
    });
    return out;
}

// ---- Rows of a few features ---------------------------------------------------------------------

// Each row has the same number W of features that may be other than 0, at increasing numbers `at`
// (n, W), with `values` (n, W): a level of each column, a number. What is added up for a row is W
// squared, however many features there are.
void require_features(const In<std::uint32_t, 2>& at, const In<double, 2>& values, std::size_t features) {
    const std::size_t cells = at.shape(0) * at.shape(1);
    require(values.shape(0) == at.shape(0) && values.shape(1) == at.shape(1), "features and values do not fit");
    require(cells == 0 || largest_index(reinterpret_cast<const std::int32_t*>(at.data()), cells) < features,
            "features that there are not");
}

// base + the weights of its features in one row.
double feature_margin(const std::uint32_t* at, const double* values, std::size_t wide, const double* weights,
                      double base) {
    for (std::size_t a = 0; a < wide; ++a) base += values[a] * weights[at[a]];
    return base;
}

// The margin of every row, (n,), under weights (m,).
auto feature_margins(In<std::uint32_t, 2> at, In<double, 2> values, In<double, 1> base, In<double, 1> weights) {
    const std::size_t rows = at.shape(0), wide = at.shape(1);
    require_features(at, values, weights.shape(0));
    require(base.shape(0) == rows, "rows do not fit");
    auto margins = make_array<double>({rows}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(rows, wide);
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i)
            margins.data()[i] =
                feature_margin(at.data() + i * wide, values.data() + i * wide, wide, weights.data(), base.data()[i]);
    });
    return margins;
}

// Loss of two classes, the gradient of - loss by the weights (m,) of features, and its Hessian.
// base (n,) is added to the margin of the second class.
auto feature_derivatives(In<std::uint32_t, 2> at, In<double, 2> values, In<double, 1> base, In<std::int32_t, 1> codes,
                         In<double, 1> row_weights, In<double, 1> weights) {
    const std::size_t rows = at.shape(0), wide = at.shape(1), features = weights.shape(0);
    require_features(at, values, features);
    require(base.shape(0) == rows && codes.shape(0) == rows && row_weights.shape(0) == rows, "rows do not fit");
    require_codes(codes, 2);
    auto gradient = make_array<double>({features}), hessian = make_array<double>({features, features});
    double loss = 0.0;
    {
        nb::gil_scoped_release release;
        const std::size_t sums = 1 + features + features * features;
        const Ranges ranges(rows, wide, sums);
        std::vector<std::vector<double>> parts(ranges.count());
        in_parallel(ranges.count(), [&](std::size_t range) {
            parts[range].resize(sums);
            double *slope = parts[range].data() + 1, *curvature = slope + features;
            double margins[CHUNK_ROWS], bends[CHUNK_ROWS];
            std::int32_t others[CHUNK_ROWS];
            for (std::size_t first = ranges.start(range); first < ranges.stop(range); first += CHUNK_ROWS) {
                const std::size_t here = std::min(CHUNK_ROWS, ranges.stop(range) - first);
                for (std::size_t i = 0; i < here; ++i) {
                    const std::size_t from = (first + i) * wide;
                    margins[i] = feature_margin(at.data() + from, values.data() + from, wide, weights.data(),
                                                base.data()[first + i]);
                    others[i] = 1 - codes.data()[first + i];
                }
                parts[range][0] +=
                    logistic_loops().two_classes(margins, others, row_weights.data() + first, here, bends).total;
                for (std::size_t i = 0; i < here; ++i) {
                    const std::uint32_t* place = at.data() + (first + i) * wide;
                    const double* value = values.data() + (first + i) * wide;
                    for (std::size_t a = 0; a < wide; ++a) {
                        if (value[a] == 0.0) continue;
                        slope[place[a]] -= margins[i] * value[a];
                        const double heavy = bends[i] * value[a];
                        double* line = curvature + place[a] * features;
                        for (std::size_t b = 0; b <= a; ++b) line[place[b]] += heavy * value[b];
                    }
                }
            }
        });
        for (const std::vector<double>& one : parts) {
            const double* part = one.data();
            loss += *part++;
            for (std::size_t a = 0; a < features; ++a) gradient.data()[a] += *part++;
            for (std::size_t a = 0; a < features * features; ++a) hessian.data()[a] += *part++;
        }
        for (std::size_t a = 0; a < features; ++a)
            for (std::size_t b = 0; b < a; ++b) hessian.data()[b * features + a] = hessian.data()[a * features + b];
    }
    return std::make_tuple(loss, gradient, hessian);
}

// x^T inverse x of each row x, (n,); inverse (m, m) is symmetric.
auto feature_leverages(In<std::uint32_t, 2> at, In<double, 2> values, In<double, 2> inverse) {
    const std::size_t rows = at.shape(0), wide = at.shape(1), features = inverse.shape(0);
    require(inverse.shape(1) == features, "the inverse is not square");
    require_features(at, values, features);
    auto leverages = make_array<double>({rows}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(rows, wide * wide);
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
            const std::uint32_t* place = at.data() + i * wide;
            const double* value = values.data() + i * wide;
            double total = 0.0;
            for (std::size_t a = 0; a < wide; ++a) {
                const double* line = inverse.data() + place[a] * features;
                double before = 0.0;
                for (std::size_t b = 0; b < a; ++b) before += value[b] * line[place[b]];
                total += value[a] * (value[a] * line[place[a]] + 2.0 * before);
            }
            leverages.data()[i] = total;
        }
    });
    return leverages;
}

}  // namespace

void bind_combination(nb::module_& m) {
    using namespace nb::literals;
    m.def("combination_derivatives", &combination_derivatives, "parts"_a, "base"_a, "codes"_a, "row_weights"_a,
          "offsets"_a, "weights"_a, "Return loss, gradient of - loss and Hessian by offsets and weights of blocks.");
    m.def("weight_derivatives", &weight_derivatives, "part"_a, "base"_a, "codes"_a, "row_weights"_a, "weight"_a,
          "Return loss, derivative of - loss and curvature by the weight of one block (n, C).");
    m.def("left_out_scores", &left_out_scores, "parts"_a, "inverse"_a, "codes"_a, "row_weights"_a, "scores"_a,
          "Return the scores (n, C) of rows under parameters that were fitted without them.");
    m.def("feature_margins", &feature_margins, "at"_a, "values"_a, "base"_a, "weights"_a,
          "Return margins of rows of features.");
    m.def("feature_derivatives", &feature_derivatives, "at"_a, "values"_a, "base"_a, "codes"_a, "row_weights"_a,
          "weights"_a, "Return loss, gradient of - loss and Hessian of two classes by weights of features.");
    m.def("feature_leverages", &feature_leverages, "at"_a, "values"_a, "inverse"_a,
          "Return x^T inverse x of rows of features.");
}

}  // namespace suffice
