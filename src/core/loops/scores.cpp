#include "scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../prefetch.h"
#include "exponential.h"
#include "logarithm.h"

namespace suffice::SUFFICE_SET {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
// Numbers whose exponentials are taken together, while they are in the first cache.
constexpr std::size_t TOGETHER = 1024;

void logarithms(double* x, std::size_t size) { log_of_many(x, size); }

void finish_class(double* __restrict scores, const double* __restrict log_totals, double prior, double length,
                  double number, std::size_t size, double* __restrict top, double* __restrict best) {
    for (std::size_t a = 0; a < size; ++a) {
        const double score = scores[a] + (prior - length * log_totals[a]);
        const bool higher = score > top[a];
        scores[a] = score;
        best[a] = higher ? number : best[a];
        top[a] = higher ? score : top[a];
    }
}

void add_powers(const double* scores, const double* top, std::size_t size, double* totals) {
    double powers[TOGETHER];
    for (std::size_t first = 0; first < size; first += TOGETHER) {
        const std::size_t here = std::min(TOGETHER, size - first);
        for (std::size_t a = 0; a < here; ++a) powers[a] = scores[first + a] - top[first + a];
        exp_of_nonpositive(powers, here);
        for (std::size_t a = 0; a < here; ++a) totals[first + a] += powers[a];
    }
}

// Turn a row with +inf into log shares: equal ones for the infinite classes.
void share_infinity(double* row, std::size_t classes) {
    const auto infinite = std::count(row, row + classes, INF);
    for (std::size_t c = 0; c < classes; ++c) row[c] = row[c] == INF ? -std::log(static_cast<double>(infinite)) : -INF;
}

// Subtract from each row its largest number, so that all are 0 or less; return how many rows were
// impossible.
std::size_t subtract_largest(double* joint, std::size_t rows, std::size_t classes, const double* log_prior) {
    std::size_t impossible = 0;
    for (std::size_t i = 0; i < rows; ++i, joint += classes) {
        double top = joint[0];
        for (std::size_t c = 1; c < classes; ++c) top = joint[c] > top ? joint[c] : top;
        if (top == -INF) {
            ++impossible;
            std::copy_n(log_prior, classes, joint);
            continue;
        }
        if (top == INF) {
            share_infinity(joint, classes);
            continue;
        }
        for (std::size_t c = 0; c < classes; ++c) joint[c] -= top;
    }
    return impossible;
}

// Rows of two classes need one exponential: that of the larger is 1.
std::size_t softmax_of_two(double* joint, std::size_t rows, const double* log_prior) {
    std::size_t impossible = 0;
    double smaller[TOGETHER];
    for (std::size_t start = 0; start < rows; start += TOGETHER) {
        const std::size_t here = std::min(TOGETHER, rows - start);
        double* block = joint + 2 * start;
        bool plain = true;
        for (std::size_t i = 0; i < here; ++i) {
            const double apart = block[2 * i + 1] - block[2 * i];
            plain = plain && apart - apart == 0.0;
            smaller[i] = apart > 0.0 ? -apart : apart;
        }
        if (!plain) {
            impossible += subtract_largest(block, here, 2, log_prior);
            exp_of_nonpositive(block, 2 * here);
            for (std::size_t i = 0; i < here; ++i) {
                const double scale = 1.0 / (block[2 * i] + block[2 * i + 1]);
                block[2 * i] *= scale;
                block[2 * i + 1] *= scale;
            }
            continue;
        }
        exp_of_nonpositive(smaller, here);
        for (std::size_t i = 0; i < here; ++i) {
            const bool second = block[2 * i + 1] > block[2 * i];
            const double scale = 1.0 / (1.0 + smaller[i]), rest = smaller[i] * scale;
            block[2 * i] = second ? rest : scale;
            block[2 * i + 1] = second ? scale : rest;
        }
    }
    return impossible;
}

std::size_t softmax(double* joint, std::size_t rows, std::size_t classes, const double* log_prior) {
    if (classes == 2) return softmax_of_two(joint, rows, log_prior);
    std::size_t impossible = 0;
    const std::size_t step = std::max<std::size_t>(1, TOGETHER / std::max<std::size_t>(1, classes));
    for (std::size_t start = 0; start < rows; start += step) {
        const std::size_t here = std::min(step, rows - start);
        double* block = joint + start * classes;
        impossible += subtract_largest(block, here, classes, log_prior);
        exp_of_nonpositive(block, here * classes);
        for (std::size_t i = 0; i < here; ++i, block += classes) {
            double total = 0.0;
            for (std::size_t c = 0; c < classes; ++c) total += block[c];
            const double scale = 1.0 / total;
            for (std::size_t c = 0; c < classes; ++c) block[c] *= scale;
        }
    }
    return impossible;
}

std::size_t log_softmax(double* joint, std::size_t rows, std::size_t classes, const double* log_prior) {
    std::size_t impossible = 0;
    const std::size_t step = std::max<std::size_t>(1, TOGETHER / std::max<std::size_t>(1, classes));
    std::vector<double> powers(step * classes);
    for (std::size_t start = 0; start < rows; start += step) {
        const std::size_t here = std::min(step, rows - start);
        double* block = joint + start * classes;
        impossible += subtract_largest(block, here, classes, log_prior);
        std::copy_n(block, here * classes, powers.data());
        exp_of_nonpositive(powers.data(), here * classes);
        for (std::size_t i = 0; i < here; ++i, block += classes) {
            double total = 0.0;
            for (std::size_t c = 0; c < classes; ++c) total += powers[i * classes + c];
            const double log_total = std::log(total);
            for (std::size_t c = 0; c < classes; ++c) block[c] -= log_total;
        }
    }
    return impossible;
}

void add_normal(const double* across, std::size_t rows, std::size_t columns, const double* mean,
                const double* precision, const double* constant, std::size_t classes, double* joint, const char* next,
                std::size_t bytes) {
    Ahead ahead(next, bytes, classes * columns);
    for (std::size_t c = 0; c < classes; ++c) {
        double squares[SCORE_ROWS] = {};
        for (std::size_t j = 0; j < columns; ++j) {
            ahead.ask();
            const double m = mean[c * columns + j], p = precision[c * columns + j];
            const double* cells = across + j * SCORE_ROWS;
            for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
                const double d = cells[i] - m;
                squares[i] += d * d * p;
            }
        }
        for (std::size_t i = 0; i < rows; ++i) joint[i * classes + c] += constant[c] - 0.5 * squares[i];
    }
}

