#include "scores.h"

#include <cmath>
#include <limits>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "module.h"

namespace suffice {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();

// Write the most probable class of every row; return how many rows were impossible.
std::size_t find_best(const double* joint, std::size_t rows, std::size_t classes, const double* log_prior,
                      std::int64_t* best) {
    std::size_t impossible = 0;
    for (std::size_t i = 0; i < rows; ++i, joint += classes) {
        // Without a branch between two classes: where they are equally frequent it is often mistaken.
        std::size_t top = classes > 1 && joint[1] > joint[0];
        for (std::size_t c = 2; c < classes; ++c)
            if (joint[c] > joint[top]) top = c;
        if (joint[top] == -INF) {
            ++impossible;
            for (std::size_t c = 0; c < classes; ++c)
                if (log_prior[c] > log_prior[top]) top = c;
        }
        best[i] = static_cast<std::int64_t>(top);
    }
    return impossible;
}

// Write log p(x) of every row: the log of the sum over classes.
void add_over_classes(const double* joint, std::size_t rows, std::size_t classes, double* density) {
    for (std::size_t i = 0; i < rows; ++i, joint += classes) {
        double top = joint[0];
        for (std::size_t c = 1; c < classes; ++c) top = joint[c] > top ? joint[c] : top;
        double total = 0.0;
        for (std::size_t c = 0; c < classes; ++c) total += std::exp(joint[c] - top);
        density[i] = std::isinf(top) ? top : top + std::log(total);
    }
}

// Answers from log p(x, class) (n, C) that are there already.
Answers answer_scores(In<double, 2> joint, In<double, 1> log_prior, const std::string& answer) {
    const std::size_t classes = joint.shape(1);
    require(log_prior.shape(0) == classes, "scores and prior do not fit");
    return answer_rows(joint.shape(0), classes, log_prior, answer_of(answer),
                       [&](std::size_t start, std::size_t stop, double* scores) -> std::int64_t {
                           std::copy_n(joint.data() + start * classes, (stop - start) * classes, scores);
                           return -1;
                       });
}

}  // namespace

Answer answer_of(const std::string& name) {
    if (name == "joint") return Answer::joint;
    if (name == "log_proba") return Answer::log_proba;
    if (name == "proba") return Answer::proba;
    if (name == "best") return Answer::best;
    if (name == "log_density") return Answer::log_density;
    throw std::invalid_argument("no answer is called " + name);
}

std::size_t finish(Answer answer, double* joint, std::size_t rows, std::size_t classes, const double* log_prior,
                   std::int64_t* best, double* density) {
    if (classes == 0) return 0;
    switch (answer) {
        case Answer::log_proba:
            return score_loops().log_softmax(joint, rows, classes, log_prior);
        case Answer::proba:
            return score_loops().softmax(joint, rows, classes, log_prior);
        case Answer::best:
            return find_best(joint, rows, classes, log_prior, best);
        case Answer::log_density:
            add_over_classes(joint, rows, classes, density);
            return 0;
        default:
            return 0;
    }
}

void bind_scores(nb::module_& m) {
    using namespace nb::literals;
    m.def("answer_scores", &answer_scores, "joint"_a, "log_prior"_a, "answer"_a,
          "Return -1, how many rows are impossible, and the answer, from log p(x, class) (n, C).");
}

}  // namespace suffice
