// Naive Bayes around every cell of a grid, a fold of the rows left out at a time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "loops/searchlight.h"
#include "module.h"
#include "special.h"
#include "threads.h"

namespace suffice {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double PI = 3.141592653589793;
// A sum of squares of which less than this is left by a subtraction has lost four digits, and is
// counted again from the rows.
constexpr double WORTH_A_RECOUNT = 1e-4;
// Windows from this width on are summed by blocks, which costs as much as about so many cells.
constexpr std::size_t WIDE = 35;
// The least variance of a cell that does not vary: one that has a reciprocal.
constexpr double LEAST_VARIANCE = 1e-300;
// Cells that a grid may have.
constexpr std::size_t MAX_CELLS = std::size_t(1) << 31;

using Numbers = std::vector<double>;

// ---- Sums of cubes ------------------------------------------------------------------------------

// A grid of numbers in row-major order.
struct Box {
    std::size_t sides[3];

    explicit Box(const In<std::int64_t, 1>& given) {
        require(given.shape(0) == 3, "a grid of other than three sides");
        std::size_t cells = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::int64_t side = given.data()[axis];
            require(side > 0 && static_cast<std::uint64_t>(side) <= MAX_CELLS / cells,
                    "a grid without cells, or of too many");
            cells *= sides[axis] = static_cast<std::size_t>(side);
        }
    }

    std::size_t cells() const { return sides[0] * sides[1] * sides[2]; }
};

// Sum windows of odd width, clipped at the ends, along the middle of three axes: each neighbour is
// added to all cells at once.
void narrow_sums(const double* source, std::size_t outer, std::size_t length, std::size_t inner, std::size_t width,
                 double* out) {
    const auto add = searchlight_loops().add;
    const std::size_t size = length * inner;
    for (std::size_t o = 0; o < outer; ++o, source += size, out += size) {
        std::copy_n(source, size, out);
        for (std::size_t away = inner; away <= std::min(width / 2, length - 1) * inner; away += inner) {
            add(source, size - away, out + away);
            add(source + away, size - away, out);
        }
    }
}

// Sum windows as `narrow_sums` does, at a cost that does not depend on their width.
//
// A window is the end of one block of `width` cells and the start of the next, so running sums
// within blocks, ahead and behind, are all it takes. Nothing is ever subtracted: a huge number
// spoils the windows that it is in and no others.
void wide_sums(const double* source, std::size_t outer, std::size_t length, std::size_t inner, std::size_t width,
               double* ahead, double* behind, double* out) {
    const auto add_many = searchlight_loops().add;
    const auto add = [=](const double* from, double* to) {
        if (inner == 1)
            *to += *from;
        else
            add_many(from, inner, to);
    };
    const std::size_t size = length * inner;
    for (std::size_t o = 0; o < outer; ++o, source += size, out += size) {
        std::copy_n(source, size, ahead);
        std::copy_n(source, size, behind);
        for (std::size_t p = 1; p < length; ++p) {
            const std::size_t back = length - 1 - p;
            if (p % width != 0) add(ahead + (p - 1) * inner, ahead + p * inner);
            if ((back + 1) % width != 0) add(behind + (back + 1) * inner, behind + back * inner);
        }
        for (std::size_t p = 0; p < length; ++p) {
            const std::size_t first = p > width / 2 ? p - width / 2 : 0, last = std::min(length - 1, p + width / 2);
            const double *end = behind + first * inner, *start = ahead + last * inner;
            // Clipped to a part of one block, a window begins or ends with it.
            const bool one_block = first / width == last / width;
            const double* from = one_block && first % width == 0 ? start : end;
            if (inner == 1)
                out[p] = *from;
            else
                std::copy_n(from, inner, out + p * inner);
            if (!one_block) add(start, out + p * inner);
        }
    }
}

// Room for sums of cubes.
struct CubeSums {
    Numbers grid, sums, ahead, behind;

    explicit CubeSums(std::size_t cells, std::size_t width)
        : grid(cells), sums(cells), ahead(width < WIDE ? 0 : cells), behind(ahead.size()) {}

