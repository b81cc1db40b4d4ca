#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/model/transition_operator.hpp"
#include "error_kernel.hpp"
#include "fisher_pass.hpp"
#include "fixed_point.hpp"
#include "lane_dispatch.hpp"
#include "lane_tiles.hpp"
#include "next_values.hpp"
#include "parallel.hpp"
#include "planning_pass.hpp"
#include "sweep.hpp"
#include "width_pass.hpp"

namespace alidade {

namespace detail {

namespace {

/// The fewest pairs that are worth a chunk: a backup takes a twentieth of a microsecond or more.
constexpr Index pairs_a_pass = 512;
/// Numbers that are added one after another; the sums of blocks are added in order.
constexpr Index summed_together = 4096;

/// E[value(s')] of eight pairs.
struct ExpectKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const Tile& tile, Index features, const double* weights,
                                   const double* value, double* scratch, double* expected) {
        const Index m = tile.successors;
        Number* const law = reinterpret_cast<Number*>(scratch);
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            laws_of<Number>({tile.phi + l, m, features}, weights, law);
            set_number(expected + l, 0, expectation_of(law, value + l, m));
        }
    }
};

/// phi_V of eight pairs, [feature][lane].
struct ApplyKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const Tile& tile, Index features, const double* value, double* scratch,
                                   double* sums) {
        Number* const sum = reinterpret_cast<Number*>(scratch);
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            features_of_value<Number>({tile.phi + l, tile.successors, features}, value + l, sum);
            for (Index i = 0; i < features; ++i) set_number(sums + l, i, sum[i]);
        }
    }
};

/// Bounds of E[value(s')] over a ball, of eight pairs; `strange` is one where lanes cannot tell.
struct BracketKernel {
    static Index scratch(Index features) { return 2 * features * lanes; }

    template <class Number>
    ALIDADE_INLINE static void run(const Tile& tile, const BallStep& step, const double* value,
                                   double* scratch, double* lower, double* upper, double* strange) {
        const Index m = tile.successors, d = step.ball->features;
        Number* const direction = reinterpret_cast<Number*>(scratch);
        const Number one = all_lanes<Number>(1);
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            features_of_value<Number>({tile.phi + l, m, d}, value + l, direction);
            Number largest{}, odd{};
            for (Index j = 0; j < m; ++j)
                largest = greater_of(largest, size_of(number_at<Number>(value + l, j)));
            const Number most = largest_over_ball(*step.ball, direction, direction + d, odd);
            odd = where_positive<Number>(
                largest, where_less<Number>(most, all_lanes<Number>(least_expectation), one, odd), odd);
            set_number(upper + l, 0, most);
            set_number(strange + l, 0, odd);
            if (step.lower.empty()) continue;
            // The least of a value is minus the largest of minus it.
            for (Index i = 0; i < d; ++i) direction[i] = -direction[i];
            set_number(lower + l, 0, -largest_over_ball(*step.ball, direction, direction + d, odd));
        }
    }
};

using BracketByLanes =
    ByLanes<BracketKernel, const Tile&, const BallStep&, const double*, double*, double*, double*, double*>;
using ExpectByLanes =
    ByLanes<ExpectKernel, const Tile&, Index, const double*, const double*, double*, double*>;
using ApplyByLanes = ByLanes<ApplyKernel, const Tile&, Index, const double*, double*, double*>;
using ErrorsByLanes =
    ByLanes<ErrorKernel, const ErrorBlock&, const double*, std::span<const ErrorStep>, double*>;

class LocalOperator final : public TransitionOperator {
public:
    LocalOperator(const FeatureMap& features, Threads threads)
        : features_(features), threads_(threads), tiles_(features) {}

