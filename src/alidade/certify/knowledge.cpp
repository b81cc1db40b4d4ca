#include "alidade/certify/knowledge.hpp"

#include <memory>
#include <utility>

#include "alidade/certify/deviation.hpp"
#include "alidade/error.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/tangent_space.hpp"

namespace alidade {

const LearnedMixture& Knowledge::mixture(std::string_view what) const {
    expects(learned != nullptr, "the knowledge has no learned model");
    return learned->as_mixture(what);
}

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const CertifyOptions& options) {
    WidthTable widths(static_cast<Index>(sets.size()), *task.features);
    const TangentFeatures tangent(*task.features, ParameterSet::of(*task.features).space());
    bracket_widths(*task.features, tangent, sets, options.widths, options.threads, widths);
    return certify(task, std::move(sets), widths, options);
}

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const WidthTable& widths,
                  const CertifyOptions& options) {
    const auto learned = std::make_shared<const LearnedMixture>(task, std::move(sets), options.delta);
    RewardFreeOptions wanted = options.reward_free;
    wanted.threads = options.threads;
    RewardFreeCertificate certificate =
        certify_reward_free(*learned, DeviationTable(*learned, widths), wanted);
    return {learned, std::move(certificate), options.episodes};
}

}  // namespace alidade
