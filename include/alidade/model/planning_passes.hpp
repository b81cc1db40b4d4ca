#pragma once

#include <cstdint>
#include <span>

#include "alidade/types.hpp"

namespace alidade {

/// Planning by widths, one step after another: for every pair scale * |psi_V| + E[next(s')], where V, its
/// witness, zeros and ones over the successors, follows the metric from one policy to the next [paper, Alg. 1
/// lines 8-13; oracle §C.2]. Made by a TransitionOperator.
class WidthPlanner {
public:
    virtual ~WidthPlanner() = default;

    struct Step {
        Index set = 0;                           ///< whose witnesses
        const Matrix* inverse_factor = nullptr;  ///< of the metric: the inverse of its lower Cholesky factor
        const Vector* weights = nullptr;         ///< whose expectation is taken, in the features' coordinates
        double scale = 0;                        ///< of the width: radius times range
        std::span<const double> next;            ///< S numbers: the value at the next step
        int ascents = 0;                         ///< how often the witness may move before the width is taken
    };

    /// values[pair] = scale * width + E[next(s')] under the set's weights. Moves the witnesses.
    virtual void run(const Step& step, std::span<double> values) = 0;

    /// The witness of one (set, successor number of a pair).
    virtual bool witness(Index set, Index pair, Index successor) const = 0;
    /// The witnesses of one set, a number 0 or 1 an entry, as in a width table. They are held in bits.
    virtual void witnesses(Index set, std::span<std::uint8_t> to) const = 0;
    virtual void take_witnesses(Index set, std::span<const std::uint8_t> from) = 0;
    /// The witnesses of all sets as they are held, to be written down: set after set, eight pairs together, a
    /// byte for each successor of the pair that has most, a bit a pair.
    virtual std::span<const std::uint8_t> witness_bits() const = 0;
    /// Throws InvalidArgument unless they are as many.
    virtual void take_witness_bits(std::span<const std::uint8_t> bits) = 0;
};

/// What a visit is worth, given what is known already [likelihood §5].
enum class FisherBonus {
    sqrt,      ///< how far the certificate's terms would move: (H-1-h) min(1, sqrt(B leverage / 2))
    gain,      ///< information: log det(1 + J^-1 I), no constants
    leverage,  ///< the largest eigenvalue of J^-1 I
};

/// Planning by Fisher information, one step after another [likelihood §5]: for every pair what one more visit
/// would tell of the weights, and the backup. Made by a TransitionOperator.
class InformationPlanner {
public:
    virtual ~InformationPlanner() = default;

    /// What is known of the weights of a step.
    struct Known {
        const Vector* weights = nullptr;  ///< d numbers: under which successors are predicted
        const Matrix* factor = nullptr;   ///< p x p: the lower Cholesky factor of the information J
        FisherBonus bonus = FisherBonus::sqrt;
        double allowance = 0;  ///< B, of the likelihood set; for the bonus `sqrt`
    };

    struct Step {
        Known known;
        double scale = 0;              ///< of the bonus
        std::span<const double> next;  ///< S numbers: the value at the next step
        bool bonus_known = false;      ///< the bonuses are given, those of a step with the same `known`
    };

    /// bonus[pair] from the eigenvalues of J^-1 I, where I = sum_j psi_j psi_j' / P_j is the information of a
    /// visit, and values[pair] = scale * bonus[pair] + E[next(s')] under the weights.
    virtual void run(const Step& step, std::span<double> bonus, std::span<double> values) const = 0;
};

}  // namespace alidade
