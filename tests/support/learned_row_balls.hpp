#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "alidade/confidence/learned_rows.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

/// Rows in total-variation balls, with extremes by enumeration of vertices: nothing of the library's transfer
/// of mass is used.
namespace alidade::support {

/// The largest and the smallest P . value over {P >= 0, sum P = 1, sum |P - law| <= 2 radius}. Within the
/// orthant of P - law that a vertex is in, as many constraints bind as there are coordinates: every
/// coordinate is 0, or that of `law`, or free; one free one is given by the sum, two by the budget, too.
inline std::pair<double, double> extremes_over_ball(std::span<const double> law,
                                                    std::span<const double> value, double radius) {
    const std::size_t m = law.size();
    double least = std::numeric_limits<double>::infinity(), most = -least;
    std::vector<double> p(m);
    const auto offer = [&] {
        double sum = 0, moved = 0, mean = 0;
        for (std::size_t j = 0; j < m; ++j) {
            if (!(p[j] >= -1e-14)) return;
            sum += p[j];
            moved += std::abs(p[j] - law[j]);
            mean += p[j] * value[j];
        }
        if (std::abs(sum - 1) > 1e-13 || moved > 2 * radius + 1e-13) return;
        least = std::min(least, mean);
        most = std::max(most, mean);
    };
    std::size_t codes = 1;
    for (std::size_t j = 0; j < m; ++j) codes *= 3;
    for (std::size_t code = 0; code < codes; ++code) {
        std::vector<std::size_t> free;
        double sum = 0, moved = 0;
        std::size_t rest = code;
        for (std::size_t j = 0; j < m; ++j, rest /= 3) {
            if (rest % 3 == 2) {
                free.push_back(j);
                continue;
            }
            p[j] = rest % 3 == 0 ? 0 : law[j];
            sum += p[j];
            moved += std::abs(p[j] - law[j]);
        }
        if (free.size() > 2) continue;
        if (free.size() == 1) p[free[0]] = 1 - sum;
        if (free.size() < 2) {
            offer();
            continue;
        }
        // p_i + p_k = 1 - sum and (p_i - law_i) - (p_k - law_k) = 2 radius - moved, either way round.
        for (int turn = 0; turn < 2; ++turn, std::swap(free[0], free[1])) {
            const std::size_t i = free[0], k = free[1];
            const double difference = 2 * radius - moved + law[i] - law[k];
            p[i] = (1 - sum + difference) / 2;
            p[k] = (1 - sum - difference) / 2;
            offer();
        }
    }
    return {least, most};
}

/// A random model's rows, with radii of up to `most`: a tenth of them zero. Some successors are unseen.
inline LearnedRows random_rows(Stream& random, const RandomSizes& sizes, double most, double unseen = 0.2) {
    const auto successors = std::make_shared<const SuccessorMap>(*random_features(random, sizes));
    const Shape& shape = sizes.shape;
    std::vector<double> laws, radii;
    for (Index row = 0; row < (sizes.homogeneous ? 1 : shape.horizon); ++row)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const Index m = successors->successors(pair);
            auto law = sample_dirichlet(random, m, sizes.concentration);
            double sum = 0;
            for (Index j = 0; j < m; ++j) {
                double& p = law[static_cast<std::size_t>(j)];
                if (j > 0 && sample_uniform(random) < unseen) p = 0;
                sum += p;
            }
            for (double& p : law) laws.push_back(p / sum);
        }
    for (Index k = 0; k < confidence_sets(shape.horizon, sizes.homogeneous) * shape.pairs(); ++k)
        radii.push_back(sample_index(random, 10) == 0 ? 0 : most * sample_uniform(random));
    StartLaw start = sizes.start_law ? random_start(random, shape.states) : StartLaw(State{0});
    return LearnedRows(TransitionModel(successors, shape.horizon, std::move(start), std::move(laws)),
                       sizes.homogeneous, std::move(radii), 0.1);
}

/// A truth in the balls: each row goes towards a random law on its successors, to the boundary or, if it is
/// nearer, all the way.
inline TransitionModel member_of(const LearnedRows& learned, Stream& random) {
    const TransitionModel& model = learned.model();
    const Shape& shape = learned.shape();
    std::vector<double> laws;
    for (Step h = 0; h < (learned.homogeneous() ? 1 : shape.horizon); ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const auto row = model.probabilities(h, pair);
            const auto m = static_cast<Index>(row.size());
            auto goal = sample_dirichlet(random, m, 0.2);
            if (sample_index(random, 2) == 0) {
                std::ranges::fill(goal, 0.0);
                goal[static_cast<std::size_t>(sample_index(random, m))] = 1;
            }
            double distance = 0;
            for (std::size_t j = 0; j < row.size(); ++j) distance += std::abs(goal[j] - row[j]) / 2;
            const double radius = h + 1 < shape.horizon ? learned.radius(h, pair) : 0;
            const double t = distance > 0 ? std::min(1.0, radius / distance) : 0;
            for (std::size_t j = 0; j < row.size(); ++j) laws.push_back((1 - t) * row[j] + t * goal[j]);
        }
    return TransitionModel(model.shared_successors(), shape.horizon, model.start(), std::move(laws));
}

}  // namespace alidade::support
