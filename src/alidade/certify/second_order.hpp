#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Bounds of what is of second order in the error of a policy's values: with delta_k = theta_k - theta~_k,
///   |delta_h . phi_e(s,a)|,  e(s') = sum_{k > h} delta_k . M_{h+1->k}(s')  [likelihood §6],
/// over all members of the confidence sets. That is sum_k delta_h' B_k delta_k, B_k = sum_s' phi(s,a,s')
/// M_k(s')', and in the metrics of the sets, G_k' G_k the inverse precision, at most rho_h rho_k |G_h B_k
/// G_k'|_2. A row that sums to one cancels what the M_k(s') have in common, which bounding e by an interval
/// does not. Rounding under that cancellation is paid for by what is cancelled.
class SecondOrder {
public:
    /// The B_k of one pair in the metrics of the sets, or a sum of such with weights.
    struct Form {
        Matrix products;      ///< each block of p rows is the transpose of rho_h rho_k G_h B_k G_k'
        double rounding = 0;  ///< of their norms' sum, at most

        /// Adds another form with a weight of either sign.
        void add(double weight, const Form& other);
    };

    /// Memory that threads must not share.
    struct Scratch {
        Matrix generators;  ///< rho_h G_h phi(s,a,s'), p x successors
        Matrix gathered;    ///< the successors' `moved_`, (sets p) x successors
    };

    explicit SecondOrder(const LearnedMixture& learned);

    /// Takes M_{h+1->k}(s') for all states, sets and features, of which sets before `first` are not used.
    void prepare(Index first, std::span<const double> sums);
    /// The form of a pair of step h, the one before the step that was prepared for.
    void form(Step h, Index pair, Scratch& scratch, Form& result) const;
    /// The bound of sum_k delta_h' B_k delta_k.
    double bound(const Form& form) const;

private:
    const LearnedMixture& learned_;
    Index d_, p_, sets_, first_ = 0;
    std::vector<Matrix> maps_;      // rho_k G_k, p x d
    std::vector<double> sizes_;     // at least the norms of their factors' product
    std::vector<double> moved_;     // rho_k G_k M_k(s'): states x sets x p
    std::vector<double> rounding_;  // sum of sizes_k |M_k(s')|, of each state: what `moved_` is rounded as
};

}  // namespace alidade::detail