    // The sums about every cell of the grid, which is used up.
    const double* add_up(const Box& box, std::size_t width) {
        double *source = grid.data(), *target = sums.data();
        const auto [a, b, c] = box.sides;
        const std::size_t shapes[3][3] = {{a * b, c, 1}, {a, b, c}, {1, a, b * c}};
        for (const auto& [outer, length, inner] : shapes) {
            if (length == 1 || width == 1) continue;
            if (width < WIDE)
                narrow_sums(source, outer, length, inner, width, target);
            else
                wide_sums(source, outer, length, inner, width, ahead.data(), behind.data(), target);
            std::swap(source, target);
        }
        return source;
    }
};

auto cube_sums(In<double, 1> grid, In<std::int64_t, 1> sides, std::size_t width) {
    const Box box(sides);
    require(grid.shape(0) == box.cells() && width % 2 == 1, "a grid and cubes do not fit");
    auto out = make_array<double>({box.cells()}, false);
    nb::gil_scoped_release release;
    CubeSums cubes(box.cells(), width);
    std::copy_n(grid.data(), box.cells(), cubes.grid.data());
    std::copy_n(cubes.add_up(box, width), box.cells(), out.data());
    return out;
}

// ---- Densities of voxels ------------------------------------------------------------------------

// What each class takes a voxel to be, (C, V) each (docs: mathematics, section 2):
// log p = norm - precision d^2 / 2, or norm - power log(1 + precision d^2) given a prior.
struct Law {
    Numbers location, precision, power, norm;

    explicit Law(std::size_t cells) : location(cells), precision(cells), power(cells), norm(cells) {}

    // Take a range of voxels over from another.
    void copy(const Law& other, std::size_t start, std::size_t size) {
        for (auto part : {&Law::location, &Law::precision, &Law::power, &Law::norm})
            std::copy_n((other.*part).data() + start, size, (this->*part).data() + start);
    }
};

// What one thread works on: the moments and laws without the rows of a fold, and one row's scores.
struct Room {
    Numbers left, mean, scatter, together, row, density, best;
    Law law;
    CubeSums cubes;
    std::vector<char> changed, flat;
    std::vector<std::int64_t> hits, right;
    std::vector<std::size_t> recounted;
};

template <class T>
struct Searchlight {
    const Cells<T>& x;
    const std::int32_t* codes;
    const std::int64_t* fold_of;
    // Counts (C,), means and scatters (C, V) of all rows.
    const double *counts, *mean, *scatter;
    // Location, pseudo-rows, shape and scale of a normal-inverse-gamma, (C, V) each, or null for
    // maximum likelihood.
    const double* prior[4];
    bool tied;
    double unseen;  // spread of a voxel that does not vary, as a part of its size
    const std::int64_t* cells;
    Box box;
    std::size_t classes, width;

    std::size_t voxels() const { return x.columns; }

    // What the way from the prior's location adds to the sum of squares of a cell of (C, V).
    double pull(double n, double m, std::size_t at) const {
        if (prior[0] == nullptr) return 0.0;
        const double k = prior[1][at], away = m - prior[0][at];
        return k * n / (k + n) * away * away;
    }

    // Count mean and scatter of some voxels of a class again, outside a fold.
    void recount(std::size_t c, std::int64_t fold, T* buffer, Room& room) const {
        Numbers origin(room.recounted.size()), total(origin.size()), squares(origin.size());
        for (int pass = 0; pass < 2; ++pass) {
            bool first = true;
            double n = 0.0;
            for (std::size_t i = 0; i < x.rows; ++i) {
                if (static_cast<std::size_t>(codes[i]) != c || fold_of[i] == fold) continue;
                const T* row = x.block(i, i + 1, buffer);
                for (std::size_t k = 0; k < origin.size(); ++k) {
                    const double cell = static_cast<double>(row[room.recounted[k]]);
                    if (pass == 0) {
                        if (first) origin[k] = cell;  // so that equal cells leave exactly no spread
                        total[k] += cell - origin[k];
                    } else {
                        const double d = (cell - origin[k]) - total[k];
                        squares[k] += d * d;
                    }
                }
                first = false;
                n += 1.0;
            }
            for (std::size_t k = 0; pass == 0 && k < origin.size(); ++k) total[k] /= n;
        }
        for (std::size_t k = 0; k < origin.size(); ++k) {
            room.mean[c * voxels() + room.recounted[k]] = origin[k] + total[k];
            room.scatter[c * voxels() + room.recounted[k]] = squares[k];
        }
    }

