#include "checks.h"

namespace suffice::SUFFICE_SET {
namespace {

constexpr std::size_t LANES = 16;

// Whether wrong(i) is 0 for all i below size: kept apart in lanes, so that it is vectorised.
template <class T, class Wrong>
bool none_wrong(std::size_t size, Wrong&& wrong) {
    T found[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= size; i += LANES)
        for (std::size_t l = 0; l < LANES; ++l) found[l] += wrong(i + l);
    for (; i < size; ++i) found[0] += wrong(i);
    bool none = true;
    for (std::size_t l = 0; l < LANES; ++l) none = none && found[l] == T(0);
    return none;
}

template <class T>
bool finite(const T* x, std::size_t size) {
    if constexpr (std::is_integral_v<T>)
        return true;
    else
        return none_wrong<T>(size, [x](std::size_t i) { return x[i] * T(0); });
}

template <class T>
bool finite_from(const T* x, std::size_t size, double lowest) {
    if constexpr (std::is_integral_v<T>) {
        return none_wrong<std::int64_t>(
            size, [=](std::size_t i) { return std::int64_t(static_cast<double>(x[i]) < lowest); });
    } else {
        return none_wrong<T>(
            size, [=](std::size_t i) { return x[i] * T(0) + (static_cast<double>(x[i]) < lowest ? T(1) : T(0)); });
    }
}

template <class T>
bool small_counts(const T* x, std::size_t size) {
    if constexpr (std::is_integral_v<T>) {
        return none_wrong<std::int64_t>(size, [x](std::size_t i) {
            return std::int64_t(x[i] < T(1)) + std::int64_t(static_cast<std::uint64_t>(x[i]) >= MAX_SMALL);
        });
    } else {
        // Adding it rounds to a whole number: what is whole already stays as it is.
        constexpr T ROUND = std::is_same_v<T, double> ? T(6755399441055744.0) : T(12582912.0);
        return none_wrong<T>(size, [x](std::size_t i) {
            const T rounded = (x[i] + ROUND) - ROUND;
            return (x[i] >= T(1) ? T(0) : T(1)) + (x[i] < T(MAX_SMALL) ? T(0) : T(1)) + (rounded == x[i] ? T(0) : T(1));
        });
    }
}

template <class T>
bool levels(const T* x, const std::int64_t* many, std::size_t size) {
    return none_wrong<std::int64_t>(size, [=](std::size_t i) { return std::int64_t(is_level(x[i], many[i]) ? 0 : 1); });
}

template <class Index>
std::uint64_t largest(const Index* indices, std::size_t size) {
    using Unsigned = std::make_unsigned_t<Index>;
    Unsigned most = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Unsigned index = static_cast<Unsigned>(indices[i]);
        most = index > most ? index : most;
    }
    return most;
}

}  // namespace

extern const CheckLoops<double> checks_of_double = {finite, finite_from, small_counts, levels};
extern const CheckLoops<float> checks_of_float = {finite, finite_from, small_counts, levels};
extern const CheckLoops<std::int64_t> checks_of_int64 = {finite, finite_from, small_counts, levels};
extern const CheckLoops<std::int32_t> checks_of_int32 = {finite, finite_from, small_counts, levels};
extern const CheckLoops<std::uint8_t> checks_of_uint8 = {finite, finite_from, small_counts, levels};
extern const IndexLoops index_loops_table = {largest, largest};

}  // namespace suffice::SUFFICE_SET
