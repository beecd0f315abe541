// Log densities of voxels, sums of neighbours, and whether the best class is the right one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../instruction_sets.h"

namespace suffice {

struct SearchlightLoops {
    // Write norm - precision (x - location)^2 / 2.
    void (*normal)(const double* x, const double* location, const double* precision, const double* norm,
                   std::size_t size, double* out);
    // Add source to out.
    void (*add)(const double* source, std::size_t size, double* out);
    // Where start + sums is above best, let it be the best, and note whether it is that of the
    // right class.
    void (*keep_best)(const double* sums, double start, bool right_class, std::size_t size, double* best,
                      std::int64_t* right);
};

SUFFICE_TABLES(SearchlightLoops, searchlight_table)
inline const SearchlightLoops& searchlight_loops() { return SUFFICE_BEST(searchlight_table); }

}  // namespace suffice
