#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/row_source.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/model/threads.hpp"
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

/// Features that lie somewhere as a FeatureMap has them, in a mapped file for instance, for
/// FeatureMap::from_table.
struct FeatureTable {
    Index states = 0;
    Index actions = 0;
    Index features = 0;                     ///< d
    std::span<const std::int64_t> offsets;  ///< S*A+1 positions into `targets`, from 0 on
    std::span<const std::int32_t> targets;  ///< next states, ascending within a pair
    std::span<const double> values;         ///< d numbers for each target, contiguous
    FeatureKind kind = FeatureKind::base_models;
    double norm_bound = 1;           ///< B of general features; one for base models
    std::vector<std::string> names;  ///< of base models, d of them; empty: "base model 0", ...
    /// Keeps the arrays alive; nothing where somebody else does, for as long as the map and its copies live.
    std::shared_ptr<const void> owner;
    /// Throws InvalidArgument if what the arrays lie in has changed; nothing where it cannot.
    std::function<void()> check_unchanged;
};

/// phi(s,a,s'): a map of successors with d contiguous numbers for each entry. Immutable.
class FeatureMap : public SuccessorMap {
public:
    /// From d base kernels over the same states and actions; a pair's support is the union of theirs.
    /// Rows must sum to one within 1e-9 and are scaled to do so up to rounding.
    /// Throws InvalidArgument naming the kernel, state and action of the first bad row and the worst rows.
    static FeatureMap from_base_kernels(Index states, Index actions, std::span<const BaseKernel> kernels);
    /// The same from kernels where they lie, which are read row by row and not needed afterwards.
    static FeatureMap from_kernel_views(Index states, Index actions, std::span<const BaseKernelView> kernels);

    /// From a rule, row by row, without tables of base kernels beside the features: the same map as from the
    /// kernels that the rule makes. Throws InvalidArgument naming the base model, state and action of a bad
    /// row.
    static FeatureMap from_rows(const RowSource& rows, Threads threads = {});

    /// From signed features; `values` are kept as given.
    static FeatureMap from_features(const SignedFeatures& data);

    /// From a table that lies in memory as the map has it: nothing is copied, and everything is checked, in
    /// one pass. It cannot be mended either, so that rows of base models must sum to one up to rounding
    /// (within m 2^-52, m the pair's successors), and each target be one that some base model leads to.
    /// Throws InvalidArgument naming the first state and action that are not so.
    static FeatureMap from_table(const FeatureTable& table);

    Index features() const noexcept { return features_; }  ///< d
    FeatureKind kind() const noexcept { return kind_; }
    /// B; one for base models, whose weights are convex.
    double norm_bound() const noexcept { return norm_bound_; }
    /// Names of the base models; "feature 0", ... where none were given. Always d of them.
    const std::vector<std::string>& names() const noexcept { return names_; }

    /// The d features of one entry.
    std::span<const double> phi(Index entry) const noexcept;
    /// All features, entry after entry.
    std::span<const double> values() const noexcept { return values_; }

    /// sum over successors of phi(s,a,s') V(s'); `value` has one number a state.
    Vector phi_value(Index pair, std::span<const double> value) const;

    /// One base kernel as it was given (duplicates summed, zeros dropped, rows that are a little off scaled
    /// to sum to one). Base models only.
    BaseKernel base_kernel(Index feature) const;

    /// Throws InvalidArgument if the features lie in a file that has changed since the map was made, so that
    /// what was computed from it may be of neither.
    void check_unchanged() const {
        if (check_unchanged_) check_unchanged_();
    }

    bool operator==(const FeatureMap& other) const;

private:
    FeatureMap(SuccessorMap successors, Index features, std::vector<double> values);
    /// `values` are where `owner` keeps them.
    FeatureMap(SuccessorMap successors, Index features, std::shared_ptr<const void> owner,
               std::span<const double> values)
        : SuccessorMap(std::move(successors)),
          features_(features),
          owner_(std::move(owner)),
          values_(values) {}

    Index features_;
    FeatureKind kind_ = FeatureKind::base_models;
    double norm_bound_ = 1;
    std::shared_ptr<const void> owner_;  // of the numbers, which copies share
    std::span<const double> values_;
    std::vector<std::string> names_;
    std::function<void()> check_unchanged_;
};

/// Feature maps are large and never change: everything that needs one shares it.
using SharedFeatures = std::shared_ptr<const FeatureMap>;

}  // namespace alidade
