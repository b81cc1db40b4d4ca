#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../estimate/maximum_likelihood.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/convex/support.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"
#include "level_set.hpp"
#include "likelihood_prior.hpp"

namespace alidade::detail {

/// The weights that the transitions of one step leave possible: all whose log-likelihood is at most
/// `allowance` below that of the fit. Convex, and valid at all times however the data were chosen [likelihood
/// §2].
struct LikelihoodSet {
    LikelihoodFit fit;     ///< theta~, the centre
    double allowance = 0;  ///< B
    double regret_kt = 0;  ///< of the Dirichlet(1/2) mixture, in closed form
    /// Of the uniform mixture, by a determinant; infinite if it was not computed. Of `plain`.
    double regret_det = 0;
    double regret_preq = 0;     ///< of the predictions made on the way; infinite if there were none
    double regret_uniform = 0;  ///< of the uniform mixture, by a Gaussian; of `centred`
    double regret_centred = 0;  ///< of the law about the hypothesis; of `centred`, infinite if not computed
    Index rounds = 0;           ///< ellipsoids that bounded how far a hypothesis may be; of `centred`
    /// About theta~, contains the convex set [likelihood §3], which is its level set where there are few
    /// rows.
    ConfidenceSet ellipsoid;
};

struct LikelihoodSetOptions {
    double delta = 0.1;     ///< of all sets together, in (0, 1)
    double barrier = 1e-6;  ///< of the fit
    bool thorough = false;  ///< tries more points and sizes for the determinant: a little smaller, slower
    /// Of every set, the sum of log(q_t . f_t) over the rows, q_t weights that were fixed before the
    /// transition was seen; or none. They count as a third mixture, which costs ln 3 instead of ln 2
    /// [likelihood §2].
    std::vector<double> predicted;
    /// Of `centred` mixtures are added up with weights of their own, and `thorough` changes nothing.
    Radius radius = Radius::plain;
    LikelihoodPrior prior;  ///< of `centred`: fixed before the data; none: identity, and all sets tell
};

/// Why likelihoods, or bets where there is a misspecification, give no sets for a task; empty if they do.
std::string likelihood_refusal(const Task& task);
/// The same of what needs base models: mixtures over the simplex, and with them logs, of which nothing was
/// predicted before they were seen.
std::string mixture_refusal(const Task& task);

/// The transitions of every confidence set: one for each learned step, or one of all steps. Throws
/// InvalidArgument unless the counts are over the features' successors.
std::vector<LikelihoodRows> likelihood_rows(const FeatureMap& features, const Counts& counts,
                                            bool homogeneous);

/// One set for each element of `rows`: with probability 1 - delta all contain their true weights, at all
/// times at once. `starts` are warm starts, as many (or none). Sets of which the prior says that they have
/// nothing to learn are the simplex, whatever was seen.
std::vector<LikelihoodSet> likelihood_sets(std::span<const LikelihoodRows> rows,
                                           const LikelihoodSetOptions& options,
                                           std::span<const Vector> starts = {});

/// The maximum of direction . theta over the convex set, from both sides. The upper end is a Lagrangian's
/// value, valid at any accuracy; the lower end is a member's [likelihood §6]. Milliseconds: for few
/// directions; the ellipsoid serves many. `tolerance` is relative to the range of the direction.
SupportBracket likelihood_support(const LikelihoodRows& rows, const LikelihoodSet& set,
                                  std::span<const double> direction, double tolerance = 1e-6);

/// {L >= L(centre) - allowance} by its support function; nothing where there are so many rows that it takes
/// long.
std::shared_ptr<const LevelSet> level_set(const LikelihoodRows& rows, const Vector& centre, double allowance);

/// Whether the weights are in the convex set itself.
bool contains(const LikelihoodRows& rows, const LikelihoodSet& set, const Vector& weights);

/// L(theta~) - log of the uniform mixture, at most: the mass that an ellipsoid inside the simplex about a
/// regularised maximiser has, by Jensen's inequality [likelihood §2].
double determinant_regret(const LikelihoodRows& rows, const Vector& weights, bool thorough);

}  // namespace alidade::detail
