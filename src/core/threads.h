// Work shared out to a standing pool of threads, that Ctrl-C ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace suffice {

// Cells a range of rows holds: enough that starting one costs nothing, few enough to stay in cache.
// Sums that all ranges together hold beside the rows: 16 MB; with more, ranges are made longer.
// Tests make both smaller, to see more than one range.
extern std::size_t range_cells, range_sums;

// How rows are cut into ranges. The cut depends on the shape alone, so results do not depend on
// the number of threads.
struct Ranges {
    std::size_t rows, step;

    // Ranges of about `range_cells` cells each.
    Ranges(std::size_t rows, std::size_t columns)
        : rows(rows), step(std::max<std::size_t>(1, range_cells / std::max<std::size_t>(1, columns))) {}

    // Of which each holds so many sums beside the rows: not more than all may hold together.
    Ranges(std::size_t rows, std::size_t columns, std::size_t sums) : Ranges(rows, columns) {
        const std::size_t most = std::max<std::size_t>(2, range_sums / std::max<std::size_t>(1, sums));
        if (count() > most) step = (rows + most - 1) / most;
    }

    std::size_t count() const { return rows == 0 ? 0 : (rows + step - 1) / step; }
    std::size_t start(std::size_t range) const { return range * step; }
    std::size_t stop(std::size_t range) const { return std::min(rows, (range + 1) * step); }
};

// Do work(0), ..., work(tasks - 1), on all threads; call it without the interpreter's lock.
//
// Rethrows what a task throws, and throws Python's exception (nb::python_error) if a signal
// arrived: tasks that have not begun are then left out.
void in_parallel(std::size_t tasks, const std::function<void(std::size_t)>& work);

// How many threads a call uses. Results may not depend on it.
std::size_t threads();

// Let Python's signal handlers run, at most every few milliseconds: for long loops on one thread,
// and in long tasks. Throws what a handler raises, and in a task whose call was ended, too.
void check_interrupt();

}  // namespace suffice
