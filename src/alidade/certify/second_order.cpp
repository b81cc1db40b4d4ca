#include "second_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace alidade::detail {

namespace {

/// For rounding in the singular values, all of whose terms have one sign.
constexpr double outward = 1 + 1e-12;

}  // namespace

SecondOrder::SecondOrder(const LearnedModel& learned)
    : learned_(learned),
      d_(learned.model().features().features()),
      p_(learned.sets().empty() ? 0 : learned.sets().front().dimension()),
      sets_(static_cast<Index>(learned.sets().size())),
      moved_(static_cast<std::size_t>(learned.shape().states * sets_ * p_)),
      rounding_(static_cast<std::size_t>(learned.shape().states)) {
    for (const ConfidenceSet& set : learned.sets()) {
        const Matrix& inverse = set.estimate().inverse_factor;
        maps_.push_back(set.refined_radius() *
                        inverse.lazyProduct(set.parameters().space().basis.transpose()));
        sizes_.push_back(set.refined_radius() * inverse.norm() * outward);
    }
}

void SecondOrder::prepare(Index first, std::span<const double> sums) {
    first_ = first;
    std::ranges::fill(rounding_, 0.0);
    for (State s = 0; s < learned_.shape().states; ++s)
        for (Index set = first; set < sets_; ++set) {
            const Eigen::Map<const Vector> sum(sums.data() + (s * sets_ + set) * d_, d_);
            rounding_[static_cast<std::size_t>(s)] += sizes_[static_cast<std::size_t>(set)] * sum.norm();
            Eigen::Map<Vector>(moved_.data() + (s * sets_ + set) * p_, p_) =
                maps_[static_cast<std::size_t>(set)].lazyProduct(sum);
        }
}

double SecondOrder::operator()(Step h, Index pair) {
    const Index rows = (sets_ - first_) * p_;
    if (rows <= 0) return 0;
    const FeatureMap& features = learned_.model().features();
    const Index begin = features.first_entry(pair), count = features.successors(pair);
    const auto targets = features.targets(pair);
    const Eigen::Map<const Matrix> phi(features.values().data() + begin * d_, d_, count);
    generators_ = maps_[static_cast<std::size_t>(learned_.set_index(h))].lazyProduct(phi);
    gathered_.resize(rows, count);
    double cancelled = 0;
    for (Index j = 0; j < count; ++j) {
        cancelled +=
            phi.col(j).norm() * rounding_[static_cast<std::size_t>(targets[static_cast<std::size_t>(j)])];
        std::copy_n(moved_.data() + (targets[static_cast<std::size_t>(j)] * sets_ + first_) * p_, rows,
                    gathered_.data() + j * rows);
    }
    // All sets at once, as their blocks are short; each block is the transpose of rho_h rho_k G_h B_k G_k'.
    products_.setZero(rows, p_);
    for (Index c = 0; c < p_; ++c)
        for (Index j = 0; j < count; ++j) products_.col(c).noalias() += generators_(c, j) * gathered_.col(j);
    double bound = 0;
    for (Index row = 0; row < rows; row += p_) bound += largest_singular_value(row);
    // Either factor of a product is off by some d sqrt(d) roundings of its size, and their sum by `count` of
    // the sum of sizes, which the products, nearly cancelling, may be far below.
    const auto d = static_cast<double>(d_);
    const double unit =
        (8 * d * std::sqrt(d) + 2 * static_cast<double>(count) + 8) * std::numeric_limits<double>::epsilon();
    return bound * outward + unit * sizes_[static_cast<std::size_t>(learned_.set_index(h))] * cancelled;
}

double SecondOrder::largest_singular_value(Index row) const {
    // From above by (tr (C'C)^2)^(1/4): within p^(1/4), and much closer where singular values decay. Scaled
    // first, so that no power underflows.
    const auto block = products_.middleRows(row, p_);
    const double size = block.squaredNorm();
    if (!(size > 0)) return 0;
    double trace = 0;
    for (Index c = 0; c < p_; ++c)
        for (Index b = 0; b <= c; ++b) {
            double dot = 0;
            for (Index r = 0; r < p_; ++r) dot += block(r, b) * block(r, c);
            dot /= size;
            trace += (b == c ? 1 : 2) * dot * dot;
        }
    return std::sqrt(size * std::sqrt(trace));
}

}  // namespace alidade::detail
