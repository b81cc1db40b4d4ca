#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "alidade/referee/referee.hpp"
#include "numbers.hpp"

/// What the data say about the weights of every step: balls that contain them all at once with probability
/// 1 - delta. Weights are theta_0 + N zeta.
namespace alidade::referee::detail {

/// A setting with what is derived from it: the referee's only view of a problem.
struct Facts {
    explicit Facts(const Setting& given);

    const Setting& setting;
    Index d, p, pairs, sets;       ///< features, columns of N, state-action pairs, learned sets of weights
    Real reach;                    ///< no member has a longer zeta
    std::vector<Numbers> phi;      ///< of every entry; of pair features, of every pair
    std::vector<Numbers> psi;      ///< N' phi
    std::vector<Numbers> corners;  ///< N' e_i; of base models, where all weight is on one of them

    Numbers reduced(const Numbers& vector) const;     ///< N' x
    Numbers weights(const Numbers& zeta) const;       ///< theta_0 + N zeta
    Numbers coordinates(const Numbers& theta) const;  ///< N' (theta - theta_0)
    Index set_of(Index step) const { return setting.homogeneous ? 0 : step; }
};

/// {zeta : |L'(zeta - centre)| <= radius}, and the ball about theta~ that contains it cut with the possible
/// weights: |L'(zeta - zeta~)| <= about.
struct Ball {
    Numbers centre;
    Square factor;  ///< L
    Real radius = 0, about = 0;
    Numbers middle = {};              ///< weights of the centre
    std::vector<Numbers> units = {};  ///< L^-1 N' e_i
};

/// Transitions of one set: features and how often they were seen.
struct Row {
    Numbers f, z;  ///< phi and N' phi
    Real count;

    /// Whether base models differ about it. Predictions were kept of such transitions only.
    bool tells() const {
        return std::ranges::any_of(f, [&](Real value) { return value != f.front(); });
    }
};
std::vector<Row> rows_of(const Facts& facts, const Transitions& seen, Index set);

/// The data leave no weights, or laws, possible: the confidence event has failed.
struct Contradicted {};

/// lambda of the plain regression: 1/4 in units in which |zeta| <= 1.
Real regularisation(const Facts& facts);
/// |lambda zeta| in the dual metric of L L', at most.
Real bias(const Facts& facts, const Square& factor, Real lambda);
/// [docs/algorithms/hoeffding.md, Theorem 1] the ball of the regression of one set, with its share of delta.
Ball regression_ball(const Facts& facts, const Regression& regression, Index set, Real failure);
/// [docs/algorithms/bernstein.md, Theorem 1] the ball of the weighted rows of one set, with its share of
/// delta; nothing while their leverage is too large.
std::optional<Ball> weighted_ball(const Facts& facts, const Weighted& weighted, Index set, Real failure);
/// [docs/algorithms/likelihood.md, 2. Fit and gap] argmax of sum_t ln(theta . f_t) + barrier sum_i ln
/// theta_i, nearly.
Numbers most_likely(const std::vector<Row>& rows, const Facts& facts, Real barrier);
/// [docs/algorithms/likelihood.md, Theorem 1] B: L(theta) >= L(weights) - B for the truth. `predicted` is
/// null where there are none.
Real allowance(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights,
               const double* predicted, Real failure);
/// [docs/algorithms/likelihood.md, Theorem 1c] the same with a mixture about the hypothesis.
Real centred_allowance(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights,
                       const double* predicted, Real failure);
/// Of every set, whether a pair that can be reached tells base models apart: only these share delta there.
std::vector<bool> telling_sets(const Facts& facts);
/// [docs/algorithms/likelihood.md, Lemma 2] the regret of the Dirichlet(1/2) mixture after t observations.
Real dirichlet_regret(Real t, Index features);
/// [docs/algorithms/likelihood.md, Lemma 4] the ball about `weights` that contains {L(theta) >= L(weights) -
/// B}.
Ball likelihood_ball(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights, Real allowed);
/// [docs/algorithms/likelihood.md, Lemma 4b] the ball of the transitions of one set of signed features, of
/// which `predicted` is what predictions on the way add up to. Throws Unsolvable where `weights` are not
/// inside.
Ball signed_likelihood_ball(const Facts& facts, const Transitions& seen, Index set, const Numbers& weights,
                            Real predicted, Real failure);
/// [docs/algorithms/likelihood.md, Lemma 5] a ball that contains what two have in common: of a grid of shares
/// the least.
Ball common_ball(const Ball& one, const Ball& two);
/// [docs/algorithms/hoeffding.md, Lemma 2] sets `about`, for the point theta~, and what is derived. Throws
/// Contradicted.
void centre_at(Ball& ball, const Facts& facts, const Numbers& weights);

/// The balls of one set about theta~, from all the evidence there is.
std::vector<Ball> balls_of(const Facts& facts, const Case& given, Index set);

}  // namespace alidade::referee::detail
