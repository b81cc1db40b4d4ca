#include "fisher_pass.hpp"

#include <algorithm>

#include "fisher_kernel.hpp"
#include "lane_dispatch.hpp"
#include "next_values.hpp"
#include "parallel.hpp"

namespace alidade::detail {

namespace {

using BonusByLanes = ByLanes<BonusKernel, const FisherBlock&, const FisherShared&, double*, double*>;
using BackupByLanes =
    ByLanes<BackupKernel, const FisherBlock&, Index, const double*, const double*, double*, double*>;

struct FisherKernels {
    BonusByLanes::Function bonus;
    BackupByLanes::Function backup;
};

FisherKernels kernels_of(LaneWidth width) {
    return {BonusByLanes::of(width), BackupByLanes::of(width)};
}

}  // namespace

FisherPass::FisherPass(const FeatureMap& features, const TangentFeatures& tangent, KeptTiles kept,
                       Threads threads)
    : features_(features.features()),
      dimension_(tangent.space.dimension()),
      pairs_(features.pairs()),
      threads_(threads),
      tiles_(features, tangent, TileParts::both, kept) {}

Index FisherPass::own_scratch() const noexcept {
    const Index p = dimension_, most = tiles_.blocks().most_successors;
    return std::max(most * p + p * p + 5 * p + 3, most + features_ + 1);
}

std::vector<double> FisherPass::scratch() const {
    // One number more than is used, to align the others.
    return std::vector<double>(at((own_scratch() + 1) * lanes) + tiles_.scratch());
}

namespace {

/// A pair takes a good part of a microsecond.
constexpr Index fisher_pairs_a_chunk = 128;

/// What a chunk's blocks are done with.
struct FisherWork {
    const FisherKernels& kernels;
    const FisherShared& shared;
    double* own;  // scratch memory
};

FisherBlock block_of(const Tile& tile) {
    return {tile.phi, tile.psi, tile.successors};
}

/// The bonuses of `count` lanes.
void add_bonuses(const FisherWork& work, const Tile& tile, Index count, double* bonus) {
    const Index p = work.shared.dimension;
    double* const numbers = work.own;
    work.kernels.bonus(block_of(tile), work.shared, work.own + (p + 1) * lanes, numbers);
    for (Index l = 0; l < count; ++l)
        bonus[l] = work.shared.bonus == FisherBonus::gain ? sum_of_logarithms(numbers + l, p) : numbers[l];
}

/// The backup of `count` lanes; `next` are the successors' values.
void back_up(const FisherWork& work, const Tile& tile, Index count, double scale, const double* next,
             const double* bonus, double* values) {
    double* const expected = work.own;
    work.kernels.backup(block_of(tile), work.shared.features, work.shared.weights, next, expected + lanes,
                        expected);
    for (Index l = 0; l < count; ++l) values[l] = scale * bonus[l] + expected[l];
}

FisherShared shared_of(const FisherPass::Known& known, Index features, bool by_inverses,
                       Vector& inverse_diagonal) {
    const Index p = known.factor->rows();
    inverse_diagonal.resize(p);
    // One division for all pairs of the step instead of one for each.
    for (Index i = 0; i < p; ++i) inverse_diagonal[i] = 1 / (*known.factor)(i, i);
    return {features,
            p,
            known.weights->data(),
            known.factor->data(),
            inverse_diagonal.data(),
            known.bonus,
            known.allowance,
            by_inverses};
}

Index lanes_of(const FisherPass::Chunk& chunk, Index block) {
    return std::min(lanes, chunk.last - block * lanes);
}

}  // namespace

void FisherPass::run(const Step& step, std::span<double> bonus, std::span<double> values) const {
    // Blocks do not see each other, so threads change nothing but the time.
    in_chunks((pairs_ + lanes - 1) / lanes, fisher_pairs_a_chunk / lanes, threads_,
              [&](Index first, Index last) {
                  std::vector<double> memory = scratch();
                  const Chunk chunk{first * lanes, std::min(pairs_, last * lanes)};
                  if (step.bonus_known)
                      backup(*step.known.weights, step.scale, bonus, step.next, chunk, memory, values);
                  else
                      bonuses_and_backup(step.known, step.scale, step.next, chunk, memory, bonus, values);
              });
}

void FisherPass::bonuses(const Known& known, const Chunk& chunk, std::span<double> scratch,
                         std::span<double> bonus) const {
    Vector inverse_diagonal;
    const FisherShared shared = shared_of(known, features_, !tiles_.kept(), inverse_diagonal);
    const FisherKernels kernels = kernels_of(chunk.width);
    double* const own = aligned_lanes(scratch);
    double* const made = own + own_scratch() * lanes;
    for (Index b = chunk.first / lanes; b * lanes < chunk.last; ++b)
        add_bonuses({kernels, shared, own}, tiles_.tile(b, made), lanes_of(chunk, b),
                    bonus.data() + b * lanes);
}

void FisherPass::backup(const Vector& weights, double scale, std::span<const double> bonus,
                        std::span<const double> next, const Chunk& chunk, std::span<double> scratch,
                        std::span<double> values) const {
    FisherShared shared{};
    shared.features = features_;
    shared.weights = weights.data();
    const FisherKernels kernels = kernels_of(chunk.width);
    double* const own = aligned_lanes(scratch);
    double* const made = own + own_scratch() * lanes;
    const NextValues values_next(next);
    ValuesAhead ahead(tiles_, values_next, (chunk.last + lanes - 1) / lanes);
    for (Index b = chunk.first / lanes; b * lanes < chunk.last; ++b) {
        const double* const value = ahead.of(b);
        back_up({kernels, shared, own}, tiles_.tile(b, made, TileParts::phi), lanes_of(chunk, b), scale,
                value, bonus.data() + b * lanes, values.data() + b * lanes);
    }
}

void FisherPass::bonuses_and_backup(const Known& known, double scale, std::span<const double> next,
                                    const Chunk& chunk, std::span<double> scratch, std::span<double> bonus,
                                    std::span<double> values) const {
    Vector inverse_diagonal;
    const FisherShared shared = shared_of(known, features_, !tiles_.kept(), inverse_diagonal);
    const FisherKernels kernels = kernels_of(chunk.width);
    double* const own = aligned_lanes(scratch);
    double* const made = own + own_scratch() * lanes;
    const NextValues values_next(next);
    ValuesAhead ahead(tiles_, values_next, (chunk.last + lanes - 1) / lanes);
    for (Index b = chunk.first / lanes; b * lanes < chunk.last; ++b) {
        const double* const value = ahead.of(b);
        const Tile tile = tiles_.tile(b, made);
        add_bonuses({kernels, shared, own}, tile, lanes_of(chunk, b), bonus.data() + b * lanes);
        back_up({kernels, shared, own}, tile, lanes_of(chunk, b), scale, value, bonus.data() + b * lanes,
                values.data() + b * lanes);
    }
}

}  // namespace alidade::detail
