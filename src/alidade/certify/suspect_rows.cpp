#include "alidade/certify/suspect_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "../confidence/likelihood_sets.hpp"
#include "../estimate/maximum_likelihood.hpp"
#include "alidade/confidence/bets.hpp"
#include "alidade/error.hpp"
#include "fit_rows.hpp"
#include "following_alternatives.hpp"
#include "misfit.hpp"

namespace alidade {

namespace {

using detail::FitRow;
using detail::FitRows;

/// Of the share of right rows in a list, what is spent on sets that do not contain the true weights.
constexpr double share_of_sets = 0.2;

/// A row, the weights that are possible, and its evidence at their centre, which is at least the least.
struct Suspect {
    const FitRows* rows;
    const FitRow* row;
    const VertexSet* possible;
    double log_evidence;
};

/// How many e-values are large enough together (e-BH): the largest k of which k are at least hypotheses/(k
/// q).
std::size_t rejected(const std::vector<double>& descending, double hypotheses, double share) {
    std::size_t most = 0;
    for (std::size_t k = 1; k <= descending.size(); ++k)
        if (descending[k - 1] >= std::log(hypotheses / (static_cast<double>(k) * share))) most = k;
    return most;
}

Vector positive(const Vector& weights) {
    Vector moved = weights.cwiseMax(1e-12);
    return moved / moved.sum();
}

/// No possible weights give less evidence: f(theta) >= f(x) + grad . (theta - x), and the least of grad .
/// theta over the set is known from below. A few steps of Frank and Wolfe's method choose the x.
double least_over_set(const Suspect& suspect) {
    const VertexSet& possible = *suspect.possible;
    Vector weights = positive(possible.centre());
    double best = -std::numeric_limits<double>::infinity();
    for (int step = 0; step < 20; ++step) {
        const detail::RowMixture here = detail::row_mixture(*suspect.rows, *suspect.row, weights);
        const double reach = possible.range({here.gradient.data(), at(here.gradient.size())}).lower;
        // Weights that sum to one up to rounding multiply the gradient; that is in its doubt.
        best = std::max(best, here.value + reach - here.gradient.dot(weights) - 2 * here.gradient_doubt);
        if (here.value - best < 0.01) break;
        Index least = 0;
        (possible.vertices().transpose() * here.gradient).minCoeff(&least);
        const Vector there = positive(possible.vertices().col(least));
        double length = 1;
        bool moved = false;
        for (int tries = 0; tries < 12 && !moved; ++tries, length /= 2) {
            const Vector next = weights + length * (there - weights);
            moved = detail::row_mixture(*suspect.rows, *suspect.row, next).value < here.value;
            if (moved) weights = next;
        }
        if (!moved) break;
    }
    return best;
}

std::vector<double> descending(const std::vector<Suspect>& suspects) {
    std::vector<double> values;
    values.reserve(suspects.size());
    for (const Suspect& one : suspects) values.push_back(one.log_evidence);
    std::ranges::sort(values, std::ranges::greater{});
    return values;
}

/// The data of all confidence sets, as the lists of every zeta see them.
struct Tested {
    const FeatureMap& features;
    std::vector<FitRows> views = {};
    std::vector<BetTable> tables = {};
    std::vector<Vector> about = {};  ///< fits: near which what is possible is looked for
    double hypotheses = 0;
};

Tested tested(const Task& task, const Counts& counts) {
    const FeatureMap& features = *task.features;
    Tested data{features};
    const Index steps = counts.shape().learned_steps();
    data.views.resize(at(task.homogeneous ? std::min<Index>(1, steps) : steps));
    for (std::size_t k = 0; k < data.views.size(); ++k)
        if (task.homogeneous)
            data.views[k].add(features, counts.pooled(), std::nullopt);
        else
            data.views[k].add(features, counts.seen(static_cast<Step>(k)), static_cast<Step>(k));
    double pairs = 0;
    for (Index pair = 0; pair < features.pairs(); ++pair) pairs += features.successors(pair) >= 2 ? 1 : 0;
    // All rows there are, visited or not: their number must not depend on the data.
    data.hypotheses = pairs * static_cast<double>(data.views.size());
    data.tables = bet_tables(features, BetDesign(features), counts, task.homogeneous);
    for (const detail::LikelihoodRows& rows : detail::likelihood_rows(features, counts, task.homogeneous))
        data.about.push_back(detail::maximise_likelihood(rows, {.barrier = 0.5, .steps = 60}).weights);
    return data;
}

/// What is possible of the weights of every set; none: nothing is, in some set.
std::optional<std::vector<VertexSet>> possible_weights(const Tested& data, double zeta, double delta) {
    std::vector<VertexSet> all;
    for (std::size_t k = 0; k < data.views.size(); ++k) {
        const BetTable& table = data.tables[k];
        const double allowance = bet_allowance(std::ssize(data.views), table.bets(), delta);
        std::optional<VertexSet> hull = VertexSet::of(bet_half_spaces(table, zeta, allowance, data.about[k]));
        if (!hull) return std::nullopt;
        all.push_back(std::move(*hull));
    }
    return all;
}

SuspectRows listed(const Tested& data, double zeta, double share) {
    SuspectRows list{zeta, false, {}};
    const auto sets = possible_weights(data, zeta, share_of_sets * share);
    if (!sets) {
        list.refuted = true;
        return list;
    }
    const double level = (1 - share_of_sets) * share;
    std::vector<Suspect> suspects;
    for (std::size_t k = 0; k < data.views.size(); ++k) {
        const std::vector<double> predicted = data.views[k].predicted(positive((*sets)[k].centre()));
        for (const FitRow& row : data.views[k].rows)
            suspects.push_back(
                {&data.views[k], &row, &(*sets)[k], detail::log_row_mixture(data.views[k], row, predicted)});
    }
    // What is too little at one possible weight is too little: only the others need the least of all.
    const std::size_t possible = rejected(descending(suspects), data.hypotheses, level);
    if (possible == 0) return list;
    const double enough = std::log(data.hypotheses / (static_cast<double>(possible) * level));
    std::erase_if(suspects, [&](const Suspect& one) { return one.log_evidence < enough; });
    for (Suspect& one : suspects) one.log_evidence = least_over_set(one);
    std::ranges::stable_sort(suspects, std::ranges::greater{}, &Suspect::log_evidence);
    suspects.resize(rejected(descending(suspects), data.hypotheses, level));
    for (const Suspect& one : suspects)
        list.rows.push_back(detail::misfit_of(data.features, *one.rows, *one.row,
                                              one.rows->predicted(positive(one.possible->centre())),
                                              one.log_evidence));
    return list;
}

}  // namespace

std::vector<SuspectRows> suspect_rows(const Task& task, const Counts& counts, std::span<const double> zetas,
                                      double share) {
    expects(share > 0 && share < 1, "share is {}; must be greater than 0 and less than 1", share);
    for (const double zeta : zetas)
        expects(
            zeta > 0 && zeta < 1,
            "misspecification is {}; must be greater than 0 and less than 1: rows that are off are listed "
            "for truths that may be off by so much. With none allowed for, wrong rows move the weights, "
            "and right rows look wrong",
            zeta);
    expects(task.linear == nullptr && task.features->kind() == FeatureKind::base_models,
            "rows are compared with mixtures of base models; the task has none");
    expects(counts.shape() == task.shape() && counts.over(*task.features),
            "counts are of another problem than the task");
    std::vector<SuspectRows> lists;
    const bool left = task.reach == Reach::support && counts.any_elsewhere();
    std::optional<Tested> data;
    for (const double zeta : zetas) {
        if (left) {
            lists.push_back({zeta, true, {}});
            continue;
        }
        if (!data) data.emplace(tested(task, counts));
        lists.push_back(listed(*data, zeta, share));
    }
    return lists;
}

SuspectRows suspect_rows(const Task& task, const Counts& counts, double share) {
    return std::move(suspect_rows(task, counts, std::span(&task.misspecification, 1), share).front());
}

}  // namespace alidade
