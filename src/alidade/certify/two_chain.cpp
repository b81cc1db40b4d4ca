#include "two_chain.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "../model/parallel.hpp"
#include "error_recursion.hpp"
#include "pair_differences.hpp"
#include "reward_caps.hpp"
#include "row_coupling.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

namespace {

constexpr double up = 1 + 1e-12;

/// Lambda of the next step: of all pairs of states, or of one state twice, and F + F elsewhere.
class NextPairs {
public:
    NextPairs(const TwoChains& chains, Step h, const ErrorRecursion& errors)
        : all_pairs_(chains.all_pairs), states_(chains.states), values_(chains.values[at(h)]) {
        for (State s = 0; s < states_; ++s) {
            alone_.push_back(errors.values(h, s));
            diagonal_.push_back(values_[at(chains.place(s, s))]);
        }
    }
    double operator()(State x, State y) const noexcept {
        if (all_pairs_) return values_[at(x * states_ + y)];
        return x == y ? diagonal_[at(x)] : alone_[at(x)] + alone_[at(y)];
    }
    std::span<const double> diagonal() const noexcept { return diagonal_; }
    Index states() const noexcept { return states_; }

private:
    bool all_pairs_;
    Index states_;
    const std::vector<double>& values_;
    std::vector<double> alone_, diagonal_;
};

/// How much it changes with its first argument, at most, over where that may lead.
double oscillation(const NextPairs& next, std::span<const std::int32_t> first,
                   std::span<const std::int32_t> second) {
    double most = 0;
    for (const std::int32_t y : second) {
        double low = std::numeric_limits<double>::infinity(), high = 0;
        for (const std::int32_t x : first) {
            const double value = next(x, y);
            low = std::min(low, value);
            high = std::max(high, value);
        }
        most = std::max(most, high - low);
    }
    return most;
}

/// One step of the recursion, for all that are computed at it.
class ChainStep {
public:
    ChainStep(const LearnedModel& learned, const DeviationTable& deviations, const OptimalSpans& spans,
              const ErrorRecursion& errors, const NextPairs& next, Step h)
        : learned_(learned),
          shape_(learned.shape()),
          successors_(learned.model().successors()),
          spans_(spans),
          errors_(errors),
          next_(next),
          h_(h),
          tau_(deviations.row(h)),
          laws_(learned.model().all_probabilities(h)),
          differences_(learned, h),
          anywhere_(leads_anywhere(learned)),
          off_(learned.mixture() != nullptr ? learned.mixture()->misspecification() : 0),
          sharpest_(spans.pairwise() ? 3 : 1) {
        for (Index pair = 0; pair < shape_.pairs(); ++pair)
            own_spans_.push_back(anywhere_ ? spans.over_all(h + 1)
                                           : spans.over(h + 1, successors_.targets(pair)));
        if (!anywhere_) return;
        std::vector<std::int32_t> all(at(shape_.states));
        for (State s = 0; s < shape_.states; ++s) all[at(s)] = static_cast<std::int32_t>(s);
        widest_ = oscillation(next, all, all);
    }

    /// With the scratch memory of one thread.
    struct Scratch {
        explicit Scratch(const LearnedModel& learned) : backup(learned) {}
        SetBackup backup;
        RowCoupling coupling;
        DifferenceWidths widths;
        struct Item {
            double value, rest, mean;
            Action one, other;
            int level;
        };
        std::vector<Item> items;
    };

    /// Lambda_h(x, y).
    double operator()(State x, State y, Scratch& scratch, TwoChains::Choice& choice) const {
        const double cut = errors_.values(h_, x) + errors_.values(h_, y);
        auto& items = scratch.items;
        items.clear();
        for (Action a = 0; a < shape_.actions; ++a)
            for (Action b = x == y ? a : 0; b < shape_.actions; ++b)
                items.push_back(roughly(shape_.pair(x, a), shape_.pair(y, b), a, b, scratch));
        // The largest, each as sharp as it takes to know that it is.
        while (true) {
            auto& top = *std::ranges::max_element(items, {}, &Scratch::Item::value);
            if (top.level == sharpest_ || top.rest >= cut) {
                choice = {top.value >= cut, top.one, top.other, top.value - top.mean};
                return std::min(cut, top.value);
            }
            sharpen(shape_.pair(x, top.one), shape_.pair(y, top.other), top, scratch);
        }
    }

private:
    RowLaw law_of(Index pair) const {
        return {successors_.targets(pair), std::span(laws_).subspan(at(successors_.first_entry(pair)),
                                                                    at(successors_.successors(pair)))};
    }

