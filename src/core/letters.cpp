#include "letters.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "loops/letters.h"

namespace suffice {
namespace {

enum Case : std::uint8_t { NEITHER, CASED, PASSED_OVER };
constexpr std::uint32_t SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2;
// Bytes of ASCII after other letters that are written one by one: of many scripts only spaces are ASCII.
constexpr std::size_t FEW = 8;

struct Point {
    std::uint32_t value;  // 0 if it is no UTF-8
    std::size_t width;
};

Point point_at(const std::uint8_t* text, std::size_t at, std::size_t stop) {
    const std::uint32_t lead = text[at];
    if (lead < 0x80) return {lead, 1};
    const std::size_t width = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC0 || stop - at < width) return {0, 1};
    auto low = [&](std::size_t i) { return static_cast<std::uint32_t>(text[at + i] & 0x3F); };
    if (width == 2) return {((lead & 0x1F) << 6) | low(1), 2};
    if (width == 3) return {((lead & 0x0F) << 12) | (low(1) << 6) | low(2), 3};
    const std::uint32_t value = ((lead & 0x07) << 18) | (low(1) << 12) | (low(2) << 6) | low(3);
    return {value < CODE_POINTS ? value : 0, 4};
}

std::size_t utf8_width(std::uint32_t point) { return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4; }

}  // namespace

Letters::Letters(bool lowercase, const std::uint32_t* written, const std::uint8_t* cases)
    : lowercase_(lowercase), written_(written, written + CODE_POINTS), cases_(cases, cases + CODE_POINTS) {
    bool fits = written_[0] == 0;
    for (std::uint32_t point = 0x80; point < CODE_POINTS; ++point) {
        const std::uint32_t letter = written_[point] & ~(BY_PLACE | AND_GAP);
        const std::size_t width = utf8_width(letter) + ((written_[point] & AND_GAP) != 0);
        fits = fits && letter < CODE_POINTS && width <= 2 * utf8_width(point);
        fits = fits && (utf8_width(point) == 2 || (written_[point] & BY_PLACE) == 0);
    }
    if (!fits) throw std::invalid_argument("letters that are no code points, or take more room than theirs");
}

// Whether a sigma, of two bytes, is the last letter of a word as Unicode (and so Python) has it:
// after something cased and not before it, where some code points are passed over.
bool Letters::is_final_sigma(const std::uint8_t* text, std::size_t begin, std::size_t at, std::size_t stop) const {
    std::uint8_t found = NEITHER;
    for (std::size_t before = at; before > begin;) {
        do --before;
        while (before > begin && (text[before] & 0xC0) == 0x80);
        found = cases_[point_at(text, before, at).value];
        if (found != PASSED_OVER) break;
    }
    if (found != CASED) return false;
    for (std::size_t after = at + 2; after < stop;) {
        const Point point = point_at(text, after, stop);
        found = cases_[point.value];
        if (found != PASSED_OVER) return found != CASED;
        after += point.width;
    }
    return true;
}

template <bool Lower>
std::size_t Letters::write_as(const std::uint8_t* text, std::size_t begin, std::size_t stop, std::uint8_t* out) const {
    const LetterLoops& loops = letter_loops();
    std::size_t at = begin, to = 0;
    while (at < stop) {
        const std::size_t written = (Lower ? loops.write_lower : loops.write)(text + at, stop - at, out + to);
        at += written;
        to += written;
        for (std::size_t few = 0; at < stop && few < FEW;) {
            if (text[at] < 0x80) {
                out[to++] = ascii_letter<Lower>(text[at++]);
                ++few;
                continue;
            }
            const Point point = point_at(text, at, stop);
            std::uint32_t letter = written_.empty() ? 0 : written_[point.value];
            if (letter & BY_PLACE) letter = is_final_sigma(text, begin, at, stop) ? FINAL_SIGMA : SIGMA;
            to += write_utf8(letter & ~AND_GAP, out + to);
            if (letter & AND_GAP) out[to++] = 0;
            at += point.width;
            few = 0;
        }
    }
    std::memset(out + to, 0, 16);
    return to;
}

template std::size_t Letters::write_as<true>(const std::uint8_t*, std::size_t, std::size_t, std::uint8_t*) const;
template std::size_t Letters::write_as<false>(const std::uint8_t*, std::size_t, std::size_t, std::uint8_t*) const;

}  // namespace suffice
