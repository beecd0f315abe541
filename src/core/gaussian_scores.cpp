// Log densities of rows under Gaussian and Student-t classes, and linear scores of rows.
//
// Entry points return a row with an infinite cell, or -1, how many rows are impossible, and the
// answer. Those of correlated features answer rows without missing values only, and return last
// the numbers of the others: their score depends on which cells were seen.
#include <cmath>
#include <limits>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "blas.h"
#include "loops/checks.h"
#include "loops/single_precision.h"
#include "module.h"
#include "scores.h"

namespace suffice {
namespace {

constexpr std::int64_t NONE = -1;

// Score dense rows block by block: score(block, rows, room, joint) returns a refused row or -1. The
// room is for their cells, with those up to a multiple of lanes.
template <class Score>
Answers answer_blocks(const AnyRows& X, const In<double, 1>& log_prior, const std::string& answer, Score&& score) {
    const std::size_t columns = X.shape(1), classes = log_prior.shape(0);
    return with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return answer_rows(x.rows, columns, log_prior, answer_of(answer),
                           [&](std::size_t start, std::size_t stop, double* joint) -> std::int64_t {
                               std::vector<T> buffer(x.room(SCORE_ROWS));
                               std::vector<double> room(SCORE_ROWS * (columns + SCORE_LANES));
                               for (std::size_t first = start; first < stop; first += SCORE_ROWS) {
                                   const std::size_t last = std::min(first + SCORE_ROWS, stop);
                                   const T* block = x.block(first, last, buffer.data());
                                   const std::int64_t bad =
                                       score(block, last - first, room.data(), joint + (first - start) * classes);
                                   if (bad != NONE) return static_cast<std::int64_t>(first - start) + bad;
                               }
                               return NONE;
                           });
    });
}

template <class T>
bool is_finite(const T* block, std::size_t rows, std::size_t columns) {
    return check_loops<T>().finite(block, rows * columns);
}

// The first row with an infinite cell, or -1.
template <class T>
std::int64_t first_infinite(const T* block, std::size_t rows, std::size_t columns) {
    if (is_finite(block, rows, columns)) return NONE;
    if constexpr (!std::is_integral_v<T>)
        for (std::size_t at = 0; at < rows * columns; ++at)
            if (std::isinf(block[at])) return static_cast<std::int64_t>(at / columns);
    return NONE;
}

void require_classes(const In<double, 2>& parameters, const AnyRows& X, const In<double, 1>& log_prior) {
    require(parameters.shape(0) == log_prior.shape(0) && parameters.shape(1) == X.shape(1),
            "rows, classes and parameters do not fit");
}

// Parameters of few independent normals (C, d), laid out for rows that are scored as they lie: with few
// classes that takes less time than to lay rows across.
struct FewNormals {
    static constexpr std::size_t MOST = 4;  // classes

    std::size_t classes, columns, width, step;
    std::vector<double> mean, precision;

    FewNormals(const In<double, 2>& means, const In<double, 2>& precisions)
        : classes(means.shape(0)),
          columns(means.shape(1)),
          width(std::max(columns, SCORE_LANES)),
          step((width + SCORE_LANES - 1) / SCORE_LANES * SCORE_LANES),
          mean(classes * step),
          precision(classes * step) {
        const std::size_t whole = width / SCORE_LANES * SCORE_LANES, twice = step - width;
        for (std::size_t c = 0; c < classes; ++c) {
            const double *m = means.data() + c * columns, *p = precisions.data() + c * columns;
            std::copy_n(m, std::min(columns, whole), mean.data() + c * step);
            std::copy_n(p, std::min(columns, whole), precision.data() + c * step);
            for (std::size_t j = whole; j < columns; ++j) {
                mean[c * step + twice + j] = m[j];
                precision[c * step + twice + j] = p[j];
            }
        }
    }

    // Add scores of a block to joint, and say whether all are finite. If so, all cells were; else
    // joint is as it was.
    template <class T>
    bool add(const T* block, std::size_t rows, const double* constant, const double* log_prior, double* room,
             double* joint) const {
        for (std::size_t first = 0; first < rows; first += STRIP_ROWS) {
            const std::size_t here = std::min(STRIP_ROWS, rows - first);
            score_loops().add_few_normal(strip(block + first * columns, here, room), here, width, mean.data(),
                                         precision.data(), step, constant, classes, joint + first * classes);
        }
        if (check_loops<double>().finite(joint, rows * classes)) return true;
        for (std::size_t i = 0; i < rows; ++i) std::copy_n(log_prior, classes, joint + i * classes);
        return false;
    }

