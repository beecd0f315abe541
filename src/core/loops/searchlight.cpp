#include "searchlight.h"

namespace suffice::SUFFICE_SET {
namespace {

void normal(const double* __restrict x, const double* __restrict location, const double* __restrict precision,
            const double* __restrict norm, std::size_t size, double* __restrict out) {
    for (std::size_t v = 0; v < size; ++v) {
        const double d = x[v] - location[v];
        out[v] = norm[v] - 0.5 * precision[v] * d * d;
    }
}

void add(const double* __restrict source, std::size_t size, double* __restrict out) {
    for (std::size_t j = 0; j < size; ++j) out[j] += source[j];
}

void keep_best(const double* __restrict sums, double start, bool right_class, std::size_t size, double* __restrict best,
               std::int64_t* __restrict right) {
    const std::int64_t mark = right_class ? 1 : 0;
    for (std::size_t j = 0; j < size; ++j) {
        const double score = start + sums[j];
        right[j] = score > best[j] ? mark : right[j];
        best[j] = score > best[j] ? score : best[j];
    }
}

}  // namespace

extern const SearchlightLoops searchlight_table = {normal, add, keep_best};

}  // namespace suffice::SUFFICE_SET
