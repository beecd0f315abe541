// Strings as UTF-8, names of terms, and counts of terms as sparse rows.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "letters.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

using Strings = std::tuple<Out<std::uint8_t>, Out<std::int64_t>>;

// ---- Strings ------------------------------------------------------------------------------------

// A string of Python's: so many code points, of one, two or four bytes each.
struct PythonString {
    const void* data;
    std::size_t size;
    int kind;
    bool ascii;

    template <class Work>
    void with_points(Work&& work) const {
        if (kind == PyUnicode_1BYTE_KIND)
            work(static_cast<const std::uint8_t*>(data));
        else if (kind == PyUnicode_2BYTE_KIND)
            work(static_cast<const std::uint16_t*>(data));
        else
            work(static_cast<const std::uint32_t*>(data));
    }

    std::size_t utf8_size() const {
        if (ascii) return size;
        std::size_t bytes = size;
        with_points([&](const auto* points) {
            for (std::size_t i = 0; i < size; ++i)
                bytes += (points[i] >= 0x80) + (points[i] >= 0x800) + (points[i] >= 0x10000);
        });
        return bytes;
    }

    // Halves of surrogate pairs are written as if they were letters, as "surrogatepass" has it.
    void write(std::uint8_t* out) const {
        if (ascii) {
            std::copy_n(static_cast<const std::uint8_t*>(data), size, out);
            return;
        }
        with_points([&](const auto* points) {
            for (std::size_t i = 0; i < size; ++i) out += write_utf8(points[i], out);
        });
    }
};

// Strings one after the other, and where each begins.
Strings utf8_strings(nb::list strings) {
    const std::size_t size = nb::len(strings);
    std::vector<nb::object> held;  // whatever becomes of the list
    std::vector<PythonString> found(size);
    held.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        held.push_back(nb::borrow(strings[i]));
        PyObject* one = held.back().ptr();
        if (!PyUnicode_Check(one)) throw nb::type_error("strings that are none");
#if PY_VERSION_HEX < 0x030C0000
        if (PyUnicode_READY(one) != 0) throw nb::python_error();
#endif
        found[i] = {PyUnicode_DATA(one), static_cast<std::size_t>(PyUnicode_GET_LENGTH(one)),
                    static_cast<int>(PyUnicode_KIND(one)), static_cast<bool>(PyUnicode_IS_ASCII(one))};
    }
    auto begins = make_array<std::int64_t>({size + 1});
    std::size_t points = 0;
    for (const PythonString& one : found) points += one.size;
    const Ranges ranges(size, size ? points / size : 0);
    {
        nb::gil_scoped_release release;
        in_parallel(ranges.count(), [&](std::size_t range) {
            for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i)
                begins.data()[i + 1] = static_cast<std::int64_t>(found[i].utf8_size());
        });
        std::partial_sum(begins.data(), begins.data() + size + 1, begins.data());
    }
    auto text = make_array<std::uint8_t>({static_cast<std::size_t>(begins.data()[size])}, false);
    nb::gil_scoped_release release;
    in_parallel(ranges.count(), [&](std::size_t range) {
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i)
            found[i].write(text.data() + begins.data()[i]);
    });
    return {text, begins};
}

bool is_ascii(In<std::uint8_t, 1> text) {
    const Ranges ranges(text.shape(0), 1);
    std::vector<std::uint8_t> together(ranges.count());
    nb::gil_scoped_release release;
    in_parallel(ranges.count(), [&](std::size_t range) {
        std::uint8_t bits = 0;
        for (std::size_t i = ranges.start(range); i < ranges.stop(range); ++i) bits |= text.data()[i];
        together[range] = bits;
    });
    return std::all_of(together.begin(), together.end(), [](std::uint8_t bits) { return bits < 0x80; });
}

// ---- Names --------------------------------------------------------------------------------------

