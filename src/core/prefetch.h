// Ask for memory before it is needed.
#pragma once

#include <cstddef>

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif

namespace suffice {

inline void prefetch(const void* memory) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(memory);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(static_cast<const char*>(memory), _MM_HINT_T0);
#else
    (void)memory;
#endif
}

constexpr std::size_t CACHE_LINE = 64;  // bytes

// Bytes that are needed next, asked for in as many equal parts while there is other work: all at once they would
// be waited for.
class Ahead {
  public:
    Ahead(const void* memory, std::size_t bytes, std::size_t parts)
        : next(static_cast<const char*>(memory)), lines((bytes / CACHE_LINE + parts) / (parts > 0 ? parts : 1)) {}

    void ask() {
        for (std::size_t l = 0; l < lines; ++l, next += CACHE_LINE) prefetch(next);
    }

  private:
    const char* next;
    std::size_t lines;
};

}  // namespace suffice