  private:
    // Rows as doubles (rows, width): where they are or, with zeros after few columns, in `room`.
    template <class T>
    const double* strip(const T* block, std::size_t rows, double* room) const {
        if (columns == width) {
            if constexpr (std::is_same_v<T, double>) return block;
            std::copy_n(block, rows * columns, room);
            return room;
        }
        std::fill_n(room, rows * width, 0.0);
        for (std::size_t i = 0; i < rows; ++i) std::copy_n(block + i * columns, columns, room + i * width);
        return room;
    }
};

// Independent normals: sum_j log_norm - (x - mean)^2 precision / 2; all parameters (C, d). Missing
// values are passed over.
Answers normal_scores(AnyRows X, In<double, 2> mean, In<double, 2> precision, In<double, 2> log_norm,
                      In<double, 1> log_prior, const std::string& answer) {
    for (const auto* one : {&mean, &precision, &log_norm}) require_classes(*one, X, log_prior);
    const std::size_t classes = log_prior.shape(0), columns = X.shape(1);
    std::vector<double> constant(classes), zeros(columns);
    for (std::size_t at = 0; at < classes * columns; ++at) constant[at / columns] += log_norm.data()[at];
    const FewNormals few(mean, precision);
    return answer_blocks(X, log_prior, answer, [&](const auto* block, std::size_t rows, double* room, double* joint) {
        if (classes <= FewNormals::MOST && few.add(block, rows, constant.data(), log_prior.data(), room, joint))
            return NONE;
        lay_across(block, rows, columns, zeros.data(), room);
        if (is_finite(room, SCORE_ROWS, columns)) {
            score_loops().add_normal(room, rows, columns, mean.data(), precision.data(), constant.data(), classes,
                                     joint, reinterpret_cast<const char*>(block + rows * columns),
                                     rows * columns * sizeof(*block));
            return NONE;
        }
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t c = 0; c < classes; ++c) {
                double total = 0.0;
                for (std::size_t j = 0; j < columns; ++j) {
                    const double cell = static_cast<double>(block[i * columns + j]);
                    const std::size_t at = c * columns + j;
                    if (cell != cell) continue;
                    if (std::isinf(cell)) return static_cast<std::int64_t>(i);
                    const double d = cell - mean.data()[at];
                    total += log_norm.data()[at] - 0.5 * d * d * precision.data()[at];
                }
                joint[i * classes + c] += total;
            }
        }
        return NONE;
    });
}

// Independent Student-t's: log_norm - (degrees + 1)/2 log(1 + (x - location)^2 precision / degrees);
// all parameters (C, d). Missing values are passed over.
Answers student_scores(AnyRows X, In<double, 2> location, In<double, 2> precision, In<double, 2> degrees,
                       In<double, 2> log_norm, In<double, 1> log_prior, const std::string& answer) {
    for (const auto* one : {&location, &precision, &degrees, &log_norm}) require_classes(*one, X, log_prior);
    const std::size_t classes = log_prior.shape(0), columns = X.shape(1);
    return answer_blocks(X, log_prior, answer, [&](const auto* block, std::size_t rows, double*, double* joint) {
        const std::int64_t bad = first_infinite(block, rows, columns);
        for (std::size_t i = 0; i < rows && bad == NONE && columns > 0; ++i) {
            for (std::size_t c = 0; c < classes; ++c) {
                double total = 0.0;
                // Neighbours with the same degrees share one logarithm, of the product of 1 +
                // term. What it has beyond 1 is kept: with many degrees 1 would hide the digits of
                // terms.
                double beyond = 0.0, shared = degrees.data()[c * columns];
                for (std::size_t j = 0; j < columns; ++j) {
                    const double cell = static_cast<double>(block[i * columns + j]);
                    const std::size_t at = c * columns + j;
                    if (cell != cell) continue;
                    total += log_norm.data()[at];
                    const double d = cell - location.data()[at];
                    const double term = d * d * precision.data()[at] / degrees.data()[at];
                    if (degrees.data()[at] != shared || (1.0 + beyond) * (1.0 + term) > 1e290) {
                        total -= 0.5 * (shared + 1.0) * std::log1p(beyond);
                        shared = degrees.data()[at];
                        beyond = term;  // which may be infinite
                    } else {
                        beyond += term + beyond * term;
                    }
                }
                joint[i * classes + c] += total - 0.5 * (shared + 1.0) * std::log1p(beyond);
            }
        }
        return bad;
    });
}

