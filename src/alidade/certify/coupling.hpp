#pragma once

#include <span>
#include <utility>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Probabilities with mass `removed` taken from the successors of smallest `value`, in place.
/// `order` is scratch. Expectation of `value` under what is left.
double remove_mass(std::span<double> probabilities, std::span<const double> value, double removed,
                   std::vector<std::pair<double, std::size_t>>& order);

/// The coupling backup [likelihood §4 A] at one pair after another, with scratch memory.
class CouplingBackup {
public:
    explicit CouplingBackup(const LearnedModel& learned) : learned_(learned) {}

    /// tau * range plus the expectation of `next` under P~ less mass tau.
    double operator()(Step h, Index pair, double tau, double range, std::span<const double> next);
    /// What P~ keeps of its mass at that pair, successor by successor.
    std::span<const double> keep();

private:
    const LearnedModel& learned_;
    std::vector<double> probabilities_, values_, plain_;  // values lie apart as lanes do
    double tau_ = 0;
    std::vector<std::pair<double, std::size_t>> order_;
};

}  // namespace alidade::detail
