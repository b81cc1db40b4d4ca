#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// Brackets widths pair after pair, with scratch memory: every thread needs its own. It reads the features,
/// which must outlive it.
class PairWidths {
public:
    PairWidths(const FeatureMap& features, const TangentFeatures& tangent, const WidthOptions& options);

    /// max of |inverse_factor psi_V| over V in [0,1]; `witness` as in Width::bracket.
    WidthBracket bracket(Index pair, const Matrix& inverse_factor, std::span<std::uint8_t> witness);
    /// The same over 0 <= V(s') <= most(s'), from above; `most` has one number a state, none negative.
    double within(Index pair, const Matrix& inverse_factor, std::span<const double> most);

private:
    WidthBracket with_minus_the_sum(Index successors, std::span<std::uint8_t> witness);

    const FeatureMap& features_;
    const TangentFeatures& tangent_;
    Width oracle_;
    std::vector<double> psi_, generators_;
    std::vector<std::uint8_t> witness_, start_;
};

}  // namespace alidade::detail
