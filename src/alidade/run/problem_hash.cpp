#include "alidade/run/run_record.hpp"

#include <bit>
#include <cstdint>

#include "content_hash.hpp"
#include "problem_record.hpp"

namespace alidade {
namespace {

using Hash = detail::ContentHash;

/// Features of either kind, which `kind` tells apart.
template <class Features>
void add_features(Hash& hash, Index kind, const Features& features, bool whole) {
    hash.add(kind);
    hash.add(features.states());
    hash.add(features.actions());
    hash.add(features.features());
    hash.add(features.norm_bound());
    if (whole) {
        for (Index pair = 0; pair <= features.pairs(); ++pair)
            hash.add_whole(static_cast<std::uint64_t>(features.first_entry(pair)));
        for (const std::int32_t target : features.targets())
            hash.add_whole(static_cast<std::uint64_t>(target));
        for (const double value : features.values()) hash.add_whole(std::bit_cast<std::uint64_t>(value));
        return;
    }
    for (Index pair = 0; pair <= features.pairs(); ++pair) hash.add(features.first_entry(pair));
    for (const std::int32_t target : features.targets()) hash.add(Index{target});
    for (const double value : features.values()) hash.add(value);
}

std::string hash_of(const Problem& problem, bool whole) {
    Hash hash;
    if (problem.is_linear())
        add_features(hash, 2, problem.pair_features(), whole);
    else
        add_features(hash, problem.features().kind() == FeatureKind::general ? 1 : 0, problem.features(),
                     whole);
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
    // Likewise: it decides what may be counted.
    if (problem.misspecification() > 0 && problem.reach() != Reach::anywhere) hash.add(Index{1});
    return hash.hex();
}

}  // namespace

std::string problem_hash(const Problem& problem) {
    return hash_of(problem, detail::has_many_features(problem));
}

std::string detail::earlier_problem_hash(const Problem& problem) {
    return hash_of(problem, false);
}

}  // namespace alidade
