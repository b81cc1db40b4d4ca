#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"

namespace alidade {

namespace {

[[noreturn]] void refuse_probability(const FeatureMap& map, Index pair, Index entry, Index feature) {
    throw InvalidArgument(fmt::format(
        "{}: probability of state {}, action {} to state {} is {}; must be finite and not negative",
        map.names()[at(feature)], pair / map.actions(), pair % map.actions(), map.targets()[at(entry)],
        map.phi(entry)[at(feature)]));
}

/// The features of one successor are probabilities, and not all zero; adds them to the sums of their rows.
void check_entry(const FeatureMap& map, Index pair, Index entry, std::vector<double>& sums) {
    const std::span<const double> phi = map.phi(entry);
    bool reached = false;
    for (std::size_t i = 0; i < phi.size(); ++i) {
        if (!(phi[i] >= 0 && phi[i] <= std::numeric_limits<double>::max()))
            refuse_probability(map, pair, entry, static_cast<Index>(i));
        reached = reached || phi[i] > 0;
        sums[i] += phi[i];
    }
    if (!reached)
        throw InvalidArgument(
            fmt::format("no base model leads from state {}, action {} to state {}; leave that successor out",
                        pair / map.actions(), pair % map.actions(), map.targets()[at(entry)]));
}

void check_probabilities(const FeatureMap& map) {
    std::vector<double> sums(at(map.features()));
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        std::ranges::fill(sums, 0.0);
        for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e)
            check_entry(map, pair, e, sums);
        // As close as scaling would leave them [normalise.hpp]: these numbers cannot be scaled.
        const double slack =
            static_cast<double>(map.successors(pair)) * std::numeric_limits<double>::epsilon();
        for (std::size_t i = 0; i < sums.size(); ++i)
            expects(
                std::abs(sums[i] - 1) <= slack,
                "{}: row of state {}, action {} sums to {:.17g}; numbers that are used where they lie must "
                "sum to 1 up to rounding, here within {:.2g}: scale them, or have them read and scaled "
                "(--normalise)",
                map.names()[i], pair / map.actions(), pair % map.actions(), sums[i], slack);
    }
}

void check_finite(const FeatureMap& map) {
    const std::span<const double> values = map.values();
    const auto bad = std::ranges::find_if(values, [](double x) { return !std::isfinite(x); });
    if (bad == values.end()) return;
    const Index place = bad - values.begin(), entry = place / map.features(), pair = map.pair_of(entry);
    throw InvalidArgument(fmt::format("feature {} of state {}, action {} to {} is {}; must be finite",
                                      place % map.features(), pair / map.actions(), pair % map.actions(),
                                      map.targets()[at(entry)], *bad));
}

}  // namespace

FeatureMap FeatureMap::from_table(const FeatureTable& table) {
    const bool base = table.kind == FeatureKind::base_models;
    expects(table.features >= 1, "features is {}; must be at least 1", table.features);
    expects(std::isfinite(table.norm_bound) && table.norm_bound >= 1 && (!base || table.norm_bound == 1),
            "norm bound is {}; must be a finite number of at least 1, and 1 for base models",
            table.norm_bound);
    expects(table.names.empty() || (base && std::ssize(table.names) == table.features), "{} names for {} {}",
            table.names.size(), table.features,
            base ? "base models; must be as many" : "general features, which have none");
    expects(table.values.size() / at(table.features) == table.targets.size() &&
                table.values.size() % at(table.features) == 0,
            "{} values for {} entries of {} features; must be features times entries", table.values.size(),
            table.targets.size(), table.features);
    FeatureMap map({table.states, table.actions, table.offsets, table.targets, table.owner}, table.features,
                   table.owner, table.values);
    map.kind_ = table.kind;
    map.norm_bound_ = table.norm_bound;
    map.names_ = table.names;
    map.check_unchanged_ = table.check_unchanged;
    for (Index i = 0; map.names_.size() < at(table.features); ++i)
        map.names_.push_back(fmt::format("{} {}", base ? "base model" : "feature", i));
    base ? check_probabilities(map) : check_finite(map);
    return map;
}

}  // namespace alidade
