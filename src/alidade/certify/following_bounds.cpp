#include "following_bounds.hpp"

#include <utility>

#include "mixture_recursions.hpp"

namespace alidade::detail {

FollowingBounds::FollowingBounds(const LearnedModel& learned, WorstCase worst, Threads threads)
    : learned_(learned), worst_(worst) {
    // A truth that is off its mixture may lead anywhere, which is asked pair by pair.
    if (worst == WorstCase::closed_form && by_operator(learned) && learned.mixture()->misspecification() == 0)
        passes_ = local_operator(learned.mixture()->model().features(), threads);
}

void FollowingBounds::enter(Step h, std::vector<AskedValue> values) {
    h_ = h;
    values_ = std::move(values);
    held_ = passes_ != nullptr && h + 1 < learned_.shape().horizon;
    if (!held_) return;
    const LearnedMixture& mixture = *learned_.mixture();
    const WeightBall ball = mixture.set(h).ball();
    const auto pairs = at(learned_.shape().pairs());
    ends_.resize(values_.size());
    std::vector<BallStep> together;
    for (std::size_t k = 0; k < values_.size(); ++k) {
        const auto& [value, lower, upper] = values_[k];
        ends_[k].lower.resize(lower ? pairs : 0);
        ends_[k].upper.resize(upper ? pairs : 0);
        const auto alone = [this, h, asked = value](Index pair) {
            return SetBackup(learned_)(h, pair, asked);
        };
        together.push_back({&ball, value, alone, ends_[k].lower, ends_[k].upper});
    }
    passes_->bracket(together);
}

}  // namespace alidade::detail
