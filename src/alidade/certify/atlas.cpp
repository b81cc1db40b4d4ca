#include "alidade/certify/atlas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "../model/parallel.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "atlas_search.hpp"
#include "sharper_certificate.hpp"

namespace alidade {

namespace {

void require_atlas_knowledge(const Knowledge& knowledge, const Objectives& objectives) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    const Shape& shape = knowledge.learned->shape();
    expects(objectives.shape() == shape,
            "the objectives' shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
}

/// A region of weights without room would have cells without volume, and plans without a share.
void require_room(const std::vector<double>& at_least, const std::vector<double>& at_most, Index objectives) {
    for (const auto* const bounds : {&at_least, &at_most}) {
        if (bounds->empty()) continue;
        expects(static_cast<Index>(bounds->size()) == objectives,
                "there are {} bounds of weights; must be {}, one an objective", bounds->size(), objectives);
        for (const double bound : *bounds)
            expects(bound >= 0 && bound <= 1, "a bound of a weight is {}; must be from 0 to 1", bound);
    }
    // As the shortest edge; and with so much of it, what corners are rounded by is nothing.
    constexpr double least_room = 1e-4;
    double least = 0, most = 0;
    for (std::size_t i = 0; i < at(objectives); ++i) {
        const double from = at_least.empty() ? 0 : at_least[i], to = at_most.empty() ? 1 : at_most[i];
        expects(to >= from + least_room,
                "the weight of objective {} is to be from {} to {}; there must be room of {} between them", i,
                from, to, least_room);
        least += from;
        most += to;
    }
    expects(least <= 1 - least_room && most >= 1 + least_room,
            "the least weights sum to {} and the largest to {}; weights sum to 1, so there must be room "
            "below and "
            "above",
            least, most);
}

/// Something that an atlas says, to be computed again.
struct Claim {
    const std::vector<double>* weights = nullptr;
    const Policy* policy = nullptr;   // none: the plan that is optimal in the model for the weights
    double loss_bound = 0;            // the claim, of a policy
    const Interval* value = nullptr;  // the claim about its value, if there is one
    double optimal_upper = 0;         // the claim, of no policy
};

double excess(const Claim& claim, const Knowledge& knowledge, const DeviationTable& deviations,
              const Objectives& objectives) {
    const Reward reward = objectives.weighted(*claim.weights);
    const auto certificate_of = [&](const Policy& policy, int sharpened) {
        return detail::certify_reward_sharply(knowledge, deviations, reward, policy, 1, sharpened);
    };
    if (!claim.policy) {
        const Policy own = backward_induction(knowledge.learned->model(), reward).policy;
        const RewardCertificate found = certificate_of(own, 1);
        return std::min(found.optimal_upper, found.value.upper + found.loss_bound) - claim.optimal_upper;
    }
    const RewardCertificate found = certificate_of(*claim.policy, 1);
    if (claim.value)
        return std::max(claim.value->lower - found.value.lower, found.value.upper - claim.value->upper);
    if (found.loss_bound <= claim.loss_bound) return found.loss_bound - claim.loss_bound;
    return certificate_of(*claim.policy, detail::most_sharpened).loss_bound - claim.loss_bound;
}

std::vector<Claim> claims_of(const Atlas& atlas) {
    std::vector<Claim> claims;
    std::set<std::tuple<Index, Index, double>> said;
    for (const AtlasCell& cell : atlas.cells)
        for (std::size_t j = 0; j < cell.corners.size(); ++j)
            if (said.emplace(cell.corners[j], cell.policy, cell.bounds[j]).second)
                claims.push_back({&atlas.corners[at(cell.corners[j])],
                                  &atlas.policies[at(cell.policy)].policy, cell.bounds[j], nullptr, 0});
    for (const AtlasPolicy& policy : atlas.policies)
        for (std::size_t i = 0; i < policy.values.size(); ++i)
            claims.push_back({&atlas.corners[i], &policy.policy, 0, &policy.values[i], 0});
    for (const AtlasOuter& outer : atlas.outer)
        claims.push_back({&outer.weights, nullptr, 0, nullptr, outer.optimal_upper});
    return claims;
}

}  // namespace

std::string to_string(AtlasLimit limit) {
    switch (limit) {
        case AtlasLimit::target:
            return "target";
        case AtlasLimit::data:
            return "data";
        case AtlasLimit::budget:
            return "budget";
        case AtlasLimit::resolution:
            return "resolution";
        case AtlasLimit::interrupted:
            break;
    }
    return "interrupted";
}

Atlas make_atlas(const Knowledge& knowledge, const Objectives& objectives, const AtlasOptions& options) {
    require_atlas_knowledge(knowledge, objectives);
    expects(options.loss >= 0 && std::isfinite(options.loss), "the loss asked for is {}; must be 0 or more",
            options.loss);
    expects(options.certificates >= 1, "the budget is {} certificates; must be at least 1",
            options.certificates);
    expects(options.shortest_edge > 0 && options.shortest_edge < 1,
            "the shortest edge is {}; must lie strictly between 0 and 1", options.shortest_edge);
    require_room(options.at_least, options.at_most, objectives.count());
    return detail::AtlasSearch(knowledge, objectives, options).run();
}

double recheck(const Atlas& atlas, const Knowledge& knowledge, const Objectives& objectives,
               Threads threads) {
    require_atlas_knowledge(knowledge, objectives);
    expects(objectives.count() == atlas.objectives, "there are {} objectives; the atlas is of {}",
            objectives.count(), atlas.objectives);
    check_cover(atlas);
    ensures(atlas.horizon == knowledge.learned->shape().horizon, "the atlas has the horizon {}, the model {}",
            atlas.horizon, knowledge.learned->shape().horizon);
    ensures(atlas.failure_probability >= knowledge.learned->delta(),
            "the atlas is said to fail with probability {}, its confidence sets do with {}",
            atlas.failure_probability, knowledge.learned->delta());
    const DeviationTable deviations = DeviationTable::of(*knowledge.learned);
    const std::vector<Claim> claims = claims_of(atlas);
    std::vector<double> excesses(claims.size());
    detail::in_chunks(static_cast<Index>(claims.size()), 1, threads, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i)
            excesses[at(i)] = excess(claims[at(i)], knowledge, deviations, objectives);
    });
    // A claim that is no number follows from nothing.
    if (std::ranges::any_of(excesses, [](double x) { return std::isnan(x); }))
        return std::numeric_limits<double>::infinity();
    return std::ranges::max(excesses);
}

}  // namespace alidade
