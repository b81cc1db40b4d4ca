#include "alidade/problem/inspection.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "../model/spectrum.hpp"
#include "alidade/model/pair_features.hpp"
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

StateFlags next_states(const SuccessorMap& features, const StateFlags& here) {
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
    Matrix sum = Matrix::Zero(p, p), psi;
    for (State s = 0; s < features.states(); ++s) {
        if (!flags[static_cast<std::size_t>(s)]) continue;
        const Index first = features.first_entry(features.pair(s, 0));
        const Index last = features.first_entry(features.pair(s, features.actions() - 1) + 1);
        psi.resize(p, last - first);
        for (Index e = first; e < last; ++e) tangent.psi(e, psi.data() + (e - first) * p);
        sum.noalias() += psi * psi.transpose();
    }
    return sum;
}

/// Sum of phi phi' over the pairs of the flagged states of a linear MDP.
Matrix gram(const PairFeatures& features, const StateFlags& flags) {
    const Index d = features.features();
    Matrix sum = Matrix::Zero(d, d);
    for (State s = 0; s < features.states(); ++s) {
        if (!flags[static_cast<std::size_t>(s)]) continue;
        const auto phi = features.matrix().middleCols(features.pair(s, 0), features.actions());
        sum.noalias() += phi * phi.transpose();
    }
    return sum;
}

/// The directions that are to be learned, and how those that some states show are told.
struct Directions {
    Matrix basis;  ///< of features, a column for each direction
    std::function<Matrix(const StateFlags&)> gram;
};

Directions directions_of(const Problem& problem) {
    if (problem.is_linear()) {
        const PairFeatures& features = problem.pair_features();
        return {Matrix::Identity(features.features(), features.features()),
                [&features](const StateFlags& flags) { return gram(features, flags); }};
    }
    const auto tangent =
        std::make_shared<const TangentFeatures>(problem.features(), problem.parameters().space());
    return {tangent->space.basis, [tangent, &features = problem.features()](const StateFlags& flags) {
                return gram(features, *tangent, flags);
            }};
}

Index rank_of(const Vector& eigenvalues) {
    if (eigenvalues.size() == 0) return 0;
    const double least = rank_tolerance * eigenvalues.maxCoeff();
    return (eigenvalues.array() > std::max(least, 1e-300)).count();
}

Index rank_of(const Matrix& gram) {
    return gram.size() == 0 ? 0 : rank_of(detail::spectrum_of(gram).values);
}

void inspect_together(const Matrix& gram, const Matrix& basis, Inspection& found) {
    if (gram.size() == 0) return;
    const detail::Spectrum spectrum = detail::spectrum_of(gram);
    found.rank = rank_of(spectrum.values);
    // Eigenvalues rise, so the unseen directions come first.
    const Matrix unseen = basis * spectrum.vectors.leftCols(found.dimension - found.rank);
    for (Index i = 0; i < unseen.rows(); ++i)
        if (unseen.row(i).norm() > 1e-6) found.collinear.push_back(i);
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

std::int64_t exploring_bytes(const Problem& problem) {
    const SuccessorMap& map = problem.successors();
    const auto steps = static_cast<double>(problem.shape().horizon);
    // Features and the target of every entry, and a bit for its witness in each step; those of a linear MDP's
    // pairs are few beside the rest.
    const double each =
        (problem.is_linear() ? 0.0 : 8.0 * static_cast<double>(problem.features().features())) + 4 +
        steps / 8;
    // The first entry of a pair, and some eight numbers in each step while a certificate is computed; a value
    // and an action of a state in each step.
    const double bytes = static_cast<double>(map.entries()) * each +
                         static_cast<double>(map.pairs()) * (8 + 64 * steps) +
                         static_cast<double>(map.states()) * 12 * steps;
    // The sizes of a file's problem may multiply to more than any memory has bytes.
    return bytes < 0x1p63 ? static_cast<std::int64_t>(bytes) : std::numeric_limits<std::int64_t>::max();
}

Inspection inspect(const Problem& problem) {
    const Directions directions = directions_of(problem);
    Inspection found;
    found.dimension = directions.basis.cols();
    found.bytes = exploring_bytes(problem);

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
            step.rank = here == before ? found.steps.back().rank : rank_of(directions.gram(here));
            found.steps.push_back(step);
        }
        before = here;
        here = next_states(problem.successors(), here);
    }
    for (std::size_t s = 0; s < ever.size(); ++s)
        if (!ever[s]) found.unreachable.push_back(static_cast<State>(s));
    inspect_together(directions.gram(learned), directions.basis, found);
    return found;
}

}  // namespace alidade
