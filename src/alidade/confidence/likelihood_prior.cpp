#include "likelihood_prior.hpp"

#include <algorithm>

#include "alidade/model/parameter_set.hpp"

namespace alidade::detail {

Matrix mean_information(const FeatureMap& features) {
    const Index d = features.features();
    Matrix sum = Matrix::Zero(d, d);
    for (Index entry = 0; entry < features.entries(); ++entry) {
        const Eigen::Map<const Vector> phi(features.phi(entry).data(), d);
        const double mean = phi.mean();
        if (mean > 0) sum.noalias() += phi * (phi / mean).transpose();
    }
    sum /= static_cast<double>(features.pairs());
    const ParameterSet simplex = ParameterSet::simplex(d);
    const Matrix& basis = simplex.space().basis;
    const Matrix metric = basis.transpose() * sum * basis;
    return (metric + metric.transpose()) / 2;
}

namespace {

bool tells(const FeatureMap& features, Index pair) {
    for (Index entry = features.first_entry(pair); entry < features.first_entry(pair + 1); ++entry) {
        const auto phi = features.phi(entry);
        if (std::ranges::any_of(phi, [&](double x) { return x != phi.front(); })) return true;
    }
    return false;
}

}  // namespace

std::vector<bool> telling_steps(const FeatureMap& features, const StartLaw& start, Index horizon) {
    std::vector<bool> telling(at(features.states()), false);
    for (State s = 0; s < features.states(); ++s)
        for (Action a = 0; a < features.actions() && !telling[at(s)]; ++a)
            telling[at(s)] = tells(features, s * features.actions() + a);
    std::vector<bool> reached(at(features.states()), false);
    for (const auto& [state, probability] : start.atoms())
        if (probability > 0) reached[at(state)] = true;
    std::vector<bool> steps;
    for (Step h = 0; h + 1 < horizon; ++h) {
        bool any = false;
        std::vector<bool> next(reached.size(), false);
        for (State s = 0; s < features.states(); ++s) {
            if (!reached[at(s)]) continue;
            any = any || telling[at(s)];
            for (Index e = features.first_entry(s * features.actions());
                 e < features.first_entry((s + 1) * features.actions()); ++e)
                next[at(features.targets()[at(e)])] = true;
        }
        steps.push_back(any);
        // Base models are those of all steps, so that where nothing new is reached nothing ever will be.
        if (next == reached) {
            steps.resize(at(horizon - 1), any);
            break;
        }
        reached.swap(next);
    }
    return steps;
}

LikelihoodPrior likelihood_prior(const FeatureMap& features, const StartLaw& start, Index horizon,
                                 bool homogeneous) {
    LikelihoodPrior prior{mean_information(features), {}};
    if (!homogeneous) prior.tells = telling_steps(features, start, horizon);
    return prior;
}

}  // namespace alidade::detail
