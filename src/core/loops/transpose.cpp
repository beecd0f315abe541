#include "transpose.h"

#include <algorithm>
#include <type_traits>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace suffice::SUFFICE_SET {
namespace {

// Cells of a tile that is TILE x TILE: rows whose columns are side by side afterwards. A compiler moves them one by
// one, which takes three times as long as registers that are shuffled.
#if defined(__AVX512F__)
constexpr std::size_t TILE = 8;

void transpose_tile(const double* cells, std::size_t step, const double* centre, double* across) {
    const __m512d middle = _mm512_loadu_pd(centre);
    __m512d rows[TILE], pairs[TILE], fours[TILE];
    for (std::size_t i = 0; i < TILE; ++i) rows[i] = _mm512_sub_pd(_mm512_loadu_pd(cells + i * step), middle);
    for (std::size_t i = 0; i < TILE; i += 2) {
        pairs[i] = _mm512_unpacklo_pd(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_pd(rows[i], rows[i + 1]);
    }
    for (std::size_t i = 0; i < TILE; i += 4)
        for (std::size_t odd = 0; odd < 2; ++odd) {
            fours[i + odd] = _mm512_shuffle_f64x2(pairs[i + odd], pairs[i + 2 + odd], 0x88);
            fours[i + 2 + odd] = _mm512_shuffle_f64x2(pairs[i + odd], pairs[i + 2 + odd], 0xdd);
        }
    for (std::size_t j = 0; j < 4; ++j) {
        _mm512_storeu_pd(across + j * SCORE_ROWS, _mm512_shuffle_f64x2(fours[j], fours[4 + j], 0x88));
        _mm512_storeu_pd(across + (4 + j) * SCORE_ROWS, _mm512_shuffle_f64x2(fours[j], fours[4 + j], 0xdd));
    }
}
#elif defined(__AVX2__)
constexpr std::size_t TILE = 4;

void transpose_tile(const double* cells, std::size_t step, const double* centre, double* across) {
    const __m256d middle = _mm256_loadu_pd(centre);
    __m256d rows[TILE], pairs[TILE];
    for (std::size_t i = 0; i < TILE; ++i) rows[i] = _mm256_sub_pd(_mm256_loadu_pd(cells + i * step), middle);
    for (std::size_t i = 0; i < TILE; i += 2) {
        pairs[i] = _mm256_unpacklo_pd(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_pd(rows[i], rows[i + 1]);
    }
    for (std::size_t odd = 0; odd < 2; ++odd) {
        _mm256_storeu_pd(across + odd * SCORE_ROWS, _mm256_permute2f128_pd(pairs[odd], pairs[2 + odd], 0x20));
        _mm256_storeu_pd(across + (2 + odd) * SCORE_ROWS, _mm256_permute2f128_pd(pairs[odd], pairs[2 + odd], 0x31));
    }
}
#else
constexpr std::size_t TILE = 8;

void transpose_tile(const double* cells, std::size_t step, const double* centre, double* across) {
    for (std::size_t i = 0; i < TILE; ++i)
        for (std::size_t j = 0; j < TILE; ++j) across[j * SCORE_ROWS + i] = cells[i * step + j] - centre[j];
}
#endif

template <class T>
void subtract(const T* block, std::size_t rows, std::size_t columns, const double* centre, double* across) {
    const std::size_t whole = rows / TILE * TILE;
    double tile[TILE * TILE];
    // The last tile of columns may overlap with the one before.
    for (std::size_t next = 0; next < columns && columns >= TILE; next += TILE) {
        const std::size_t first = std::min(next, columns - TILE);
        for (std::size_t i = 0; i < whole; i += TILE) {
            const T* cells = block + i * columns + first;
            if constexpr (std::is_same_v<T, double>) {
                transpose_tile(cells, columns, centre + first, across + first * SCORE_ROWS + i);
            } else {
                for (std::size_t r = 0; r < TILE; ++r)
                    for (std::size_t j = 0; j < TILE; ++j)
                        tile[r * TILE + j] = static_cast<double>(cells[r * columns + j]);
                transpose_tile(tile, TILE, centre + first, across + first * SCORE_ROWS + i);
            }
        }
    }
    const std::size_t done = columns >= TILE ? whole : 0;
    for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = done; i < rows; ++i)
            across[j * SCORE_ROWS + i] = static_cast<double>(block[i * columns + j]) - centre[j];
        std::fill(across + j * SCORE_ROWS + rows, across + (j + 1) * SCORE_ROWS, 0.0);
    }
}

}  // namespace

extern const TransposeLoops<double> transpose_of_double = {subtract};
extern const TransposeLoops<float> transpose_of_float = {subtract};
extern const TransposeLoops<std::int64_t> transpose_of_int64 = {subtract};
extern const TransposeLoops<std::int32_t> transpose_of_int32 = {subtract};
extern const TransposeLoops<std::uint8_t> transpose_of_uint8 = {subtract};

}  // namespace suffice::SUFFICE_SET
