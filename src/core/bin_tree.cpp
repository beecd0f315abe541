// Trees of bins: sums and shares of all depths at once.
//
// A tree of B bins has D depths, of at most M ranges each; node and half (D, B) say which range of
// a depth a bin is in, -1 for none, and which half of it. Both halves of a range stand side by side.
#include <cmath>
#include <cstdint>

#include <nanobind/stl/pair.h>

#include "arrays.h"
#include "module.h"
#include "threads.h"

namespace suffice {
namespace {

void require_halves(const In<std::int64_t, 2>& node, const In<std::int64_t, 2>& half, std::size_t ranges) {
    require(node.shape(0) == half.shape(0) && node.shape(1) == half.shape(1), "ranges and halves do not fit");
    bool fine = true;
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::int64_t m = node.data()[i], h = half.data()[i];
        fine = fine && m >= -1 && m < static_cast<std::int64_t>(ranges) && (h == 0 || h == 1);
    }
    require(fine, "halves of ranges that there are not");
}

// Counts (C, B) of both halves of every range, (D, C, 2M), and the shares of pooled rows (B,),
// (D, 2M); ranges that are none have zeros.
auto bin_tree_sums(In<double, 2> counts, In<double, 1> pooled, In<std::int64_t, 2> node, In<std::int64_t, 2> half,
                   std::size_t ranges) {
    require(ranges <= pooled.size(), "more ranges than bins");
    require_halves(node, half, ranges);
    const std::size_t depths = node.shape(0), classes = counts.shape(0), bins = pooled.size();
    require(counts.shape(1) == bins && node.shape(1) == bins, "counts and bins do not fit");
    Out<double> sums = make_array<double>({depths, classes, 2 * ranges}),
                base = make_array<double>({depths, 2 * ranges});
    for (std::size_t d = 0; d < depths; ++d) {
        double* shares = base.data() + d * ranges * 2;
        for (std::size_t k = 0; k < bins; ++k) {
            if (node.data()[d * bins + k] < 0) continue;
            const auto part = static_cast<std::size_t>(2 * node.data()[d * bins + k] + half.data()[d * bins + k]);
            shares[part] += pooled.data()[k];
            for (std::size_t c = 0; c < classes; ++c)
                sums.data()[(d * classes + c) * ranges * 2 + part] += counts.data()[c * bins + k];
        }
        for (std::size_t m = 0; m < ranges; ++m) {
            const double whole = shares[2 * m] + shares[2 * m + 1];
            if (!(whole > 0.0)) continue;
            shares[2 * m] /= whole;
            shares[2 * m + 1] /= whole;
        }
    }
    return std::make_pair(sums, base);
}

struct Tree {
    In<double, 3> sums;
    In<double, 2> base;
    In<std::int64_t, 2> node, half;
    In<double, 1> sizes;
    double rounding;
    std::size_t depths, classes, ranges, bins;

    Tree(In<double, 3> sums, In<double, 2> base, In<std::int64_t, 2> node, In<std::int64_t, 2> half,
         In<double, 1> sizes, double rounding)
        : sums(sums),
          base(base),
          node(node),
          half(half),
          sizes(sizes),
          rounding(rounding),
          depths(sums.shape(0)),
          classes(sums.shape(1)),
          ranges(sums.shape(2) / 2),
          bins(node.shape(1)) {
        require(sums.shape(2) == 2 * ranges && base.shape(0) == depths && base.shape(1) == 2 * ranges,
                "sums and shares do not fit");
        require(node.shape(0) == depths && sizes.size() == depths, "depths do not fit");
        require_halves(node, half, ranges);
    }
    // The log share of a bin in a class, without a row of it that weighs `taken`.
    double log_share(std::size_t k, std::size_t c, double taken) const {
        double total = 0.0;
        for (std::size_t d = 0; d < depths; ++d) {
            const std::int64_t m = node.data()[d * bins + k], h = half.data()[d * bins + k];
            if (m < 0) continue;
            const double* both = sums.data() + ((d * classes + c) * ranges + static_cast<std::size_t>(m)) * 2;
            const double whole = both[0] + both[1], size = sizes.data()[d];
            const double share =
                base.data()[(d * ranges + static_cast<std::size_t>(m)) * 2 + static_cast<std::size_t>(h)];
            total += std::log((without(both[h], taken) + size * share) / (without(whole, taken) + size));
        }
        return total;
    }
    double without(double rows, double taken) const { return rows - taken > rounding * rows ? rows - taken : 0.0; }
};

// Log shares of all bins, without a row of each that weighs `taken`: (B + 2, C), the last two 0.
Out<double> bin_tree_shares(In<double, 3> sums, In<double, 2> base, In<std::int64_t, 2> node, In<std::int64_t, 2> half,
                            In<double, 1> sizes, double rounding, double taken) {
    const Tree tree(sums, base, node, half, sizes, rounding);
    Out<double> table = make_array<double>({tree.bins + 2, tree.classes});
    for (std::size_t k = 0; k < tree.bins; ++k)
        for (std::size_t c = 0; c < tree.classes; ++c) table.data()[k * tree.classes + c] = tree.log_share(k, c, taken);
    return table;
}

// Log shares (n,) of rows' bins in their own classes without the row itself; 0 if missing.
Out<double> bin_tree_left_out(In<double, 3> sums, In<double, 2> base, In<std::int64_t, 2> node,
                              In<std::int64_t, 2> half, In<double, 1> sizes, double rounding, In<std::int32_t, 1> codes,
                              In<std::int32_t, 1> own, In<double, 1> weights) {
    const Tree tree(sums, base, node, half, sizes, rounding);
    const std::size_t rows = codes.size();
    require(own.size() == rows && weights.size() == rows, "bins and classes do not fit");
    require_codes(own, tree.classes);
    for (std::size_t i = 0; i < rows; ++i)
        require(codes.data()[i] < 0 || static_cast<std::size_t>(codes.data()[i]) < tree.bins,
                "bins that there are not");
    Out<double> found = make_array<double>({rows});
    nb::gil_scoped_release release;
    const Ranges split(rows, 16 * tree.depths);
    in_parallel(split.count(), [&](std::size_t range) {
        for (std::size_t i = split.start(range); i < split.stop(range); ++i) {
            if (codes.data()[i] < 0) continue;
            const auto k = static_cast<std::size_t>(codes.data()[i]), c = static_cast<std::size_t>(own.data()[i]);
            found.data()[i] = tree.log_share(k, c, weights.data()[i]);
        }
    });
    return found;
}

}  // namespace

void bind_bin_tree(nb::module_& m) {
    using namespace nb::literals;
    m.def("bin_tree_sums", &bin_tree_sums, "counts"_a, "pooled"_a, "node"_a, "half"_a, "ranges"_a,
          "Return counts of both halves of all ranges, (D, C, 2M), and their pooled shares.");
    m.def("bin_tree_shares", &bin_tree_shares, "sums"_a, "base"_a, "node"_a, "half"_a, "sizes"_a, "rounding"_a,
          "taken"_a, "Return the log shares of all bins without a row of each, (B + 2, C).");
    m.def("bin_tree_left_out", &bin_tree_left_out, "sums"_a, "base"_a, "node"_a, "half"_a, "sizes"_a, "rounding"_a,
          "codes"_a, "own"_a, "weights"_a,
          "Return the log shares of rows' bins in their own classes without each row, (n,).");
}

}  // namespace suffice
