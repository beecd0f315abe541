#include "logistic.h"

#include <cmath>
#include <limits>

#include "exponential.h"

namespace suffice::SUFFICE_SET {
namespace {

constexpr std::size_t LANES = CHUNK_LANES;
// Scores whose exponentials are taken together, while they are in the first cache.
constexpr std::size_t TOGETHER = 1024;
constexpr double INF = std::numeric_limits<double>::infinity();

template <class T>
void standardize(const T* x, std::size_t rows, std::size_t columns, const double* __restrict centre,
                 const double* __restrict inverse, double* __restrict chunk, std::size_t step) {
    for (std::size_t i = 0; i < rows; ++i, x += columns, chunk += step)
        for (std::size_t j = 0; j < columns; ++j) chunk[j] = (static_cast<double>(x[j]) - centre[j]) * inverse[j];
}

double sum_lanes(const double* lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void add_margins(const double* chunk, std::size_t rows, std::size_t step, const double* v, double* margins) {
    for (std::size_t i = 0; i < rows; ++i, chunk += step) {
        double lanes[LANES] = {};
        for (std::size_t j = 0; j < step; j += LANES)
            for (std::size_t l = 0; l < LANES; ++l) lanes[l] += chunk[j + l] * v[j + l];
        margins[i] += sum_lanes(lanes);
    }
}

// Sum of log(1 + s) of rows, 0 <= s <= 1, by one log of a product instead of a log each: a chunk's
// factors, at most 2 each, stay finite.
double log_product(const double* small, std::size_t rows) {
    double lanes[LANES];
    for (std::size_t l = 0; l < LANES; ++l) lanes[l] = 1.0;
    std::size_t i = 0;
    for (; i + LANES <= rows; i += LANES)
        for (std::size_t l = 0; l < LANES; ++l) lanes[l] *= 1.0 + small[i + l];
    for (; i < rows; ++i) lanes[0] *= 1.0 + small[i];
    return std::log(((lanes[0] * lanes[1]) * (lanes[2] * lanes[3])) * ((lanes[4] * lanes[5]) * (lanes[6] * lanes[7])));
}

ChunkLoss two_classes(double* __restrict margins, const std::int32_t* codes, const double* weights, std::size_t rows,
                      double* __restrict bends) {
    // misses: how far the other class is ahead of the row's own.
    double small[CHUNK_ROWS], misses[CHUNK_ROWS], factors[CHUNK_ROWS], ahead[LANES] = {}, worst[LANES];
    for (std::size_t l = 0; l < LANES; ++l) worst[l] = -INF;
    bool even = true;
    for (std::size_t i = 0; i < rows; ++i) {
        small[i] = margins[i] < 0.0 ? margins[i] : -margins[i];
        misses[i] = codes[i] == 0 ? -margins[i] : margins[i];
        factors[i] = weights ? weights[i] : 1.0;
        even = even && factors[i] == 1.0;
    }
    exp_of_nonpositive(small, rows);
    auto add = [&](std::size_t i, std::size_t l) {
        // Written so that a margin that is NaN gives a loss that is.
        ahead[l] += factors[i] * (misses[i] <= 0.0 ? 0.0 : misses[i]);
        worst[l] = factors[i] > 0.0 && misses[i] > worst[l] ? misses[i] : worst[l];
    };
    std::size_t at = 0;
    for (; at + LANES <= rows; at += LANES)
        for (std::size_t l = 0; l < LANES; ++l) add(at + l, l);
    for (; at < rows; ++at) add(at, 0);
    double logs = 0.0;
    if (even)
        logs = log_product(small, rows);
    else
        for (std::size_t i = 0; i < rows; ++i) logs += factors[i] * std::log1p(small[i]);
    for (std::size_t i = 0; i < rows; ++i) {
        const double more = 1.0 + small[i], own = codes[i] == 0 ? 1.0 : 0.0;
        const double proba = (margins[i] >= 0.0 ? 1.0 : small[i]) / more;
        margins[i] = factors[i] * (proba - own);
        bends[i] = factors[i] * small[i] / (more * more);
    }
    double most = -INF;
    for (double one : worst) most = one > most ? one : most;
    // -log p = log(1 + exp(miss)) grows with the miss.
    most = most > 0.0 ? most + std::log1p(std::exp(-most)) : std::log1p(std::exp(most));
    return {sum_lanes(ahead) + logs, most};
}

ChunkLoss softmax_loss(double* scores, const std::int32_t* codes, const double* weights, std::size_t rows,
                       std::size_t classes) {
    ChunkLoss loss{0.0, 0.0};
    const std::size_t together = TOGETHER / classes > 0 ? TOGETHER / classes : 1;
    double own[TOGETHER];
    for (std::size_t start = 0; start < rows; start += together) {
        const std::size_t here = rows - start < together ? rows - start : together;
        double* row = scores + start * classes;
        for (std::size_t i = 0; i < here; ++i, row += classes) {
            double top = row[0];
            for (std::size_t c = 1; c < classes; ++c) top = row[c] > top ? row[c] : top;
            for (std::size_t c = 0; c < classes; ++c) row[c] -= top;
            own[i] = row[codes[start + i]];
        }
        row = scores + start * classes;
        exp_of_nonpositive(row, here * classes);
        for (std::size_t i = 0; i < here; ++i, row += classes) {
            double total = 0.0;
            for (std::size_t c = 0; c < classes; ++c) total += row[c];
            const double scale = 1.0 / total, lost = std::log(total) - own[i];
            const double w = weights ? weights[start + i] : 1.0;
            for (std::size_t c = 0; c < classes; ++c) row[c] *= scale;
            loss.total += w * lost;
            loss.worst = w > 0.0 && lost > loss.worst ? lost : loss.worst;
        }
    }
    return loss;
}

void add_rows(const double* __restrict chunk, const double* factors, std::size_t rows, std::size_t step,
              double* __restrict sums) {
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4, chunk += 4 * step) {
        const double a = factors[i], b = factors[i + 1], c = factors[i + 2], d = factors[i + 3];
        for (std::size_t j = 0; j < step; ++j)
            sums[j] += (a * chunk[j] + b * chunk[step + j]) + (c * chunk[2 * step + j] + d * chunk[3 * step + j]);
    }
    for (; i < rows; ++i, chunk += step)
        for (std::size_t j = 0; j < step; ++j) sums[j] += factors[i] * chunk[j];
}

void scale_rows(const double* __restrict chunk, const double* factors, std::size_t rows, std::size_t step,
                std::size_t columns, double* __restrict scaled, std::size_t scaled_step) {
    for (std::size_t i = 0; i < rows; ++i, chunk += step, scaled += scaled_step)
        for (std::size_t j = 0; j < columns; ++j) scaled[j] = factors[i] * chunk[j];
}

}  // namespace

extern const LogisticLoops logistic = {exp_of_nonpositive, add_margins, two_classes,
                                       softmax_loss,       add_rows,    scale_rows};
extern const StandardizeLoops standardize_table = {standardize<double>, standardize<float>, standardize<std::int64_t>,
                                                   standardize<std::int32_t>, standardize<std::uint8_t>};

}  // namespace suffice::SUFFICE_SET
