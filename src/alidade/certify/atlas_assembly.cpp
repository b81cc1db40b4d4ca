#include <algorithm>
#include <map>

#include "../theory/radii.hpp"
#include "atlas_search.hpp"

namespace alidade::detail {

Atlas AtlasSearch::atlas() {
    Atlas atlas;
    atlas.objectives = objectives_.count();
    atlas.horizon = objectives_.shape().horizon;
    atlas.at_least =
        options_.at_least.empty() ? std::vector<double>(at(atlas.objectives), 0.0) : options_.at_least;
    atlas.at_most =
        options_.at_most.empty() ? std::vector<double>(at(atlas.objectives), 1.0) : options_.at_most;
    for (DoneCell& done : done_) {
        cells_.close(done.leaf, static_cast<Index>(atlas.cells.size()));
        atlas.cells.push_back(std::move(done.cell));
    }
    atlas.corners = cells_.corners();
    atlas.tree = cells_.tree();
    atlas.asked = options_.loss;
    atlas.certificates = static_cast<Index>(points_.size());
    atlas.rounds = rounds_;
    atlas.failure_probability = knowledge_.learned->delta();
    atlas.episodes = knowledge_.episodes;
    atlas.reward_free = knowledge_.certificate.candidates.empty()
                            ? horizon_
                            : std::min(horizon_, knowledge_.certificate.bound);
    atlas.floor = -1;
    for (const auto& [corner, place] : places_) {
        if (place.floor > atlas.floor) {
            atlas.floor = place.floor;
            atlas.floor_weights = weights(corner);
        }
        atlas.outer.push_back({weights(corner), std::min(horizon_, place.optimal_upper)});
    }
    double largest = 0;
    for (const AtlasCell& cell : atlas.cells) largest = std::max(largest, cell.loss_bound);
    // Corners and their rewards are rounded: by Lemma 1 that moves a loss by H times what weights are off.
    atlas.loss_bound = std::min(horizon_, largest + rounding_slack(atlas.horizon));
    if (limit_ != AtlasLimit::interrupted && largest <= options_.loss)
        limit_ = AtlasLimit::target;
    else if (limit_ == AtlasLimit::target || (limit_ == AtlasLimit::resolution && largest <= level_))
        limit_ = AtlasLimit::data;
    atlas.limit = limit_;
    keep_used(atlas);
    return atlas;
}

/// Plans that have a cell, those with the larger share of weights first, and what is certain of their values.
void AtlasSearch::keep_used(Atlas& atlas) {
    struct Use {
        double share = 0, bound = 0;
    };
    std::map<Index, Use> used;
    double region = 0;
    for (const AtlasCell& cell : atlas.cells) {
        Use& use = used[cell.policy];
        const double volume = cells_.volume(cell.corners);
        use.share += volume;
        use.bound = std::max(use.bound, cell.loss_bound);
        region += volume;
    }
    std::vector<Index> order;
    order.reserve(used.size());
    for (const auto& [plan, use] : used) order.push_back(plan);
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](Index plan) { return used[plan].share; });
    std::map<Index, Index> numbers;
    for (const Index plan : order) {
        const PlanOfWeights& of = plans_[at(plan)];
        numbers[plan] = static_cast<Index>(atlas.policies.size());
        atlas.policies.push_back(
            {of.policy, of.made_for, used[plan].share / region, used[plan].bound, of.values, {}});
    }
    for (AtlasCell& cell : atlas.cells) cell.policy = numbers[cell.policy];
    value_intervals(atlas, order);
}

void AtlasSearch::value_intervals(Atlas& atlas, const std::vector<Index>& plans) {
    std::vector<Question> questions;
    for (const Index plan : plans)
        for (Index unit = 0; unit < atlas.objectives; ++unit)
            if (!points_.contains({unit, plan})) questions.push_back({unit, plan});
    const std::vector<RewardCertificate> found = certificates(questions);
    std::map<Question, Interval> values;
    for (std::size_t i = 0; i < questions.size(); ++i) values[questions[i]] = found[i].value;
    for (std::size_t i = 0; i < plans.size(); ++i)
        for (Index unit = 0; unit < atlas.objectives; ++unit) {
            const auto point = points_.find({unit, plans[i]});
            atlas.policies[i].values.push_back(point == points_.end() ? values[{unit, plans[i]}]
                                                                      : point->second.value);
        }
}

}  // namespace alidade::detail
