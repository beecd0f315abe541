#include "moments.h"

namespace suffice::SUFFICE_SET {
namespace {

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

template <class T>
void add_whole(const T* x, const std::int32_t* codes, const double* weights, std::size_t rows, std::size_t columns,
               const double* origin, const MomentSums& sums) {
    if (weights == nullptr)
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
