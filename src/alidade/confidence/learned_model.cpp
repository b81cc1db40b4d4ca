#include "alidade/confidence/learned_model.hpp"

#include <algorithm>

#include "alidade/confidence/learned_linear.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"

namespace alidade {

Index confidence_sets(Index horizon, bool homogeneous) {
    // No reward comes after the last transition, so it is not learned [theory §3c].
    return homogeneous ? std::min<Index>(1, horizon - 1) : horizon - 1;
}

LearnedModel::LearnedModel(bool homogeneous, double delta) : homogeneous_(homogeneous), delta_(delta) {
    expects(delta > 0 && delta < 1, "delta is {}; must be greater than 0 and less than 1", delta);
}

Index LearnedModel::uncertain_steps() const noexcept {
    return confidence_sets(shape().horizon, homogeneous_);
}

const LearnedMixture& LearnedModel::as_mixture(std::string_view what) const {
    const LearnedMixture* weights = mixture();
    expects(weights != nullptr, "{} needs weights in confidence sets; what was learned are rows", what);
    return *weights;
}

const LearnedLinear& LearnedModel::as_linear(std::string_view what) const {
    const LearnedLinear* regression = linear();
    expects(regression != nullptr, "{} needs the regression of a linear MDP, which is not what was learned",
            what);
    return *regression;
}

void LearnedModel::require_shape_of(const TransitionModel& truth) const {
    expects(truth.shape() == shape(), "the truth has another shape than the learned model");
}

}  // namespace alidade
