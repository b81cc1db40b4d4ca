#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alidade/types.hpp"

/// An independent check of reward-free certificates: the printed formulas once more, by plain loops over
/// plain numbers. Nothing of the library is used but the names of its sizes, so that whoever has read this
/// module and docs/checking.md needs to trust nothing else. It computes in long double without outward
/// rounding and compares with a stated tolerance.
namespace alidade::referee {

/// A problem as arrays. An entry is a (state, action, successor) that some base model allows.
struct Setting {
    Index states = 0, actions = 0, horizon = 0, features = 0;
    bool base_models = true;      ///< convex weights of base models; else signed features
    bool pair_features = false;   ///< a linear MDP: features of pairs, and no weights but measures
    double norm_bound = 1;        ///< B, of signed features; of measures, |mu V| <= B for V in [0,1]^S
    bool homogeneous = false;     ///< one theta, or mu, for all steps
    double misspecification = 0;  ///< largest total variation between the truth and its mixture
    std::vector<Index> offsets;   ///< S*A+1 positions into `targets`
    std::vector<Index> targets;   ///< next state of every entry
    std::vector<double> phi;      ///< d numbers an entry; of pair features, a pair
    std::vector<std::pair<Index, double>> start;
    std::vector<double> centre;  ///< theta_0: d numbers, claimed to make all rows sum to one
    std::vector<double> basis;   ///< N: column after column of d numbers, claimed to span what keeps them so;
                                 ///< both are empty for pair features
};

/// Sums over the rows (x, y) of the value-targeted regression of every set.
struct Regression {
    Index dimension = 0;               ///< of x: that of `basis`, or d
    bool centred = true;               ///< y = V(s') - theta_0 . phi_V; else y = V(s'), as the paper has it
    std::vector<double> gram, moment;  ///< sum of x x' and of x y
    std::vector<std::int64_t> observations;
    std::int64_t episodes = 0;
};

/// A regression on rows x / sigma, and the plain one, with half of its share of delta, that bounds their
/// variances.
struct Weighted {
    Regression coarse, rows;
    std::vector<double> inverse_variances;  ///< of every set: sum of 1/sigma^2 over its rows
    std::vector<double> least_variances;  ///< of every set and pair: least sigma^2 of its rows; 0 without any
};

/// Transitions counted: H-1 steps, each with a number an entry.
struct Transitions {
    std::vector<std::int64_t> counts;
    std::int64_t episodes = 0;
};

/// What the sets of a run are computed from. All kinds that there are have the same share of delta.
struct Evidence {
    std::optional<Regression> regression;
    std::optional<Weighted> weighted;
    std::optional<Transitions> likelihood;  ///< of pair features: what is regressed on
    std::vector<double> predicted;  ///< of every set: sum of ln(prediction), where predictions were kept
    bool centred = false;           ///< likelihood sets are watched by a mixture about the hypothesis, too
};

/// What a run has stored and claims.
struct Case {
    Setting setting;
    double delta = 0;
    Transitions counted;             ///< everything that was seen
    bool whole_episodes = true;      ///< every episode has all its steps: nothing was cut short
    Evidence evidence;               ///< of the iterate that was handed over
    std::optional<Evidence> latest;  ///< of all that was counted, where the run keeps it
    std::int64_t episodes = 0;       ///< that the result speaks of
    std::vector<double> weights;     ///< theta~: d numbers a set; the model that was handed over
    std::vector<double> laws;        ///< the same for pair features, without weights: P~, a number an entry
                                     ///< for every set
    std::vector<std::pair<std::string, double>> candidates;
    double bound = 0;
    std::string method;
    /// Candidates for rewards that add up to at most 1 in every episode, whatever they depend on; none where
    /// nothing is claimed of them.
    std::vector<std::pair<std::string, double>> total = {};
};

enum class Verdict {
    confirmed,      ///< follows from the data
    not_confirmed,  ///< does not
    not_checked,    ///< beyond what plain loops can do
};

/// One thing that was looked at.
struct Finding {
    std::string what;
    Verdict verdict = Verdict::not_checked;
    std::optional<double> reported, found;  ///< of a bound: what is claimed, and what the data give
    std::string note;                       ///< why it is not confirmed
};

/// A number is a bound if it is at least what the referee finds, less one in a million and 1e-9 H.
inline constexpr double tolerance = 1e-6;

/// Looks at everything. Throws InvalidArgument if arrays do not have the sizes that they must have.
std::vector<Finding> examine(const Case& given);

bool all_confirmed(const std::vector<Finding>& findings);

}  // namespace alidade::referee
