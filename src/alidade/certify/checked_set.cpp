#include "checked_set.hpp"

#include "../theory/radii.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

std::vector<CheckedSet> checked_sets(const FeatureMap& features, const Counts& counts, bool homogeneous) {
    expects(counts.over(features), "counts are of other successors than the features'");
    const Index steps = counts.shape().learned_steps();
    std::vector<CheckedSet> sets(at(homogeneous ? std::min<Index>(1, steps) : steps));
    for (std::size_t k = 0; k < sets.size(); ++k) {
        CheckedSet& set = sets[k];
        if (homogeneous) {
            set.seen = counts.pooled();
            set.by_step.emplace().features = features.features();
            for (Step h = 0; h < steps; ++h) set.by_step->add(features, counts.seen(h), h);
        } else {
            set.step = static_cast<Step>(k);
            const auto seen = counts.seen(*set.step);
            set.seen.assign(seen.begin(), seen.end());
        }
        set.likelihood = likelihood_rows(features, set.seen);
        set.fit = maximise_likelihood(set.likelihood);
        set.rows.features = features.features();
        set.rows.add(features, set.seen, set.step);
        set.predicted = set.rows.predicted(set.fit.weights);
        set.regret = mixture_regret(set.rows.informative_count(), features.features());
        if (set.by_step) set.predicted_by_step = set.by_step->predicted(set.fit.weights);
    }
    return sets;
}

}  // namespace alidade::detail
