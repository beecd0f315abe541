// Labels and strings as codes, and hashes of rows by what they hold.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

using Hash = std::uint64_t;

// ---- Labels -------------------------------------------------------------------------------------

template <class Work>
auto with_integers(const AnyVector& labels, Work&& work) {
    auto call = [&](auto kind) {
        using T = decltype(kind);
        const T* data = static_cast<const T*>(labels.data());
        return work(data, static_cast<std::ptrdiff_t>(labels.stride(0)));
    };
    const nb::dlpack::dtype type = labels.dtype();
    if (type == nb::dtype<std::int64_t>()) return call(std::int64_t());
    if (type == nb::dtype<std::int32_t>()) return call(std::int32_t());
    if (type == nb::dtype<std::int16_t>()) return call(std::int16_t());
    if (type == nb::dtype<std::int8_t>()) return call(std::int8_t());
    if (type == nb::dtype<std::uint64_t>()) return call(std::uint64_t());
    if (type == nb::dtype<std::uint32_t>()) return call(std::uint32_t());
    if (type == nb::dtype<std::uint16_t>()) return call(std::uint16_t());
    if (type == nb::dtype<std::uint8_t>() || type == nb::dtype<bool>()) return call(std::uint8_t());
    throw std::invalid_argument("labels that are no integers");
}

// The distinct labels in order, and each row's place among them; none if they span more than
// max_span, or are beyond 64-bit integers.
std::optional<std::tuple<Out<std::int64_t>, Out<std::int32_t>>> encode_integers(AnyVector labels,
                                                                                std::size_t max_span) {
    const std::size_t rows = labels.shape(0);
    require(max_span <= std::size_t(1) << 31, "a span beyond 32-bit codes");
    if (rows == 0) return std::nullopt;
    const Ranges ranges(rows, 1);
    bool found = false;
    std::int64_t low = 0;
    std::vector<std::int64_t> classes;
    Out<std::int32_t> codes = make_array<std::int32_t>({rows}, false);
    {
        nb::gil_scoped_release release;
        found = with_integers(labels, [&](const auto* y, std::ptrdiff_t step) {
            using T = std::decay_t<decltype(*y)>;
            std::vector<std::pair<T, T>> ends(ranges.count());
            in_parallel(ranges.count(), [&, y, step](std::size_t range) {
                const T* label = y + static_cast<std::ptrdiff_t>(ranges.start(range)) * step;
                T least = *label, most = *label;
                for (std::size_t left = ranges.stop(range) - ranges.start(range); left > 0; --left, label += step) {
                    least = std::min(least, *label);
                    most = std::max(most, *label);
                }
                ends[range] = {least, most};
            });
            T least = ends[0].first, most = ends[0].second;
            for (const auto& [a, b] : ends) {
                least = std::min(least, a);
                most = std::max(most, b);
            }
            if (static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) >= max_span) return false;
            if (std::is_same_v<T, std::uint64_t> && most > static_cast<T>(std::numeric_limits<std::int64_t>::max()))
                return false;
            low = static_cast<std::int64_t>(least);
            const std::size_t span =
                static_cast<std::size_t>(static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least)) + 1;
            std::unique_ptr<std::atomic<bool>[]> present(new std::atomic<bool>[span]());
            in_parallel(ranges.count(), [&, y, step](std::size_t range) {
                const std::size_t start = ranges.start(range), stop = ranges.stop(range);
                const T* label = y + static_cast<std::ptrdiff_t>(start) * step;
                std::int32_t* code = codes.data();
                std::atomic<bool>* marks = present.get();
                for (std::size_t i = start; i < stop; ++i, label += step) {
                    code[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(*label) - low);
                    std::atomic<bool>& mark = marks[code[i]];
                    if (!mark.load(std::memory_order_relaxed)) mark.store(true, std::memory_order_relaxed);
                }
            });
            std::vector<std::int32_t> code_of(span);
            for (std::size_t at = 0; at < span; ++at) {
                if (!present[at].load(std::memory_order_relaxed)) continue;
                code_of[at] = static_cast<std::int32_t>(classes.size());
                classes.push_back(low + static_cast<std::int64_t>(at));
            }
            // Labels without gaps are numbered by their places.
            if (classes.size() < span) {
                in_parallel(ranges.count(), [&](std::size_t range) {
                    for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i)
                        codes.data()[i] = code_of[static_cast<std::size_t>(codes.data()[i])];
                });
            }
            return true;
        });
    }
    if (!found) return std::nullopt;
    Out<std::int64_t> distinct = make_array<std::int64_t>({classes.size()}, false);
    std::copy(classes.begin(), classes.end(), distinct.data());
    return std::make_tuple(distinct, codes);
}

