#include "alidade/problem/inspection.hpp"

#include <algorithm>
#include <limits>

#include "../model/spectrum.hpp"
#include "alidade/model/tangent_space.hpp"

namespace alidade {
namespace {

using StateFlags = std::vector<char>;

/// Directions with at most this share of the largest eigenvalue of the Gram matrix count as unseen; that
/// is 1e-6 of the largest singular value.
constexpr double rank_tolerance = 1e-12;

StateFlags first_states(const Problem& problem) {
    StateFlags flags(static_cast<std::size_t>(problem.shape().states), 0);
    for (const auto& [state, probability] : problem.start().atoms())
        if (probability > 0) flags[static_cast<std::size_t>(state)] = 1;
    return flags;
}

StateFlags next_states(const FeatureMap& features, const StateFlags& here) {
    StateFlags next(here.size(), 0);
    for (State s = 0; s < features.states(); ++s) {
        if (!here[static_cast<std::size_t>(s)]) continue;
        for (Action a = 0; a < features.actions(); ++a)
            for (const std::int32_t target : features.targets(features.pair(s, a)))
                next[static_cast<std::size_t>(target)] = 1;
    }
    return next;
}

/// Sum of psi psi' over the entries of the flagged states.
Matrix gram(const FeatureMap& features, const TangentFeatures& tangent, const StateFlags& flags) {
    const Index p = tangent.space.dimension();
    Matrix sum = Matrix::Zero(p, p);
    for (State s = 0; s < features.states(); ++s) {
        if (!flags[static_cast<std::size_t>(s)]) continue;
        const Index first = features.first_entry(features.pair(s, 0));
        const Index last = features.first_entry(features.pair(s, features.actions() - 1) + 1);
        const Eigen::Map<const Matrix> psi(tangent.psi.data() + first * p, p, last - first);
        sum.noalias() += psi * psi.transpose();
    }
    return sum;
}

Index rank_of(const Vector& eigenvalues) {
    if (eigenvalues.size() == 0) return 0;
    const double least = rank_tolerance * eigenvalues.maxCoeff();
    return (eigenvalues.array() > std::max(least, 1e-300)).count();
}

Index rank_of(const Matrix& gram) {
    return gram.size() == 0 ? 0 : rank_of(detail::spectrum_of(gram).values);
}

void inspect_together(const Matrix& gram, const TangentSpace& space, Inspection& found) {
    if (gram.size() == 0) return;
    const detail::Spectrum spectrum = detail::spectrum_of(gram);
    found.rank = rank_of(spectrum.values);
    // Eigenvalues rise, so the unseen directions come first.
    const Matrix unseen = space.basis * spectrum.vectors.leftCols(found.dimension - found.rank);
    for (Index i = 0; i < unseen.rows(); ++i)
        if (unseen.row(i).norm() > 1e-6) found.collinear.push_back(i);
}

/// What exploring keeps: features and tangent features, probabilities and counts of every step, and the
/// witnesses and widths of every pair.
std::int64_t bytes_of(const Problem& problem, Index dimension) {
    const FeatureMap& features = problem.features();
    const auto horizon = static_cast<double>(problem.shape().horizon);
    const double numbers = static_cast<double>(features.entries()) *
                               (static_cast<double>(features.features() + dimension + 2) + 4 * horizon) +
                           static_cast<double>(features.pairs()) * (4 * horizon + 2);
    // The sizes of a file's problem may multiply to more than any memory has bytes.
    return 8 * numbers < 0x1p63 ? static_cast<std::int64_t>(8 * numbers)
                                : std::numeric_limits<std::int64_t>::max();
}

/// Notices that the sets of reachable states repeat, each being made of the one before: remembers those of
/// steps 1, 2, 4, 8, ... [Brent 1980], so that a repetition is seen after three times as many steps at most.
class Repetition {
public:
    /// Steps after which `here`, the set of step h, has come again; 0 if it has not.
    Step period(Step h, const StateFlags& here) {
        if (h > 0 && here == remembered_) return h - at_;
        if (h == 0 || h >= 2 * at_) {
            remembered_ = here;
            at_ = h;
        }
        return 0;
    }

private:
    StateFlags remembered_;
    Step at_ = 0;
};

}  // namespace

Inspection inspect(const Problem& problem) {
    const FeatureMap& features = problem.features();
    const TangentFeatures tangent(features, problem.parameters().space());
    Inspection found;
    found.dimension = tangent.space.dimension();
    found.bytes = bytes_of(problem, found.dimension);

    StateFlags here = first_states(problem), ever(here.size(), 0), learned(here.size(), 0), before;
    Repetition repetition;
    const auto shown = static_cast<std::size_t>(std::min(problem.shape().horizon, most_steps_inspected));
    for (Step h = 0; h < problem.shape().horizon; ++h) {
        if (const Step period = repetition.period(h, here); period > 0) {
            while (found.steps.size() < shown)
                found.steps.push_back(found.steps[found.steps.size() - static_cast<std::size_t>(period)]);
            break;
        }
        StepInspection step;
        step.reachable = std::count(here.begin(), here.end(), 1);
        for (std::size_t s = 0; s < here.size(); ++s) {
            ever[s] |= here[s];
            if (problem.shape().steps_after(h) > 0) learned[s] |= here[s];
        }
        if (found.steps.size() < shown) {
            step.rank = here == before ? found.steps.back().rank : rank_of(gram(features, tangent, here));
            found.steps.push_back(step);
        }
        before = here;
        here = next_states(features, here);
    }
    for (std::size_t s = 0; s < ever.size(); ++s)
        if (!ever[s]) found.unreachable.push_back(static_cast<State>(s));
    inspect_together(gram(features, tangent, learned), tangent.space, found);
    return found;
}

}  // namespace alidade
