#include "alidade/certify/reward_class.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "catalogue.hpp"
#include "thorough_widths.hpp"

namespace alidade {

RewardClass::RewardClass(Reward caps, double total) : caps_(std::move(caps)), total_(total) {}

RewardClass RewardClass::all(const Shape& shape) {
    return below(Reward::constant(shape, 1));
}

RewardClass RewardClass::total(const Shape& shape, double most) {
    expects(most > 0 && most <= static_cast<double>(shape.horizon),
            "the total is {}; must be positive and at most the horizon, {}", most, shape.horizon);
    return {Reward::constant(shape, 1), most};
}

RewardClass RewardClass::at_steps(const Shape& shape, std::span<const Step> steps) {
    validate(shape);
    expects(!steps.empty(), "a class of rewards at given steps needs one at least");
    std::vector<double> caps(at(shape.horizon * shape.pairs()), 0.0);
    for (const Step h : steps) {
        expects(h >= 0 && h < shape.horizon, "a reward at step {}; steps are 0 to {}", h, shape.horizon - 1);
        std::fill_n(caps.begin() + h * shape.pairs(), shape.pairs(), 1.0);
    }
    return below(Reward(shape, std::move(caps)));
}

RewardClass RewardClass::in_states(const Shape& shape, std::span<const State> states) {
    validate(shape);
    expects(!states.empty(), "a class of rewards in given states needs one at least");
    std::vector<double> caps(at(shape.pairs()), 0.0);
    for (const State s : states) {
        expects(s >= 0 && s < shape.states, "a reward in state {}; states are 0 to {}", s, shape.states - 1);
        std::fill_n(caps.begin() + shape.pair(s, 0), shape.actions, 1.0);
    }
    return below(Reward(shape, std::move(caps)));
}

RewardClass RewardClass::below(Reward caps) {
    return {std::move(caps), std::numeric_limits<double>::infinity()};
}

RewardClass RewardClass::both(const RewardClass& other) const {
    expects(shape() == other.shape(), "two classes of rewards with {} and {} states; must have one shape",
            shape().states, other.shape().states);
    const bool stationary = caps_.stationary() && other.caps_.stationary();
    std::vector<double> caps;
    for (Step h = 0; h < (stationary ? 1 : shape().horizon); ++h)
        for (std::size_t pair = 0; pair < at(shape().pairs()); ++pair)
            caps.push_back(std::min(caps_.at(h)[pair], other.caps_.at(h)[pair]));
    return {Reward(shape(), std::move(caps)), std::min(total_, other.total_)};
}

ClassCertificate certify_class(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardClass& rewards, const RewardFreeOptions& options) {
    expects(options.ranges, "a class of rewards has ranges of its own; the paper's are of all rewards");
    detail::RewardFreeWork work(learned, deviations, options, &rewards);
    const double most = work.caps().most_at(learned.model().start());
    RewardFreeCertificate found = detail::certify_by(work, most);
    return {found.bound,
            most,
            found.vacuous,
            std::move(found.method),
            std::move(found.candidates),
            found.failure_probability,
            std::move(found.contributions)};
}

ClassCertificate certify_class(const Knowledge& knowledge, const RewardClass& rewards,
                               const RewardFreeOptions& options) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    const RewardFreeCertificate& free = knowledge.certificate;
    const LearnedModel& learned = *knowledge.learned;
    const WidthOptions effort = detail::thorough_widths(learned.uncertain_steps(), learned.shape().pairs());
    ClassCertificate certificate =
        certify_class(learned, DeviationTable::by_widths(learned, effort, options.threads), rewards, options);
    // What holds for all rewards in [0, 1] holds for these; it may rest on sets, or on luck in a search, that
    // the class has not. Its proof may be one of rewards that do not know the past.
    if (rewards.of_histories() || free.candidates.empty() || !options.certificates.empty() ||
        free.failure_probability > certificate.failure_probability)
        return certificate;
    expects(free.any_plan >= free.bound,
            "the reward-free certificate claims {} of any plan, and {} of greedy ones; must not be less",
            free.any_plan, free.bound);
    // The class is about plans that are optimal in the model from the start, or nearly: not about greedy ones
    // alone.
    certificate.candidates.emplace_back("reward-free", free.any_plan);
    if (free.any_plan < certificate.bound) {
        certificate.bound = free.any_plan;
        certificate.method = "reward-free";
        certificate.vacuous = false;
    }
    return certificate;
}

}  // namespace alidade
