// Text as the letters of its words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loops/letters.h"

namespace suffice {

constexpr std::uint32_t CODE_POINTS = 0x110000;
// What a letter may be marked with: its lower case depends on where it stands (the capital sigma),
// or is followed by what parts words (the capital I with a dot).
constexpr std::uint32_t BY_PLACE = std::uint32_t(1) << 31, AND_GAP = std::uint32_t(1) << 30;

// How code points are written in words, as Python says.
class Letters {
  public:
    // Without tables, for text that is all ASCII.
    explicit Letters(bool lowercase) : lowercase_(lowercase) {}

    // `written` (CODE_POINTS,): each as a code point, perhaps marked, or 0 outside of words; `cases`
    // (CODE_POINTS,): 1 if it is cased, 2 if it is passed over where a letter's place is seen.
    Letters(bool lowercase, const std::uint32_t* written, const std::uint8_t* cases);

    // Bytes that the letters of a document may take, with the zeros after them, and what loops write beyond.
    static std::size_t room(std::size_t bytes) { return 2 * bytes + LETTER_BLOCK + 16; }

    // Write a document, text[begin:stop] in UTF-8, as the letters of its words, with zeros between
    // words and 16 zeros after all; return where it ends. Bytes that are no UTF-8 part words.
    std::size_t write(const std::uint8_t* text, std::size_t begin, std::size_t stop, std::uint8_t* out) const {
        return lowercase_ ? write_as<true>(text, begin, stop, out) : write_as<false>(text, begin, stop, out);
    }

  private:
    template <bool Lower>
    std::size_t write_as(const std::uint8_t* text, std::size_t begin, std::size_t stop, std::uint8_t* out) const;
    bool is_final_sigma(const std::uint8_t* text, std::size_t begin, std::size_t at, std::size_t stop) const;

    bool lowercase_;
    std::vector<std::uint32_t> written_;
    std::vector<std::uint8_t> cases_;
};

// Write a code point as UTF-8, and return how many bytes it has.
inline std::size_t write_utf8(std::uint32_t point, std::uint8_t* out) {
    if (point < 0x80) {
        out[0] = static_cast<std::uint8_t>(point);
        return 1;
    }
    if (point < 0x800) {
        out[0] = static_cast<std::uint8_t>(0xC0 | (point >> 6));
        out[1] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
        return 2;
    }
    std::size_t at = 0;
    if (point < 0x10000) {
        out[at++] = static_cast<std::uint8_t>(0xE0 | (point >> 12));
    } else {
        out[at++] = static_cast<std::uint8_t>(0xF0 | (point >> 18));
        out[at++] = static_cast<std::uint8_t>(0x80 | ((point >> 12) & 0x3F));
    }
    out[at++] = static_cast<std::uint8_t>(0x80 | ((point >> 6) & 0x3F));
    out[at++] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
    return at;
}

}  // namespace suffice