// The first `wanted` rows of each class, (classes, wanted); -1 where there are fewer.
auto first_rows(In<std::int32_t, 1> codes, std::size_t classes, std::size_t wanted) {
    require_codes(codes, classes);
    Out<std::int64_t> rows = make_array<std::int64_t>({classes, wanted}, false);
    std::fill_n(rows.data(), classes * wanted, -1);
    nb::gil_scoped_release release;
    std::vector<std::size_t> found(classes);
    std::size_t missing = classes * wanted;
    for (std::size_t i = 0; i < codes.shape(0) && missing > 0; ++i) {
        const std::size_t c = static_cast<std::size_t>(codes.data()[i]);
        if (found[c] == wanted) continue;
        rows.data()[c * wanted + found[c]++] = static_cast<std::int64_t>(i);
        --missing;
    }
    return rows;
}

// The first row with a cell that is not a finite number, or -1.
std::int64_t first_incomplete_row(AnyRows X) {
    nb::gil_scoped_release release;
    return with_cells(X, [&](auto x) -> std::int64_t {
        using T = typename decltype(x)::Cell;
        const auto finite = check_loops<T>().finite;
        const Ranges ranges(x.rows, x.columns);
        std::vector<std::int64_t> found(ranges.count(), -1);
        in_parallel(ranges.count(), [&](std::size_t range) {
            constexpr std::size_t TOGETHER = 64;
            std::vector<T> buffer(x.room(TOGETHER));
            const std::size_t stop = ranges.stop(range);
            for (std::size_t first = ranges.start(range); first < stop && found[range] < 0; first += TOGETHER) {
                const std::size_t rows = std::min(TOGETHER, stop - first);
                const T* block = x.block(first, first + rows, buffer.data());
                if (finite(block, rows * x.columns)) continue;
                std::size_t i = 0;
                while (i + 1 < rows && finite(block + i * x.columns, x.columns)) ++i;
                found[range] = static_cast<std::int64_t>(first + i);
            }
        });
        for (std::int64_t row : found)
            if (row >= 0) return row;
        return -1;
    });
}

// ---- Strings ------------------------------------------------------------------------------------

// A string of up to 32 bytes is five whole numbers: its size and four blocks of eight bytes, which
// may overlap. To compare them takes no loop, and so no branch that nobody can predict.
struct StringKey {
    std::uint64_t first, last, second, third, size, begin;

    bool same_blocks(const StringKey& other) const {
        return ((first ^ other.first) | (last ^ other.last) | (second ^ other.second) | (third ^ other.third) |
                (size ^ other.size)) == 0;
    }
};

std::uint64_t block_at(const std::uint8_t* text) {
    std::uint64_t block;
    std::memcpy(&block, text, sizeof(block));
    return block;
}

// The key of text[begin:begin + size], of a text of `length` bytes.
StringKey string_key(const std::uint8_t* text, std::uint64_t length, std::uint64_t begin, std::uint64_t size) {
    StringKey key{0, 0, 0, 0, size, begin};
    if (size >= 8) {
        key.first = block_at(text + begin);
    } else if (begin + 8 <= length) {
        key.first = block_at(text + begin) & ((std::uint64_t(1) << (8 * size)) - 1);
    } else {
        std::memcpy(&key.first, text + begin, size);
    }
    if (size > 8) key.last = block_at(text + begin + size - 8);
    if (size > 16) {
        key.second = block_at(text + begin + 8);
        key.third = block_at(text + begin + size - 16);
    }
    return key;
}

std::uint64_t mix_block(std::uint64_t code, std::uint64_t block) {
    return (code ^ (code >> 32) ^ block) * 0x9E3779B97F4A7C15u;
}

