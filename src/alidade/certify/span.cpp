#include "span.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "../model/parallel.hpp"
#include "error_recursion.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

namespace {

constexpr Index pairwise_limit = 500;

/// The states to which every pair leads: none, in most large models, as a few pairs show.
std::vector<std::int32_t> shared_successors(const SuccessorMap& successors) {
    const auto first = successors.targets(0);
    std::vector<std::int32_t> shared(first.begin(), first.end()), kept;
    for (Index pair = 1; pair < successors.pairs() && !shared.empty(); ++pair) {
        kept.clear();
        std::ranges::set_intersection(shared, successors.targets(pair), std::back_inserter(kept));
        shared.swap(kept);
    }
    return shared;
}

/// One minus the mass that all rows have in common (Doeblin): no two rows are farther apart.
double unshared_mass(const LearnedModel& learned, Step h) {
    const SuccessorMap& successors = learned.model().successors();
    const std::vector<std::int32_t> shared = shared_successors(successors);
    if (shared.empty()) return 1;
    std::vector<double> least(shared.size(), 1.0);
    for (Index pair = 0; pair < successors.pairs(); ++pair) {
        const auto law = learned.model().probabilities(h, pair);
        const auto targets = successors.targets(pair);
        std::size_t j = 0;
        for (std::size_t k = 0; k < shared.size(); ++k) {
            while (targets[j] != shared[k]) ++j;
            least[k] = std::min(least[k], law[j]);
        }
    }
    return 1 - std::accumulate(least.begin(), least.end(), 0.0);
}

double farthest_rows(const LearnedModel& learned, Step h) {
    const SuccessorMap& successors = learned.model().successors();
    std::vector<double> row(at(successors.states()), 0.0);
    double farthest = 0;
    for (Index one = 0; one < successors.pairs() && farthest < 1; ++one) {
        const auto law = learned.model().probabilities(h, one);
        const auto targets = successors.targets(one);
        for (std::size_t j = 0; j < law.size(); ++j) row[at(targets[j])] += law[j];
        for (Index other = one + 1; other < successors.pairs() && farthest < 1; ++other) {
            const auto another = learned.model().probabilities(h, other);
            const auto places = successors.targets(other);
            double common = 0;
            for (std::size_t j = 0; j < another.size(); ++j)
                common += std::min(another[j], row[at(places[j])]);
            // TV = 1 - sum of the lesser probabilities: only successors that both rows have count.
            farthest = std::max(farthest, 1 - common);
        }
        for (const std::int32_t target : targets) row[at(target)] = 0;
    }
    return farthest;
}

}  // namespace

double contraction(const LearnedModel& learned, Step h) {
    const double rows =
        learned.shape().pairs() <= pairwise_limit ? farthest_rows(learned, h) : unshared_mass(learned, h);
    // Rows sum to one up to rounding.
    return std::clamp(rows + 1e-12, 0.0, 1.0);
}

std::vector<double> value_spans(const LearnedModel& learned, Threads threads) {
    return value_spans(learned, RewardCaps({learned.shape().horizon, true}), threads);
}

std::vector<double> value_spans(const LearnedModel& learned, const RewardCaps& caps, Threads threads) {
    const Index horizon = learned.shape().horizon;
    // Where data are pooled all steps have the same rows.
    const Index different = learned.homogeneous() ? std::min<Index>(1, horizon - 1) : horizon - 1;
    std::vector<double> factors(at(different));
    detail::in_chunks(different, 1, threads, [&](Index first, Index last) {
        for (Step h = first; h < last; ++h) factors[at(h)] = contraction(learned, h);
    });
    std::vector<double> spans(at(horizon + 1), 0.0);
    for (Step h = horizon - 1; h >= 0; --h) {
        const double factor = h + 1 < horizon ? factors[at(std::min(h, different - 1))] : 0.0;
        // Values of two states differ by 1 at most in the reward and by TV times span in what follows [theory
        // §3l]; of a class, by its largest reward.
        spans[at(h)] = std::min(caps.value(h), caps.reward(h) + factor * spans[at(h + 1)]);
    }
    return spans;
}

DescribeStep span_step(const DeviationTable& deviations, const RewardCaps& caps, std::vector<double> spans) {
    return [&, known = std::move(spans)](Step h, ErrorStep& step) {
        step.kind = ErrorStep::Kind::ball;
        step.deviations = deviations.row(h);
        step.span = known[at(h + 1)];
        caps.describe(h, step);
    };
}

ErrorRecursion span_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                              Threads threads) {
    return span_recursion(learned, deviations, RewardCaps({learned.shape().horizon, true}), threads);
}

ErrorRecursion span_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                              const RewardCaps& caps, Threads threads) {
    deviations.require_fit(learned);
    const std::vector<double> spans = value_spans(learned, caps, threads);
    if (by_operator(learned)) return run_by_operator(learned, threads, span_step(deviations, caps, spans));
    const auto make = [&] {
        return [&, backup = SetBackup(learned)](Step h, Index pair, const std::vector<double>& next) mutable {
            // As ErrorStep::Kind::ball has it, for other sets.
            return std::min(caps.at(h, pair),
                            spans[at(h + 1)] * deviations.at(h, pair) + backup.upper(h, pair, next));
        };
    };
    return run_backwards(learned.shape(), threads, make, uncapped);
}

}  // namespace alidade::detail
