#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/task.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

/// Truths that are as far from their mixture as a misspecification allows.
namespace alidade::support {

/// The mixture with mass zeta of every row moved to where `value` of the next step is largest, or smallest if
/// the row's sign is negative, of all states or of the row's successors, from the other end. As a model of
/// its own: one base kernel a step.
inline MixtureModel moved_off(const MixtureModel& mixture, const Matrix& value, double zeta, Reach reach,
                              const std::function<double()>& sign_of_row) {
    const Shape& shape = mixture.shape();
    std::vector<BaseKernel> kernels;
    for (Step h = 0; h < shape.horizon; ++h) {
        BaseKernel kernel{std::to_string(h), shape.pairs(), shape.states, {0}, {}, {}};
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            std::vector<double> row(at(shape.states), 0.0);
            const auto targets = mixture.features().targets(pair);
            for (std::size_t j = 0; j < targets.size(); ++j)
                row[at(targets[j])] = mixture.probabilities(h, pair)[j];
            const double sign = sign_of_row();
            std::vector<State> order(at(shape.states));
            std::iota(order.begin(), order.end(), 0);
            if (reach == Reach::support) order.assign(targets.begin(), targets.end());
            std::ranges::sort(order, {}, [&](State s) { return sign * value(h + 1, s); });
            double rest = zeta;
            for (const State s : order) {
                const double taken = std::min(rest, row[at(s)]);
                row[at(s)] -= taken;
                rest -= taken;
            }
            row[at(order.back())] += zeta - rest;
            for (State s = 0; s < shape.states; ++s) {
                kernel.targets.push_back(s);
                kernel.probabilities.push_back(row[at(s)]);
            }
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
        kernels.push_back(std::move(kernel));
    }
    return MixtureModel(std::make_shared<const FeatureMap>(
                            FeatureMap::from_base_kernels(shape.states, shape.actions, kernels)),
                        shape.horizon, mixture.start(), Matrix::Identity(shape.horizon, shape.horizon));
}
inline MixtureModel moved_off(const MixtureModel& mixture, const Matrix& value, double zeta, Reach reach,
                              double sign) {
    return moved_off(mixture, value, zeta, reach, [=] { return sign; });
}

/// Counts over the features of a task of a truth with any rows: every pair is visited `visits` times a step.
inline Counts counts_of(const MixtureModel& truth, const SharedFeatures& features, std::int64_t visits,
                        Stream& random) {
    const Shape& shape = truth.shape();
    Counts counts(features, shape.horizon, Elsewhere::counted);
    for (Step h = 0; h + 1 < shape.horizon; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const auto targets = truth.features().targets(pair);
            const auto law = truth.probabilities(h, pair);
            std::vector<std::int64_t> split(law.size());
            sample_multinomial(random, visits, std::vector<double>(law.begin(), law.end()), split);
            for (std::size_t j = 0; j < split.size(); ++j) {
                if (split[j] == 0) continue;
                const Index entry = features->find_entry(pair, targets[j]);
                if (entry >= 0)
                    counts.add(h, entry, split[j]);
                else
                    counts.add_elsewhere(h, pair, split[j]);
            }
        }
    counts.add_episodes(visits * shape.pairs());
    return counts;
}

}  // namespace alidade::support
