#include "second_order.hpp"

#include <cmath>

namespace alidade::detail {

namespace {

/// For rounding in the products below, which are some hundred operations long.
constexpr double outward = 1 + 1e-9;

}  // namespace

SecondOrder::SecondOrder(const LearnedModel& learned)
    : learned_(learned),
      d_(learned.model().features().features()),
      p_(learned.sets().empty() ? 0 : learned.sets().front().dimension()),
      sets_(static_cast<Index>(learned.sets().size())),
      moved_(static_cast<std::size_t>(learned.shape().states * sets_ * p_)),
      product_(p_, p_),
      square_(p_, p_) {
    for (const ConfidenceSet& set : learned.sets())
        maps_.push_back(set.refined_radius() * set.estimate().inverse_factor.lazyProduct(
                                                   set.parameters().space().basis.transpose()));
}

void SecondOrder::prepare(Index first, std::span<const double> sums) {
    first_ = first;
    for (State s = 0; s < learned_.shape().states; ++s)
        for (Index set = first; set < sets_; ++set) {
            const Eigen::Map<const Vector> sum(sums.data() + (s * sets_ + set) * d_, d_);
            Eigen::Map<Vector>(moved_.data() + (s * sets_ + set) * p_, p_) =
                maps_[static_cast<std::size_t>(set)].lazyProduct(sum);
        }
}

double SecondOrder::operator()(Step h, Index pair) {
    if (p_ == 0 || first_ >= sets_) return 0;
    const FeatureMap& features = learned_.model().features();
    const Index begin = features.first_entry(pair), count = features.successors(pair);
    const auto targets = features.targets(pair);
    const Eigen::Map<const Matrix> phi(features.values().data() + begin * d_, d_, count);
    generators_ = maps_[static_cast<std::size_t>(learned_.set_index(h))].lazyProduct(phi);
    double bound = 0;
    for (Index set = first_; set < sets_; ++set) {
        product_.setZero();
        for (Index j = 0; j < count; ++j) {
            const double* generator = generators_.data() + j * p_;
            const double* moved = moved_.data() + (targets[static_cast<std::size_t>(j)] * sets_ + set) * p_;
            double* column = product_.data();
            for (Index c = 0; c < p_; ++c, column += p_)
                for (Index r = 0; r < p_; ++r) column[r] += generator[r] * moved[c];
        }
        bound += largest_singular_value();
    }
    return bound * outward;
}

double SecondOrder::largest_singular_value() {
    // From above by (tr (C'C)^4)^(1/8), within p^(1/8); scaled first, so that no power underflows.
    const double size = product_.norm();
    if (!(size > 0)) return 0;
    const auto multiply = [this](const Matrix& left, const Matrix& right, Matrix& result) {
        for (Index c = 0; c < p_; ++c)
            for (Index r = 0; r <= c; ++r) {
                double sum = 0;
                for (Index i = 0; i < p_; ++i) sum += left(i, r) * right(i, c);
                result(r, c) = result(c, r) = sum;
            }
    };
    product_ /= size;
    multiply(product_, product_, square_);
    multiply(square_, square_, product_);
    return size * std::sqrt(std::sqrt(std::sqrt(product_.squaredNorm())));
}

}  // namespace alidade::detail
