// Words by number, in the order of first sight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "prefetch.h"

namespace suffice {

// A word that is in no table, a run of words that is in none, or one that has no column.
constexpr std::int32_t UNKNOWN = -1;

// A hash whose low bits depend on all bits.
inline std::uint64_t mix(std::uint64_t code) {
    code = (code ^ (code >> 32)) * 0x9E3779B97F4A7C15u;
    return code ^ (code >> 32);
}

// A word, and a number that stands for it: a word of up to seven bytes is its own key, and the key
// of a longer one is a hash of its bytes with the highest bit set. No byte of a word is zero.
struct Word {
    std::uint64_t key;
    const std::uint8_t* letters;
    std::size_t size;

    // The word that begins here and ends before the next zero; 15 bytes after that may be read.
    static Word at(const std::uint8_t* letters) {
        constexpr std::uint64_t SEED = 0xCBF29CE484222325u, LONG = std::uint64_t(1) << 63;
        std::uint64_t block = load(letters), ends = zeros(block);
        if (ends) return {block & before(ends), letters, bytes_before(ends)};
        std::uint64_t code = SEED;
        std::size_t size = 0;
        while (!ends) {
            code = mix(code ^ block);
            size += 8;
            block = load(letters + size);
            ends = zeros(block);
        }
        size += bytes_before(ends);
        return {mix(code ^ (block & before(ends)) ^ (static_cast<std::uint64_t>(size) << 56)) | LONG, letters, size};
    }

    bool is_long() const { return key >> 63; }

    // Whether it has so many letters, of up to four bytes each.
    bool has_letters(std::size_t least) const {
        if (size >= 4 * least || (!is_long() && (key & (ONES << 7)) == 0)) return size >= least;
        std::size_t found = 0;
        for (std::size_t i = 0; i < size; ++i) found += (letters[i] & 0xC0) != 0x80;
        return found >= least;
    }

  private:
    static constexpr std::uint64_t ONES = 0x0101010101010101u;

    // Eight bytes, the first lowest.
    static std::uint64_t load(const std::uint8_t* from) {
        std::uint64_t block;
        std::memcpy(&block, from, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        block = __builtin_bswap64(block);
#endif
        return block;
    }
    // The lowest bit set is the highest of the first byte that is zero; none is set if no byte is.
    static std::uint64_t zeros(std::uint64_t block) { return (block - ONES) & ~block & (ONES << 7); }
    // All bits of the bytes before that, and how many bytes these are.
    static std::uint64_t before(std::uint64_t ends) { return (ends ^ (ends - 1)) >> 8; }
    static std::size_t bytes_before(std::uint64_t ends) {
        return static_cast<std::size_t>(((before(ends) & ONES) * ONES) >> 56);
    }
};

class WordTable {
  public:
    WordTable() : slots_(FIRST_SLOTS), begins_(1, 0) {}

    std::size_t size() const { return keys_.size(); }
    std::size_t length(std::size_t number) const { return begins_[number + 1] - begins_[number]; }
    const std::uint8_t* letters(std::size_t number) const { return letters_.data() + begins_[number]; }
    Word word(std::size_t number) const { return {keys_[number], letters(number), length(number)}; }

    // Ask for the memory in which a word will be looked for.
    void expect(const Word& word) const { prefetch(&slots_[mix(word.key) & (slots_.size() - 1)]); }

    std::int32_t find(const Word& word) const { return slots_[place(word)].number; }

    std::int32_t find_or_add(const Word& word) {
        const std::size_t at = place(word);
        if (slots_[at].number != UNKNOWN) return slots_[at].number;
        const std::int32_t number = add_letters(word);
        slots_[at] = {word.key, number};
        if (2 * size() > slots_.size()) grow();
        return number;
    }

    // Add a word that will never be found, for no document can hold it.
    std::int32_t add_letters(const Word& word) {
        if (size() >= MOST) throw std::length_error("more words than have numbers");
        letters_.insert(letters_.end(), word.letters, word.letters + word.size);
        begins_.push_back(letters_.size());
        keys_.push_back(word.key);
        return static_cast<std::int32_t>(size() - 1);
    }

  private:
    static constexpr std::size_t FIRST_SLOTS = 1 << 9, MOST = (std::size_t(1) << 31) - 1;
    struct Slot {
        std::uint64_t key = 0;
        std::int32_t number = UNKNOWN;
    };

    // Where a word stands, or the empty slot where it belongs.
    std::size_t place(const Word& word) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = mix(word.key) & mask;
        for (; slots_[at].number != UNKNOWN; at = (at + 1) & mask)
            if (slots_[at].key == word.key && (!word.is_long() || same_letters(word, slots_[at].number))) break;
        return at;
    }

    // Words of one key may be different if they are long.
    bool same_letters(const Word& word, std::int32_t number) const {
        const std::size_t other = static_cast<std::size_t>(number);
        return length(other) == word.size && std::memcmp(letters(other), word.letters, word.size) == 0;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == UNKNOWN) continue;
            std::size_t at = mix(slot.key) & mask;
            while (slots_[at].number != UNKNOWN) at = (at + 1) & mask;
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;  // a power of two, at most half of them taken
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint8_t> letters_;
    std::vector<std::size_t> begins_;
};

}  // namespace suffice
