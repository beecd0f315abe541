#include "letters.h"

#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#define SUFFICE_SSE2
#endif
#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace suffice::SUFFICE_SET {
namespace {

// The number of the lowest bit that is set; one is.
std::size_t lowest_bit(std::uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
    return static_cast<std::size_t>(__builtin_ctzll(bits));
#elif defined(_MSC_VER) && defined(_M_X64)
    unsigned long at;
    _BitScanForward64(&at, bits);
    return at;
#else
    std::size_t at = 0;
    for (; (bits & 1) == 0; bits >>= 1) ++at;
    return at;
#endif
}

// Bits of the bytes of a block, the first lowest: 1 where the highest bit of the byte is set.
std::uint64_t high_bytes(const std::uint8_t* text) {
#if defined(__AVX2__)
    std::uint64_t high = 0;
    for (int at = 0; at < 64; at += 32) {
        const int found = _mm256_movemask_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at)));
        high |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(found)) << at;
    }
    return high;
#elif defined(SUFFICE_SSE2)
    std::uint64_t high = 0;
    for (int at = 0; at < 64; at += 16) {
        const int found = _mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at)));
        high |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(found)) << at;
    }
    return high;
#else
    std::uint64_t high = 0;
    for (std::size_t at = 0; at < LETTER_BLOCK; ++at) high |= static_cast<std::uint64_t>(text[at] >> 7) << at;
    return high;
#endif
}

// Write a block, and say how many of its first bytes are ASCII.
template <bool Lower>
std::size_t write_block(const std::uint8_t* text, std::uint8_t* out) {
    for (std::size_t i = 0; i < LETTER_BLOCK; ++i) out[i] = ascii_letter<Lower>(text[i]);
    const std::uint64_t high = high_bytes(text);
    return high ? lowest_bit(high) : LETTER_BLOCK;
}

template <bool Lower>
std::size_t write_ascii(const std::uint8_t* text, std::size_t size, std::uint8_t* out) {
    std::size_t at = 0;
    for (; size - at >= LETTER_BLOCK; at += LETTER_BLOCK) {
        const std::size_t written = write_block<Lower>(text + at, out + at);
        if (written < LETTER_BLOCK) return at + written;
    }
    if (at == size) return size;
    std::uint8_t rest[LETTER_BLOCK] = {};
    std::memcpy(rest, text + at, size - at);
    const std::size_t written = write_block<Lower>(rest, out + at);
    return written < size - at ? at + written : size;
}

}  // namespace

extern const LetterLoops letter_loops_table = {write_ascii<true>, write_ascii<false>};

}  // namespace suffice::SUFFICE_SET
