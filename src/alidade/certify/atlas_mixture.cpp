#include "alidade/certify/atlas_mixture.hpp"

#include <Clp_C_Interface.h>

#include <algorithm>
#include <memory>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

struct MixtureProgramCloser {
    void operator()(Clp_Simplex* program) const { Clp_deleteModel(program); }
};

/// max t: sum of mu_c L_i(pi_c) - t >= target_i, mu a distribution. Whatever the solver says, a distribution.
std::vector<double> largest_margin(const Atlas& atlas, const AtlasTargets& targets) {
    const auto policies = static_cast<int>(atlas.policies.size());
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (targets[i]) wanted.push_back(i);
    const auto rows = static_cast<int>(wanted.size()) + 1;
    std::vector<CoinBigIndex> starts;
    std::vector<int> places;
    std::vector<double> entries, costs(at(policies + 1), 0.0), least(at(policies + 1), 0.0), low, high;
    for (const AtlasPolicy& policy : atlas.policies) {
        starts.push_back(static_cast<CoinBigIndex>(places.size()));
        for (std::size_t row = 0; row < wanted.size(); ++row) {
            places.push_back(static_cast<int>(row));
            entries.push_back(policy.values[wanted[row]].lower);
        }
        places.push_back(rows - 1);
        entries.push_back(1);
    }
    starts.push_back(static_cast<CoinBigIndex>(places.size()));
    for (std::size_t row = 0; row < wanted.size(); ++row) {
        places.push_back(static_cast<int>(row));
        entries.push_back(-1);
    }
    starts.push_back(static_cast<CoinBigIndex>(places.size()));
    costs.back() = -1;
    least.back() = -2 * static_cast<double>(atlas.horizon);
    for (const std::size_t i : wanted) low.push_back(*targets[i]);
    low.push_back(1);
    high.assign(wanted.size(), 1e30);
    high.push_back(1);
    const std::unique_ptr<Clp_Simplex, MixtureProgramCloser> program(Clp_newModel());
    ensures(program != nullptr, "Clp gave no linear program");
    Clp_setLogLevel(program.get(), 0);
    Clp_loadProblem(program.get(), policies + 1, rows, starts.data(), places.data(), entries.data(),
                    least.data(), nullptr, costs.data(), low.data(), high.data());
    Clp_initialSolve(program.get());
    const double* const solution = Clp_getColSolution(program.get());
    std::vector<double> shares(solution, solution + policies);
    double sum = 0;
    constexpr double no_share = 1e-9;
    for (double& share : shares) {
        share = share > no_share ? share : 0;
        sum += share;
    }
    if (!(sum > 0)) {
        shares.front() = sum = 1;
    }
    for (double& share : shares) share /= sum;
    return shares;
}

}  // namespace

AtlasMixture mixture_for(const Atlas& atlas, const AtlasTargets& targets) {
    const auto horizon = static_cast<double>(atlas.horizon);
    expects(static_cast<Index>(targets.size()) == atlas.objectives,
            "there are {} targets; must be {}, one an objective", targets.size(), atlas.objectives);
    expects(std::ranges::any_of(targets, [](const auto& target) { return target.has_value(); }),
            "no objective has a target");
    for (std::size_t i = 0; i < targets.size(); ++i)
        expects(!targets[i] || (*targets[i] >= 0 && *targets[i] <= horizon),
                "the target of objective {} is {}; must be from 0 to {}", i, targets[i].value_or(0),
                atlas.horizon);
    const std::vector<double> shares = largest_margin(atlas, targets);
    AtlasMixture mixture;
    mixture.values.assign(targets.size(), Interval{});
    for (std::size_t c = 0; c < shares.size(); ++c) {
        if (shares[c] == 0) continue;
        mixture.shares.emplace_back(static_cast<Index>(c), shares[c]);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            mixture.values[i].lower += shares[c] * atlas.policies[c].values[i].lower;
            mixture.values[i].upper += shares[c] * atlas.policies[c].values[i].upper;
        }
    }
    // Shares are rounded, and so are sums of them.
    const double slack = 1e-3 * detail::rounding_slack(atlas.horizon);
    mixture.margin = horizon;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        mixture.values[i] = {std::max(0.0, mixture.values[i].lower - slack),
                             std::min(horizon, mixture.values[i].upper + slack)};
        if (targets[i]) mixture.margin = std::min(mixture.margin, mixture.values[i].lower - *targets[i]);
    }
    // Values are not negative: objectives without a target count for nothing.
    double most = slack;
    for (const AtlasOuter& outer : atlas.outer) {
        double wanted = 0;
        for (std::size_t i = 0; i < targets.size(); ++i) wanted += outer.weights[i] * targets[i].value_or(0);
        if (wanted - outer.optimal_upper <= most) continue;
        most = wanted - outer.optimal_upper;
        mixture.excluded_by = outer.weights;
    }
    return mixture;
}

}  // namespace alidade
