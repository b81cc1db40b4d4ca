#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/radii.hpp"
#include "support/dense_algebra.hpp"

/// One step of a mixture, watched after every observation: who chooses the data, and where the truth lies
/// [likelihood §2]. Shared by the law test and the experiment of the same name.
namespace alidade::support {

enum class Choice {
    uniform,    ///< any action
    adaptive,   ///< greedy for information at the smoothed fit
    adversary,  ///< knows the truth, and takes the action whose law the fit has best
};

enum class Truth { interior, vertex, edge };

struct OneStepDesign {
    Index features = 3;  ///< d: 2, 3 or 5
    Choice choice = Choice::adaptive;
    Truth truth = Truth::interior;
    double concentration = 1;  ///< of the base rows: below one they are sharp
    Index observations = 500;  ///< T
    Index actions = 8;
    Index outcomes = 4;
};

/// By how many nats L(theta~) - L(theta*) exceeded what a radius allows, at the worst time: above 0 the set
/// lost the truth. Minus infinity where no time came near.
struct Excess {
    double kt = -std::numeric_limits<double>::infinity();
    double det = kt;
    double used = kt;              ///< LikelihoodSet as shipped: the lesser of the two, and ln 2
    double centred = kt;           ///< `radius=centred`, with a mixture about the hypothesis
    double nine_tenths = kt;       ///< the same with nine tenths of the allowance: what a fault would do
    double predictions = kt;       ///< of the smoothed fit, alone
    double with_predictions = kt;  ///< LikelihoodSet with `predicted`: the least of three, and ln 3
    double chi_squared = kt;       ///< half the quantile of chi^2 with d-1 degrees, at every time
    double chi_squared_once = kt;  ///< the same, at T only: what it is meant for
};

/// Half the (1 - 0.1)-quantile of chi^2 with d - 1 degrees of freedom.
inline double half_chi_squared(Index features) {
    const double quantile = features == 2 ? 2.705543 : features == 3 ? 4.605170 : 7.779440;
    return quantile / 2;
}

/// The run: kernels, truth and outcomes come from the stream.
class OneStepRun {
public:
    OneStepRun(const OneStepDesign& design, Stream& random) : design_(design), random_(random) {
        const Index d = design.features;
        for (Index row = 0; row < design.actions; ++row) {
            Matrix law(d, design.outcomes);
            for (Index i = 0; i < d; ++i) {
                const auto base = sample_dirichlet(random, design.outcomes, design.concentration);
                law.row(i) = Eigen::Map<const Vector>(base.data(), design.outcomes).transpose();
            }
            laws_.push_back(std::move(law));
        }
        truth_ = Vector::Zero(d);
        const Index support = design.truth == Truth::vertex ? 1 : design.truth == Truth::edge ? 2 : d;
        const auto weights = sample_dirichlet(random, support, 1.0);
        for (Index i = 0; i < support; ++i) truth_[i] = weights[static_cast<std::size_t>(i)];
        rows_.features = d;
        position_.assign(static_cast<std::size_t>(design.actions * design.outcomes), -1);
        smoothed_ = best_ = Vector::Constant(d, 1.0 / static_cast<double>(d));
    }

    Excess watch() {
        for (Index t = 0; t < design_.observations; ++t) {
            observe(choose());
            best_ = detail::maximise_likelihood(rows_, {}, best_).weights;
            compare(t + 1 == design_.observations);
            smoothed_ = detail::maximise_likelihood(rows_, {.barrier = 0.5, .steps = 60}, smoothed_).weights;
        }
        return excess_;
    }

private:
    static constexpr double delta = 0.1;

