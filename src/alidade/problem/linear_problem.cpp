#include "alidade/problem/problem.hpp"

#include <cmath>
#include <utility>

#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr Index most_one_hot_pairs = 2000;  // d^2 numbers a step are kept

}  // namespace

Problem one_hot_linear(const Problem& mixture) {
    expects(!mixture.is_linear(), "the problem \"{}\" is a linear MDP already", mixture.name());
    const FeatureMap& features = mixture.features();
    const Index pairs = features.pairs();
    expects(pairs <= most_one_hot_pairs,
            "the problem \"{}\" has {} states and actions; one feature for each is for at most {}",
            mixture.name(), pairs, most_one_hot_pairs);
    ProblemDescription parts = mixture.description();
    std::vector<double> values(at(pairs * pairs), 0.0);
    for (Index pair = 0; pair < pairs; ++pair) values[at(pair * pairs + pair)] = 1;
    parts.linear =
        std::make_shared<const PairFeatures>(static_cast<const SuccessorMap&>(features), pairs,
                                             std::move(values), std::sqrt(static_cast<double>(pairs)));
    if (parts.truth) {
        const TransitionModel truth = mixture.true_system();
        for (Step h = 0; h < (parts.homogeneous ? 1 : parts.horizon); ++h) {
            Matrix measures = Matrix::Zero(pairs, features.states());
            for (Index pair = 0; pair < pairs; ++pair) {
                const auto targets = features.targets(pair);
                const auto law = truth.probabilities(h, pair);
                for (std::size_t j = 0; j < law.size(); ++j) measures(pair, targets[j]) = law[j];
            }
            parts.measures.push_back(std::move(measures));
        }
    }
    parts.features = nullptr;
    parts.truth.reset();
    parts.foreign.reset();  // the measures have it
    return Problem(std::move(parts));
}

}  // namespace alidade
