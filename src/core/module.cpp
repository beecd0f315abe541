// suffice._core: the loops, compiled ahead of time.
#include "module.h"

NB_MODULE(_core, m) {
    m.doc() = "Loops over plain arrays.";
    suffice::bind_threads(m);
    suffice::bind_instruction_sets(m);
    suffice::bind_data(m);
    suffice::bind_count(m);
    suffice::bind_scatter(m);
    suffice::bind_scores(m);
    suffice::bind_gaussian_scores(m);
    suffice::bind_table_scores(m);
    suffice::bind_leave_one_out_counts(m);
    suffice::bind_leave_one_out_moments(m);
}