// A multivariate t with diagonal scale: location, precision and log_precision (C, d), degrees (C,);
// norms[c, m] is the part of the normaliser that depends on how many cells, m, were seen.
Answers joint_student_scores(AnyRows X, In<double, 2> location, In<double, 2> precision, In<double, 1> degrees,
                             In<double, 2> log_precision, In<double, 2> norms, In<double, 1> log_prior,
                             const std::string& answer) {
    for (const auto* one : {&location, &precision, &log_precision}) require_classes(*one, X, log_prior);
    const std::size_t classes = log_prior.shape(0), columns = X.shape(1);
    require(degrees.shape(0) == classes && norms.shape(0) == classes && norms.shape(1) == columns + 1,
            "classes and parameters do not fit");
    return answer_blocks(X, log_prior, answer, [&](const auto* block, std::size_t rows, double*, double* joint) {
        const std::int64_t bad = first_infinite(block, rows, columns);
        for (std::size_t i = 0; i < rows && bad == NONE; ++i) {
            for (std::size_t c = 0; c < classes; ++c) {
                double squares = 0.0, logs = 0.0;
                std::size_t seen = 0;
                for (std::size_t j = 0; j < columns; ++j) {
                    const double cell = static_cast<double>(block[i * columns + j]);
                    if (cell != cell) continue;
                    const double d = cell - location.data()[c * columns + j];
                    squares += d * d * precision.data()[c * columns + j];
                    logs += log_precision.data()[c * columns + j];
                    ++seen;
                }
                const double free = degrees.data()[c];
                const double tail = 0.5 * (free + static_cast<double>(seen)) * std::log(1.0 + squares / free);
                joint[i * classes + c] += norms.data()[c * (columns + 1) + seen] + 0.5 * logs - tail;
            }
        }
        return bad;
    });
}

// ---- Correlated features ------------------------------------------------------------------------

// Rows of a block that have a cell that is not finite; their cells are made zeros.
struct Incomplete {
    explicit Incomplete(std::size_t rows) : marks(rows) {}

    std::vector<std::uint8_t> marks;  // (n,), one byte a row, so that threads do not share any

    // Mark rows of a block that begins with row `first`, in columns.
    template <class Number>
    void mark(std::size_t first, std::size_t rows, std::size_t columns, Number* across) {
        for (std::size_t i = 0; i < rows; ++i) {
            Number probe = 0;
            for (std::size_t j = 0; j < columns; ++j) probe += across[j * SCORE_ROWS + i] * Number(0);
            marks[first + i] = probe != Number(0);
            for (std::size_t j = 0; j < columns && marks[first + i]; ++j) across[j * SCORE_ROWS + i] = 0;
        }
    }

    Out<std::int64_t> rows() const {
        std::vector<std::int64_t> numbers;
        for (std::size_t i = 0; i < marks.size(); ++i)
            if (marks[i]) numbers.push_back(static_cast<std::int64_t>(i));
        return to_array(numbers);
    }
};

using CompleteAnswers = std::tuple<std::int64_t, std::size_t, nb::object, Out<std::int64_t>>;

// Score complete rows block by block: score(across, rows, room, joint, ahead) is given their cells less centre, and
// asks for the rows that come after with each class.
template <class Score>
CompleteAnswers answer_complete(const AnyRows& X, const In<double, 1>& centre, const In<double, 1>& log_prior,
                                const std::string& answer, Score&& score) {
    const std::size_t columns = X.shape(1), classes = log_prior.shape(0);
    require(centre.shape(0) == columns, "rows and centre do not fit");
    Incomplete incomplete(X.shape(0));
    Answers found = with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        return answer_rows(x.rows, columns * std::min<std::size_t>(columns, 16), log_prior, answer_of(answer),
                           [&](std::size_t start, std::size_t stop, double* joint) -> std::int64_t {
                               std::vector<T> buffer(x.room(SCORE_ROWS));
                               std::vector<double> across(SCORE_ROWS * columns), room(SCORE_ROWS * (columns + 1));
                               for (std::size_t first = start; first < stop; first += SCORE_ROWS) {
                                   const std::size_t last = std::min(first + SCORE_ROWS, stop);
                                   const T* block = x.block(first, last, buffer.data());
                                   lay_across(block, last - first, columns, centre.data(), across.data());
                                   if (!check_loops<double>().finite(across.data(), across.size()))
                                       incomplete.mark(first, last - first, columns, across.data());
                                   const std::size_t cells = (last - first) * columns;
                                   Ahead ahead(block + cells, cells * sizeof(T), classes);
                                   score(across.data(), last - first, room.data(), joint + (first - start) * classes,
                                         ahead);
                               }
                               return NONE;
                           });
    });
    return std::tuple_cat(found, std::make_tuple(incomplete.rows()));
}

