#include "planning_pass.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/model/parallel.hpp"
#include "alidade/model/vector_clones.hpp"

// The vectors below never cross a function that is not inlined, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace alidade::detail {

namespace {

constexpr Index lanes = 8;

/// Eight pairs side by side. Operations on it are element by element, whatever the registers are.
using Lanes [[gnu::vector_size(64), gnu::aligned(8), gnu::may_alias]] = double;

/// One block, all pointers at its first slot.
struct Block {
    const Lanes* psi;            // [successor][coordinate]
    const Lanes* centre;         // [successor]
    const std::int32_t* target;  // [successor][lane]
    Lanes* witness;              // [successor]
    Index successors;
};

/// What all blocks of a step share.
struct Shared {
    Index dimension;
    const double* inverse;      // p x p
    const double* coordinates;  // zeta~ of the weights
    const double* next;
    double scale;
    int ascents;
};

/// psi_V of every lane, `count` coordinates of it from `first` on: as many sums as stay in registers while
/// the features are read in the order in which they lie. With `fetch`, those of the next block are called for
/// meanwhile: the features of a large problem come from the slower caches, and waiting was half of the time.
template <std::size_t count, bool fetch>
[[gnu::always_inline]] inline void sum_coordinates(const Block& block, Index p, Index first, Lanes* sum) {
    Lanes total[count] = {};
    for (Index j = 0; j < block.successors; ++j) {
        const Lanes* psi = block.psi + j * p + first;
        const Lanes witness = block.witness[j];
        if (fetch)
            for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(psi + at(block.successors * p) + i);
        for (std::size_t i = 0; i < count; ++i) total[i] += witness * psi[i];
    }
    for (std::size_t i = 0; i < count; ++i) sum[at(first) + i] = total[i];
}

/// psi_V of every lane into `sum`, Lambda^-1 psi_V into `slope`, and |psi_V|^2 in the metric.
template <bool fetch>
[[gnu::always_inline]] inline void slope_of(const Block& block, const Shared& shared, Lanes* sum,
                                            Lanes* slope, Lanes& square) {
    const Index p = shared.dimension;
    Index first = 0;
    for (; first + 8 <= p; first += 8) sum_coordinates<8, fetch>(block, p, first, sum);
    for (; first + 3 <= p; first += 3) sum_coordinates<3, fetch>(block, p, first, sum);
    for (; first < p; ++first) sum_coordinates<1, fetch>(block, p, first, sum);
    square = Lanes{};
    for (Index i = 0; i < p; ++i) {
        Lanes row = {};
        for (Index k = 0; k < p; ++k) row += shared.inverse[i * p + k] * sum[k];
        slope[i] = row;
        square += row * sum[i];
    }
}

/// V <- 1{psi_j . Lambda^-1 psi_V > 0}: the maximiser of the linearisation. Whether any lane moved.
[[gnu::always_inline]] inline bool move_witness(const Block& block, Index p, const Lanes* slope) {
    Lanes moved = {};
    for (Index j = 0; j < block.successors; ++j) {
        Lanes score = {};
        for (Index i = 0; i < p; ++i) score += block.psi[j * p + i] * slope[i];
        const Lanes zero = {}, one = zero + 1.0;
        const Lanes chosen = score > zero ? one : zero, change = chosen - block.witness[j];
        block.witness[j] = chosen;
        moved += change * change;
    }
    double total = 0;
    for (Index l = 0; l < lanes; ++l) total += moved[l];
    return total > 0;
}

/// E[next(s')] of every lane under the weights. `values` has room for one number a successor.
[[gnu::always_inline]] inline void expectation(const Block& block, const Shared& shared, double* values,
                                               Lanes& expected) {
    const Index p = shared.dimension;
    // Gathered one by one first: a vector read right after its parts were written would wait for them.
    for (Index slot = 0; slot < block.successors * lanes; ++slot)
        values[slot] = shared.next[block.target[slot]];
    const Lanes* value = reinterpret_cast<const Lanes*>(values);
    expected = Lanes{};
    for (Index j = 0; j < block.successors; ++j) {
        Lanes probability = block.centre[j];
        for (Index i = 0; i < p; ++i) probability += shared.coordinates[i] * block.psi[j * p + i];
        expected += probability * value[j];
    }
}

// One binary serves all machines: the loader picks the widest instruction set that is there.
ALIDADE_VECTOR_CLONES void pass_over_block(const Block& block, const Shared& shared, double* scratch,
                                           double* values) {
    Lanes square, expected;
    Lanes* sum = reinterpret_cast<Lanes*>(scratch);
    Lanes* slope = sum + shared.dimension;
    slope_of<true>(block, shared, sum, slope, square);
    for (int step = 0; step < shared.ascents; ++step) {
        // Most witnesses stay most of the time; a block where all do is done.
        if (!move_witness(block, shared.dimension, slope)) break;
        slope_of<false>(block, shared, sum, slope, square);
    }
    expectation(block, shared, scratch + 2 * shared.dimension * lanes, expected);
    for (Index l = 0; l < lanes; ++l) {
        // Rounding may leave a tiny negative square where nothing can move.
        const double positive = square[l] > 0 ? square[l] : 0.0;
        values[l] = shared.scale * std::sqrt(positive) + expected[l];
    }
}

/// The same for one lane in plain arithmetic: what the vectors are checked against, and what the speed of the
/// vectors is measured against. The order of additions is that above.
double pass_over_pair(const double* psi, const double* centre, const std::int32_t* target, double* witness,
                      Index successors, const Shared& shared, double* sum, double* slope) {
    const Index p = shared.dimension;
    double square = 0;
    for (int step = 0;; ++step) {
        for (Index i = 0; i < p; ++i) {
            sum[i] = 0;
            for (Index j = 0; j < successors; ++j) sum[i] += witness[j * lanes] * psi[(j * p + i) * lanes];
        }
        square = 0;
        for (Index i = 0; i < p; ++i) {
            slope[i] = 0;
            for (Index k = 0; k < p; ++k) slope[i] += shared.inverse[i * p + k] * sum[k];
            square += slope[i] * sum[i];
        }
        if (step == shared.ascents) break;
        bool moved = false;
        for (Index j = 0; j < successors; ++j) {
            double score = 0;
            for (Index i = 0; i < p; ++i) score += psi[(j * p + i) * lanes] * slope[i];
            const double chosen = score > 0 ? 1.0 : 0.0;
            moved = moved || chosen != witness[j * lanes];
            witness[j * lanes] = chosen;
        }
        if (!moved) break;
    }
    double expected = 0;
    for (Index j = 0; j < successors; ++j) {
        double probability = centre[j * lanes];
        for (Index i = 0; i < p; ++i) probability += shared.coordinates[i] * psi[(j * p + i) * lanes];
        expected += probability * shared.next[target[j * lanes]];
    }
    return shared.scale * std::sqrt(square > 0 ? square : 0.0) + expected;
}

Lanes* as_lanes(double* numbers) {
    return reinterpret_cast<Lanes*>(numbers);
}

}  // namespace

