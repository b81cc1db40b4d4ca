#include "alidade/certify/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "alidade/error.hpp"
#include "checked_set.hpp"
#include "following_alternatives.hpp"
#include "free_alternatives.hpp"
#include "misfit.hpp"

namespace alidade {

namespace {

using detail::CheckedSet;
using detail::FitRows;

constexpr double nowhere = -std::numeric_limits<double>::infinity();
/// Of the alternatives that follow the mixture, foreign kernels are minimised only where they may reach this;
/// all of them together are worth less than a nat otherwise.
constexpr double worth_minimising = 2;
/// An alternative that is so far behind another adds nothing to a mean of both that anybody would see.
constexpr double hopelessly_behind = 8;
/// Beyond so many multiplications a set, foreign kernels of our own are not tried, and half of the
/// concentrations.
constexpr double most_work = 2e6;
/// Alternatives are fixed beforehand, with what they count for; not to compute one only makes E smaller.
constexpr double share_of_rows = 0.5, share_of_foreign = 0.375, share_of_free = 0.125;
constexpr std::size_t shown = 5;

enum class Kind { rows, foreign, kt, by_action, by_step };

struct Alternative {
    Kind kind = Kind::rows;
    std::string name;
    double parameter = 0;
    double log_weight = 0;
    bool apart = false;         ///< rows of each step, where steps are pooled
    std::size_t kernel = 0;     ///< foreign: which
    std::vector<double> most;   ///< of each set: no less than the least ln M over the weights
    std::vector<double> least;  ///< no more than it; once it was computed