// Columns of a lower triangular factor that are multiplied together: the first ones have no need
// of the cells after them.
constexpr std::size_t PANEL = 12;

// product (d, rows) = factor (d, d), lower triangular, times across (d, SCORE_ROWS).
void multiply_lower(const Blas& blas, const double* factor, const double* across, std::size_t columns,
                    double* product) {
    for (std::size_t low = 0; low < columns; low += PANEL) {
        const std::size_t high = low + PANEL + PANEL / 2 > columns ? columns : low + PANEL;
        blas.multiply(factor + low * columns, columns, false, across, SCORE_ROWS, false, high - low, high, SCORE_ROWS,
                      0.0, product + low * SCORE_ROWS, SCORE_ROWS);
        if (high == columns) break;
    }
}

// Normal (no degrees) or Student-t log densities of rows. The whitened row is
// factors[c] (x - centre) - offsets[c], with lower triangular factors (C, d, d), or (1, d, d) if
// one serves all classes; offsets (C, d), scale, constant and degrees (C,).
CompleteAnswers whitened_scores(AnyRows X, In<double, 1> centre, In<double, 3> factors, In<double, 2> offsets,
                                In<double, 1> scale, In<double, 1> degrees, In<double, 1> constant,
                                In<double, 1> log_prior, const std::string& answer) {
    const std::size_t classes = log_prior.shape(0), columns = X.shape(1);
    require_classes(offsets, X, log_prior);
    require((factors.shape(0) == classes || factors.shape(0) == 1) && factors.shape(1) == columns &&
                factors.shape(2) == columns,
            "factors do not fit");
    require(scale.shape(0) == classes && constant.shape(0) == classes, "classes and parameters do not fit");
    require(degrees.shape(0) == 0 || degrees.shape(0) == classes, "classes and degrees do not fit");
    const Blas& library = blas();
    const auto score = [&](const double* across, std::size_t rows, double* room, double* joint, Ahead& ahead) {
        double* squares = room + columns * SCORE_ROWS;
        for (std::size_t c = 0; c < classes; ++c) {
            ahead.ask();
            if (c < factors.shape(0))
                multiply_lower(library, factors.data() + c * columns * columns, across, columns, room);
            score_loops().add_squares(room, columns, offsets.data() + c * columns, squares);
            for (std::size_t i = 0; i < rows; ++i) {
                double tail = squares[i] * scale.data()[c];
                if (degrees.shape(0) > 0) {
                    const double free = degrees.data()[c];
                    tail = (free + static_cast<double>(columns)) * std::log1p(tail / free);
                }
                joint[i * classes + c] += constant.data()[c] - 0.5 * tail;
            }
        }
    };
    return answer_complete(X, centre, log_prior, answer, score);
}