    std::string_view name() const noexcept override { return "local"; }
    const FeatureMap& features() const noexcept override { return features_; }
    void apply(std::span<const double> value, std::span<double> phi_value) const override;
    void apply_transpose(std::span<const double> weight, std::span<double> arriving) const override;
    void expect(std::span<const double> weights, std::span<const double> value,
                std::span<double> expected) const override;
    void recurse(std::span<const double> weights, std::span<const ErrorStep> together) const override;
    void bracket(std::span<const BallStep> together) const override;
    void widths(const WidthStep& step) const override { pass_over_widths(features_, step, threads_); }
    std::unique_ptr<WidthPlanner> plan(const TangentFeatures& coordinates, Index sets) const override {
        return std::make_unique<PlanningPass>(features_, coordinates, sets, KeptTiles::by_size, threads_);
    }
    std::unique_ptr<InformationPlanner> bonus(const TangentFeatures& coordinates) const override {
        return std::make_unique<FisherPass>(features_, coordinates, KeptTiles::by_size, threads_);
    }
    double sum(std::span<const double> numbers) const override;

private:
    const LaneTiles& tiles() const {
        std::call_once(made_, [this] { tiles_.emplace(features_); });
        return *tiles_;
    }
    Shape shape() const { return {features_.states(), features_.actions(), 2}; }
    /// Aligned scratch memory of so many numbers, and that of tiles behind it.
    struct Scratch {
        Scratch(Index own, std::size_t tiles)
            : memory(at(own + lanes) + tiles), numbers(aligned_lanes(memory)), tile(numbers + own) {}
        Scratch(const Scratch&) = delete;
        Scratch& operator=(const Scratch&) = delete;
        Scratch(Scratch&&) = default;
        Scratch& operator=(Scratch&&) = delete;
        ~Scratch() = default;
        std::vector<double> memory;
        double *numbers, *tile;
    };
    /// work(block, tile, values, scratch) for every block of eight pairs, on several threads; `values` are
    /// those of the successors, [vector][successor][lane].
    template <class Work>
    void for_each_tile(Index own_scratch, const NextValues& next, const Work& work) const {
        const Index blocks = std::ssize(tiles().blocks().start) - 1;
        in_chunks(blocks, pairs_a_pass / lanes, threads_, [&](Index first, Index last) {
            Scratch scratch(own_scratch, tiles().scratch());
            ValuesAhead ahead(tiles(), next, last);
            for (Index b = first; b < last; ++b) {
                const double* const values = ahead.of(b);
                work(b, tiles().tile(b, scratch.tile), values, scratch.numbers);
            }
        });
    }
    /// Steps of recursions that are taken together.
    struct Recursions {
        std::span<const double> weights;
        std::span<const ErrorStep> steps;
        const NextValues& next;
        std::span<const Index> vectors;  // of every step, among `next`
    };
    void recurse_states(const Recursions& given, Scratch& scratch, State first, State last) const;
    void finish_block(Index block, std::span<const ErrorStep> together, double* values,
                      const double* strange) const;

    const FeatureMap& features_;
    Threads threads_;
    mutable std::once_flag made_;
    mutable std::optional<LaneTiles> tiles_;  // when they are first asked for
};

void require_size(std::size_t size, Index wanted, const char* what) {
    expects(size == at(wanted), "{} {}; must be {}", size, what, wanted);
}

void LocalOperator::apply(std::span<const double> value, std::span<double> phi_value) const {
    const Index d = features_.features();
    require_size(value.size(), features_.states(), "values");
    require_size(phi_value.size(), features_.pairs() * d, "numbers for phi_V");
    const auto kernel = ApplyByLanes::of(widest_lanes());
    for_each_tile(2 * d * lanes, NextValues(value),
                  [&](Index b, const Tile& tile, const double* values, double* scratch) {
                      double* const sums = scratch + d * lanes;
                      kernel(tile, d, values, scratch, sums);
                      for (Index l = 0; l < std::min(lanes, features_.pairs() - b * lanes); ++l)
                          for (Index i = 0; i < d; ++i)
                              phi_value[at((b * lanes + l) * d + i)] = sums[i * lanes + l];
                  });
}

void LocalOperator::expect(std::span<const double> weights, std::span<const double> value,
                           std::span<double> expected) const {
    const Index d = features_.features(), m = tiles().blocks().most_successors;
    require_size(weights.size(), d, "weights");
    require_size(value.size(), features_.states(), "values");
    require_size(expected.size(), features_.pairs(), "expectations");
    const auto kernel = ExpectByLanes::of(widest_lanes());
    for_each_tile((m + 1) * lanes, NextValues(value),
                  [&](Index b, const Tile& tile, const double* values, double* scratch) {
                      double* const out = scratch + m * lanes;
                      kernel(tile, d, weights.data(), values, scratch, out);
                      std::copy_n(out, std::min(lanes, features_.pairs() - b * lanes),
                                  expected.begin() + b * lanes);
                  });
}

void LocalOperator::apply_transpose(std::span<const double> weight, std::span<double> arriving) const {
    const Index d = features_.features(), states = features_.states();
    require_size(weight.size(), features_.pairs(), "weights of pairs");
    require_size(arriving.size(), states * d, "numbers for what arrives");
    expects(features_.kind() == FeatureKind::base_models, "what arrives is summed up for base models only");
    // A chunk has the states that are arrived at: nothing is written by two threads.
    Sweep(shape(), threads_, pairs_a_pass)
        .forwards(
            1, [] { return std::vector<FixedPointSum>{}; },
            [&](std::vector<FixedPointSum>& sums, Step, State first, State last) {
                sums.assign(at((last - first) * d), {});
                for (Index pair = 0; pair < features_.pairs(); ++pair) {
                    const double from = weight[at(pair)];
                    if (!(from > 0)) continue;
                    const auto [begin, end] = entries_into(features_, pair, first, last);
                    for (Index e = begin; e < end; ++e) {
                        FixedPointSum* const to = sums.data() + (features_.targets()[at(e)] - first) * d;
                        const auto phi = features_.phi(e);
                        for (Index i = 0; i < d; ++i) {
                            if (!(phi[at(i)] > 0)) continue;
                            // Products are rounded by 2^-53 of themselves, or to zero, and none exceeds one.
                            const double product = from * phi[at(i)] * (1 + 0x1p-52);
                            to[i].add(std::min(1.0, std::max(product, 0x1p-1074)));
                        }
                    }
                }
                for (Index i = 0; i < (last - first) * d; ++i)
                    arriving[at(first * d + i)] = sums[at(i)].upper();
            });
}