    /// What it may add to ln E, at most, by such numbers.
    double reach(const std::vector<double>& values) const {
        const double sum = std::accumulate(values.begin(), values.end(), 0.0);
        const double single = std::ranges::max(values) - std::log(static_cast<double>(values.size()));
        return log_weight + std::max(sum, single);
    }
};

/// The kernels of each set, ours first and then the user's.
using Kernels = std::vector<std::vector<detail::ForeignKernel>>;

struct Check {
    const FeatureMap& features;
    const Counts& counts;
    const std::vector<CheckedSet>& sets;
    Kernels kernels = {};
    std::vector<Alternative> alternatives = {};
    bool large = false;  ///< few alternatives are computed
};

void add_rows(Check& check, bool homogeneous) {
    const double views = homogeneous ? 2 : 1;
    const double weight =
        std::log(share_of_rows / views / static_cast<double>(detail::concentrations.size()));
    for (const bool apart : {false, true}) {
        if (apart && !homogeneous) continue;
        for (std::size_t k = 0; k < detail::concentrations.size(); ++k) {
            if (check.large && k % 2 == 1) continue;
            Alternative one{Kind::rows, apart ? "rows by step" : "rows", detail::concentrations[k], weight,
                            apart};
            for (const CheckedSet& set : check.sets)
                one.most.push_back(
                    detail::RowsAlternative(set.view(apart), one.parameter).value(set.fit.weights));
            check.alternatives.push_back(std::move(one));
        }
    }
}

void add_foreign(Check& check, std::size_t ours, std::size_t suspects) {
    const double share = suspects > 0 ? share_of_foreign / 2 : share_of_foreign;
    for (std::size_t k = 0; k < ours + suspects; ++k)
        for (const double part : detail::shares) {
            const double among = static_cast<double>(k < ours ? ours : suspects);
            Alternative one{Kind::foreign, "foreign: " + check.kernels[0][k].name, part,
                            std::log(share / among / static_cast<double>(detail::shares.size()))};
            one.kernel = k;
            for (std::size_t set = 0; set < check.sets.size(); ++set)
                one.most.push_back(
                    detail::ConfinedAlternative(check.sets[set].rows, check.kernels[set][k].values, part,
                                                check.sets[set].predicted, check.sets[set].regret)
                        .value_at_fit(check.sets[set].fit.weights));
            check.alternatives.push_back(std::move(one));
        }
}

double free_evidence(const Check& check, Kind kind, bool apart, const CheckedSet& set) {
    switch (kind) {
        case Kind::by_action:
            return detail::log_parts_evidence(check.features, detail::by_action(check.features, set.seen),
                                              set.likelihood, set.fit);
        case Kind::by_step:
            return detail::log_parts_evidence(check.features, detail::by_step(check.counts), set.likelihood,
                                              set.fit);
        default:
            return detail::log_kt_evidence(set.view(apart), set.predictions(apart), set.fit);
    }
}

void add_free(Check& check, bool homogeneous) {
    struct Free {
        Kind kind;
        const char* name;
        bool apart;
    };
    std::vector<Free> all{{Kind::kt, "kt", false}, {Kind::by_action, "weights by action", false}};
    if (homogeneous) {
        all.push_back({Kind::kt, "kt by step", true});
        all.push_back({Kind::by_step, "weights by step", false});
    }
    for (const auto& [kind, name, apart] : all) {
        Alternative one{kind, name, 0, std::log(share_of_free / static_cast<double>(all.size())), apart};
        for (const CheckedSet& set : check.sets) one.most.push_back(free_evidence(check, kind, apart, set));
        one.least = one.most;
        check.alternatives.push_back(std::move(one));
    }
}

detail::SimplexMinimum minimum_of(const Check& check, const Alternative& one, std::size_t set,
                                  const detail::SimplexMinimumOptions& options) {
    const CheckedSet& here = check.sets[set];
    if (one.kind == Kind::rows)
        return detail::minimise(detail::RowsAlternative(here.view(one.apart), one.parameter),
                                here.fit.weights, options);
    return detail::minimise(detail::ConfinedAlternative(here.rows, check.kernels[set][one.kernel].values,
                                                        one.parameter, here.predicted, here.regret),
                            here.fit.weights, options);
}

/// Computes the least evidence over the weights of an alternative in every set; nothing where it turns out on
/// the way to be below `floor`.
void minimise_all(const Check& check, Alternative& one, double floor) {
    std::vector<double> bounds = one.most, least(one.most.size());
    for (std::size_t set = 0; set < bounds.size(); ++set) {
        const detail::SimplexMinimum found = minimum_of(check, one, set, {});
        least[set] = found.lower;
        bounds[set] = found.value;
        if (one.reach(bounds) < floor) return;
    }
    one.least = std::move(least);
}

/// The strongest first, so that the hopeless are not computed.
void minimise_all(Check& check) {
    std::vector<std::size_t> order(check.alternatives.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return check.alternatives[a].reach(check.alternatives[a].most) >
               check.alternatives[b].reach(check.alternatives[b].most);
    });
    double best = nowhere;
    for (const Alternative& one : check.alternatives)
        if (!one.least.empty()) best = std::max(best, one.reach(one.least));
    for (const std::size_t k : order) {
        Alternative& one = check.alternatives[k];
        if (!one.least.empty()) continue;
        double floor = best - hopelessly_behind;
        if (one.kind == Kind::foreign) floor = std::max(floor, one.log_weight + worth_minimising);
        if (one.reach(one.most) < floor) continue;
        minimise_all(check, one, floor);
        if (!one.least.empty()) best = std::max(best, one.reach(one.least));
    }
}

/// ln of sum over k of w_k [1/2 exp(sum_h g_hk) + 1/(2n) sum_h exp(g_hk)], and the largest terms.
void combine(const Check& check, ModelFit& result) {
    struct Term {
        double log_size;
        Evidence evidence;
    };
    std::vector<Term> terms;
    const double sets = static_cast<double>(check.sets.size());
    for (const Alternative& one : check.alternatives) {
        if (one.least.empty()) continue;
        const double sum = std::accumulate(one.least.begin(), one.least.end(), 0.0);
        if (check.sets.size() > 1)
            terms.push_back(
                {one.log_weight + std::log(0.5) + sum, {one.name, one.parameter, std::nullopt, sum}});
        const double single = one.log_weight - (check.sets.size() > 1 ? std::log(2 * sets) : 0.0);
        for (std::size_t set = 0; set < one.least.size(); ++set)
            terms.push_back(
                {single + one.least[set], {one.name, one.parameter, check.sets[set].step, one.least[set]}});
    }
    std::ranges::stable_sort(terms, std::ranges::greater{}, &Term::log_size);
    double sum = 0;
    for (const Term& term : terms) sum += std::exp(term.log_size - terms.front().log_size);
    // A few roundings of the sum must not make evidence.
    result.log_evidence = terms.front().log_size + std::log(sum) - 1e-12;
    for (std::size_t k = 0; k < std::min(shown, terms.size()); ++k) result.best.push_back(terms[k].evidence);
}

double log_mean(double one, double other) {
    return std::max(one, other) + std::log1p(std::exp(-std::abs(one - other))) - std::log(2.0);
}

/// The evidence of the predictor that lets every row be anything, set by set.
void take_kt(const Check& check, bool homogeneous, ModelFit& result) {
    const auto find = [&](bool apart) -> const Alternative& {
        return *std::ranges::find_if(check.alternatives, [&](const Alternative& one) {
            return one.kind == Kind::kt && one.apart == apart;
        });
    };
    for (std::size_t set = 0; set < check.sets.size(); ++set) {
        const double one = find(false).least[set];
        result.sets.push_back(homogeneous ? log_mean(one, find(true).least[set]) : one);
    }
    result.kt = *std::ranges::max_element(result.sets);
}

/// The eps with sum over rows of (n eps^2)^2 / (4 (m-1)) = 8 nats, as a total variation: half of it.
double unseen_error(const std::vector<CheckedSet>& sets) {
    constexpr double nats = 8;
    double sum = 0;
    for (const CheckedSet& set : sets)
        for (const detail::FitRow& row : set.rows.rows)
            sum += row.visits * row.visits / (4 * static_cast<double>(row.successors - 1));
    return sum > 0 ? std::min(1.0, std::pow(nats / sum, 0.25) / 2) : 1.0;
}

void validate_suspects(std::span<const BaseKernel> suspects) {
    for (const BaseKernel& kernel : suspects)
        for (std::size_t row = 0; row + 1 < kernel.offsets.size(); ++row) {
            double sum = 0, least = 0;
            for (auto k = kernel.offsets[row]; k < kernel.offsets[row + 1]; ++k) {
                sum += kernel.probabilities[at(k)];
                least = std::min(least, kernel.probabilities[at(k)]);
            }
            expects(
                least >= 0 && std::abs(sum - 1) <= 1e-9,
                "row {} of the suspected kernel '{}': its smallest number is {} and it sums to {}; must be a "
                "law, with no number below 0 and sum 1 within 1e-9",
                row, kernel.name, least, sum);
        }
}

}  // namespace