// Some of the names, by number.
Strings take_names(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins, In<std::int64_t, 1> numbers) {
    require_begins(begins, letters.shape(0));
    const std::size_t size = numbers.shape(0), names = begins.shape(0) - 1;
    require(size == 0 || largest_index(numbers.data(), size) < names, "names that there are not");
    auto out_begins = make_array<std::int64_t>({size + 1});
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t* begin = begins.data() + numbers.data()[i];
        out_begins.data()[i + 1] = out_begins.data()[i] + begin[1] - begin[0];
    }
    auto out = make_array<std::uint8_t>({static_cast<std::size_t>(out_begins.data()[size])}, false);
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t* begin = begins.data() + numbers.data()[i];
        std::copy(letters.data() + begin[0], letters.data() + begin[1], out.data() + out_begins.data()[i]);
    }
    return {out, out_begins};
}

// The numbers of names in the order of their bytes, which in UTF-8 is that of code points; of equal
// names the first comes first.
Out<std::int64_t> order_names(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins) {
    require_begins(begins, letters.shape(0));
    struct Name {
        std::uint64_t head;  // its first eight bytes, which mostly decide
        std::size_t number;
    };
    const std::size_t size = begins.shape(0) - 1;
    auto order = make_array<std::int64_t>({size}, false);
    nb::gil_scoped_release release;
    std::vector<Name> names(size);
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t begin = static_cast<std::size_t>(begins.data()[i]),
                          length = static_cast<std::size_t>(begins.data()[i + 1]) - begin;
        names[i] = {0, i};
        for (std::size_t at = 0; at < std::min<std::size_t>(length, 8); ++at)
            names[i].head |= static_cast<std::uint64_t>(letters.data()[begin + at]) << (56 - 8 * at);
    }
    std::sort(names.begin(), names.end(), [&](const Name& a, const Name& b) {
        if (a.head != b.head) return a.head < b.head;
        const std::int64_t *x = begins.data() + a.number, *y = begins.data() + b.number;
        const std::int64_t mine = x[1] - x[0], theirs = y[1] - y[0];
        const int sign =
            std::memcmp(letters.data() + x[0], letters.data() + y[0], static_cast<std::size_t>(std::min(mine, theirs)));
        if (sign != 0) return sign < 0;
        return mine != theirs ? mine < theirs : a.number < b.number;
    });
    for (std::size_t i = 0; i < size; ++i) order.data()[i] = static_cast<std::int64_t>(names[i].number);
    return order;
}

// MurmurHash3_x86_32, by Austin Appleby, in the public domain: the hash, of seed 0, by which
// scikit-learn's vectorizers choose columns.
std::uint32_t murmur(const std::uint8_t* letters, std::size_t size) {
    auto turn = [](std::uint32_t x, int bits) { return (x << bits) | (x >> (32 - bits)); };
    auto scramble = [&](std::uint32_t block) { return turn(block * 0xCC9E2D51u, 15) * 0x1B873593u; };
    auto block_at = [&](std::size_t begin, std::size_t bytes) {
        std::uint32_t block = 0;
        for (std::size_t i = 0; i < bytes; ++i) block |= static_cast<std::uint32_t>(letters[begin + i]) << (8 * i);
        return block;
    };
    std::uint32_t code = 0;
    for (std::size_t at = 0; at + 4 <= size; at += 4)
        code = turn(code ^ scramble(block_at(at, 4)), 13) * 5 + 0xE6546B64u;
    code ^= scramble(block_at(size - size % 4, size % 4)) ^ static_cast<std::uint32_t>(size);
    code = (code ^ (code >> 16)) * 0x85EBCA6Bu;
    code = (code ^ (code >> 13)) * 0xC2B2AE35u;
    return code ^ (code >> 16);
}

Out<std::int32_t> murmur_names(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins) {
    require_begins(begins, letters.shape(0));
    const std::size_t size = begins.shape(0) - 1;
    auto codes = make_array<std::int32_t>({size}, false);
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t* begin = begins.data() + i;
        codes.data()[i] =
            static_cast<std::int32_t>(murmur(letters.data() + begin[0], static_cast<std::size_t>(begin[1] - begin[0])));
    }
    return codes;
}

