#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/mixture_model.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

class LearnedMixture;
class LearnedLinear;

/// How the least and the largest expectation over what is left possible are had.
enum class WorstCase {
    closed_form,  ///< the best of the closed forms: what certificates use
    solver,       ///< the support function of a whole confidence set: never wider, some hundred times slower
};

/// How far a law is from the learned one, in a way that adds up along a trajectory.
enum class Divergence {
    kl,          ///< KL(P~ || P)
    chi_square,  ///< sum of (P - P~)^2 / P~
};

/// Learned probabilities up to this are taken to be zero where divergences are computed, since what rounding
/// leaves of a zero would make them infinite. Values move by H^2 m times it, far below the rounding slack.
inline constexpr double negligible_probability = 1e-15;

/// Bounds of expectations over everything that a learned model leaves possible, one pair after another. It
/// has scratch memory, so that every thread needs its own, and reads the learned model, which must outlive
/// it.
class ExpectationBounds {
public:
    virtual ~ExpectationBounds() = default;

    /// Contains E[value(s') | s, a] at step h under every possible truth; `value` has one number a state. The
    /// last step has no successors that count: {0, 0}.
    virtual Interval operator()(Step h, Index pair, std::span<const double> value) = 0;
    /// The same for those who ask for many pairs and know the least and the largest element of `value`, which
    /// a truth that may lead anywhere makes it look for.
    virtual Interval knowing_extremes(Step h, Index pair, std::span<const double> value, const Interval&) {
        return (*this)(h, pair, value);
    }
    /// The upper end of it alone, which recursions of errors ask for.
    virtual double upper_knowing_extremes(Step h, Index pair, std::span<const double> value,
                                          const Interval& extremes) {
        return knowing_extremes(h, pair, value, extremes).upper;
    }
};

/// What exploration leaves behind: a model, and what is uncertain about it. With probability 1 - delta the
/// truth is among what is left possible. Planning and certifying need nothing else; no history is kept. What
/// is uncertain may be of any kind: certificates ask the questions below. Immutable.
class LearnedModel {
public:
    virtual ~LearnedModel() = default;

    /// P~: what is planned with.
    virtual const TransitionModel& model() const noexcept = 0;
    const Shape& shape() const noexcept { return model().shape(); }
    /// Whether one uncertainty is that of all steps, whose laws are the same; data are pooled.
    bool homogeneous() const noexcept { return homogeneous_; }
    double delta() const noexcept { return delta_; }
    /// How many steps have an uncertainty of their own: H-1, or one if homogeneous; none if H = 1.
    Index uncertain_steps() const noexcept;
    /// Position of step h < H-1 among them.
    Index set_index(Step h) const noexcept { return homogeneous_ ? 0 : h; }

    virtual std::unique_ptr<ExpectationBounds> expectations(
        WorstCase worst = WorstCase::closed_form) const = 0;
    /// For every uncertain step and pair an upper bound of the total variation between the learned law and
    /// every possible one: uncertain_steps x pairs numbers in [0, 1], zero only where the law is known. Cheap
    /// rather than sharp.
    virtual std::vector<double> variations() const = 0;
    /// The part of it that every bound of a variation must contain: how far, in total variation, the true law
    /// may be from all that weights make; where there are no weights, from the learned one. Of h < H-1.
    virtual double row_radius(Step h, Index pair) const noexcept = 0;

    /// Why divergences cannot be bounded; empty if they can.
    virtual std::string divergence_refusal() const = 0;
    /// For every uncertain step and pair an upper bound of the divergence between the learned law and every
    /// possible one; may be infinite. Throws InvalidArgument where `divergence_refusal` says why.
    virtual std::vector<double> divergences(Divergence divergence, Threads threads = {}) const = 0;

    /// How deep a truth is in what is left possible: at most one inside, infinite where it was excluded
    /// beforehand. Throws InvalidArgument if it has another shape, and where weights are uncertain, of a
    /// truth without them.
    virtual double depth(const MixtureModel& truth) const = 0;
    virtual double depth(const TransitionModel& truth) const = 0;
    /// Whether the truth is left possible.
    virtual bool contains(const MixtureModel& truth) const = 0;
    virtual bool contains(const TransitionModel& truth) const = 0;

    /// Itself if it is weights in confidence sets, in which values can be expanded; null otherwise.
    virtual const LearnedMixture* mixture() const noexcept { return nullptr; }
    /// Itself if it is the regression of a linear MDP; null otherwise.
    virtual const LearnedLinear* linear() const noexcept { return nullptr; }
    /// The same, where nothing else will do: throw InvalidArgument that says that `what` needs it.
    const LearnedMixture& as_mixture(std::string_view what) const;
    const LearnedLinear& as_linear(std::string_view what) const;

protected:
    /// Throws InvalidArgument unless delta is in (0, 1).
    LearnedModel(bool homogeneous, double delta);
    LearnedModel(const LearnedModel&) = default;
    LearnedModel(LearnedModel&&) = default;
    LearnedModel& operator=(const LearnedModel&) = default;
    LearnedModel& operator=(LearnedModel&&) = default;

    void require_shape_of(const TransitionModel& truth) const;

private:
    bool homogeneous_;
    double delta_;
};

/// Learned models are of several kinds, and never change: what hands one over shares it.
using SharedLearned = std::shared_ptr<const LearnedModel>;

/// How many confidence sets a problem has: H-1, or one if homogeneous; none if H = 1.
Index confidence_sets(Index horizon, bool homogeneous);

}  // namespace alidade
