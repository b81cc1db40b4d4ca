#pragma once

#include <cstdint>
#include <vector>

#include "alidade/problem/catalogue.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// What a built-in problem draws. Every draw has an address of its own, (what, where), so that no
/// parameter shifts the draws of anything else.
enum class Draw : std::uint64_t {
    weights = 0,      ///< theta_h; where = step h
    successors = 1,   ///< the support of a pair; where = s*A+a
    rows = 2,         ///< the base rows of a pair, base model after base model; where = s*A+a
    informative = 3,  ///< needle: which pairs the base models differ on; where = 0
    key = 4,          ///< lock: the action that advances; where = position
    current = 5,      ///< riverswim: chances of moving right, base model after base model; where = state
    signs = 6,        ///< hard: of mu_h; where = step h
    measures = 7,     ///< linear: mu_h, feature after feature; where = step h
    foreign = 8,      ///< the foreign law of a pair; where = s*A+a, or S*A for one that pairs share
};

/// The words of one draw: Stream(seed, Purpose::instance, episode = what, step = where).
Stream instance_stream(const FamilyArguments& arguments, Draw what, Index where);

/// H rows theta_h, each Dirichlet(1, ..., 1). The last is drawn too, though no value depends on it.
Matrix draw_weights(const FamilyArguments& arguments, Index horizon, Index features);

/// Draws distinct numbers below `population` by a partial Fisher-Yates shuffle, in time that does not
/// grow with the population once it has been laid out.
class SubsetSampler {
public:
    explicit SubsetSampler(Index population);

    /// `count` distinct numbers, every subset equally likely, ascending. The result depends on the
    /// stream only, never on earlier draws. Requires count <= population.
    std::vector<Index> draw(Stream& random, Index count);

private:
    std::vector<Index> numbers_;  // 0, 1, 2, ... between draws
};

}  // namespace alidade::detail
