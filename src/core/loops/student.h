// The sums of a step of EM for Student t's, over cells.
#pragma once

#include <cstddef>

#include "../instruction_sets.h"

namespace suffice {

struct StudentSums {
    double weight, first, second;  // of u, u d and u (d^2 + variance)
};

struct StudentLoops {
    // d = centre - m, and u is the weight of a cell times what EM gives its rows: (v + 1) / (v + D),
    // D their expected squared distance in scales.
    StudentSums (*add_up)(const double* weight, const double* centre, const double* variance, std::size_t size,
                          double m, double precision, double unsure, double degrees);
};

SUFFICE_TABLES(StudentLoops, student_table)

inline const StudentLoops& student_loops() { return SUFFICE_BEST(student_table); }

}  // namespace suffice