// The level of each string by number, in the order of first sight, -1 for missing ones; none if
// there are more than max_levels levels. Also returns size and begin of each level's string.
std::optional<std::tuple<Out<std::int32_t>, Out<std::int64_t>>> encode_strings(In<std::uint8_t, 1> text,
                                                                               AnyVector begins, In<bool, 1> missing,
                                                                               std::size_t max_levels) {
    require(begins.shape(0) == 1 || (begins.shape(0) > 1 && begins.stride(0) == 1), "strings without begins");
    const bool wide = begins.dtype() == nb::dtype<std::int64_t>();
    require(wide || begins.dtype() == nb::dtype<std::int32_t>(), "begins are no integers");
    auto begin_at = [&](std::size_t i) {
        return static_cast<std::uint64_t>(wide ? static_cast<const std::int64_t*>(begins.data())[i]
                                               : static_cast<const std::int32_t*>(begins.data())[i]);
    };
    const std::size_t rows = begins.shape(0) - 1;
    require(missing.shape(0) == 0 || missing.shape(0) == rows, "strings and missing marks do not fit");
    Out<std::int32_t> codes = make_array<std::int32_t>({rows}, false);
    std::vector<StringKey> keys;
    {
        nb::gil_scoped_release release;
        const std::uint8_t* letters = text.data();
        const std::uint64_t length = text.shape(0);
        std::size_t slots_wanted = 1;
        while (slots_wanted < 4 * max_levels) slots_wanted *= 2;
        std::vector<std::int32_t> slots(slots_wanted);
        const std::uint64_t mask = slots.size() - 1;
        keys.reserve(max_levels);
        for (std::size_t i = 0; i < rows; ++i) {
            if (i % (std::size_t(1) << 16) == 0) check_interrupt();
            if (missing.shape(0) > 0 && missing.data()[i]) {
                codes.data()[i] = -1;
                continue;
            }
            const std::uint64_t begin = begin_at(i), end = begin_at(i + 1);
            require(begin <= end && end <= length, "strings beyond their text");
            const StringKey key = string_key(letters, length, begin, end - begin);
            std::uint64_t code =
                mix_block(mix_block(mix_block(mix_block(key.size, key.first), key.last), key.second), key.third);
            std::uint64_t slot = (code >> 32) & mask;
            while (true) {
                const std::int32_t number = slots[slot];
                if (number == 0) {
                    if (keys.size() == max_levels) return std::nullopt;
                    keys.push_back(key);
                    slots[slot] = static_cast<std::int32_t>(keys.size());
                    codes.data()[i] = static_cast<std::int32_t>(keys.size()) - 1;
                    break;
                }
                const StringKey& known = keys[static_cast<std::size_t>(number) - 1];
                if (known.same_blocks(key) &&
                    (key.size <= 32 ||
                     std::memcmp(letters + known.begin + 16, letters + begin + 16, key.size - 32) == 0)) {
                    codes.data()[i] = number - 1;
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
    }
    Out<std::int64_t> places = make_array<std::int64_t>({keys.size(), 2}, false);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        places.data()[2 * k] = static_cast<std::int64_t>(keys[k].size);
        places.data()[2 * k + 1] = static_cast<std::int64_t>(keys[k].begin);
    }
    return std::make_tuple(codes, places);
}

// ---- Hashes of rows -----------------------------------------------------------------------------

// Bits of a float: its magnitude, those of infinity, and one NaN for all NaNs.
constexpr Hash MAGNITUDE = 0x7FFFFFFFFFFFFFFF, INFINITE = 0x7FF0000000000000, NOT_A_NUMBER = 0x7FF8000000000000;

// Bits of which every one depends on all bits given: the finaliser of SplitMix64, by Sebastiano
// Vigna, in the public domain.
Hash mix(Hash bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

Hash mix_with(Hash bits, Hash seed) { return mix(mix(bits + seed) ^ seed); }

// The hash of a number in a column, 0 for the number 0, which sparse rows leave out.
Hash number_hash(double number, Hash seed) {
    Hash bits;
    std::memcpy(&bits, &number, sizeof(bits));
    const Hash magnitude = bits & MAGNITUDE;
    if (magnitude == 0) return 0;
    return mix_with(magnitude > INFINITE ? NOT_A_NUMBER : bits, seed);
}

// Add the hash of each row's cells (n, d), given those of the columns, to `hashes` (n,).
void hash_rows(AnyRows X, In<Hash, 1> seeds, InOut<Hash, 1> hashes) {
    require(X.shape(0) == hashes.shape(0) && X.shape(1) == seeds.shape(0), "rows, seeds and hashes do not fit");
    nb::gil_scoped_release release;
    with_cells(X, [&](auto x) {
        using T = typename decltype(x)::Cell;
        const Ranges ranges(x.rows, x.columns);
        in_parallel(ranges.count(), [&](std::size_t range) {
            std::vector<T> buffer(x.room(1));
            for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
                const T* row = x.block(i, i + 1, buffer.data());
                Hash total = 0;
                for (std::size_t j = 0; j < x.columns; ++j)
                    total += number_hash(static_cast<double>(row[j]), seeds.data()[j]);
                hashes.data()[i] += total;
            }
        });
    });
}

// The same of sparse rows.
void hash_sparse_rows(AnyVector data, AnyVector indices, AnyVector indptr, In<Hash, 1> seeds, InOut<Hash, 1> hashes) {
    require(indptr.shape(0) == hashes.shape(0) + 1, "rows and hashes do not fit");
    nb::gil_scoped_release release;
    with_sparse(data, indices, indptr, seeds.shape(0), [&](auto x) {
        const Ranges ranges(x.rows, 16);
        in_parallel(ranges.count(), [&](std::size_t range) {
            for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i)
                for (auto at = x.indptr[i]; at < x.indptr[i + 1]; ++at)
                    hashes.data()[i] += number_hash(static_cast<double>(x.data[at]), seeds.data()[x.indices[at]]);
        });
    });
}

// Add the hash of each cell's level; a missing one, -1, is a level of its own.
void hash_levels(In<std::int32_t, 1> codes, In<Hash, 1> levels, Hash seed, InOut<Hash, 1> hashes) {
    require(codes.shape(0) == hashes.shape(0), "codes and hashes do not fit");
    nb::gil_scoped_release release;
    std::int32_t most = -1;
    for (std::size_t i = 0; i < codes.shape(0); ++i) most = std::max(most, codes.data()[i]);
    require(most < static_cast<std::int64_t>(levels.shape(0)), "codes of levels that there are not");
    const Ranges ranges(codes.shape(0), 1);
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
            const std::int32_t k = codes.data()[i];
            hashes.data()[i] += mix_with(k < 0 ? NOT_A_NUMBER : levels.data()[k], seed);
        }
    });
}

