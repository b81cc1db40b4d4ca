#include "alidade/certify/knowledge.hpp"

#include <utility>

#include "alidade/certify/deviation.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/tangent_space.hpp"

namespace alidade {

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const CertifyOptions& options) {
    WidthTable widths(static_cast<Index>(sets.size()), *task.features);
    const TangentFeatures tangent(*task.features, ParameterSet::of(*task.features).space());
    bracket_widths(*task.features, tangent, sets, options.widths, options.threads, widths);
    LearnedModel learned(task.features, task.horizon, task.start, task.homogeneous, std::move(sets),
                         options.delta, task.misspecification);
    RewardFreeCertificate certificate = certify_reward_free(
        learned, DeviationTable(learned, widths), {.trajectory_kl = true, .hybrid = true, .ltv = true});
    return {std::move(learned), std::move(certificate), options.episodes};
}

}  // namespace alidade
