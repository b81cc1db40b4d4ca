#include "row_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace alidade::detail {

double sorted_mean_less_mass(const double* law, Index law_apart, const double* value, Index value_apart,
                             Index successors, double tau) {
    std::vector<std::pair<double, double>> order;
    order.reserve(at(successors));
    for (Index j = 0; j < successors; ++j) order.emplace_back(value[j * value_apart], law[j * law_apart]);
    // Ties may go either way: the sum is the same.
    std::ranges::sort(order);
    double mean = 0;
    for (const auto& [v, probability] : order) {
        const double taken = std::min(tau, probability);
        tau -= taken;
        mean += (probability - taken) * v;
    }
    return mean;
}

}  // namespace alidade::detail
