#pragma once

#include <span>
#include <vector>

#include "alidade/model/reward.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Rewards whose weighted sums are of interest: 2 to 8, all of one shape.
class Objectives {
public:
    static constexpr Index least = 2, most = 8;

    /// Throws InvalidArgument naming the number of rewards, or the first whose shape is another than the
    /// first one's.
    explicit Objectives(std::vector<Reward> rewards);

    Index count() const noexcept { return static_cast<Index>(rewards_.size()); }
    const Shape& shape() const noexcept { return rewards_.front().shape(); }
    const Reward& operator[](Index i) const noexcept { return rewards_[static_cast<std::size_t>(i)]; }
    /// R_w = sum of w_i R_i, kept in [0, 1] where rounding would leave it. Throws InvalidArgument unless
    /// the weights are `count` numbers >= 0 whose sum is 1 within 1e-9.
    Reward weighted(std::span<const double> weights) const;

private:
    std::vector<Reward> rewards_;
};

/// 1 - r everywhere: to maximise it is to minimise r.
Reward complement(const Reward& reward);

}  // namespace alidade
