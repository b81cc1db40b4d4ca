#include "set_knowledge.hpp"

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/likelihood.hpp"

namespace alidade::detail {

Knowledge knowledge_of(const Task& task, std::vector<ConfidenceSet> sets, double delta,
                       const WidthOptions& effort, int threads, std::int64_t episodes) {
    // The certificates below know of no misspecification.
    const std::string refusal = likelihood_refusal(task);
    expects(refusal.empty(), "{}", refusal);
    WidthTable widths(static_cast<Index>(sets.size()), *task.features);
    const TangentFeatures tangent(*task.features, ParameterSet::of(*task.features).space());
    bracket_widths(*task.features, tangent, sets, effort, threads, widths);
    LearnedModel learned(task.features, task.horizon, task.start, task.homogeneous, std::move(sets), delta);
    RewardFreeCertificate certificate = certify_reward_free(
        learned, DeviationTable(learned, widths), {.trajectory_kl = true, .hybrid = true, .ltv = true});
    return {std::move(learned), std::move(certificate), episodes};
}

}  // namespace alidade::detail
