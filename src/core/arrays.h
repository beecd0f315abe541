// Arrays as Python hands them over, and as loops read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "loops/checks.h"
#include "threads.h"

namespace suffice {

namespace nb = nanobind;

// Arrays that are read, in C order, of one type of number and so many axes.
template <class T, int Axes>
using In = nb::ndarray<const T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;
// Arrays that are written to in place.
template <class T, int Axes>
using InOut = nb::ndarray<T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;
// Arrays that are returned.
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::c_contig>;
// Rows of cells of any type, in any order.
using AnyRows = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

// Refuse arrays that do not fit together: a mistake of the caller's, never of a user's.
inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// Ask for large pages for much memory that was not yet touched: a page at a time, getting it would
// take longer than many a loop over it.
inline void* with_large_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t PAGE = 4096;
    constexpr std::size_t MUCH = std::size_t(4) << 20;
    if (memory != nullptr && bytes >= MUCH) {
        const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(memory) + PAGE - 1) / PAGE * PAGE;
        madvise(reinterpret_cast<void*>(first), bytes - PAGE, MADV_HUGEPAGE);
    }
#endif
    (void)bytes;
    return memory;
}

// A new array that numpy will own, all zeros or not yet written to.
template <class T>
Out<T> make_array(std::initializer_list<std::size_t> shape, bool zeros = true) {
    std::size_t size = 1;
    for (std::size_t side : shape) size *= side;
    const std::size_t bytes = (size ? size : 1) * sizeof(T);
    T* data = static_cast<T*>(with_large_pages(zeros ? std::calloc(bytes, 1) : std::malloc(bytes), bytes));
    if (data == nullptr) throw std::bad_alloc();
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return Out<T>(data, shape, owner);
}

// The numbers of a vector as an array that numpy will own.
template <class T>
Out<T> to_array(const std::vector<T>& numbers) {
    Out<T> array = make_array<T>({numbers.size()}, false);
    std::copy(numbers.begin(), numbers.end(), array.data());
    return array;
}

// Whether check(start, stop) holds of all ranges of many cells, which threads share. The caller may
// have the interpreter's lock or not.
template <class Check>
bool holds_everywhere(std::size_t cells, Check&& check) {
    const Ranges ranges(cells, 1);
    if (ranges.count() <= 1) return check(std::size_t(0), cells);
    std::vector<char> fine(ranges.count());
    auto work = [&] {
        in_parallel(ranges.count(),
                    [&](std::size_t range) { fine[range] = check(ranges.start(range), ranges.stop(range)); });
    };
    if (PyGILState_Check()) {
        nb::gil_scoped_release release;
        work();
    } else {
        work();
    }
    return std::find(fine.begin(), fine.end(), 0) == fine.end();
}

// Refuse codes of classes that there are not.
inline void require_codes(const In<std::int32_t, 1>& codes, std::size_t classes) {
    require(codes.shape(0) == 0 || largest_index(codes.data(), codes.shape(0)) < classes,
            "codes of classes that there are not");
}

// Refuse strings that do not follow each other, or are not within their text.
inline void require_begins(const In<std::int64_t, 1>& begins, std::size_t length) {
    require(begins.shape(0) > 0, "strings without begins");
    bool ordered = begins.data()[0] >= 0;
    for (std::size_t i = 0; i + 1 < begins.shape(0); ++i) ordered = ordered && begins.data()[i] <= begins.data()[i + 1];
    require(ordered && static_cast<std::size_t>(begins.data()[begins.shape(0) - 1]) <= length,
            "strings beyond their text");
}

// Weights of rows, or null if there are none and every row weighs 1.
inline const double* weights_or_null(const In<double, 1>& weights, std::size_t rows) {
    require(weights.shape(0) == 0 || weights.shape(0) == rows, "rows and weights do not fit");
    return weights.shape(0) ? weights.data() : nullptr;
}

// Dense rows of cells of type T: as they lie, or copied a few at a time into C order.
template <class T>
struct Cells {
    using Cell = T;

