#include "special.h"

namespace suffice {

const std::array<double, MAX_SMALL> LOG_FACTORIALS = [] {
    std::array<double, MAX_SMALL> logs{};
    for (std::size_t k = 0; k < logs.size(); ++k) logs[k] = log_gamma(static_cast<double>(k) + 1.0);
    return logs;
}();

}  // namespace suffice