// Normal log densities whose squared distance is |z|^2 - |z factors[c]|^2 with
// z = (x - mean[c]) inverse_deviation[c]; factors (C, d, r).
CompleteAnswers low_rank_scores(AnyRows X, In<double, 2> mean, In<double, 2> inverse_deviation, In<double, 3> factors,
                                In<double, 1> constant, In<double, 1> log_prior, const std::string& answer) {
    const std::size_t classes = log_prior.shape(0), columns = X.shape(1), rank = factors.shape(2);
    require_classes(mean, X, log_prior);
    require_classes(inverse_deviation, X, log_prior);
    require(factors.shape(0) == classes && factors.shape(1) == columns && constant.shape(0) == classes,
            "classes and parameters do not fit");
    const Blas& library = blas();
    auto zeros = make_array<double>({columns});
    return answer_complete(X, In<double, 1>(zeros), log_prior, answer,
                           [&](const double* across, std::size_t rows, double* room, double* joint, Ahead& ahead) {
                               std::vector<double> product(rank * SCORE_ROWS), squares(SCORE_ROWS),
                                   explained(SCORE_ROWS), no_offset(std::max(columns, rank));
                               for (std::size_t c = 0; c < classes; ++c) {
                                   ahead.ask();
                                   for (std::size_t j = 0; j < columns; ++j) {
                                       const double centre = mean.data()[c * columns + j],
                                                    inverse = inverse_deviation.data()[c * columns + j];
                                       for (std::size_t i = 0; i < SCORE_ROWS; ++i)
                                           room[j * SCORE_ROWS + i] = (across[j * SCORE_ROWS + i] - centre) * inverse;
                                   }
                                   library.multiply(factors.data() + c * columns * rank, rank, true, room, SCORE_ROWS,
                                                    false, rank, columns, SCORE_ROWS, 0.0, product.data(), SCORE_ROWS);
                                   score_loops().add_squares(room, columns, no_offset.data(), squares.data());
                                   score_loops().add_squares(product.data(), rank, no_offset.data(), explained.data());
                                   for (std::size_t i = 0; i < rows; ++i)
                                       joint[i * classes + c] += constant.data()[c] - 0.5 * (squares[i] - explained[i]);
                               }
                           });
}

// Classes for which sums over the columns are faster than a product of matrices.
constexpr std::size_t FEW = 4;

// weights (C, d) (x - centre) + bias (C,).
CompleteAnswers linear_scores(AnyRows X, In<double, 1> centre, In<double, 2> weights, In<double, 1> bias,
                              In<double, 1> log_prior, const std::string& answer) {
    const std::size_t classes = log_prior.shape(0), columns = X.shape(1);
    require_classes(weights, X, log_prior);
    require(bias.shape(0) == classes, "classes and bias do not fit");
    const Blas& library = blas();
    const auto score = [&](const double* across, std::size_t rows, double*, double* joint, Ahead& ahead) {
        std::vector<double> product(classes * SCORE_ROWS);
        for (std::size_t c = 0; c < classes; ++c) ahead.ask();
        if (classes > FEW) {
            library.multiply(weights.data(), columns, false, across, SCORE_ROWS, false, classes, columns, SCORE_ROWS,
                             0.0, product.data(), SCORE_ROWS);
        } else {
            for (std::size_t c = 0; c < classes; ++c)
                for (std::size_t j = 0; j < columns; ++j)
                    for (std::size_t i = 0; i < SCORE_ROWS; ++i)
                        product[c * SCORE_ROWS + i] += across[j * SCORE_ROWS + i] * weights.data()[c * columns + j];
        }
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t c = 0; c < classes; ++c)
                joint[i * classes + c] += product[c * SCORE_ROWS + i] + bias.data()[c];
    };
    return answer_complete(X, centre, log_prior, answer, score);
}

// ---- The best class in single precision ---------------------------------------------------------

