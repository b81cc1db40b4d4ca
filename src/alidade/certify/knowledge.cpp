#include "alidade/certify/knowledge.hpp"

#include <algorithm>
#include <memory>
#include <span>
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

namespace {

Knowledge certified(const std::shared_ptr<const LearnedMixture>& learned, const DeviationTable& deviations,
                    const CertifyOptions& options) {
    RewardFreeOptions wanted = options.reward_free;
    wanted.threads = options.threads;
    return {learned, certify_reward_free(*learned, deviations, wanted), options.episodes};
}

}  // namespace

Knowledge certify(const Task& task, std::vector<ConfidenceSet> sets, const CertifyOptions& options) {
    const FeatureMap& features = *task.features;
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    const auto learned = std::make_shared<const LearnedMixture>(task, std::move(sets), options.delta);
    const std::size_t pairs = at(features.pairs());
    std::vector<double> values(learned->sets().size() * pairs);
    // Set by set: nobody asks for the widths of all sets at once, which would take half as much memory as the
    // features [docs/large-models.md].
    WidthTable widths(learned->sets().empty() ? 0 : 1, features);
    for (std::size_t k = 0; k < learned->sets().size(); ++k) {
        std::ranges::fill(widths.witness, std::uint8_t{0});
        // The hull of vertices needs no widths.
        if (learned->sets()[k].vertices() == nullptr)
            bracket_widths(features, tangent, std::span(learned->sets()).subspan(k, 1), options.widths,
                           options.threads, widths);
        learned->variations_of_set(static_cast<Index>(k), widths.upper_of(0), options.threads,
                                   std::span(values).subspan(k * pairs, pairs));
    }
    widths = WidthTable(0, features);
    return certified(learned, DeviationTable(features.pairs(), learned->homogeneous(), std::move(values)),
                     options);
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
