#include "alidade/certify/atlas_goal.hpp"

#include <algorithm>
#include <utility>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"

namespace alidade {

namespace {

/// Weights that are remembered.
constexpr std::size_t remembered = 12;

}  // namespace

AtlasGoal::AtlasGoal(Objectives objectives, AtlasOptions options)
    : objectives_(std::move(objectives)), options_(std::move(options)) {
    expects(options_.loss > 0, "the loss to be met is {}; must be more than 0", options_.loss);
    options_.give_up = options_.loss;
}

bool AtlasGoal::still_open(const Knowledge& knowledge, const std::vector<double>& weights) const {
    const Reward reward = objectives_.weighted(weights);
    const Policy own = backward_induction(knowledge.learned->model(), reward, options_.threads).policy;
    return certify_reward(*knowledge.learned, reward, own, options_.threads).loss_bound > options_.loss;
}

bool AtlasGoal::met(const Knowledge& knowledge) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    const auto open = std::ranges::find_if(
        failed_, [&](const std::vector<double>& weights) { return still_open(knowledge, weights); });
    if (open != failed_.end()) {
        std::rotate(failed_.begin(), open, open + 1);
        return false;
    }
    const Atlas atlas = make_atlas(knowledge, objectives_, options_);
    if (atlas.limit == AtlasLimit::target) return true;
    failed_.push_front(atlas.floor_weights);
    if (failed_.size() > remembered) failed_.pop_back();
    return false;
}

}  // namespace alidade
