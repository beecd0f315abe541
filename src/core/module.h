// The parts of the extension module, one function a file.
#pragma once

#include <nanobind/nanobind.h>

namespace suffice {

namespace nb = nanobind;

void bind_threads(nb::module_& m);
void bind_instruction_sets(nb::module_& m);
void bind_data(nb::module_& m);
void bind_count(nb::module_& m);
void bind_scatter(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_gaussian_scores(nb::module_& m);
void bind_table_scores(nb::module_& m);
void bind_levels(nb::module_& m);
void bind_searchlight(nb::module_& m);
void bind_text(nb::module_& m);
void bind_term_table(nb::module_& m);
void bind_logistic(nb::module_& m);
void bind_combination(nb::module_& m);
void bind_prior_sample_sizes(nb::module_& m);
void bind_student(nb::module_& m);
void bind_bin_tree(nb::module_& m);
void bind_leave_one_out_counts(nb::module_& m);
void bind_leave_one_out_moments(nb::module_& m);

}  // namespace suffice
