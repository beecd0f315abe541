// suffice._core: the loops, compiled ahead of time.
#include "module.h"

NB_MODULE(_core, m) {
    m.doc() = "Loops over plain arrays.";
    // Tables of words that live until Python ends, as in caches and models, are no leaks.
    nanobind::set_leak_warnings(false);
    suffice::bind_threads(m);
    suffice::bind_instruction_sets(m);
    suffice::bind_data(m);
    suffice::bind_count(m);
    suffice::bind_scatter(m);
    suffice::bind_scores(m);
    suffice::bind_gaussian_scores(m);
    suffice::bind_table_scores(m);
    suffice::bind_levels(m);
    suffice::bind_searchlight(m);
    suffice::bind_text(m);
    suffice::bind_term_table(m);
    suffice::bind_logistic(m);
    suffice::bind_combination(m);
    suffice::bind_prior_sample_sizes(m);
    suffice::bind_student(m);
    suffice::bind_bin_tree(m);
    suffice::bind_leave_one_out_counts(m);
    suffice::bind_leave_one_out_moments(m);
}