// ---- Counts -------------------------------------------------------------------------------------

// Puts cells in the order of the high halves of their keys.
class CellOrder {
  public:
    explicit CellOrder(std::size_t columns) {
        while (digits_ < 4 && columns >> (DIGIT * digits_)) ++digits_;
    }

    void sort(std::vector<std::uint64_t>& keys, std::size_t size) {
        if (size < SHORT) {
            for (std::size_t i = 1; i < size; ++i) {
                const std::uint64_t key = keys[i];
                std::size_t at = i;
                for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
                keys[at] = key;
            }
            return;
        }
        if (spare_.size() < size) spare_.resize(std::max(size, keys.size()));
        for (int digit = 0; digit < digits_; ++digit) {
            sort_digit(keys.data(), spare_.data(), size, 32 + DIGIT * digit);
            keys.swap(spare_);
        }
    }

  private:
    // Rows of fewer cells are put in order by moving each cell to its place among those before it.
    static constexpr std::size_t SHORT = 24;
    // Bits of a column that one pass over a longer row puts in order.
    static constexpr int DIGIT = 8;

    static void sort_digit(const std::uint64_t* keys, std::uint64_t* out, std::size_t size, int shift) {
        constexpr std::size_t VALUES = std::size_t(1) << DIGIT;
        std::size_t starts[VALUES] = {};
        for (std::size_t i = 0; i < size; ++i) ++starts[(keys[i] >> shift) % VALUES];
        std::size_t before = 0;
        for (std::size_t& start : starts) before += std::exchange(start, before);
        for (std::size_t i = 0; i < size; ++i) out[starts[(keys[i] >> shift) % VALUES]++] = keys[i];
    }

    int digits_ = 1;
    std::vector<std::uint64_t> spare_;
};

template <class T>
nb::tuple cells_in_order(const In<std::int32_t, 1>& columns, const In<std::int32_t, 1>& counts,
                         const In<std::int64_t, 1>& row_begins, const In<std::int32_t, 1>& moved, std::size_t width) {
    const std::size_t rows = row_begins.shape(0) - 1, cells = columns.shape(0);
    const std::int32_t* places = moved.shape(0) ? moved.data() : nullptr;
    auto place = [=](std::int32_t column) { return places == nullptr ? column : places[column]; };
    auto begins = make_array<std::int64_t>({rows + 1});
    const Ranges ranges(rows, rows ? cells / rows : 0);
    {
        nb::gil_scoped_release release;
        in_parallel(ranges.count(), [&](std::size_t range) {
            for (std::size_t row = ranges.start(range); row < ranges.stop(range); ++row) {
                std::int64_t kept = row_begins.data()[row + 1] - row_begins.data()[row];
                if (places != nullptr)
                    for (std::int64_t at = row_begins.data()[row]; at < row_begins.data()[row + 1]; ++at)
                        kept -= place(columns.data()[at]) < 0;
                begins.data()[row + 1] = kept;
            }
        });
        std::partial_sum(begins.data(), begins.data() + rows + 1, begins.data());
    }
    const std::size_t size = static_cast<std::size_t>(begins.data()[rows]);
    auto out_columns = make_array<std::int32_t>({size}, false);
    auto out_counts = make_array<T>({size}, false);
    {
        nb::gil_scoped_release release;
        in_parallel(ranges.count(), [&](std::size_t range) {
            CellOrder order(width);
            std::vector<std::uint64_t> keys;
            for (std::size_t row = ranges.start(range); row < ranges.stop(range); ++row) {
                const std::int64_t first = row_begins.data()[row], last = row_begins.data()[row + 1];
                if (keys.size() < static_cast<std::size_t>(last - first))
                    keys.resize(static_cast<std::size_t>(last - first));
                std::size_t kept = 0;
                for (std::int64_t at = first; at < last; ++at) {
                    const std::int32_t column = place(columns.data()[at]);
                    keys[kept] =
                        (static_cast<std::uint64_t>(column) << 32) | static_cast<std::uint32_t>(counts.data()[at]);
                    kept += column >= 0;
                }
                order.sort(keys, kept);
                const std::size_t to = static_cast<std::size_t>(begins.data()[row]);
                for (std::size_t i = 0; i < kept; ++i) {
                    out_columns.data()[to + i] = static_cast<std::int32_t>(keys[i] >> 32);
                    out_counts.data()[to + i] = static_cast<T>(static_cast<std::int32_t>(keys[i] & 0xFFFFFFFFu));
                }
            }
        });
    }
    return nb::make_tuple(out_counts, out_columns, begins);
}

