#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sets.hpp"

namespace alidade::referee::detail {

using Values = std::vector<Numbers>;  ///< steps x states

/// The reward-free bounds about the model with weights theta~. Each is a bound of sup_pi |V^{pi,P} -
/// V^{pi,P~}| at every step and state; a certificate is twice its mean over the start.
class Bounds {
public:
    /// `weights` and `balls` of every set.
    Bounds(const Facts& facts, std::vector<Numbers> weights, std::vector<std::vector<Ball>> balls);
    /// Without weights, about rows that are known up to their total variation: `laws` of every set and entry,
    /// `deviations` of every set and pair. Only the first three are for these.
    Bounds(const Facts& facts, std::vector<Numbers> laws, std::vector<Numbers> deviations)
        : facts_(facts), law_(std::move(laws)), tau_(std::move(deviations)) {}

    Values model() const;     ///< [docs/algorithms/hoeffding.md, Lemma 3]
    Values coupling() const;  ///< [docs/algorithms/hoeffding.md, Lemma 4]
    Values span() const;      ///< [docs/algorithms/hoeffding.md, Lemma 4b]
    // Of mixtures, and with a misspecification `transfer` added:
    Values trajectory() const;  ///< [docs/algorithms/likelihood.md, Theorem 5]
    Values hybrid() const;      ///< [docs/algorithms/likelihood.md, Hybrid]
    /// Most that a value at a step differs by between a truth and the mixture that it is near
    /// [misspecification, Lemma 7].
    Real transfer(Index step) const;
    // Without misspecification:
    /// [docs/algorithms/likelihood.md, Theorem 8] at the start, with the best c, eta and fall that are found;
    /// never above `cap`, any of the others, which is its limit for large c. `errors`, where there are some,
    /// are lowered to U_h + (1+eta)^-h B_h of that theorem, at every step, for all c, eta and falls that are
    /// tried.
    Real total_variance(const Values& cap, Values* errors = nullptr) const;
    /// The same for given c, eta and fall of c.
    Real total_variance(const Values& cap, Real c, Real eta, Real falling) const;

    // Of greedy plans:
    /// [docs/algorithms/two-chains.md, Theorem 3], cut at `cap`, the least of the others.
    Values optimal_span(const Values& cap) const;
    /// [docs/algorithms/two-chains.md, Theorem 5] of the whole loss, at the start; `errors` are those above.
    Real two_chain(const Values& errors) const;

    /// From now on for rewards that may depend on the whole past and add up to at most `total`: that is what
    /// can be earned after a step, where it is less than the number of steps left
    /// [docs/algorithms/reward-classes.md, Theorem C1]. `span` and those of greedy plans are not for these.
    void limit(Real total) { total_ = total; }

    Real at_start(const Values& values) const;
    /// Whether all widths are exact; else some bounds are larger than they need be.
    bool exact() const { return exact_; }

    // Parts, of a set (a step, where steps are not pooled) and a state-action pair:
    Real deviation(Index set, Index pair) const { return tau_[at(set)][at(pair)]; }
    Real divergence(Index set, Index pair) const;  ///< KL(P~ || P), at most
    Real leverage(Index set, Index pair) const;    ///< chi-square of P and P~, at most
    /// max over the set's members of f . theta, at most.
    Real upper(Index set, const Numbers& f) const;

private:
    using Backup = std::function<Real(Index step, Index pair, const Numbers& next)>;

    bool limited() const { return std::isfinite(total_); }
    Values backwards(const Backup& backup, const Values* cap = nullptr) const;
    void bound_deviations();
    Real range(Index step) const {
        return std::min(total_, static_cast<Real>(facts_.setting.horizon - 1 - step));
    }
    Real expect(Index step, Index pair, const Numbers& next) const;
    Real highest(Index step, Index pair, const Numbers& next) const;
    Real highest_row(Index step, Index pair, const Numbers& next) const;
    Real left_over(Index step, Index pair, const Numbers& next) const;
    Real coupled(Index step, Index pair, const Numbers& next) const;
    Real farthest_rows(Index set) const;
    Real least_of(Index set, Index entry) const;
    Real divergence_by(const Ball& ball, Index set, Index pair, bool doubtful_apart) const;
    /// Of every set and pair.
    std::vector<Numbers> table(Real (Bounds::*part)(Index, Index) const) const;
    Real total_variance(const Values& cap, const std::vector<Numbers>& leverages, Real c, Real eta,
                        Real falling, Values* errors = nullptr) const;
    std::vector<Numbers> rows_of_set(Index set) const;
    std::vector<bool> leads(Index pair, bool anywhere) const;
    bool few_pairs() const;
    std::vector<std::vector<Numbers>> optimal_spans() const;
    Real difference(Index set, Index one, Index other) const;

    const Facts& facts_;
    std::vector<Numbers> weights_;
    std::vector<std::vector<Ball>> balls_;
    std::vector<Numbers> law_;  ///< P~ of every set and entry
    std::vector<Numbers> tau_;  ///< total variation between P and P~, at most, of every set and pair
    bool exact_ = true;
    Real total_ = infinity;
};

}  // namespace alidade::referee::detail