    // Take a fold's rows out of the moments of their classes (docs: mathematics, section 3).
    void take_out(const std::int64_t* rows, std::size_t size, T* buffer, Room& room) const {
        std::copy_n(counts, classes, room.left.data());
        for (std::size_t k = 0; k < size; ++k) room.left[static_cast<std::size_t>(codes[rows[k]])] -= 1.0;
        for (std::size_t c = 0; c < classes; ++c) {
            const double n = room.left[c];
            room.changed[c] = n != counts[c];
            if (!room.changed[c]) continue;
            const std::size_t first = c * voxels();
            double *sum = room.mean.data() + first, *squares = room.scatter.data() + first;
            std::fill_n(sum, voxels(), 0.0);
            std::fill_n(squares, voxels(), 0.0);
            for (std::size_t k = 0; k < size; ++k) {
                const std::size_t i = static_cast<std::size_t>(rows[k]);
                if (static_cast<std::size_t>(codes[i]) != c) continue;
                const T* row = x.block(i, i + 1, buffer);
                for (std::size_t v = 0; v < voxels(); ++v) {
                    const double d = static_cast<double>(row[v]) - mean[first + v];
                    sum[v] += d;
                    squares[v] += d * d;
                }
            }
            room.recounted.clear();
            for (std::size_t v = 0; v < voxels(); ++v) {
                const double away = n == 0.0 ? 0.0 : sum[v] / n;
                const double rest = n == 0.0 ? 0.0 : scatter[first + v] - squares[v] - n * away * away;
                if (rest < WORTH_A_RECOUNT * scatter[first + v] && n != 0.0) room.recounted.push_back(v);
                sum[v] = mean[first + v] - away;
                squares[v] = rest;
            }
            if (!room.recounted.empty()) recount(c, fold_of[rows[0]], buffer, room);
        }
    }

