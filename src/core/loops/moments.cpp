#include "moments.h"

#include "../prefetch.h"

namespace suffice::SUFFICE_SET {
namespace {

// Rows of a class that are added together, so that its sums are loaded and stored once for all of
// them, and classes up to which rows wait for others of their class.
constexpr std::size_t GROUP = 4, MAX_WAITING = 16;
// Rows are asked for so many bytes before they are read: those of a group are not neighbours.
constexpr std::size_t AHEAD = 2048;

template <class T, bool Weighted>
void add_rows(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows, std::size_t columns,
              const double* origins, const MomentSums& sums) {
    for (std::size_t i = 0; i < rows; ++i, x += columns) {
        const std::size_t c = static_cast<std::size_t>(codes[i]);
        const double w = Weighted ? weights[i] : 1.0;
        sums.row_weight[c] += w;
        sums.whole[c] += w;
        const double* origin = origins + c * columns;
        double* __restrict sum_x = sums.sum_x + c * columns;
        double* __restrict sum_xx = sums.sum_xx + c * columns;
        for (std::size_t j = 0; j < columns; ++j) {
            const double d = static_cast<double>(x[j]) - origin[j];
            const double wd = Weighted ? w * d : d;
            sum_x[j] += wd;
            sum_xx[j] += wd * d;
        }
    }
}

// Add L cells of R rows of a class to its sums, row after row.
template <std::size_t L, std::size_t R, bool Weighted, class T>
void add_lanes(const T* const* rows, const double* weights, std::size_t first, const double* __restrict origin,
               double* __restrict sum_x, double* __restrict sum_xx) {
    double x[L], xx[L];
    for (std::size_t l = 0; l < L; ++l) x[l] = sum_x[first + l];
    for (std::size_t l = 0; l < L; ++l) xx[l] = sum_xx[first + l];
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t l = 0; l < L; ++l) {
            const double d = static_cast<double>(rows[r][first + l]) - origin[first + l];
            const double wd = Weighted ? weights[r] * d : d;
            x[l] += wd;
            xx[l] += wd * d;
        }
    }
    for (std::size_t l = 0; l < L; ++l) sum_x[first + l] = x[l];
    for (std::size_t l = 0; l < L; ++l) sum_xx[first + l] = xx[l];
}

// Add R rows of a class. The last columns are added in shorter vectors, not one by one.
template <std::size_t R, bool Weighted, class T>
void add_group(const T* const* rows, const double* weights, std::size_t columns, const double* origin, double* sum_x,
               double* sum_xx) {
    std::size_t j = 0;
    for (; j + 8 <= columns; j += 8) add_lanes<8, R, Weighted>(rows, weights, j, origin, sum_x, sum_xx);
    if (columns & 4) add_lanes<4, R, Weighted>(rows, weights, j, origin, sum_x, sum_xx);
    j += columns & 4;
    if (columns & 2) add_lanes<2, R, Weighted>(rows, weights, j, origin, sum_x, sum_xx);
    j += columns & 2;
    if (columns & 1) add_lanes<1, R, Weighted>(rows, weights, j, origin, sum_x, sum_xx);
}

// `add_rows` of at most MAX_WAITING classes, a group of rows of one class at a time: the same
// sums, as within a class rows keep their order.
template <class T>
void add_groups(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows, std::size_t columns,
                const double* origins, const MomentSums& sums) {
    // Called by address: inlined, they are not vectorised.
    const auto add_many = weights == nullptr ? add_group<GROUP, false, T> : add_group<GROUP, true, T>;
    const auto add_one = weights == nullptr ? add_group<1, false, T> : add_group<1, true, T>;
    const T* waiting[MAX_WAITING][GROUP];
    double waiting_weights[MAX_WAITING][GROUP];
    std::size_t counts[MAX_WAITING] = {};
    const std::size_t bytes = columns * sizeof(T);
    // Processors ask for the next part of long rows by themselves.
    const std::size_t ahead = bytes > 0 && bytes <= AHEAD ? AHEAD / bytes : rows;
    for (std::size_t i = 0; i < rows; ++i, x += columns) {
        const std::size_t c = static_cast<std::size_t>(codes[i]), at = c * columns;
        const double w = weights == nullptr ? 1.0 : weights[i];
        sums.row_weight[c] += w;
        sums.whole[c] += w;
        if (i + ahead < rows) {
            const char* next = reinterpret_cast<const char*>(x + ahead * columns);
            for (std::size_t line = 0; line < bytes; line += CACHE_LINE) prefetch(next + line);
        }
        waiting[c][counts[c]] = x;
        waiting_weights[c][counts[c]] = w;
        if (++counts[c] < GROUP) continue;
        counts[c] = 0;
        add_many(waiting[c], waiting_weights[c], columns, origins + at, sums.sum_x + at, sums.sum_xx + at);
    }
    for (std::size_t c = 0; c < MAX_WAITING; ++c) {
        const std::size_t at = c * columns;
        for (std::size_t r = 0; r < counts[c]; ++r)
            add_one(waiting[c] + r, waiting_weights[c] + r, columns, origins + at, sums.sum_x + at, sums.sum_xx + at);
    }
}

template <class T>
void add_whole(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows, std::size_t columns,
               const double* origin, const MomentSums& sums) {
    // Cells of eight bytes come no faster from memory than they are added row by row.
    if (sizeof(T) < sizeof(double) && sums.classes <= MAX_WAITING)
        add_groups(x, codes, weights, rows, columns, origin, sums);
    else if (weights == nullptr)
        add_rows<T, false>(x, codes, weights, rows, columns, origin, sums);
    else
        add_rows<T, true>(x, codes, weights, rows, columns, origin, sums);
}

template <class T>
void add_seen(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows, std::size_t columns,
              const double* origins, const MomentSums& sums) {
    for (std::size_t i = 0; i < rows; ++i, x += columns) {
        const std::size_t c = static_cast<std::size_t>(codes[i]);
        const double w = weights == nullptr ? 1.0 : weights[i];
        sums.row_weight[c] += w;
        const double* origin = origins + c * columns;
        double* __restrict seen = sums.seen + c * columns;
        double* __restrict sum_x = sums.sum_x + c * columns;
        double* __restrict sum_xx = sums.sum_xx + c * columns;
        for (std::size_t j = 0; j < columns; ++j) {
            const double value = static_cast<double>(x[j]);
            const bool missing = value != value;
            const double d = missing ? 0.0 : value - origin[j];
            seen[j] += missing ? 0.0 : w;
            sum_x[j] += w * d;
            sum_xx[j] += w * d * d;
        }
    }
}

}  // namespace

extern const MomentLoops<double> moments_of_double = {add_whole, add_seen};
extern const MomentLoops<float> moments_of_float = {add_whole, add_seen};
extern const MomentLoops<std::int64_t> moments_of_int64 = {add_whole, add_seen};
extern const MomentLoops<std::int32_t> moments_of_int32 = {add_whole, add_seen};
extern const MomentLoops<std::uint8_t> moments_of_uint8 = {add_whole, add_seen};

}  // namespace suffice::SUFFICE_SET
