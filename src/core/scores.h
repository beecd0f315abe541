// Rows scored on all threads, each range of them turned into an answer while it is in cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays.h"
#include "loops/scores.h"
#include "loops/transpose.h"
#include "prefetch.h"
#include "threads.h"

namespace suffice {

// What becomes of log p(x, class): itself, log p(class | x), p(class | x), all (n, C); the number
// of the most probable class or log p(x), both (n,).
enum class Answer { joint, log_proba, proba, best, log_density };

Answer answer_of(const std::string& name);

// Answers to rows: the first row that cannot be scored, or -1; how many rows were impossible under
// every class; and what was asked for.
using Answers = std::tuple<std::int64_t, std::size_t, nb::object>;

// Turn log p(x, class) of rows (rows, C) into an answer, in place or in best and density (rows,);
// return how many rows were impossible.
std::size_t finish(Answer answer, double* joint, std::size_t rows, std::size_t classes, const double* log_prior,
                   std::int64_t* best, double* density);

// Answer rows: score(start, stop, joint) adds log p(x | class) of rows start..stop to joint, which
// holds the log prior, and returns the first row it cannot score, counted from `start`, or -1.
// `cost` is how many cells a row has, as far as time goes. Call it with the interpreter's lock.
template <class Score>
Answers answer_rows(std::size_t rows, std::size_t cost, const In<double, 1>& log_prior, Answer answer, Score&& score) {
    const std::size_t classes = log_prior.shape(0);
    const bool in_place = answer != Answer::best && answer != Answer::log_density;
    auto table = make_array<double>({in_place ? rows : 0, classes}, false);
    auto best = make_array<std::int64_t>({answer == Answer::best ? rows : 0}, false);
    auto density = make_array<double>({answer == Answer::log_density ? rows : 0}, false);
    std::int64_t refused = -1;
    std::size_t impossible = 0;
    {
        nb::gil_scoped_release release;
        const Ranges ranges(rows, std::max({cost, classes, std::size_t(16)}));
        std::vector<std::int64_t> bad(ranges.count(), -1);
        std::vector<std::size_t> odd(ranges.count());
        in_parallel(ranges.count(), [&](std::size_t range) {
            const std::size_t start = ranges.start(range), stop = ranges.stop(range);
            std::vector<double> room(in_place ? 0 : (stop - start) * classes);
            double* joint = in_place ? table.data() + start * classes : room.data();
            // Cell by cell: a call of memmove for each row would take longer than a sum of two classes.
            for (std::size_t i = 0; i < stop - start; ++i)
                for (std::size_t c = 0; c < classes; ++c) joint[i * classes + c] = log_prior.data()[c];
            bad[range] = score(start, stop, joint);
            if (bad[range] < 0)
                odd[range] = finish(answer, joint, stop - start, classes, log_prior.data(),
                                    answer == Answer::best ? best.data() + start : nullptr,
                                    answer == Answer::log_density ? density.data() + start : nullptr);
        });
        for (std::size_t range = ranges.count(); range-- > 0;) {
            impossible += odd[range];
            if (bad[range] >= 0) refused = static_cast<std::int64_t>(ranges.start(range)) + bad[range];
        }
    }
    nb::object found = answer == Answer::best          ? nb::cast(best)
                       : answer == Answer::log_density ? nb::cast(density)
                                                       : nb::cast(table);
    return {refused, impossible, found};
}

// Copy a block of rows, less `centre`, to columns of doubles: cell j of row i goes to across[j, i],
// zeros beyond the last row.
template <class T>
void lay_across(const T* block, std::size_t rows, std::size_t columns, const double* centre, double* across) {
    // A loop across rows waits for each of them: rows are asked for in order, as they lie.
    const char* bytes = reinterpret_cast<const char*>(block);
    for (std::size_t at = 0; at < rows * columns * sizeof(T); at += CACHE_LINE) prefetch(bytes + at);
    transpose_loops<T>().subtract(block, rows, columns, centre, across);
}

}  // namespace suffice
