#include "alidade/theory/bounds.hpp"

#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

double base_model_norm_bound(Index features) {
    expects(features >= 1, "the number of features is {}; must be at least 1", features);
    return std::sqrt(static_cast<double>(features));
}

void validate(const BoundSetting& setting) {
    expects(setting.features >= 1, "the number of features is {}; must be at least 1", setting.features);
    expects(setting.horizon >= 1, "the horizon is {}; must be at least 1", setting.horizon);
    expects(setting.norm_bound >= 1 && std::isfinite(setting.norm_bound),
            "the norm bound is {}; must be at least 1, for weights that make probabilities sum to 1",
            setting.norm_bound);
    expects(setting.delta > 0 && setting.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            setting.delta);
}

void validate_accuracy(double epsilon, Index horizon) {
    expects(epsilon > 0 && epsilon <= static_cast<double>(horizon),
            "epsilon is {}; must be greater than 0 and at most the horizon, {}", epsilon, horizon);
}

void validate_episodes(double episodes) {
    expects(episodes >= 1 && std::isfinite(episodes), "the number of episodes is {}; must be at least 1",
            episodes);
}

}  // namespace alidade
