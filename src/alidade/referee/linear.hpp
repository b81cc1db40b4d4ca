#pragma once

#include <vector>

#include "sets.hpp"

/// Linear MDPs: laws phi(s,a) . mu_h with known features of pairs and unknown measures mu_h.
namespace alidade::referee::detail {

/// What the transitions of one set say: |phi . mu^ V - P V| <= u for every pair and every V in [0,1]^S at
/// once.
struct LinearSet {
    std::vector<Numbers> measures;  ///< mu^: d numbers a state
    Numbers bonus;                  ///< u of every pair
    Numbers law;                    ///< P~ of every entry, as it was handed over
    Numbers distance;               ///< TV(P, P~) of every pair, at most; where u >= 1 it is u
    Numbers tau;                    ///< the same, cut at what any law on the successors has
};

/// Of every set, how many states can follow at its steps, from where an episode can be.
std::vector<Index> following_states(const Facts& facts);
/// [docs/algorithms/lsvi.md, Theorem 1] beta of one set, from ln det(Lambda/lambda).
Real linear_beta(const Facts& facts, Real growth, Index following, Real delta);
/// The regressions, and the laws that were handed over, of all sets. Throws Contradicted where no law is
/// within u of phi . mu^.
std::vector<LinearSet> linear_sets(const Case& given, const Facts& facts);
/// [docs/algorithms/lsvi.md, Theorem 3] at least the error of any value in the model, divided by `steps`: V_0
/// of the recursion with the exploration reward u / steps.
Real exploration_value(const Facts& facts, const std::vector<LinearSet>& sets, Real steps);

/// What the theorems need of features and measures.
Finding examine_features(const Facts& facts);
/// The rows that were handed over are laws.
Finding examine_laws(const Case& given, const Facts& facts);

}  // namespace alidade::referee::detail
