#include "coupling.hpp"

#include <algorithm>

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
    values_.clear();
    for (const std::int32_t target : learned_.model().successors().targets(pair))
        values_.push_back(next[static_cast<std::size_t>(target)]);
    // It does not fall as tau grows, because no value exceeds the range, so any tau above the total variation
    // is valid. It needs no clip: it is a mean of the range and of values, with weights tau and 1 - tau.
    return tau * range + remove_mass(probabilities_, values_, tau, order_);
}

}  // namespace alidade::detail