    const char* data;
    std::int64_t row_step;     // bytes from a row to the next
    std::int64_t column_step;  // bytes from a cell to the next in its row
    std::size_t rows;
    std::size_t columns;
    // Turns a cell of a type for which there are no loops into a T; none if cells are T's.
    void (*read)(const char* from, std::int64_t step, std::size_t size, T* into);

    // Room that `block` needs for so many rows.
    std::size_t room(std::size_t block_rows) const { return in_place() ? 0 : block_rows * columns; }

    // Rows start..stop in C order: where they are, or in `buffer`.
    const T* block(std::size_t start, std::size_t stop, T* buffer) const {
        const char* first = data + static_cast<std::int64_t>(start) * row_step;
        if (in_place()) return reinterpret_cast<const T*>(first);
        if (read != nullptr) {
            for (std::size_t i = start; i < stop; ++i, first += row_step)
                read(first, column_step, columns, buffer + (i - start) * columns);
            return buffer;
        }
        // Column by column, as they lie in column-major arrays.
        for (std::size_t j = 0; j < columns; ++j, first += column_step)
            for (std::size_t i = 0; i < stop - start; ++i)
                std::memcpy(buffer + i * columns + j, first + static_cast<std::int64_t>(i) * row_step, sizeof(T));
        return buffer;
    }

    // Whether the cells lie in C order and are T's.
    bool in_place() const {
        const bool close = column_step == static_cast<std::int64_t>(sizeof(T)) || columns <= 1;
        const bool packed = row_step == static_cast<std::int64_t>(sizeof(T) * columns) || rows <= 1;
        return read == nullptr && close && packed && reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
    }
};

template <class From, class T>
void read_as(const char* from, std::int64_t step, std::size_t size, T* into) {
    for (std::size_t j = 0; j < size; ++j) {
        From cell;
        std::memcpy(&cell, from + static_cast<std::int64_t>(j) * step, sizeof(From));
        into[j] = static_cast<T>(cell);
    }
}

// Call `work` with the cells of an array by their type: five types are read as they are, and all
// others as doubles.
template <class Work>
auto with_cells(const AnyRows& X, Work&& work) {
    const nb::dlpack::dtype type = X.dtype();
    const std::int64_t bytes = type.bits / 8;
    const char* data = static_cast<const char*>(X.data());
    const std::int64_t row_step = X.stride(0) * bytes, column_step = X.stride(1) * bytes;
    auto call = [&](auto cell, auto read) {
        using T = decltype(cell);
        return work(Cells<T>{data, row_step, column_step, X.shape(0), X.shape(1), read});
    };
    auto as_is = [&](auto cell) {
        using T = decltype(cell);
        return call(cell, static_cast<void (*)(const char*, std::int64_t, std::size_t, T*)>(nullptr));
    };
    if (type == nb::dtype<double>()) return as_is(double());
    if (type == nb::dtype<float>()) return as_is(float());
    if (type == nb::dtype<std::int64_t>()) return as_is(std::int64_t());
    if (type == nb::dtype<std::int32_t>()) return as_is(std::int32_t());
    if (type == nb::dtype<std::uint8_t>() || type == nb::dtype<bool>()) return as_is(std::uint8_t());
    if (type == nb::dtype<std::int8_t>()) return call(double(), &read_as<std::int8_t, double>);
    if (type == nb::dtype<std::int16_t>()) return call(double(), &read_as<std::int16_t, double>);
    if (type == nb::dtype<std::uint16_t>()) return call(double(), &read_as<std::uint16_t, double>);
    if (type == nb::dtype<std::uint32_t>()) return call(double(), &read_as<std::uint32_t, double>);
    if (type == nb::dtype<std::uint64_t>()) return call(double(), &read_as<std::uint64_t, double>);
    throw std::invalid_argument("cells of a type that cannot be read");
}

// The stored cells of sparse rows: those of row i are at indptr[i] to indptr[i + 1].
template <class T, class Index>
struct SparseCells {
    using Cell = T;

