#include "alidade/audit/atlas_audit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"
#include "contained_truth.hpp"

namespace alidade {

namespace {

constexpr double excess_allowed = 1e-9;

/// Uniform over the region: those outside are drawn again, up to a point.
std::vector<double> random_weights_in(const Atlas& atlas, Stream& random) {
    constexpr int tries = 1000;
    std::vector<double> weights;
    for (int i = 0; i < tries; ++i) {
        weights = sample_dirichlet(random, atlas.objectives, 1.0);
        bool inside = true;
        for (std::size_t k = 0; k < weights.size(); ++k)
            inside = inside && weights[k] >= atlas.at_least[k] && weights[k] <= atlas.at_most[k];
        if (inside) return weights;
    }
    return {};
}

}  // namespace

AtlasAudit audit(const Atlas& atlas, const Knowledge& knowledge, const Objectives& objectives,
                 const Problem& problem, const AtlasAuditOptions& options) {
    expects(problem.truth_known(), "the truth is not known: there is nothing to compare with");
    expects(options.weights >= 0, "weights is {}; must not be negative", options.weights);
    const TransitionModel truth = problem.true_system();
    AtlasAudit result;
    result.truth_in_confidence_set = detail::contains_truth(knowledge, problem);
    const auto compare = [&](const std::vector<double>& weights, Index policy, double bound) {
        const Reward reward = objectives.weighted(weights);
        const double loss = backward_induction(truth, reward).value -
                            evaluate(truth, atlas.policies[at(policy)].policy, reward).value;
        ++result.checks;
        result.violations += loss > bound + excess_allowed ? 1 : 0;
        result.worst_loss = std::max(result.worst_loss, loss);
    };
    for (const AtlasCell& cell : atlas.cells)
        for (std::size_t j = 0; j < cell.corners.size(); ++j)
            compare(atlas.corners[at(cell.corners[j])], cell.policy, cell.bounds[j]);
    Stream random(options.seed, Purpose::audit, 1);
    for (Index i = 0; i < options.weights; ++i) {
        const std::vector<double> weights = random_weights_in(atlas, random);
        if (weights.empty()) break;
        const AtlasAnswer answer = atlas.at(weights);
        compare(weights, answer.policy, answer.loss_bound);
    }
    return result;
}

}  // namespace alidade
