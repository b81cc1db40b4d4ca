#pragma once

#include <span>
#include <vector>

#include "../estimate/maximum_likelihood.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

// Likelihood sets of signed features [docs/algorithms/likelihood.md, Signed features]. Weights range over a
// polytope instead of the simplex: no mixture over it has a volume that is known, but predictions need none.
namespace alidade::detail {

/// The likelihood of signed features as a function of the weights that make laws.
class SignedLikelihood {
public:
    /// Throws InvalidArgument if those weights have no inner point.
    explicit SignedLikelihood(const SharedFeatures& features);

    const ParameterSet& parameters() const noexcept { return parameters_; }
    /// A point at which every transition that some weights allow is possible.
    const Vector& inner() const noexcept { return inner_; }

    /// The maximiser of sum of n ln(theta . phi) plus `pseudo_count` times the sum of all entries'
    /// logarithms: an inner point, nearly. `counts` has a number for every entry; `start` is one, or none.
    Vector fit(std::span<const double> counts, double pseudo_count, const Vector& start = {}) const;

    /// At least the largest slope . (theta - weights) over all weights that make laws.
    double gap(const Vector& slope, const Vector& weights) const;

private:
    struct Expansion {
        Vector gradient;
        Matrix curvature;
    };
    Expansion expand(const Vector& zeta, std::span<const double> counts, double pseudo_count) const;
    double gain(const Vector& zeta, const Vector& step, std::span<const double> counts,
                double pseudo_count) const;
    /// Whether every transition that some weights allow is possible at a point.
    bool possible(const Vector& zeta) const;
    /// Whether a point is well inside, too: what Newton's method may start from.
    bool inside(const Vector& zeta) const;
    double longest_step(const Vector& zeta, const Vector& step) const;

    ParameterSet parameters_;
    SupportFunction support_;
    std::vector<std::uint8_t> varies_;  // by entries: whether its probability depends on the weights
    Vector inner_;
};

/// How often each entry was seen in the transitions of every set: one for each learned step, or one of all.
std::vector<std::vector<double>> entry_counts(const Task& task, const Counts& counts);

/// sum of n ln(weights . phi) over all entries that were seen; minus infinity where one is impossible.
double signed_log_likelihood(const FeatureMap& features, std::span<const double> counts,
                             const Vector& weights);

/// sum of n ln(what the successors' chances add up to) over the pairs that were seen, where it is more than
/// 1: rounding, or features whose rows sum to one only nearly. Predictions that make no law prove nothing.
double excess_of_laws(const FeatureMap& features, std::span<const double> counts, const Vector& weights);

/// The weights whose likelihood is not too far below what was predicted of the same transitions, as an
/// ellipsoid about the fit that contains them. `predicted` is the sum of ln(q . phi) over the transitions,
/// each q weights that made laws and were fixed before the transition was seen; `failure` the probability
/// that the set misses the truth at some time. Throws ModelContradiction if nothing is left.
ConfidenceSet prediction_set(const SignedLikelihood& likelihood, const FeatureMap& features,
                             std::span<const double> counts, double predicted, double failure,
                             const Vector& start = {});

}  // namespace alidade::detail