void LocalOperator::bracket(std::span<const BallStep> together) const {
    const Index d = features_.features(), pairs = features_.pairs();
    if (together.empty()) return;
    std::vector<std::span<const double>> vectors;
    for (const BallStep& step : together) {
        expects(step.ball != nullptr && step.ball->features == d && step.alone,
                "bounds over a ball of weights need one, and what is asked alone");
        require_size(step.value.size(), features_.states(), "values");
        if (!step.lower.empty()) require_size(step.lower.size(), pairs, "lower ends");
        if (!step.upper.empty()) require_size(step.upper.size(), pairs, "upper ends");
        vectors.push_back(step.value);
    }
    const auto kernel = BracketByLanes::of(widest_lanes());
    const NextValues next(vectors, threads_);
    const auto work = [&](Index b, const Tile& tile, const double* values, double* scratch) {
        double lower[lanes], upper[lanes], strange[lanes];
        for (std::size_t k = 0; k < together.size(); ++k) {
            const BallStep& step = together[k];
            kernel(tile, step, values + next.place(k) * tile.successors * lanes, scratch, lower, upper,
                   strange);
            for (Index l = 0; l < std::min(lanes, pairs - b * lanes); ++l) {
                const Index pair = b * lanes + l;
                Interval ends{step.lower.empty() ? 0 : lower[l], upper[l]};
                if (strange[l] != 0) ends = step.alone(pair);
                if (!step.lower.empty()) step.lower[at(pair)] = ends.lower;
                if (!step.upper.empty()) step.upper[at(pair)] = ends.upper;
            }
        }
    };
    for_each_tile(BracketKernel::scratch(d), next, work);
}

double LocalOperator::sum(std::span<const double> numbers) const {
    const auto count = std::ssize(numbers), blocks = (count + summed_together - 1) / summed_together;
    std::vector<double> sums(at(blocks), 0.0);
    in_chunks(blocks, 8, threads_, [&](Index first, Index last) {
        for (Index b = first; b < last; ++b)
            for (Index i = b * summed_together; i < std::min(count, (b + 1) * summed_together); ++i)
                sums[at(b)] += numbers[at(i)];
    });
    double total = 0;
    for (const double block : sums) total += block;
    return total;
}

void LocalOperator::recurse(std::span<const double> weights, std::span<const ErrorStep> together) const {
    const Index pairs = features_.pairs(), states = features_.states();
    require_size(weights.size(), features_.features(), "weights");
    if (together.empty()) return;
    std::vector<std::span<const double>> vectors;
    for (const ErrorStep& step : together) {
        const bool divergences =
            step.kind == ErrorStep::Kind::divergence || step.kind == ErrorStep::Kind::total_variance;
        if (step.kind != ErrorStep::Kind::divergence)
            require_size(step.deviations.size(), pairs, "deviations");
        if (divergences) require_size(step.divergences.size(), pairs, "divergences");
        if (!step.ranges.empty()) require_size(step.ranges.size(), pairs, "ranges");
        require_size(step.laters.size(), std::ssize(step.ranges), "ranges of what follows");
        const bool ball = step.kind == ErrorStep::Kind::ball || step.kind == ErrorStep::Kind::total_variance;
        expects(!ball || (step.ball != nullptr && step.ball->features == features_.features() && step.alone),
                "a step over a ball of weights needs one, and what is asked alone");
        require_size(step.next.size(), states, "values of the next step");
        require_size(step.now.size(), states, "values");
        require_size(step.actions.size(), states, "actions");
        vectors.push_back(step.next);
    }
    const NextValues next(vectors, threads_);
    std::vector<Index> places;
    for (std::size_t k = 0; k < together.size(); ++k) places.push_back(next.place(k));
    const Recursions given{weights, together, next, places};
    const Index m = tiles().blocks().most_successors, steps = std::ssize(together);
    const Index own = ErrorKernel::scratch(m, features_.features()) + 6 * steps * lanes +
                      steps * (Sweep::alignment * features_.actions());
    Sweep(shape(), threads_, pairs_a_pass)
        .backwards(
            0, [&] { return Scratch(own, tiles().scratch()); },
            [&](Scratch& scratch, Step, State first, State last) {
                recurse_states(given, scratch, first, last);
            });
}

