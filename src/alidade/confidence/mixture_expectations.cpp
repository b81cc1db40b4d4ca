#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/confidence/learned_mixture.hpp"

namespace alidade {

namespace {

/// Over the confidence set of a step, and over all laws that are farther from it by the misspecification at
/// most: they move a value by that share of its span [theory §1.1].
class MixtureExpectations final : public ExpectationBounds {
public:
    MixtureExpectations(const LearnedMixture& learned, WorstCase worst)
        : learned_(learned),
          features_(learned.model().features()),
          direction_(static_cast<std::size_t>(features_.features())) {
        // Support functions are monotone in the value, which closed forms need not be.
        if (worst == WorstCase::solver)
            for (const ConfidenceSet& set : learned.sets()) supports_.push_back(set.support_function());
    }

    Interval operator()(Step h, Index pair, std::span<const double> value) override {
        if (!(learned_.misspecification() > 0) || learned_.reach() == Reach::support)
            return knowing_extremes(h, pair, value, {});
        const auto [least, most] = std::ranges::minmax(value);
        return knowing_extremes(h, pair, value, {least, most});
    }

    Interval knowing_extremes(Step h, Index pair, std::span<const double> value,
                              const Interval& extremes) override {
        if (h + 1 >= learned_.shape().horizon) return {0, 0};
        const double largest = aim(pair, value);
        Interval range = learned_.set(h).range(direction_);
        if (!supports_.empty())
            range = cut(range, supports_[static_cast<std::size_t>(learned_.set_index(h))]);
        if (largest > 0 && range.upper < underflow)
            range = {range.lower - underflowing(pair), range.upper + underflowing(pair)};
        if (learned_.misspecification() > 0) {
            // Over all states, as the truth may lead to any, or over those of the row; but no mean leaves
            // the range [misspecification §3, S(zeta)].
            const Interval reached =
                learned_.reach() == Reach::support ? extremes_of_row(pair, value) : extremes;
            const double off = learned_.misspecification() * (reached.upper - reached.lower);
            range = {std::max(reached.lower, range.lower - off),
                     std::min(reached.upper, range.upper + off)};
        }
        return range;
    }

    double upper_knowing_extremes(Step h, Index pair, std::span<const double> value,
                                  const Interval& extremes) override {
        // The solver's ends and those of a truth off its mixture are not worth a second way to compute them.
        if (!supports_.empty() || learned_.misspecification() > 0)
            return knowing_extremes(h, pair, value, extremes).upper;
        if (h + 1 >= learned_.shape().horizon) return 0;
        const double largest = aim(pair, value), upper = learned_.set(h).upper(direction_);
        return largest > 0 && upper < underflow ? upper + underflowing(pair) : upper;
    }

private:
    static constexpr double underflow = 1e-300;

    /// Makes phi_V of the pair the direction; returns the largest |V(s')| of a successor.
    double aim(Index pair, std::span<const double> value) {
        const Index d = features_.features();
        std::ranges::fill(direction_, 0.0);
        double largest = 0;
        for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
            const double v = value[at(features_.targets()[at(e)])];
            const double* phi = features_.values().data() + e * d;
            largest = std::max(largest, std::abs(v));
            for (Index i = 0; i < d; ++i) direction_[at(i)] += v * phi[i];
        }
        return largest;
    }
    Interval extremes_of_row(Index pair, std::span<const double> value) const {
        const auto targets = features_.targets(pair);
        Interval extremes{value[at(targets.front())], value[at(targets.front())]};
        for (const std::int32_t target : targets) {
            extremes.lower = std::min(extremes.lower, value[at(target)]);
            extremes.upper = std::max(extremes.upper, value[at(target)]);
        }
        return extremes;
    }
    /// Each product may have been rounded by the least number there is: zero must be a proof.
    double underflowing(Index pair) const {
        return static_cast<double>(features_.successors(pair)) * std::numeric_limits<double>::denorm_min();
    }

    /// Both are bounds, so the tighter end on each side is one.
    Interval cut(Interval range, const SupportFunction& support) {
        range.upper = std::min(range.upper, support.bracket(direction_).upper);
        for (double& element : direction_) element = -element;
        range.lower = std::max(range.lower, -support.bracket(direction_).upper);
        return range;
    }

    const LearnedMixture& learned_;
    const FeatureMap& features_;
    std::vector<double> direction_;
    std::vector<SupportFunction> supports_;
};

}  // namespace

std::unique_ptr<ExpectationBounds> LearnedMixture::expectations(WorstCase worst) const {
    return std::make_unique<MixtureExpectations>(*this, worst);
}

}  // namespace alidade