PlanningPass::PlanningPass(const FeatureMap& features, const TangentFeatures& tangent, Index sets)
    : features_(features), dimension_(tangent.space.dimension()), sets_(sets) {
    const Index p = dimension_, pairs = features.pairs();
    for (Index pair = 0; pair < pairs; pair += lanes) {
        block_start_.push_back(slots_);
        Index most = 0;
        for (Index other = pair; other < std::min(pairs, pair + lanes); ++other)
            most = std::max(most, features.successors(other));
        slots_ += most;
        most_successors_ = std::max(most_successors_, most);
    }
    block_start_.push_back(slots_);
    psi_.assign(at(slots_ * p * lanes), 0.0);
    centre_.assign(at(slots_ * lanes), 0.0);
    target_.assign(at(slots_ * lanes), 0);
    witness_.assign(at(sets_ * slots_ * lanes), 0.0);
    for (Index pair = 0; pair < pairs; ++pair)
        for (Index j = 0; j < features.successors(pair); ++j) {
            const Index slot = block_start_[at(pair / lanes)] + j, lane = pair % lanes;
            const Index entry = features.first_entry(pair) + j;
            for (Index i = 0; i < p; ++i)
                psi_[at((slot * p + i) * lanes + lane)] = tangent.psi[at(entry * p + i)];
            centre_[at(slot * lanes + lane)] = tangent.centre[at(entry)];
            target_[at(slot * lanes + lane)] = features.targets()[at(entry)];
        }
}

void PlanningPass::run(const Step& step, std::span<double> values, const Options& options) {
    const Index p = dimension_, pairs = features_.pairs();
    const Matrix& root = *step.inverse_factor;
    const Matrix inverse = root.transpose().lazyProduct(root);
    const Shared shared{p, inverse.data(), step.weights->data(), step.next.data(), step.scale, step.ascents};
    const Index blocks = static_cast<Index>(block_start_.size()) - 1;
    const auto over = [&](Index first, Index last_block) {
        std::vector<double> scratch(at((2 * p + most_successors_) * lanes));
        for (Index b = first; b < last_block; ++b) {
            const Index start = block_start_[at(b)], successors = block_start_[at(b + 1)] - start;
            double* psi = psi_.data() + start * p * lanes;
            double* witness = witness_.data() + (step.set * slots_ + start) * lanes;
            const std::int32_t* target = target_.data() + start * lanes;
            double out[lanes];
            if (options.vectors) {
                const Block block{as_lanes(psi), as_lanes(centre_.data()) + start, target, as_lanes(witness),
                                  successors};
                pass_over_block(block, shared, scratch.data(), out);
            } else {
                for (Index l = 0; l < lanes; ++l)
                    out[l] =
                        pass_over_pair(psi + l, centre_.data() + start * lanes + l, target + l, witness + l,
                                       successors, shared, scratch.data(), scratch.data() + p);
            }
            std::copy(out, out + std::min(lanes, pairs - b * lanes), values.begin() + b * lanes);
        }
    };
    // Blocks do not see each other, so threads change nothing but the time.
    in_chunks(blocks, 32, options.threads, over);
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
    for (Index set = 0; set < sets_; ++set)
        for (Index pair = 0; pair < features_.pairs(); ++pair)
            for (Index j = 0; j < features_.successors(pair); ++j)
                witness_[place(set, pair, j)] =
                    witnesses[at(set * features_.entries() + features_.first_entry(pair) + j)];
}

}  // namespace alidade::detail