ModelFit check_model(const FeatureMap& features, const Counts& counts, bool homogeneous, double level,
                     std::span<const BaseKernel> suspects) {
    expects(level > 0 && level < 1, "level is {}; must be greater than 0 and less than 1", level);
    validate_suspects(suspects);
    const std::vector<CheckedSet> sets = detail::checked_sets(features, counts, homogeneous);
    ModelFit result;
    result.level = level;
    result.threshold = -std::log(level);
    Check check{features, counts, sets};
    double items = 0, work = 0;
    for (const CheckedSet& set : sets) {
        const double d = static_cast<double>(features.features());
        items += static_cast<double>(set.rows.size());
        work = std::max(work, static_cast<double>(set.rows.size()) * (20 + d * d));
    }
    check.large = work > most_work;
    for (const CheckedSet& set : sets) {
        check.kernels.emplace_back();
        if (!check.large) check.kernels.back() = detail::default_kernels(features, set.rows);
        for (const BaseKernel& kernel : suspects)
            check.kernels.back().push_back(detail::suspected_kernel(features, set.rows, kernel));
    }
    if (!sets.empty()) {
        add_free(check, homogeneous);
        take_kt(check, homogeneous, result);
    }
    if (items > 0) {
        add_rows(check, homogeneous);
        add_foreign(check, check.kernels[0].size() - suspects.size(), suspects.size());
        minimise_all(check);
        combine(check, result);
        result.worst = detail::worst_row(features, sets);
        result.unseen = unseen_error(sets);
    }
    result.contradicted = result.log_evidence >= result.threshold || counts.any_elsewhere();
    return result;
}

}  // namespace alidade