// Rows of counts with columns numbered anew, as `moved` says (-1: left out; as they are if it is
// empty), and in order: counts of the type of `like`, columns, and where rows begin. Cells of one
// column, if two columns were given one number, stand together.
nb::tuple order_cells(In<std::int32_t, 1> columns, In<std::int32_t, 1> counts, In<std::int64_t, 1> row_begins,
                      In<std::int32_t, 1> moved, std::size_t width, AnyVector like) {
    require_begins(row_begins, columns.shape(0));
    require(row_begins.data()[0] == 0 && columns.shape(0) == counts.shape(0), "counts and columns do not fit");
    const std::size_t known = moved.shape(0) ? moved.shape(0) : width;
    require(columns.shape(0) == 0 || largest_index(columns.data(), columns.shape(0)) < known,
            "columns that there are not");
    for (std::size_t i = 0; i < moved.shape(0); ++i)
        require(moved.data()[i] >= -1 && moved.data()[i] < static_cast<std::int64_t>(width),
                "columns beyond the width");
    if (like.dtype() == nb::dtype<std::int64_t>())
        return cells_in_order<std::int64_t>(columns, counts, row_begins, moved, width);
    if (like.dtype() == nb::dtype<double>()) return cells_in_order<double>(columns, counts, row_begins, moved, width);
    require(like.dtype() == nb::dtype<std::int32_t>(), "counts of a type that cannot be written");
    return cells_in_order<std::int32_t>(columns, counts, row_begins, moved, width);
}

// What the counts of each column add up to, and in how many rows it is, (2, width).
Out<std::int64_t> sum_cells(In<std::int32_t, 1> columns, In<std::int32_t, 1> counts, std::size_t width) {
    require(columns.shape(0) == counts.shape(0), "counts and columns do not fit");
    require(columns.shape(0) == 0 || largest_index(columns.data(), columns.shape(0)) < width,
            "columns that there are not");
    auto sums = make_array<std::int64_t>({2, width});
    nb::gil_scoped_release release;
    for (std::size_t at = 0; at < columns.shape(0); ++at) {
        sums.data()[columns.data()[at]] += counts.data()[at];
        ++sums.data()[width + static_cast<std::size_t>(columns.data()[at])];
    }
    return sums;
}

}  // namespace

void bind_text(nb::module_& m) {
    using namespace nb::literals;
    m.def("utf8_strings", &utf8_strings, "strings"_a,
          "Return strings in UTF-8, one after the other, and where each begins.");
    m.def("is_ascii", &is_ascii, "text"_a, "Say whether all bytes are ASCII.");
    m.def("take_names", &take_names, "letters"_a, "begins"_a, "numbers"_a,
          "Return some of the names: letters, and where each begins.");
    m.def("order_names", &order_names, "letters"_a, "begins"_a,
          "Return the numbers of names in the order of their bytes.");
    m.def("murmur_names", &murmur_names, "letters"_a, "begins"_a, "Return MurmurHash3 of each name.");
    m.def("order_cells", &order_cells, "columns"_a, "counts"_a, "row_begins"_a, "moved"_a, "width"_a, "like"_a,
          "Return counts of the type of `like`, new columns in order, and where rows begin.");
    m.def("sum_cells", &sum_cells, "columns"_a, "counts"_a, "width"_a,
          "Return sums of counts, and numbers of rows, by column, (2, width).");
}

}  // namespace suffice
