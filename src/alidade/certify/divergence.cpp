#include "divergence.hpp"

#include "alidade/error.hpp"

namespace alidade::detail {

bool DivergenceTable::applies(const LearnedModel& learned) {
    return learned.divergence_refusal().empty();
}

DivergenceTable::DivergenceTable(const LearnedModel& learned, Divergence divergence, Threads threads)
    : pairs_(learned.shape().pairs()),
      homogeneous_(learned.homogeneous()),
      divergence_(divergence),
      values_(learned.divergences(divergence, threads)) {}

void DivergenceTable::require_fit(const LearnedModel& learned, Divergence divergence) const {
    const std::string refusal = learned.divergence_refusal();
    expects(refusal.empty(), "{}", refusal);
    expects(divergence == divergence_, "divergences are {}; must be {}",
            divergence_ == Divergence::kl ? "KL" : "chi-square",
            divergence == Divergence::kl ? "KL" : "chi-square");
    const Index steps = learned.uncertain_steps();
    expects(pairs_ == learned.shape().pairs() && values_.size() == alidade::at(steps * pairs_) &&
                (homogeneous_ == learned.homogeneous() || steps <= 1),
            "divergences are {} numbers for {} pairs; the learned model has {} uncertain steps of {} pairs",
            values_.size(), pairs_, steps, learned.shape().pairs());
}

}  // namespace alidade::detail
