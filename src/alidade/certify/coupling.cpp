#include "coupling.hpp"

#include <algorithm>

#include "../model/row_kernels.hpp"

namespace alidade::detail {

double remove_mass(std::span<double> probabilities, std::span<const double> value, double removed,
                   std::vector<std::pair<double, std::size_t>>& order) {
    order.clear();
    for (std::size_t j = 0; j < value.size(); ++j) order.emplace_back(value[j], j);
    // Of all measures below P~ with that much mass less, the one that lacks it where values are smallest has
    // the largest mean [likelihood §4 A]. Ties may go either way: the sum is the same.
    std::sort(order.begin(), order.end());
    double rest = 0;
    for (const auto& [v, j] : order) {
        const double taken = std::min(removed, probabilities[j]);
        probabilities[j] -= taken;
        removed -= taken;
        rest += probabilities[j] * v;
    }
    return rest;
}

double CouplingBackup::operator()(Step h, Index pair, double tau, double range,
                                  std::span<const double> next) {
    const auto law = learned_.model().probabilities(h, pair);
    probabilities_.assign(law.begin(), law.end());
    const auto targets = learned_.model().successors().targets(pair);
    values_.resize(targets.size() * at(lanes));
    for (std::size_t j = 0; j < targets.size(); ++j) values_[j * at(lanes)] = next[at(targets[j])];
    tau_ = tau;
    // As ErrorStep::Kind::coupling has it, at one pair.
    return tau * range +
           mean_less_mass(probabilities_.data(), values_.data(), static_cast<Index>(targets.size()), tau);
}

std::span<const double> CouplingBackup::keep() {
    plain_.clear();
    for (std::size_t j = 0; j < probabilities_.size(); ++j) plain_.push_back(values_[j * at(lanes)]);
    remove_mass(probabilities_, plain_, tau_, order_);
    tau_ = 0;
    return probabilities_;
}

}  // namespace alidade::detail
