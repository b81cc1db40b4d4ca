#pragma once

#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// "base 0", "base 1", ...
std::vector<std::string> numbered_bases(Index count);

/// Base kernels in the making, row after row: for each pair in the order s*A+a, add() the successors
/// under every base model, then end_pair().
class KernelSet {
public:
    /// `row_size` bounds the successors of a pair. Throws InvalidArgument if the kernels together would
    /// hold more than 2^28 numbers.
    KernelSet(Index states, Index actions, const std::vector<std::string>& names, Index row_size);

    Index bases() const noexcept { return static_cast<Index>(kernels_.size()); }
    /// Adds to the probability of `target` in the current row of one base model; zeros are dropped.
    void add(Index base, State target, double probability);
    /// Adds the same probability in every base model.
    void add_to_all(State target, double probability);
    void end_pair();
    /// The feature map of all rows; the set is empty afterwards.
    SharedFeatures features();

private:
    Index states_;
    Index actions_;
    std::vector<BaseKernel> kernels_;
};

/// Adds a law over all states, which need not sum to one: chances of less than 1e-9 of the whole, which no
/// experiment will see and rounding may have made, are left out, and the others scaled.
void add_law(KernelSet& kernels, Index base, std::vector<double> law);

/// Moves on a line of `length` states: a step beyond an end stays there.
void add_walk(KernelSet& kernels, Index base, State s, Index length, double right, double stay, double left);

}  // namespace alidade::detail
