#include "alidade/certify/knowledge.hpp"

#include <memory>
#include <utility>

#include "alidade/certify/deviation.hpp"
#include "alidade/error.hpp"

namespace alidade {

const LearnedMixture& Knowledge::mixture(std::string_view what) const {
    expects(learned != nullptr, "the knowledge has no learned model");
    return learned->as_mixture(what);
}

namespace {

Knowledge certified(const std::shared_ptr<const LearnedMixture>& learned, const DeviationTable& deviations,
                    const CertifyOptions& options) {
    RewardFreeOptions wanted = options.reward_free;
    wanted.threads = options.threads;
    return {learned, certify_reward_free(*learned, deviations, wanted), options.episodes};
}

}  // namespace

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const CertifyOptions& options) {
    const auto learned = std::make_shared<const LearnedMixture>(task, std::move(sets), options.delta);
    return certified(learned, DeviationTable::by_widths(*learned, options.widths, options.threads), options);
}

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const WidthTable& widths,
                  const CertifyOptions& options) {
    return certify(task, std::move(sets), widths.upper, options);
}

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, std::vector<double> upper,
                  const CertifyOptions& options) {
    const auto learned = std::make_shared<const LearnedMixture>(task, std::move(sets), options.delta);
    return certified(learned,
                     DeviationTable(task.features->pairs(), learned->homogeneous(),
                                    learned->variations(std::move(upper), options.threads)),
                     options);
}

}  // namespace alidade
