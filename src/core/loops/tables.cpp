#include "tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../prefetch.h"

namespace suffice::SUFFICE_SET {
namespace {

// Cells ahead for which memory is asked: enough to cover a trip to memory, few enough to stay in
// the first cache.
constexpr std::ptrdiff_t AHEAD = 16;
// Classes whose sums are kept in registers.
constexpr std::size_t TILE = 32;

// Ask for the table row of the cell that comes AHEAD cells after `at`.
template <class Index, class T>
inline void prefetch_row(const Index* at, const Index* end, const T* table, std::size_t columns, std::size_t first,
                         std::size_t last) {
    if (end - at <= AHEAD) return;
    const T* row = table + static_cast<std::size_t>(at[AHEAD]) * columns;
    for (std::size_t c = first; c < last; c += CACHE_LINE / sizeof(T)) prefetch(row + c);
}

template <std::size_t Classes, class Index>
void add_few(const double* x, const StoredCells<Index>& row, const double* table, double* sums) {
    double total[Classes] = {};
    for (std::size_t at = 0; at < row.cells; ++at) {
        prefetch_row(row.indices + at, row.end, table, Classes, 0, 1);
        const double* terms = table + static_cast<std::size_t>(row.indices[at]) * Classes;
        for (std::size_t c = 0; c < Classes; ++c) total[c] += x[at] * terms[c];
    }
    for (std::size_t c = 0; c < Classes; ++c) sums[c] += total[c];
}

template <class Index>
void add_linear(const double* x, const StoredCells<Index>& row, const double* table, std::size_t classes,
                double* sums) {
    if (classes == 2) return add_few<2>(x, row, table, sums);
    if (classes == 3) return add_few<3>(x, row, table, sums);
    if (classes == 4) return add_few<4>(x, row, table, sums);
    for (std::size_t low = 0; low < classes; low += TILE) {
        const std::size_t high = std::min(low + TILE, classes), width = high - low;
        double total[TILE] = {};
        for (std::size_t at = 0; at < row.cells; ++at) {
            prefetch_row(row.indices + at, row.end, table, classes, low, high);
            const double* terms = table + static_cast<std::size_t>(row.indices[at]) * classes + low;
            for (std::size_t c = 0; c < width; ++c) total[c] += x[at] * terms[c];
        }
        for (std::size_t c = 0; c < width; ++c) sums[low + c] += total[c];
    }
}

template <class Index>
double to_factors(const double* __restrict x, const StoredCells<Index>& row, const double* __restrict steps,
                  float* __restrict factors) {
    constexpr std::size_t LANES = 8;
    double sums[LANES] = {};
    auto add = [&](auto&& factor) {
        std::size_t at = 0;
        for (; at + LANES <= row.cells; at += LANES) {
            for (std::size_t l = 0; l < LANES; ++l) {
                const double one = factor(at + l);
                sums[l] += one < 0.0 ? -one : one;
                factors[at + l] = static_cast<float>(one);
            }
        }
        for (; at < row.cells; ++at) {
            const double one = factor(at);
            sums[0] += one < 0.0 ? -one : one;
            factors[at] = static_cast<float>(one);
        }
    };
    const Index* indices = row.indices;
    if (steps == nullptr)
        add([=](std::size_t at) { return x[at]; });
    else
        add([=](std::size_t at) { return x[at] * steps[indices[at]]; });
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// total + factor code, rounded once where that is an instruction: these sums say only which classes are
// scored exactly, so no answer depends on it.
template <class Code>
inline float add_product(float factor, Code code, float total) {
#ifdef __AVX512F__
    return std::fma(factor, static_cast<float>(code), total);
#else
    return total + factor * static_cast<float>(code);
#endif
}

template <class Index>
void add_fine(const float* x, const StoredCells<Index>& row, const std::int16_t* codes, float* scores) {
    float total[FINE_COLUMNS] = {};
    for (std::size_t at = 0; at < row.cells; ++at) {
        prefetch_row(row.indices + at, row.end, codes, FINE_COLUMNS, 0, 1);
        const std::int16_t* terms = codes + static_cast<std::size_t>(row.indices[at]) * FINE_COLUMNS;
        for (std::size_t c = 0; c < FINE_COLUMNS; ++c) total[c] = add_product(x[at], terms[c], total[c]);
    }
    std::copy_n(total, FINE_COLUMNS, scores);
}

// Classes of a table of bytes whose sums are kept in registers.
#ifdef __AVX512F__
constexpr std::size_t WIDE_TILE = 256;
#else
constexpr std::size_t WIDE_TILE = 64;
#endif

template <class Index>
void add_coarse(const float* x, const StoredCells<Index>& row, const std::int8_t* codes, std::size_t columns,
                float* scores) {
    std::size_t low = 0;
    for (; low + WIDE_TILE <= columns; low += WIDE_TILE) {
        float total[WIDE_TILE] = {};
        for (std::size_t at = 0; at < row.cells; ++at) {
            prefetch_row(row.indices + at, row.end, codes, columns, low, low + WIDE_TILE);
            const std::int8_t* terms = codes + static_cast<std::size_t>(row.indices[at]) * columns + low;
            const float factor = x[at];
            for (std::size_t c = 0; c < WIDE_TILE; ++c) total[c] = add_product(factor, terms[c], total[c]);
        }
        std::copy_n(total, WIDE_TILE, scores + low);
    }
    std::fill(scores + low, scores + columns, 0.0f);
    for (std::size_t at = 0; at < row.cells && low < columns; ++at) {
        const std::int8_t* terms = codes + static_cast<std::size_t>(row.indices[at]) * columns;
        for (std::size_t c = low; c < columns; ++c) scores[c] += x[at] * static_cast<float>(terms[c]);
    }
}

// Add sum x log_counts[counts[index, c], a] of Classes classes and Width alphas, which stay in registers
// over all cells.
template <std::size_t Classes, std::size_t Width, class Index>
void add_some_alphas(const double* x, const StoredCells<Index>& row, const std::int32_t* counts,
                     const double* log_counts, std::size_t classes, std::size_t alphas, double* __restrict joint) {
    double sums[Classes][Width];
    for (std::size_t c = 0; c < Classes; ++c)
        for (std::size_t a = 0; a < Width; ++a) sums[c][a] = joint[c * alphas + a];
    for (std::size_t at = 0; at < row.cells; ++at) {
        const std::int32_t* seen = counts + static_cast<std::size_t>(row.indices[at]) * classes;
        for (std::size_t c = 0; c < Classes; ++c) {
            const double* logs = log_counts + static_cast<std::size_t>(seen[c]) * alphas;
            for (std::size_t a = 0; a < Width; ++a) sums[c][a] += x[at] * logs[a];
        }
    }
    for (std::size_t c = 0; c < Classes; ++c)
        for (std::size_t a = 0; a < Width; ++a) joint[c * alphas + a] = sums[c][a];
}

template <std::size_t Classes, class Index>
void add_alphas_of(const double* x, const StoredCells<Index>& row, const std::int32_t* counts, const double* log_counts,
                   std::size_t classes, std::size_t alphas, double* joint) {
    std::size_t a = 0;
#ifdef __AVX512F__
    for (; a + 24 <= alphas; a += 24)
        add_some_alphas<Classes, 24>(x, row, counts, log_counts + a, classes, alphas, joint + a);
#endif
    for (; a + 8 <= alphas; a += 8)
        add_some_alphas<Classes, 8>(x, row, counts, log_counts + a, classes, alphas, joint + a);
    for (; a + 4 <= alphas; a += 4)
        add_some_alphas<Classes, 4>(x, row, counts, log_counts + a, classes, alphas, joint + a);
    for (; a < alphas; ++a) add_some_alphas<Classes, 1>(x, row, counts, log_counts + a, classes, alphas, joint + a);
}

template <class Index>
void add_alphas(const double* x, const StoredCells<Index>& row, const std::int32_t* counts, const double* log_counts,
                std::size_t classes, std::size_t alphas, double* __restrict joint) {
    for (std::size_t at = 0; at < row.cells; ++at) prefetch_row(row.indices + at, row.end, counts, classes, 0, classes);
    std::size_t c = 0;
    for (; c + 4 <= classes; c += 4)
        add_alphas_of<4>(x, row, counts + c, log_counts, classes, alphas, joint + c * alphas);
    for (; c < classes; ++c) add_alphas_of<1>(x, row, counts + c, log_counts, classes, alphas, joint + c * alphas);
}

void find_ends(const double* row, std::size_t size, double* ends) {
    constexpr std::size_t LANES = 8;
    double low[LANES], high[LANES];
    for (std::size_t l = 0; l < LANES; ++l) low[l] = high[l] = row[0];
    std::size_t c = 0;
    for (; c + LANES <= size; c += LANES) {
        for (std::size_t l = 0; l < LANES; ++l) {
            low[l] = row[c + l] < low[l] ? row[c + l] : low[l];
            high[l] = row[c + l] > high[l] ? row[c + l] : high[l];
        }
    }
    for (; c < size; ++c) {
        low[0] = std::min(low[0], row[c]);
        high[0] = std::max(high[0], row[c]);
    }
    ends[0] = *std::min_element(low, low + LANES);
    ends[1] = *std::max_element(high, high + LANES);
}

template <class Code>
void round_row(const double* row, std::size_t size, double middle, double inverse_step, Code* codes) {
    constexpr double ROUND = 6755399441055744.0;  // 1.5 2^52: adding it rounds to a whole number
    for (std::size_t c = 0; c < size; ++c)
        codes[c] = static_cast<Code>(static_cast<std::int32_t>(((row[c] - middle) * inverse_step + ROUND) - ROUND));
}

float add_prior(float* scores, float step, const float* prior, std::size_t size) {
    constexpr std::size_t LANES = 16;
    float high[LANES];
    std::fill_n(high, LANES, -std::numeric_limits<float>::infinity());
    std::size_t c = 0;
    for (; c + LANES <= size; c += LANES) {
        for (std::size_t l = 0; l < LANES; ++l) {
            scores[c + l] = scores[c + l] * step + prior[c + l];
            high[l] = scores[c + l] > high[l] ? scores[c + l] : high[l];
        }
    }
    for (; c < size; ++c) {
        scores[c] = scores[c] * step + prior[c];
        high[0] = std::max(high[0], scores[c]);
    }
    return *std::max_element(high, high + LANES);
}

std::size_t count_close(const float* scores, float close, std::size_t size) {
    std::int32_t found = 0;
    for (std::size_t c = 0; c < size; ++c) found += scores[c] >= close ? 1 : 0;
    return static_cast<std::size_t>(found);
}

}  // namespace

extern const RoundLoops rounding = {find_ends, round_row<std::int16_t>, round_row<std::int8_t>, add_prior, count_close};
extern const TableLoops<std::int32_t> tables_by_int32 = {add_linear, to_factors, add_fine, add_coarse, add_alphas};
extern const TableLoops<std::int64_t> tables_by_int64 = {add_linear, to_factors, add_fine, add_coarse, add_alphas};

}  // namespace suffice::SUFFICE_SET
