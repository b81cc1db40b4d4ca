#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// How far apart two actions' learned laws are, in values of the next step; with scratch memory.
class LawDifference {
public:
    explicit LawDifference(const LearnedModel& learned)
        : learned_(learned), difference_(at(learned.shape().states), 0.0) {}

    /// sum_s' |P~(s'|s,a) - sum_b weight(b) P~(s'|s,b)| value(s').
    template <class Weight>
    double operator()(Step h, State s, Action a, const Weight& weight, std::span<const double> value) {
        const Shape& shape = learned_.shape();
        const SuccessorMap& successors = learned_.model().successors();
        double sum = 0;
        // Actions share some of their successors, so differences are kept by state, and the sum is corrected
        // whenever one of them changes: that saves a pass over all states.
        const auto count = [&](Action b, double times) {
            const auto law = learned_.model().probabilities(h, shape.pair(s, b));
            const auto targets = successors.targets(shape.pair(s, b));
            for (std::size_t j = 0; j < law.size(); ++j) {
                double& difference = difference_[at(targets[j])];
                sum -= std::abs(difference) * value[at(targets[j])];
                difference += times * law[j];
                sum += std::abs(difference) * value[at(targets[j])];
            }
        };
        count(a, 1);
        for (Action b = 0; b < shape.actions; ++b)
            if (weight(b) > 0) count(b, -weight(b));
        for (Action b = 0; b < shape.actions; ++b)
            for (const std::int32_t target : successors.targets(shape.pair(s, b)))
                difference_[at(target)] = 0;
        // A sum of sizes: negative by rounding only.
        return std::max(0.0, sum);
    }

private:
    const LearnedModel& learned_;
    std::vector<double> difference_;  // a number a state, zero between uses
};

}  // namespace alidade::detail
