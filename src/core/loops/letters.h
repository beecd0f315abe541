// Text of ASCII as the letters of its words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../instruction_sets.h"

namespace suffice {

// Bytes that are looked at together.
constexpr std::size_t LETTER_BLOCK = 64;

// A byte of ASCII as it is written in words: 0 if it is of none.
template <bool Lower>
static inline std::uint8_t ascii_letter(std::uint8_t c) {
    const std::uint8_t low = static_cast<std::uint8_t>(c | ((static_cast<std::uint8_t>(c - 'A') < 26) << 5));
    const bool letter = static_cast<std::uint8_t>(low - 'a') < 26, digit = static_cast<std::uint8_t>(c - '0') < 10;
    return (letter | digit | (c == '_')) ? (Lower ? low : c) : 0;
}

struct LetterLoops {
    // Write text up to its first byte that is not ASCII as the letters of its words, in lower case or as they are;
    // return how many bytes that were. LETTER_BLOCK bytes after these may be written to.
    std::size_t (*write_lower)(const std::uint8_t* text, std::size_t size, std::uint8_t* out);
    std::size_t (*write)(const std::uint8_t* text, std::size_t size, std::uint8_t* out);
};

SUFFICE_TABLES(LetterLoops, letter_loops_table)

// Not those of 512 bits: with these the processor's clock goes slower, for all else that is done with text, too.
inline const LetterLoops& letter_loops() {
#ifdef SUFFICE_X86
    if (instruction_set() == InstructionSet::avx512) return avx2::letter_loops_table;
#endif
    return SUFFICE_BEST(letter_loops_table);
}

}  // namespace suffice