/// Where lanes cannot tell, one pair after another; the rest of the step is the same.
void LocalOperator::finish_block(Index block, std::span<const ErrorStep> together, double* values,
                                 const double* strange) const {
    const Index count = std::min(lanes, features_.pairs() - block * lanes);
    for (std::size_t k = 0; k < together.size(); ++k)
        for (Index l = 0; l < count; ++l)
            if (strange[static_cast<Index>(k) * lanes + l] != 0) {
                const ErrorStep& step = together[k];
                const Index pair = block * lanes + l;
                const double tau = step.deviations[at(pair)], upper = step.alone(pair);
                const double range = step.ranges.empty() ? step.range : step.ranges[at(pair)];
                const double later = step.laters.empty() ? step.later : step.laters[at(pair)];
                double& value = values[static_cast<Index>(k) * lanes + l];
                if (step.kind == ErrorStep::Kind::ball) {
                    value = std::min(range, step.span * tau + upper);
                    continue;
                }
                const ErrorStep::Variance& given = step.variance;
                const double divergence = step.divergences[at(pair)];
                const double now = std::min(range * tau, given.leverage * divergence);
                // What is so small that lanes cannot tell adds nothing to the growth but the divergence.
                const double by_set = upper + tau * later * later / given.yet;
                const double grown = later > 0 ? divergence * later / (4 * given.growth) : 0;
                const double by_growth = (1 + given.growth) * upper + grown;
                value = now + std::min(by_set, by_growth);
            }
}

void LocalOperator::recurse_states(const Recursions& given, Scratch& scratch, State first, State last) const {
    const std::span<const ErrorStep> together = given.steps;
    const Index actions = features_.actions(), steps = std::ssize(together), pairs = features_.pairs();
    const Index m = tiles().blocks().most_successors, d = features_.features();
    double* const kernel_scratch = scratch.numbers;
    double* const deviations = kernel_scratch + ErrorKernel::scratch(m, d);
    double* const divergences = deviations + steps * lanes;
    double* const ranges = divergences + steps * lanes;
    double* const laters = ranges + steps * lanes;
    double* const values = laters + steps * lanes;
    double* const strange = values + steps * lanes;
    double* const worth = strange + steps * lanes;  // [step][pair of eight states]
    const Index group = Sweep::alignment * actions;
    const auto kernel = ErrorsByLanes::of(widest_lanes());
    const auto load = [&](std::span<const double> numbers, Index pair, Index count, double* to,
                          double otherwise = 0) {
        for (Index l = 0; l < lanes; ++l)
            to[l] = l < count && !numbers.empty() ? numbers[at(pair + l)] : otherwise;
    };
    ValuesAhead ahead(tiles(), given.next, (last * actions + lanes - 1) / lanes);
    // Eight states at a time: their pairs fill whole blocks, and their values stay near.
    for (State s = first; s < last; s += Sweep::alignment) {
        const State end = std::min(last, s + Sweep::alignment);
        const Index from = s * actions, to = end * actions;
        for (Index pair = from; pair < to; pair += lanes) {
            const Index b = pair / lanes, count = std::min(lanes, pairs - pair);
            for (Index k = 0; k < steps; ++k) {
                load(together[at(k)].deviations, pair, count, deviations + k * lanes);
                load(together[at(k)].divergences, pair, count, divergences + k * lanes);
                load(together[at(k)].ranges, pair, count, ranges + k * lanes, together[at(k)].range);
                load(together[at(k)].laters, pair, count, laters + k * lanes, together[at(k)].later);
            }
            const double* const next = ahead.of(b);
            kernel({tiles().tile(b, scratch.tile), d, next, given.vectors.data(), deviations, divergences,
                    ranges, laters, values, strange},
                   given.weights.data(), together, kernel_scratch);
            finish_block(b, together, values, strange);
            for (Index k = 0; k < steps; ++k)
                std::copy_n(values + k * lanes, std::min(count, to - pair), worth + k * group + pair - from);
        }
        for (Index k = 0; k < steps; ++k) {
            const ErrorStep& step = together[at(k)];
            for (State t = s; t < end; ++t) {
                const double* const mine = worth + k * group + (t - s) * actions;
                const BestAction worst = best_action({features_.states(), actions, 1}, 0, -1,
                                                     [&](Index pair) { return mine[pair]; });
                step.now[at(t)] =
                    step.cap == nullptr ? worst.value : std::min(worst.value, step.cap[t * step.cap_stride]);
                step.actions[at(t)] = worst.action;
            }
        }
    }
}

}  // namespace

}  // namespace detail

std::unique_ptr<TransitionOperator> local_operator(const FeatureMap& features, Threads threads) {
    return std::make_unique<detail::LocalOperator>(features, threads);
}

}  // namespace alidade