// The best class of every row that single precision leaves no doubt about, -1 of the others. Where
// it answers, double precision gives the same. Parameters are those of `whitened_scores`; sizes
// (C, 2) are the Euclidean norms of each class's factor and offset, constant (C,) includes the log
// prior.
auto best_in_single_precision(AnyRows X, In<double, 1> centre, In<float, 3> factors, In<float, 2> offsets,
                              In<double, 1> scale, In<double, 1> degrees, In<double, 1> constant, In<double, 2> sizes) {
    const std::size_t classes = offsets.shape(0), columns = X.shape(1), size = X.shape(0);
    require(factors.shape(0) == classes && factors.shape(1) == columns && factors.shape(2) == columns,
            "factors do not fit");
    require(offsets.shape(1) == columns && centre.shape(0) == columns, "rows and parameters do not fit");
    require(scale.shape(0) == classes && constant.shape(0) == classes, "classes and parameters do not fit");
    require(sizes.shape(0) == classes && sizes.shape(1) == 2, "classes and norms do not fit");
    require(degrees.shape(0) == 0 || degrees.shape(0) == classes, "classes and degrees do not fit");
    auto best = make_array<std::int64_t>({size}, false);
    const Blas& library = blas();
    const SinglePrecisionLoops& loops = single_precision_loops();
    const std::size_t panels = std::max<std::size_t>(1, columns / PANEL);
    nb::gil_scoped_release release;
    with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        const Ranges ranges(size, columns);
        in_parallel(ranges.count(), [&](std::size_t range) {
            std::vector<T> buffer(x.room(SCORE_ROWS));
            std::vector<double> wide(columns * SCORE_ROWS), norms(SCORE_ROWS);
            std::vector<float> across(columns * SCORE_ROWS), product(columns * SCORE_ROWS), squares(SCORE_ROWS);
            const std::size_t bounds_size = std::max<std::size_t>(1, classes) * SCORE_ROWS;
            std::vector<double> lower(bounds_size), upper(bounds_size);
            std::vector<std::int64_t> found(SCORE_ROWS);
            for (std::size_t first = ranges.start(range); first < ranges.stop(range); first += SCORE_ROWS) {
                const std::size_t last = std::min(first + SCORE_ROWS, ranges.stop(range));
                const T* block = x.block(first, last, buffer.data());
                lay_across(block, last - first, columns, centre.data(), wide.data());
                Ahead ahead(block + (last - first) * columns, (last - first) * columns * sizeof(T), classes * panels);
                loops.narrow(wide.data(), columns, across.data(), norms.data());
                for (std::size_t c = 0; c < classes; ++c) {
                    for (std::size_t low = 0; low < columns; low += PANEL) {
                        const std::size_t high = low + PANEL + PANEL / 2 > columns ? columns : low + PANEL;
                        ahead.ask();
                        library.multiply(factors.data() + (c * columns + low) * columns, columns, across.data(),
                                         SCORE_ROWS, high - low, high, SCORE_ROWS, product.data() + low * SCORE_ROWS,
                                         SCORE_ROWS);
                        if (high == columns) break;
                    }
                    score_loops().add_single_squares(product.data(), columns, offsets.data() + c * columns,
                                                     squares.data());
                    const ScoreBounds bounds{sizes.data()[2 * c], sizes.data()[2 * c + 1], scale.data()[c],
                                             constant.data()[c], degrees.shape(0) > 0 ? degrees.data()[c] : 0.0};
                    loops.bound(bounds, squares.data(), norms.data(), columns, lower.data() + c * SCORE_ROWS,
                                upper.data() + c * SCORE_ROWS);
                }
                loops.decide(lower.data(), upper.data(), norms.data(), classes, found.data());
                std::copy_n(found.data(), last - first, best.data() + first);
            }
        });
    });
    return best;
}

}  // namespace

void bind_gaussian_scores(nb::module_& m) {
    using namespace nb::literals;
    m.def("normal_scores", &normal_scores, "X"_a, "mean"_a, "precision"_a, "log_norm"_a, "log_prior"_a, "answer"_a,
          "Answer rows under independent normals, parameters (C, d).");
    m.def("student_scores", &student_scores, "X"_a, "location"_a, "precision"_a, "degrees"_a, "log_norm"_a,
          "log_prior"_a, "answer"_a, "Answer rows under independent Student-t's, parameters (C, d).");
    m.def("joint_student_scores", &joint_student_scores, "X"_a, "location"_a, "precision"_a, "degrees"_a,
          "log_precision"_a, "norms"_a, "log_prior"_a, "answer"_a,
          "Answer rows under multivariate t's of diagonal scale (C, d).");
    m.def("whitened_scores", &whitened_scores, "X"_a, "centre"_a, "factors"_a, "offsets"_a, "scale"_a, "degrees"_a,
          "constant"_a, "log_prior"_a, "answer"_a, "Answer complete rows under normals or t's, factors (C, d, d).");
    m.def("low_rank_scores", &low_rank_scores, "X"_a, "mean"_a, "inverse_deviation"_a, "factors"_a, "constant"_a,
          "log_prior"_a, "answer"_a, "Answer complete rows under normals of low-rank covariance, factors (C, d, r).");
    m.def("linear_scores", &linear_scores, "X"_a, "centre"_a, "weights"_a, "bias"_a, "log_prior"_a, "answer"_a,
          "Answer complete rows by linear scores, weights (C, d).");
    m.def("best_in_single_precision", &best_in_single_precision, "X"_a, "centre"_a, "factors"_a, "offsets"_a, "scale"_a,
          "degrees"_a, "constant"_a, "sizes"_a, "Return the best class of rows (n,), -1 where there is doubt.");
}

}  // namespace suffice