    // Set the laws of the classes that have changed, and note in `flat` where a class does not vary.
    void set_law(Room& room) const {
        if (tied) std::fill(room.together.begin(), room.together.end(), 0.0);
        double total = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            total += room.left[c];
            for (std::size_t v = 0; tied && v < voxels(); ++v) {
                const std::size_t at = c * voxels() + v;
                room.together[v] += room.scatter[at] + pull(room.left[c], room.mean[at], at);
            }
        }
        for (std::size_t c = 0; c < classes; ++c) {
            const double own = room.left[c], n = tied ? total : own;
            if (!(room.changed[c] || tied) || own == 0.0) continue;
            double last_shape = -1.0, log_ratio = 0.0;  // voxels mostly have one shape
            for (std::size_t v = 0; v < voxels(); ++v) {
                const std::size_t at = c * voxels() + v;
                const double m = room.mean[at];
                const double squares = tied ? room.together[v] : room.scatter[at] + pull(own, m, at);
                if (prior[0] != nullptr) {
                    const double k = prior[1][at] + own;
                    const double shape = prior[2][at] + n / 2.0, scale = prior[3][at] + squares / 2.0;
                    const double spread = 2.0 * scale * (1.0 + 1.0 / k);  // degrees times the squared scale of the t
                    if (shape != last_shape) log_ratio = log_gamma(shape + 0.5) - log_gamma(shape);
                    last_shape = shape;
                    room.law.location[at] = m + prior[1][at] * (prior[0][at] - m) / k;
                    room.law.precision[at] = 1.0 / spread;
                    room.law.power[at] = shape + 0.5;
                    room.law.norm[at] = log_ratio - 0.5 * std::log(PI * spread);
                    continue;
                }
                double variance = squares / n;
                if (variance == 0.0) {
                    room.flat[at] = 1;
                    const double spread = unseen * (m != 0.0 ? std::abs(m) : 1.0);
                    variance = std::max(spread * spread, LEAST_VARIANCE);
                }
                room.law.location[at] = m;
                room.law.precision[at] = 1.0 / variance;
                room.law.norm[at] = -0.5 * std::log(2.0 * PI * variance);
            }
        }
    }

    // Lay the log densities of a row under a class out on the grid; 0 where no voxel is.
    void set_densities(std::size_t c, Room& room) const {
        const std::size_t first = c * voxels();
        const double *location = room.law.location.data() + first, *precision = room.law.precision.data() + first;
        const double *power = room.law.power.data() + first, *norm = room.law.norm.data() + first;
        if (prior[0] == nullptr) {
            searchlight_loops().normal(room.row.data(), location, precision, norm, voxels(), room.density.data());
        } else {
            for (std::size_t v = 0; v < voxels(); ++v) {
                const double d = room.row[v] - location[v];
                room.density[v] = norm[v] - power[v] * std::log1p(precision[v] * d * d);
            }
        }
        std::fill(room.cubes.grid.begin(), room.cubes.grid.end(), 0.0);
        for (std::size_t v = 0; v < voxels(); ++v)
            room.cubes.grid[static_cast<std::size_t>(cells[v])] = room.density[v];
    }

    // Everything that all rows say, from which a thread starts.
    Room whole() const {
        const std::size_t all = classes * voxels(), grid = box.cells();
        Room room{Numbers(counts, counts + classes),
                  Numbers(mean, mean + all),
                  Numbers(scatter, scatter + all),
                  Numbers(voxels()),
                  Numbers(voxels()),
                  Numbers(voxels()),
                  Numbers(grid),
                  Law(all),
                  CubeSums(grid, width),
                  std::vector<char>(classes, 1),
                  std::vector<char>(all),
                  std::vector<std::int64_t>(grid),
                  std::vector<std::int64_t>(grid),
                  {}};
        set_law(room);
        return room;
    }

    // Count where the cube about a cell tells the class of a fold's rows, which it has not learned.
    void try_fold(const std::int64_t* rows, std::size_t size, const Law& everything, T* buffer, Room& room) const {
        if (size == 0) return;
        take_out(rows, size, buffer, room);
        set_law(room);
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t i = static_cast<std::size_t>(rows[k]);
            const T* row = x.block(i, i + 1, buffer);
            for (std::size_t v = 0; v < voxels(); ++v) room.row[v] = static_cast<double>(row[v]);
            std::fill(room.best.begin(), room.best.end(), -INF);
            std::fill(room.hits.begin(), room.hits.end(), 0);
            for (std::size_t c = 0; c < classes; ++c) {
                if (!(room.left[c] > 0.0)) continue;  // a class without rows is none
                // Shares, or the mean under a Dirichlet of ones.
                const double start = std::log(room.left[c] + (prior[0] == nullptr ? 0.0 : 1.0));
                set_densities(c, room);
                searchlight_loops().keep_best(room.cubes.add_up(box, width), start,
                                              static_cast<std::size_t>(codes[i]) == c, box.cells(), room.best.data(),
                                              room.hits.data());
            }
            for (std::size_t at = 0; at < box.cells(); ++at) room.right[at] += room.hits[at];
        }
        for (std::size_t c = 0; c < classes; ++c) {
            if (!room.changed[c]) continue;
            const std::size_t first = c * voxels();
            room.law.copy(everything, first, voxels());
            std::copy_n(mean + first, voxels(), room.mean.data() + first);
            std::copy_n(scatter + first, voxels(), room.scatter.data() + first);
        }
    }
};