    double oscillations(Index one, Index other) const {
        if (anywhere_) return (tau_[at(one)] + tau_[at(other)]) * widest_;
        double sum = 0;
        const auto first = successors_.targets(one), second = successors_.targets(other);
        if (tau_[at(one)] > 0) sum += tau_[at(one)] * oscillation(next_, first, second);
        if (tau_[at(other)] > 0) sum += tau_[at(other)] * oscillation(next_, second, first);
        return sum;
    }

    /// (P - P~) at either pair, each at its most.
    double apart(Index one, Index other) const {
        return own_spans_[at(one)] * tau_[at(one)] + own_spans_[at(other)] * tau_[at(other)];
    }

    Scratch::Item roughly(Index one, Index other, Action a, Action b, Scratch& scratch) const {
        if (one == other) {
            const double most = scratch.backup.upper(h_, one, next_.diagonal());
            return {most, most, learned_.model().expect(h_, one, next_.diagonal()), a, b, sharpest_};
        }
        scratch.coupling.couple(law_of(one), law_of(other));
        const double mean = scratch.coupling.mean(next_);
        const double rest = (mean + oscillations(one, other)) * up;
        return {rest + apart(one, other) * up, rest, mean, a, b, 0};
    }

    void sharpen(Index one, Index other, Scratch::Item& item, Scratch& scratch) const {
        ++item.level;
        if (!differences_.shared()) {
            item.level = sharpest_;
            return;
        }
        const double width = item.level == 1   ? scratch.widths.quick(differences_, one, other)
                             : item.level == 2 ? scratch.widths.refined(differences_, one, other)
                                               : scratch.widths.exact(differences_, one, other);
        // Over successors of both: where mixtures lead.
        const auto first = successors_.targets(one), second = successors_.targets(other);
        const double span = std::max(
            {spans_.over(h_ + 1, first), spans_.over(h_ + 1, second), spans_.across(h_ + 1, first, second)});
        const double off = off_ * (own_spans_[at(one)] + own_spans_[at(other)]);
        item.value = std::min(item.value, item.rest + (span * width + off) * up);
    }

    const LearnedModel& learned_;
    const Shape& shape_;
    const SuccessorMap& successors_;
    const OptimalSpans& spans_;
    const ErrorRecursion& errors_;
    const NextPairs& next_;
    Step h_;
    std::span<const double> tau_;
    std::vector<double> laws_, own_spans_;
    PairDifferences differences_;
    bool anywhere_;
    double off_, widest_ = 0;
    int sharpest_;  // level of widths; where pairs of pairs are many, the quick ones will do
};

}  // namespace

TwoChains two_chain_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                              const OptimalSpans& spans, const ErrorRecursion& errors, Threads threads) {
    deviations.require_fit(learned);
    const Shape& shape = learned.shape();
    require_recursion_of(shape, errors);
    TwoChains chains;
    chains.all_pairs = spans.pairwise();
    chains.states = shape.states;
    const std::size_t size = at(chains.all_pairs ? shape.states * shape.states : shape.states);
    chains.values.assign(at(shape.horizon), std::vector<double>(size, 0.0));
    chains.choices.assign(at(shape.learned_steps()), std::vector<TwoChains::Choice>(size));
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        const NextPairs next(chains, h + 1, errors);
        const ChainStep step(learned, deviations, spans, errors, next, h);
        auto& values = chains.values[at(h)];
        auto& choices = chains.choices[at(h)];
        in_chunks(shape.states, 1, threads, [&](Index first, Index last) {
            ChainStep::Scratch scratch(learned);
            for (State x = first; x < last; ++x)
                for (State y = x; y < (chains.all_pairs ? shape.states : x + 1); ++y) {
                    const auto here = at(chains.place(x, y)), there = at(chains.place(y, x));
                    TwoChains::Choice choice;
                    values[here] = step(x, y, scratch, choice);
                    choices[here] = choice;
                    if (here == there) continue;
                    // Lambda is symmetric.
                    values[there] = values[here];
                    std::swap(choice.one, choice.other);
                    choices[there] = choice;
                }
        });
    }
    for (const auto& [state, probability] : learned.model().start().atoms())
        chains.start += probability * chains.values[0][at(chains.place(state, state))];
    return chains;
}

}  // namespace alidade::detail