// The hash of the bytes of each string, by Fowler, Noll and Vo; strings begin at `begins`, (n + 1,).
auto hash_strings(In<std::uint8_t, 1> text, In<std::int64_t, 1> begins) {
    require_begins(begins, text.shape(0));
    Out<Hash> hashes = make_array<Hash>({begins.shape(0) - 1}, false);
    nb::gil_scoped_release release;
    const Ranges ranges(begins.shape(0) - 1, 64);
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) {
            Hash code = 0xCBF29CE484222325u;
            for (std::int64_t at = begins.data()[i]; at < begins.data()[i + 1]; ++at)
                code = (code ^ text.data()[at]) * 0x100000001B3u;
            hashes.data()[i] = mix(code);
        }
    });
    return hashes;
}

// The first row of each distinct pair of hash and class, of rows that weigh something, and what
// its rows weigh together (1 each without weights).
auto group_equal_rows(In<Hash, 1> hashes, In<std::int32_t, 1> codes, In<double, 1> weights) {
    const std::size_t rows = hashes.shape(0);
    require(codes.shape(0) == rows && (weights.shape(0) == 0 || weights.shape(0) == rows), "rows do not fit");
    std::vector<std::int64_t> first;
    std::vector<double> totals;
    {
        nb::gil_scoped_release release;
        std::size_t wide = 2;
        while (wide < 2 * rows) wide *= 2;
        std::vector<std::int64_t> slots(wide);  // number of a pair plus 1
        for (std::size_t i = 0; i < rows; ++i) {
            if (i % (std::size_t(1) << 16) == 0) check_interrupt();
            const double w = weights.shape(0) ? weights.data()[i] : 1.0;
            if (w == 0.0) continue;
            const Hash hash = hashes.data()[i];
            const std::int32_t code = codes.data()[i];
            std::size_t at = mix(hash + static_cast<Hash>(code)) & (wide - 1);
            while (true) {
                const std::int64_t number = slots[at];
                if (number == 0) {
                    first.push_back(static_cast<std::int64_t>(i));
                    totals.push_back(w);
                    slots[at] = static_cast<std::int64_t>(first.size());
                    break;
                }
                const std::size_t k = static_cast<std::size_t>(number) - 1;
                const std::size_t j = static_cast<std::size_t>(first[k]);
                if (hashes.data()[j] == hash && codes.data()[j] == code) {
                    totals[k] += w;
                    break;
                }
                at = (at + 1) & (wide - 1);
            }
        }
    }
    return std::make_tuple(to_array(first), to_array(totals));
}

}  // namespace

void bind_data(nb::module_& m) {
    using namespace nb::literals;
    m.def("encode_integers", &encode_integers, "labels"_a, "max_span"_a,
          "Return the distinct labels in order and each row's place among them, or None.");
    m.def("first_rows", &first_rows, "codes"_a, "classes"_a, "wanted"_a,
          "Return the first rows of each class, -1 where there are fewer.");
    m.def("first_incomplete_row", &first_incomplete_row, "X"_a,
          "Return the first row with a cell that is not finite, or -1.");
    m.def("encode_strings", &encode_strings, "text"_a, "begins"_a, "missing"_a, "max_levels"_a,
          "Return the level of each string by number, and size and begin of each level, or None.");
    m.def("hash_rows", &hash_rows, "X"_a, "seeds"_a, "hashes"_a, "Add the hashes of dense rows.");
    m.def("hash_sparse_rows", &hash_sparse_rows, "data"_a, "indices"_a, "indptr"_a, "seeds"_a, "hashes"_a,
          "Add the hashes of sparse rows.");
    m.def("hash_levels", &hash_levels, "codes"_a, "levels"_a, "seed"_a, "hashes"_a,
          "Add the hashes of the levels of a column.");
    m.def("hash_strings", &hash_strings, "text"_a, "begins"_a, "Return a hash of each string.");
    m.def("group_equal_rows", &group_equal_rows, "hashes"_a, "codes"_a, "weights"_a,
          "Return the first row of each distinct pair of hash and class, and their weights.");
}

}  // namespace suffice