double sum_lanes(const double* lanes) {
    double four[4], two[2];
    for (std::size_t l = 0; l < 4; ++l) four[l] = lanes[l] + lanes[4 + l];
    for (std::size_t l = 0; l < 2; ++l) two[l] = four[l] + four[2 + l];
    return two[0] + two[1];
}

// Add (x - mean)^2 precision of lanes of columns of a row under one class.
inline void add_lanes(const double* cells, const double* mean, const double* precision, double* squares) {
    for (std::size_t l = 0; l < SCORE_LANES; ++l) {
        const double d = cells[l] - mean[l];
        squares[l] += d * d * precision[l];
    }
}

// Add scores of Rows rows under Classes classes, whose sums are kept in registers.
template <std::size_t Rows, std::size_t Classes>
void add_few_rows(const double* cells, std::size_t columns, const double* mean, const double* precision,
                  std::size_t step, const double* constant, double* joint, std::size_t classes) {
    double squares[Rows * Classes][SCORE_LANES] = {};
    std::size_t j = 0;
    for (; j + SCORE_LANES <= columns; j += SCORE_LANES)
        for (std::size_t r = 0; r < Rows; ++r)
            for (std::size_t c = 0; c < Classes; ++c)
                add_lanes(cells + r * columns + j, mean + c * step + j, precision + c * step + j,
                          squares[r * Classes + c]);
    if (j < columns)
        for (std::size_t r = 0; r < Rows; ++r)
            for (std::size_t c = 0; c < Classes; ++c)
                add_lanes(cells + (r + 1) * columns - SCORE_LANES, mean + c * step + j, precision + c * step + j,
                          squares[r * Classes + c]);
    for (std::size_t r = 0; r < Rows; ++r)
        for (std::size_t c = 0; c < Classes; ++c)
            joint[r * classes + c] += constant[c] - 0.5 * sum_lanes(squares[r * Classes + c]);
}

void add_few_normal(const double* cells, std::size_t rows, std::size_t columns, const double* mean,
                    const double* precision, std::size_t step, const double* constant, std::size_t classes,
                    double* joint) {
    std::size_t i = 0;
    for (; i + 2 <= rows; i += 2, cells += 2 * columns, joint += 2 * classes) {
        std::size_t c = 0;
        for (; c + 2 <= classes; c += 2)
            add_few_rows<2, 2>(cells, columns, mean + c * step, precision + c * step, step, constant + c, joint + c,
                               classes);
        if (c < classes)
            add_few_rows<2, 1>(cells, columns, mean + c * step, precision + c * step, step, constant + c, joint + c,
                               classes);
    }
    for (std::size_t c = 0; c < classes && i < rows; ++c)
        add_few_rows<1, 1>(cells, columns, mean + c * step, precision + c * step, step, constant + c, joint + c,
                           classes);
}

template <class T>
void add_squares(const T* across, std::size_t columns, const T* offset, T* squares) {
    T sums[SCORE_ROWS] = {};
    for (std::size_t j = 0; j < columns; ++j) {
        const T* cells = across + j * SCORE_ROWS;
        for (std::size_t i = 0; i < SCORE_ROWS; ++i) {
            const T d = cells[i] - offset[j];
            sums[i] += d * d;
        }
    }
    std::copy_n(sums, SCORE_ROWS, squares);
}

}  // namespace

extern const ScoreLoops scores = {logarithms, finish_class,   add_powers,          softmax,           log_softmax,
                                  add_normal, add_few_normal, add_squares<double>, add_squares<float>};

}  // namespace suffice::SUFFICE_SET
