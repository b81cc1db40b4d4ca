#include "alidade/run/run_record.hpp"

#include <cstdint>

#include "content_hash.hpp"

namespace alidade {
namespace {

using Hash = detail::ContentHash;

/// Features of either kind, which `kind` tells apart.
template <class Features>
void add_features(Hash& hash, Index kind, const Features& features) {
    hash.add(kind);
    hash.add(features.states());
    hash.add(features.actions());
    hash.add(features.features());
    hash.add(features.norm_bound());
    for (Index pair = 0; pair <= features.pairs(); ++pair) hash.add(features.first_entry(pair));
    for (const std::int32_t target : features.targets()) hash.add(Index{target});
    for (const double value : features.values()) hash.add(value);
}

}  // namespace

std::string problem_hash(const Problem& problem) {
    Hash hash;
    if (problem.is_linear())
        add_features(hash, 2, problem.pair_features());
    else
        add_features(hash, problem.features().kind() == FeatureKind::general ? 1 : 0, problem.features());
    const auto atoms = problem.start().atoms();
    hash.add(static_cast<Index>(atoms.size()));
    for (const auto& [state, probability] : atoms) {
        hash.add(state);
        hash.add(probability);
    }
    hash.add(problem.shape().horizon);
    hash.add(Index{problem.homogeneous()});
    // Left out when zero, so that exact mixtures keep the hash they had before there was any other.
    if (problem.misspecification() > 0) hash.add(problem.misspecification());
    return hash.hex();
}

}  // namespace alidade
