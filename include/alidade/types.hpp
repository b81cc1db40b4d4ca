#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>

namespace alidade {

using Index = std::ptrdiff_t;  ///< Sizes and positions; signed, so that differences are safe.
using State = Index;           ///< 0 .. states-1.
using Action = Index;          ///< 0 .. actions-1.
using Step = Index;            ///< h = 0 .. horizon-1; the last step's transition is never learned.

/// An Index as a position in the containers of the standard library, whose sizes are unsigned.
constexpr std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// The claim that a quantity lies in [lower, upper].
struct Interval {
    double lower = 0;
    double upper = 0;
};

}  // namespace alidade
