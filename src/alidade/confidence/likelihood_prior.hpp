#pragma once

#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/types.hpp"

// What likelihood sets rest on that is fixed before any data are seen.
namespace alidade::detail {

/// Which mixtures a likelihood set is watched by. It defines the event, so that a run must say beforehand.
enum class Radius {
    centred,  ///< also one whose law is about the hypothesis that is tested; delta only where there is
              ///< something to learn
    plain,  ///< none of them depends on the hypothesis, and all sets share delta: as runs had it that do not
            ///< say
};

/// Of `centred`: the metric of the law about a hypothesis, and which sets have something to learn. A
/// function of the problem alone.
struct LikelihoodPrior {
    Matrix metric;            ///< A_1, p x p in tangent coordinates; none: the identity
    std::vector<bool> tells;  ///< of every set; none: all do
};

/// A_1: the mean over all pairs of sum_j phi_j phi_j' / (mean of phi_j), in tangent coordinates: what a visit
/// tells at equal weights. Of base models [docs/algorithms/likelihood.md, The metric].
Matrix mean_information(const FeatureMap& features);

/// Of every learned step, whether some pair that can be reached at it, by the start and the base models'
/// supports, tells base models apart: at the others all weights have the same likelihood for ever.
std::vector<bool> telling_steps(const FeatureMap& features, const StartLaw& start, Index horizon);

/// Both; of pooled steps there is one set.
LikelihoodPrior likelihood_prior(const FeatureMap& features, const StartLaw& start, Index horizon,
                                 bool homogeneous);

}  // namespace alidade::detail
