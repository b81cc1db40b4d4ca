#include "planning_pass.hpp"

#include <algorithm>
#include <cmath>

#include "../model/parallel.hpp"

namespace alidade::detail {

namespace {

/// What all blocks of a step share.
struct Shared {
    Index dimension;
    const double* inverse;      // p x p
    const double* coordinates;  // zeta~ of the weights
    const double* next;
    double scale;
    int ascents;
};

/// One block, or some lanes of it: pointers at its first number.
struct Block {
    const double* psi;           // [successor][coordinate][lane]
    const double* centre;        // [successor][lane]
    const std::int32_t* target;  // [successor][lane]
    double* witness;             // [successor][lane]
    Index successors;
};

// What follows is written once, for one lane or several at once: `Number` is a vector or double.

/// psi_V of every lane, `count` coordinates of it from `first` on: as many sums as stay in registers while
/// the features are read in the order in which they lie. With `fetch`, those of the next block are called for
/// meanwhile: the features of a large problem come from the slower caches, and waiting was half of the time.
template <std::size_t count, bool fetch, class Number>
ALIDADE_INLINE void sum_coordinates(const Block& block, Index p, Index first, Number* sum) {
    Number total[count] = {};
    for (Index j = 0; j < block.successors; ++j) {
        const Index place = j * p + first;
        const Number witness = number_at<Number>(block.witness, j);
#if ALIDADE_LANES
        if (fetch)
            for (std::size_t i = 0; i < count; ++i)
                __builtin_prefetch(block.psi +
                                   (place + block.successors * p + static_cast<Index>(i)) * lanes);
#endif
        for (std::size_t i = 0; i < count; ++i)
            total[i] += witness * number_at<Number>(block.psi, place + static_cast<Index>(i));
    }
    for (std::size_t i = 0; i < count; ++i) sum[at(first) + i] = total[i];
}

/// psi_V of every lane into `sum`, Lambda^-1 psi_V into `slope`; |psi_V|^2 in the metric.
template <bool fetch, class Number>
ALIDADE_INLINE Number slope_of(const Block& block, const Shared& shared, Number* sum, Number* slope) {
    const Index p = shared.dimension;
    Index first = 0;
    for (; first + 8 <= p; first += 8) sum_coordinates<8, fetch>(block, p, first, sum);
    for (; first + 3 <= p; first += 3) sum_coordinates<3, fetch>(block, p, first, sum);
    for (; first < p; ++first) sum_coordinates<1, fetch>(block, p, first, sum);
    Number square{};
    for (Index i = 0; i < p; ++i) {
        Number row{};
        for (Index k = 0; k < p; ++k) row += shared.inverse[i * p + k] * sum[k];
        slope[i] = row;
        square += row * sum[i];
    }
    return square;
}

ALIDADE_INLINE double total_of(double number) {
    return number;
}

template <class Number>
ALIDADE_INLINE double total_of(const Number& number) {
    double total = 0;
    for (Index l = 0; l < width_of<Number>; ++l) total += number[l];
    return total;
}

/// V <- 1{psi_j . Lambda^-1 psi_V > 0}: the maximiser of the linearisation. Whether any lane moved.
/// |psi_V| is convex in V, so that V that maximises its linearisation does not lower it: an ascent, which
/// ends at a vertex of [0,1]^m. A lower end of the width, for planning and for regression features;
/// certificates have upper ends [theory §1.3].
template <class Number>
ALIDADE_INLINE bool move_witness(const Block& block, Index p, const Number* slope) {
    const Number zero{}, one = zero + 1.0;
    Number moved{};
    for (Index j = 0; j < block.successors; ++j) {
        Number score{};
        for (Index i = 0; i < p; ++i) score += number_at<Number>(block.psi, j * p + i) * slope[i];
        const Number chosen = score > zero ? one : zero;
        const Number change = chosen - number_at<Number>(block.witness, j);
        set_number(block.witness, j, chosen);
        moved += change * change;
    }
    return total_of(moved) > 0;
}

/// E[next(s')] of every lane under the weights.
template <class Number>
ALIDADE_INLINE Number expectation(const Block& block, const Shared& shared, const double* next) {
    const Index p = shared.dimension;
    Number expected{};
    for (Index j = 0; j < block.successors; ++j) {
        Number probability = number_at<Number>(block.centre, j);
        for (Index i = 0; i < p; ++i)
            probability += shared.coordinates[i] * number_at<Number>(block.psi, j * p + i);
        expected += probability * number_at<Number>(next, j);
    }
    return expected;
}

/// Some lanes: the square of the width, and the expectation of `next`, which is given for every successor.
template <class Number>
ALIDADE_INLINE void pass_over_lanes(const Block& block, const Shared& shared, const double* next,
                                    Number* scratch, double* squares, double* expected) {
    // From the witness of the last policy: metrics change little, and a few steps are enough for it to follow
    // [oracle §C.2].
    Number *sum = scratch, *slope = scratch + shared.dimension;
    Number square = slope_of<true>(block, shared, sum, slope);
    for (int step = 0; step < shared.ascents; ++step) {
        // Most witnesses stay most of the time; lanes that all do are done.
        if (!move_witness(block, shared.dimension, slope)) break;
        square = slope_of<false>(block, shared, sum, slope);
    }
    set_number(squares, 0, square);
    set_number(expected, 0, expectation<Number>(block, shared, next));
}

/// All lanes of a block, as many at once as `Number` has.
template <class Number>
ALIDADE_INLINE void pass_over_block(const Block& block, const Shared& shared, double* scratch,
                                    double* values) {
    double squares[lanes], expected[lanes];
    double* const next = scratch + 2 * shared.dimension * lanes;
    // Gathered one by one first: a vector read right after its parts were written would wait for them.
    for (Index slot = 0; slot < block.successors * lanes; ++slot)
        next[slot] = shared.next[block.target[slot]];
    for (Index l = 0; l < lanes; l += width_of<Number>)
        pass_over_lanes<Number>(
            {block.psi + l, block.centre + l, block.target + l, block.witness + l, block.successors}, shared,
            next + l, reinterpret_cast<Number*>(scratch), squares + l, expected + l);
    for (Index l = 0; l < lanes; ++l) {
        // Rounding may leave a tiny negative square where nothing can move.
        const double positive = squares[l] > 0 ? squares[l] : 0.0;
        // The bonus, which is range times radius times width, and P~ E of what follows [paper, Alg. 1 lines
        // 10-13].
        values[l] = shared.scale * std::sqrt(positive) + expected[l];
    }
}

// One binary serves all machines: each has vectors as wide as its registers.

using PassOverBlock = void (*)(const Block&, const Shared&, double*, double*);

#if ALIDADE_WIDER_LANES
[[gnu::target("avx512f")]] void pass_by_eight(const Block& block, const Shared& shared, double* scratch,
                                              double* values) {
    pass_over_block<EightLanes>(block, shared, scratch, values);
}
[[gnu::target("avx2")]] void pass_by_four(const Block& block, const Shared& shared, double* scratch,
                                          double* values) {
    pass_over_block<FourLanes>(block, shared, scratch, values);
}
#endif

PassOverBlock pass_of([[maybe_unused]] LaneWidth width) {
#if ALIDADE_WIDER_LANES
    if (width == LaneWidth::eight) return pass_by_eight;
    if (width == LaneWidth::four) return pass_by_four;
#endif
#if ALIDADE_LANES
    if (width != LaneWidth::one) return pass_over_block<TwoLanes>;
#endif
    return pass_over_block<double>;
}

/// Bits of lanes as numbers 0 and 1, and back.
void spread(const std::uint8_t* bits, Index successors, double* numbers) {
    for (Index j = 0; j < successors; ++j)
        for (Index l = 0; l < lanes; ++l) numbers[j * lanes + l] = (bits[j] >> l) & 1;
}
void collect(const double* numbers, Index successors, std::uint8_t* bits) {
    for (Index j = 0; j < successors; ++j) {
        unsigned together = 0;
        for (Index l = 0; l < lanes; ++l) together |= numbers[j * lanes + l] != 0 ? 1U << l : 0U;
        bits[j] = static_cast<std::uint8_t>(together);
    }
}

}  // namespace

PlanningPass::PlanningPass(const FeatureMap& features, const TangentFeatures& tangent, Index sets,
                           KeptTiles kept)
    : features_(features),
      dimension_(tangent.space.dimension()),
      sets_(sets),
      tiles_(features, tangent, TileParts::psi, kept) {
    witness_.assign(at(sets_ * tiles_.blocks().slots()), 0);
}

void PlanningPass::run(const Step& step, std::span<double> values, const Options& options) {
    const Index pairs = features_.pairs();
    // Blocks do not see each other, so threads change nothing but the time.
    in_chunks((pairs + lanes - 1) / lanes, 32, options.threads, [&](Index first, Index last) {
        run_part(step, values, {first * lanes, std::min(pairs, last * lanes), options.width});
    });
}

void PlanningPass::run_part(const Step& step, std::span<double> values, const Chunk& chunk) {
    const Index p = dimension_;
    const Matrix& root = *step.inverse_factor;
    // One product with the inverse gives slope and norm. What that rounds may cost a better witness, never
    // validity: certificates have widths from upper ends of their own.
    const Matrix inverse = root.transpose().lazyProduct(root);
    const Shared shared{p, inverse.data(), step.weights->data(), step.next.data(), step.scale, step.ascents};
    const PassOverBlock pass = pass_of(chunk.width);
    const LaneBlocks& blocks = tiles_.blocks();
    std::vector<double> memory(at((2 * p + 2 * blocks.most_successors + 1) * lanes) + tiles_.scratch());
    double* const witness = aligned_lanes(memory);
    double* const scratch = witness + blocks.most_successors * lanes;
    double* const made = scratch + (2 * p + blocks.most_successors) * lanes;
    for (Index b = chunk.first / lanes; b * lanes < chunk.last; ++b) {
        tiles_.fetch_values(b + 1, step.next.data());
        const Tile tile = tiles_.tile(b, made);
        std::uint8_t* const bits = witness_.data() + step.set * blocks.slots() + blocks.start[at(b)];
        spread(bits, tile.successors, witness);
        double out[lanes];
        pass({tile.psi, tile.centre, tile.target, witness, tile.successors}, shared, scratch, out);
        if (step.ascents > 0) collect(witness, tile.successors, bits);
        std::copy(out, out + std::min(lanes, chunk.last - b * lanes), values.begin() + b * lanes);
    }
}

std::vector<std::uint8_t> PlanningPass::witnesses() const {
    std::vector<std::uint8_t> result(at(sets_ * features_.entries()));
    for (Index set = 0; set < sets_; ++set)
        for (Index pair = 0; pair < features_.pairs(); ++pair)
            for (Index j = 0; j < features_.successors(pair); ++j)
                result[at(set * features_.entries() + features_.first_entry(pair) + j)] =
                    static_cast<std::uint8_t>(witness(set, pair, j));
    return result;
}

void PlanningPass::take_witnesses(std::span<const std::uint8_t> witnesses) {
    std::ranges::fill(witness_, std::uint8_t{0});
    for (Index set = 0; set < sets_; ++set)
        for (Index pair = 0; pair < features_.pairs(); ++pair)
            for (Index j = 0; j < features_.successors(pair); ++j)
                if (witnesses[at(set * features_.entries() + features_.first_entry(pair) + j)] != 0)
                    witness_[place(set, pair, j)] |= static_cast<std::uint8_t>(bit(pair));
}

}  // namespace alidade::detail