// How often the cube about each voxel tells the class of rows that it has not learned, (V,), and
// where a class does not vary, (C, V).
//
// Rows are left out fold by fold: fold f's are order[starts[f]:starts[f + 1]]. `cells` are the
// places of the voxels in the grid, given flat.
auto searchlight(AnyRows X, In<std::int32_t, 1> codes, In<std::int64_t, 1> fold_of, In<std::int64_t, 1> order,
                 In<std::int64_t, 1> starts, In<double, 1> counts, In<double, 2> mean, In<double, 2> scatter,
                 In<double, 3> prior, bool tied, double unseen, In<std::int64_t, 1> cells, In<std::int64_t, 1> sides,
                 std::size_t width) {
    const std::size_t rows = X.shape(0), classes = mean.shape(0), voxels = mean.shape(1), all = classes * voxels;
    const Box box(sides);
    require(codes.shape(0) == rows && fold_of.shape(0) == rows && X.shape(1) == voxels,
            "rows, codes and folds do not fit");
    require(counts.shape(0) == classes && scatter.shape(0) == classes && scatter.shape(1) == voxels,
            "moments do not fit");
    require(prior.size() == 0 || (prior.shape(0) == 4 && prior.shape(1) == classes && prior.shape(2) == voxels),
            "a prior does not fit");
    require(cells.shape(0) == voxels && width % 2 == 1, "voxels and grid do not fit");
    require(voxels == 0 || largest_index(cells.data(), voxels) < box.cells(), "voxels outside the grid");
    require(order.shape(0) == 0 || largest_index(order.data(), order.shape(0)) < rows, "rows that there are not");
    require_codes(codes, classes);
    require_begins(starts, order.shape(0));
    auto right = make_array<std::int64_t>({voxels});
    auto flat = make_array<bool>({classes, voxels});
    nb::gil_scoped_release release;
    with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        const double* p = prior.size() == 0 ? nullptr : prior.data();
        const Searchlight<T> light{x,
                                   codes.data(),
                                   fold_of.data(),
                                   counts.data(),
                                   mean.data(),
                                   scatter.data(),
                                   {p, p ? p + all : p, p ? p + 2 * all : p, p ? p + 3 * all : p},
                                   tied,
                                   unseen,
                                   cells.data(),
                                   box,
                                   classes,
                                   width};
        const Room whole = light.whole();
        const std::size_t folds = starts.shape(0) - 1;
        const Ranges ranges(
            folds, std::max(all, classes * box.cells()) * (order.shape(0) / std::max<std::size_t>(1, folds) + 1));
        // Each thread takes the room that another left, so there are no more than threads.
        std::mutex lock;
        std::vector<std::unique_ptr<Room>> rooms;
        in_parallel(ranges.count(), [&](std::size_t range) {
            std::unique_ptr<Room> room;
            {
                const std::lock_guard<std::mutex> guard(lock);
                if (!rooms.empty()) {
                    room = std::move(rooms.back());
                    rooms.pop_back();
                }
            }
            if (!room) room = std::make_unique<Room>(whole);
            std::vector<T> buffer(x.room(1));
            for (std::size_t f = ranges.start(range); f < ranges.stop(range); ++f) {
                const std::int64_t first = starts.data()[f], last = starts.data()[f + 1];
                light.try_fold(order.data() + first, static_cast<std::size_t>(last - first), whole.law, buffer.data(),
                               *room);
            }
            const std::lock_guard<std::mutex> guard(lock);
            rooms.push_back(std::move(room));
        });
        for (const auto& room : rooms) {
            for (std::size_t v = 0; v < voxels; ++v)
                right.data()[v] += room->right[static_cast<std::size_t>(cells.data()[v])];
            for (std::size_t at = 0; at < all; ++at) flat.data()[at] = flat.data()[at] || room->flat[at];
        }
    });
    return std::make_tuple(right, flat);
}

}  // namespace

void bind_searchlight(nb::module_& m) {
    using namespace nb::literals;
    m.attr("WIDE") = WIDE;
    m.def("cube_sums", &cube_sums, "grid"_a, "sides"_a, "width"_a,
          "Return the sums of cubes about every cell of a grid, given flat.");
    m.def("searchlight", &searchlight, "X"_a, "codes"_a, "fold_of"_a, "order"_a, "starts"_a, "counts"_a, "mean"_a,
          "scatter"_a, "prior"_a, "tied"_a, "unseen"_a, "cells"_a, "sides"_a, "width"_a,
          "Return how often cubes (V,) tell the class of left-out rows, and where classes are flat.");
}

}  // namespace suffice