    Index choose() {
        if (design_.choice == Choice::uniform) return sample_index(random_, design_.actions);
        const Matrix& basis = space_.space().basis;
        Index best = 0;
        double most = -std::numeric_limits<double>::infinity();
        Matrix metric;
        if (design_.choice == Choice::adaptive)
            metric =
                detail::information(rows_, smoothed_, basis) + Matrix::Identity(basis.cols(), basis.cols());
        for (Index a = 0; a < design_.actions; ++a) {
            const Matrix& law = laws_[static_cast<std::size_t>(a)];
            const Vector fitted = law.transpose() * smoothed_, real = law.transpose() * truth_;
            double value = 0;
            if (design_.choice == Choice::adaptive) {
                const Matrix scaled =
                    basis.transpose() * law * fitted.cwiseMax(1e-300).cwiseSqrt().cwiseInverse().asDiagonal();
                // ln det J is common to all actions.
                value = determinant(metric + scaled * scaled.transpose());
            } else {
                for (Index j = 0; j < design_.outcomes; ++j)
                    if (real[j] > 0) value -= real[j] * std::log(real[j] / fitted[j]);
            }
            if (value <= most) continue;
            most = value;
            best = a;
        }
        return best;
    }

    void observe(Index action) {
        const Matrix& law = laws_[static_cast<std::size_t>(action)];
        const Vector real = law.transpose() * truth_;
        const Index outcome =
            sample_categorical(random_, {real.data(), static_cast<std::size_t>(real.size())});
        const auto place = static_cast<std::size_t>(action * design_.outcomes + outcome);
        if (position_[place] < 0) {
            position_[place] = rows_.size();
            const Vector f = law.col(outcome);
            rows_.rows.insert(rows_.rows.end(), f.data(), f.data() + f.size());
            rows_.counts.push_back(0);
        }
        rows_.counts[static_cast<std::size_t>(position_[place])] += 1;
        rows_.observations += 1;
        // Fixed before the outcome was seen.
        predicted_ += std::log(law.col(outcome).dot(smoothed_));
        real_ += std::log(real[outcome]);
    }

    void compare(bool last) {
        const double shortfall = detail::log_likelihood_ratio(rows_, best_, truth_),
                     level = std::log(1 / delta);
        raise(excess_.chi_squared, shortfall - half_chi_squared(design_.features));
        if (last) excess_.chi_squared_once = shortfall - half_chi_squared(design_.features);
        raise(excess_.predictions, predicted_ - real_ - level);
        // No regret is below 0 by more than the fit's gap, so nothing else can have happened.
        if (shortfall < level - 0.01) return;
        const std::span<const detail::LikelihoodRows> rows(&rows_, 1);
        const std::span<const Vector> start(&best_, 1);
        const detail::LikelihoodSet set = detail::likelihood_sets(rows, {.delta = delta}, start)[0];
        const detail::LikelihoodSet wide =
            detail::likelihood_sets(rows, {.delta = delta, .predicted = {predicted_}}, start)[0];
        const double below = detail::log_likelihood_ratio(rows_, set.fit.weights, truth_);
        raise(excess_.kt, below - set.regret_kt - level);
        raise(excess_.det, below - set.regret_det - level);
        raise(excess_.used, below - set.allowance);
        raise(excess_.nine_tenths, below - 0.9 * set.allowance);
        raise(excess_.with_predictions, below - wide.allowance);
        const detail::LikelihoodSet about =
            detail::likelihood_sets(rows, {.delta = delta, .radius = detail::Radius::centred}, start)[0];
        raise(excess_.centred,
              detail::log_likelihood_ratio(rows_, about.fit.weights, truth_) - about.allowance);
    }

    static void raise(double& largest, double value) { largest = std::max(largest, value); }

    const OneStepDesign& design_;
    Stream& random_;
    ParameterSet space_ = ParameterSet::simplex(design_.features);
    std::vector<Matrix> laws_;  // of every action: d x outcomes
    Vector truth_, smoothed_, best_;
    detail::LikelihoodRows rows_;
    std::vector<Index> position_;  // of every (action, outcome) among the rows, or -1
    double predicted_ = 0, real_ = 0;
    Excess excess_;
};

}  // namespace alidade::support
