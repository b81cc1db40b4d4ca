#include "second_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace alidade::detail {

namespace {

/// For rounding in the singular values, all of whose terms have one sign.
constexpr double singular_slack = 1 + 1e-12;

/// From above by (tr (C'C)^2)^(1/4): within p^(1/4), and much closer where singular values decay. Scaled
/// first, so that no power underflows.
double largest_singular_value(const Eigen::Ref<const Matrix>& block) {
    const double size = block.squaredNorm();
    if (!(size > 0)) return 0;
    double trace = 0;
    for (Index c = 0; c < block.cols(); ++c)
        for (Index b = 0; b <= c; ++b) {
            double dot = 0;
            for (Index r = 0; r < block.rows(); ++r) dot += block(r, b) * block(r, c);
            dot /= size;
            trace += (b == c ? 1 : 2) * dot * dot;
        }
    return std::sqrt(size * std::sqrt(trace));
}

}  // namespace

SecondOrder::SecondOrder(const LearnedMixture& learned)
    : learned_(learned),
      d_(learned.model().features().features()),
      p_(learned.sets().empty() ? 0 : learned.sets().front().dimension()),
      sets_(static_cast<Index>(learned.sets().size())),
      moved_(static_cast<std::size_t>(learned.shape().states * sets_ * p_)),
      rounding_(static_cast<std::size_t>(learned.shape().states)) {
    for (const ConfidenceSet& set : learned.sets()) {
        const Matrix& inverse = set.estimate().inverse_factor;
        // theta - theta~ = rho G' u with |u| <= 1 for all members, so a bilinear form of two such differences
        // is at most the largest singular value of the form between both maps.
        maps_.push_back(set.refined_radius() *
                        inverse.lazyProduct(set.parameters().space().basis.transpose()));
        sizes_.push_back(set.refined_radius() * inverse.norm() * singular_slack);
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

void SecondOrder::form(Step h, Index pair, Scratch& scratch, Form& result) const {
    auto& [generators, gathered] = scratch;
    const Index rows = (sets_ - first_) * p_;
    result.products.setZero(rows, p_);
    result.rounding = 0;
    if (rows <= 0) return;
    const FeatureMap& features = learned_.model().features();
    const Index begin = features.first_entry(pair), count = features.successors(pair);
    const auto targets = features.targets(pair);
    const Eigen::Map<const Matrix> phi(features.values().data() + begin * d_, d_, count);
    generators = maps_[static_cast<std::size_t>(learned_.set_index(h))].lazyProduct(phi);
    gathered.resize(rows, count);
    double cancelled = 0;
    for (Index j = 0; j < count; ++j) {
        cancelled +=
            phi.col(j).norm() * rounding_[static_cast<std::size_t>(targets[static_cast<std::size_t>(j)])];
        std::copy_n(moved_.data() + (targets[static_cast<std::size_t>(j)] * sets_ + first_) * p_, rows,
                    gathered.data() + j * rows);
    }
    // All sets at once, as their blocks are short.
    for (Index c = 0; c < p_; ++c)
        for (Index j = 0; j < count; ++j)
            result.products.col(c).noalias() += generators(c, j) * gathered.col(j);
    // Either factor of a product is off by some d sqrt(d) roundings of its size, and their sum by `count` of
    // the sum of sizes, which the products, nearly cancelling, may be far below.
    const auto d = static_cast<double>(d_);
    const double unit =
        (8 * d * std::sqrt(d) + 2 * static_cast<double>(count) + 8) * std::numeric_limits<double>::epsilon();
    result.rounding = unit * sizes_[static_cast<std::size_t>(learned_.set_index(h))] * cancelled;
}

void SecondOrder::Form::add(double weight, const Form& other) {
    products += weight * other.products;
    // What either is off by, and a sum's own rounding, which is less than that of the largest sum before it.
    const double unit = 4 * std::numeric_limits<double>::epsilon() *
                        std::sqrt(static_cast<double>(std::max<Index>(1, products.rows())));
    rounding += std::abs(weight) * other.rounding +
                unit * (products.norm() + 2 * std::abs(weight) * other.products.norm());
}

double SecondOrder::bound(const Form& form) const {
    double bound = 0;
    for (Index row = 0; row < form.products.rows(); row += p_)
        bound += largest_singular_value(form.products.middleRows(row, p_));
    return bound * singular_slack + form.rounding;
}

}  // namespace alidade::detail