    const T* data;
    const Index* indices;
    const Index* indptr;
    std::size_t rows;

    // How many cells rows start..stop have.
    std::size_t cells(std::size_t start, std::size_t stop) const {
        return static_cast<std::size_t>(indptr[stop] - indptr[start]);
    }

    // Whether no cell of rows start..stop is beyond the columns.
    bool is_within(std::size_t start, std::size_t stop, std::size_t columns) const {
        return cells(start, stop) == 0 || largest_index(indices + indptr[start], cells(start, stop)) < columns;
    }

    // Do work(start, stop) of blocks of rows first..last as long as it is true. The cells of a block, or
    // its one row, stay in cache, so that they can be checked before they are used.
    template <class Work>
    void each_block(std::size_t first, std::size_t last, Work&& work) const {
        constexpr std::size_t BLOCK_CELLS = 8192;
        for (std::size_t start = first, stop = first; start < last; start = stop) {
            do ++stop;
            while (stop < last && cells(start, stop + 1) <= BLOCK_CELLS);
            if (!work(start, stop)) return;
        }
    }
};

// Refuse sparse rows with cells that are not within their columns.
inline void require_within(bool within) { require(within, "cells of a sparse matrix beyond its columns"); }

// Call `work` with sparse rows by the types of their cells and of their indices, which are all
// int32 or all int64. The columns of cells are not checked.
template <class Work>
auto with_unchecked_sparse(const AnyVector& data, const AnyVector& indices, const AnyVector& indptr, Work&& work) {
    require(indptr.shape(0) > 0 && indices.shape(0) == data.shape(0), "parts of a sparse matrix do not fit");
    for (const AnyVector* part : {&data, &indices, &indptr})
        require(part->shape(0) <= 1 || part->stride(0) == 1, "parts of a sparse matrix are not contiguous");
    require(indices.dtype() == indptr.dtype(), "indices of a sparse matrix have two types");
    auto call = [&](auto cell, auto index) {
        using T = decltype(cell);
        using Index = decltype(index);
        const SparseCells<T, Index> x{static_cast<const T*>(data.data()), static_cast<const Index*>(indices.data()),
                                      static_cast<const Index*>(indptr.data()), indptr.shape(0) - 1};
        bool ordered = x.indptr[0] == 0 && static_cast<std::size_t>(x.indptr[x.rows]) <= data.shape(0);
        for (std::size_t i = 0; i < x.rows; ++i) ordered = ordered && x.indptr[i] <= x.indptr[i + 1];
        require(ordered, "rows of a sparse matrix do not follow each other");
        return work(x);
    };
    auto by_index = [&](auto cell) {
        if (indices.dtype() == nb::dtype<std::int32_t>()) return call(cell, std::int32_t());
        require(indices.dtype() == nb::dtype<std::int64_t>(), "indices of a sparse matrix are no integers");
        return call(cell, std::int64_t());
    };
    const nb::dlpack::dtype type = data.dtype();
    if (type == nb::dtype<double>()) return by_index(double());
    if (type == nb::dtype<float>()) return by_index(float());
    if (type == nb::dtype<std::int64_t>()) return by_index(std::int64_t());
    if (type == nb::dtype<std::int32_t>()) return by_index(std::int32_t());
    if (type == nb::dtype<std::uint8_t>()) return by_index(std::uint8_t());
    throw std::invalid_argument("stored cells of a type that cannot be read");
}

// The same, with no cell beyond the columns.
template <class Work>
auto with_sparse(const AnyVector& data, const AnyVector& indices, const AnyVector& indptr, std::size_t columns,
                 Work&& work) {
    return with_unchecked_sparse(data, indices, indptr, [&](auto x) {
        const std::size_t cells = static_cast<std::size_t>(x.indptr[x.rows]);
        require_within(holds_everywhere(cells, [&](std::size_t start, std::size_t stop) {
            return start == stop || largest_index(x.indices + start, stop - start) < columns;
        }));
        return work(x);
    });
}

}  // namespace suffice
