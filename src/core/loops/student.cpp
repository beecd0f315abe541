#include "student.h"

namespace suffice::SUFFICE_SET {
namespace {

// Sums that are added up side by side.
constexpr std::size_t LANES = 8;

StudentSums add_up(const double* weight, const double* centre, const double* variance, std::size_t size, double m,
                   double precision, double unsure, double degrees) {
    double s0[LANES] = {}, s1[LANES] = {}, s2[LANES] = {};
    const double most = degrees + 1.0, least = degrees + unsure;
    auto add = [&](std::size_t lane, std::size_t j) {
        const double d = centre[j] - m, square = d * d + variance[j];
        const double u = weight[j] * most / (least + square * precision);
        s0[lane] += u;
        s1[lane] += u * d;
        s2[lane] += u * square;
    };
    std::size_t j = 0;
    for (; j + LANES <= size; j += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) add(lane, j + lane);
    for (std::size_t lane = 0; j + lane < size; ++lane) add(lane, j + lane);
    StudentSums sums{0.0, 0.0, 0.0};
    for (std::size_t lane = 0; lane < LANES; ++lane) {
        sums.weight += s0[lane];
        sums.first += s1[lane];
        sums.second += s2[lane];
    }
    return sums;
}

}  // namespace

extern const StudentLoops student_table = {add_up};

}  // namespace suffice::SUFFICE_SET
