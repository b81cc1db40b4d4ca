#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What the features of a map are.
enum class FeatureKind {
    base_models,  ///< phi_i(s,a,s') = P_i(s'|s,a): non-negative, rows sum to one; convex weights
    general,      ///< signed features with a bound on the norm of the weights
};

/// General, possibly signed features, as plain data for FeatureMap::from_features.
struct SignedFeatures {
    Index states = 0;
    Index actions = 0;
    Index features = 0;                 ///< d
    std::vector<std::int64_t> offsets;  ///< S*A+1 positions into `targets`
    std::vector<std::int64_t> targets;  ///< next states, distinct within a pair
    std::vector<double> values;         ///< d numbers for each target, contiguous
    double norm_bound = 1;              ///< B: the true weights satisfy |theta_h| <= B; B >= 1
};

/// phi(s,a,s'): for each state-action pair the list of its possible successors, ascending, and d
/// contiguous numbers for each. An entry is a (pair, successor) position; counts, probabilities and
/// witnesses are arrays over entries. Immutable.
class FeatureMap {
public:
    /// From d base kernels over the same states and actions; a pair's support is the union of theirs.
    /// Rows must sum to one within 1e-9 and are scaled to do so up to rounding.
    /// Throws InvalidArgument naming the kernel, state and action of the first bad row and the worst rows.
    static FeatureMap from_base_kernels(Index states, Index actions, std::span<const BaseKernel> kernels);

    /// From signed features; `values` are kept as given.
    static FeatureMap from_features(const SignedFeatures& data);

    Index states() const noexcept { return states_; }
    Index actions() const noexcept { return actions_; }
    Index features() const noexcept { return features_; }  ///< d
    Index pairs() const noexcept { return states_ * actions_; }
    Index pair(State s, Action a) const noexcept { return s * actions_ + a; }
    Index entries() const noexcept { return static_cast<Index>(targets_.size()); }
    FeatureKind kind() const noexcept { return kind_; }
    /// B; one for base models, whose weights are convex.
    double norm_bound() const noexcept { return norm_bound_; }
    /// Names of the base models; "feature 0", ... where none were given. Always d of them.
    const std::vector<std::string>& names() const noexcept { return names_; }

    /// Entries of a pair are first_entry(pair) .. first_entry(pair+1)-1.
    Index first_entry(Index pair) const noexcept { return offsets_[static_cast<std::size_t>(pair)]; }
    Index successors(Index pair) const noexcept { return first_entry(pair + 1) - first_entry(pair); }
    Index max_successors() const noexcept { return max_successors_; }
    /// Next state of every entry.
    std::span<const std::int32_t> targets() const noexcept { return targets_; }
    /// Next states of one pair, ascending.
    std::span<const std::int32_t> targets(Index pair) const noexcept;
    /// The d features of one entry.
    std::span<const double> phi(Index entry) const noexcept;
    /// All features, entry after entry.
    std::span<const double> values() const noexcept { return values_; }

    /// sum over successors of phi(s,a,s') V(s'); `value` has one number a state.
    Vector phi_value(Index pair, std::span<const double> value) const;

    /// One base kernel as it was given (duplicates summed, zeros dropped, rows that are a little off scaled
    /// to sum to one). Base models only.
    BaseKernel base_kernel(Index feature) const;

    bool operator==(const FeatureMap&) const = default;

private:
    FeatureMap() = default;

    Index states_ = 0, actions_ = 0, features_ = 0, max_successors_ = 0;
    FeatureKind kind_ = FeatureKind::base_models;
    double norm_bound_ = 1;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> targets_;
    std::vector<double> values_;
    std::vector<std::string> names_;
};

/// Feature maps are large and never change: everything that needs one shares it.
using SharedFeatures = std::shared_ptr<const FeatureMap>;

}  // namespace alidade
