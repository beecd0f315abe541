// Runs of words (n-grams) by number, and the columns of words and runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "word_table.h"

namespace suffice {

// Runs of words as a tree: a run is a shorter run and one word more. Words have their own numbers,
// and run r of two words and more is RUNS + r. Words and runs that are counted have a column.
class RunTable {
  public:
    static constexpr std::int64_t RUNS = std::int64_t(1) << 31;

    RunTable() : slots_(FIRST_SLOTS) {}

    std::size_t runs() const { return keys_.size(); }
    std::size_t columns() const { return counted_.size(); }
    // The word or run that a column counts.
    std::int64_t counted(std::size_t column) const { return counted_[column]; }
    // A run without its last word, and that word.
    std::int64_t parent(std::int64_t run) const { return static_cast<std::int64_t>(keys_[index(run)] >> 32); }
    std::int64_t last(std::int64_t run) const { return static_cast<std::int64_t>(keys_[index(run)] & 0xFFFFFFFFu); }

    // The column of a word, or UNKNOWN.
    std::int32_t column(std::int64_t word) const {
        return index(word) < word_columns_.size() ? word_columns_[index(word)] : UNKNOWN;
    }

    std::int32_t find_or_add_column(std::int64_t word) {
        if (index(word) >= word_columns_.size()) word_columns_.resize(index(word) + 1, UNKNOWN);
        std::int32_t& column = word_columns_[index(word)];
        if (column == UNKNOWN) column = add_column(word);
        return column;
    }

    // Ask for the memory in which a run will be looked for.
    void expect(std::int64_t parent, std::int64_t last) const {
        prefetch(&slots_[mix(key(parent, last)) & (slots_.size() - 1)]);
    }

    struct Found {
        std::int64_t run = UNKNOWN;
        std::int32_t column = UNKNOWN;
    };

    Found find(std::int64_t parent, std::int64_t last) const {
        const Slot& slot = slots_[place(key(parent, last))];
        return slot.run == UNKNOWN ? Found{} : Found{RUNS + slot.run, slot.column};
    }

    // Find a run, which is added if it is new, and given a column if it is to be counted.
    Found find_or_add(std::int64_t parent, std::int64_t last, bool counted) {
        if (2 * (runs() + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(key(parent, last))];
        if (slot.run == UNKNOWN) {
            if (static_cast<std::int64_t>(runs()) >= RUNS - 1)
                throw std::length_error("more runs of words than have numbers");
            keys_.push_back(key(parent, last));
            slot = {keys_.back(), static_cast<std::int32_t>(runs() - 1), UNKNOWN};
        }
        if (counted && slot.column == UNKNOWN) slot.column = add_column(RUNS + slot.run);
        return {RUNS + slot.run, slot.column};
    }

  private:
    static constexpr std::size_t FIRST_SLOTS = 1 << 4;
    // A run and its column in one line of the cache, so that both are found at one trip to memory.
    struct Slot {
        std::uint64_t key = 0;
        std::int32_t run = UNKNOWN, column = UNKNOWN;
    };

    static std::size_t index(std::int64_t what) { return static_cast<std::size_t>(what >= RUNS ? what - RUNS : what); }
    static std::uint64_t key(std::int64_t parent, std::int64_t last) {
        return (static_cast<std::uint64_t>(parent) << 32) | static_cast<std::uint64_t>(last);
    }

    std::int32_t add_column(std::int64_t what) {
        if (static_cast<std::int64_t>(columns()) >= RUNS - 1) throw std::length_error("more terms than have columns");
        counted_.push_back(what);
        return static_cast<std::int32_t>(columns() - 1);
    }

    // Where a key stands, or the empty slot where it belongs.
    std::size_t place(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = mix(key) & mask;
        while (slots_[at].run != UNKNOWN && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.run != UNKNOWN) slots_[place(slot.key)] = slot;
    }

    std::vector<Slot> slots_;  // a power of two, at most half of them taken
    std::vector<std::uint64_t> keys_;
    std::vector<std::int32_t> word_columns_;
    std::vector<std::int64_t> counted_;
};

}  // namespace suffice
