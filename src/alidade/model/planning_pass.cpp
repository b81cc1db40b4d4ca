#include "planning_pass.hpp"

#include <algorithm>
#include <cstring>

#include "alidade/error.hpp"
#include "ascent_kernel.hpp"
#include "coordinate_kernel.hpp"
#include "lane_dispatch.hpp"
#include "next_values.hpp"
#include "parallel.hpp"
#include "tangent_coordinates.hpp"

namespace alidade::detail {

namespace {

using AscentsByLanes = ByLanes<AscentKernel, const AscentStep&, const Tile&, const double*, const ValuesSoon&,
                               double*, double*, double*, bool*>;
using CoordinatesAscend = ByLanes<CoordinateKernel, const CoordinateStep&, const Tile&, const double*,
                                  double*, double*, double*, bool*>;

/// The fewest pairs that are worth a chunk where witnesses are copied, some ten nanoseconds each.
constexpr Index pairs_copied = 8192;

/// Bits of lanes as numbers 0 and 1.
struct SpreadKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const std::uint8_t* bits, Index successors, double* numbers) {
        using Integer = typename LaneIntegers<Number>::type;
        static constexpr std::int64_t of_lane[lanes] = {1, 2, 4, 8, 16, 32, 64, 128};
        const Number zero{}, one = all_lanes<Number>(1);
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            Integer bit;
            std::memcpy(&bit, of_lane + l, sizeof bit);
            for (Index j = 0; j < successors; ++j) {
                const Integer chosen = (Integer{} + bits[j]) & bit;
                set_number(numbers + l, j, chosen != Integer{} ? one : zero);
            }
        }
    }
};
using SpreadByLanes = ByLanes<SpreadKernel, const std::uint8_t*, Index, double*>;

/// And back.
void collect(const double* numbers, Index successors, std::uint8_t* bits) {
    for (Index j = 0; j < successors; ++j) {
        unsigned together = 0;
        for (Index l = 0; l < lanes; ++l) together |= numbers[j * lanes + l] != 0 ? 1U << l : 0U;
        bits[j] = static_cast<std::uint8_t>(together);
    }
}

}  // namespace

PlanningPass::PlanningPass(const FeatureMap& features, const TangentFeatures& tangent, Index sets,
                           KeptTiles kept, Threads threads)
    : features_(features),
      tangent_(tangent),
      sets_(sets),
      threads_(threads),
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
    const TangentSpace& space = tangent_.space;
    const Index d = features_.features(), p = space.dimension();
    if (tiles_.kept()) {
        const Matrix& root = *step.inverse_factor;
        // One product with the inverse gives slope and norm. What that rounds may cost a better witness,
        // never validity: certificates have widths from upper ends of their own.
        const Matrix inverse = root.transpose().lazyProduct(root);
        const CoordinateStep shared{p, inverse.data(), step.weights->data(), step.scale, step.ascents};
        const auto pass = CoordinatesAscend::of(chunk.width);
        for_each_block(
            step, values, chunk, {TileParts::psi, CoordinateKernel::scratch(p)},
            [&](const Tile& tile, const double* value, const ValuesSoon&, double* witness, double* scratch,
                double* out, bool* moved) { pass(shared, tile, value, witness, scratch, out, moved); });
        return;
    }
    // Coordinates of every successor would have to be made first; those of the witness' sum are enough.
    const Matrix root = step.inverse_factor->lazyProduct(space.basis.transpose());
    const Vector weights = space.centre + space.basis.lazyProduct(*step.weights);
    const AscentStep shared{
        d, p, weights.data(), root.data(), tangent_.coordinates().equal_is_zero, step.scale, step.ascents};
    const auto pass = AscentsByLanes::of(chunk.width);
    for_each_block(
        step, values, chunk, {TileParts::phi, AscentKernel::scratch(d, p)},
        [&](const Tile& tile, const double* value, const ValuesSoon& soon, double* witness, double* scratch,
            double* out, bool* moved) { pass(shared, tile, value, soon, witness, scratch, out, moved); });
}

template <class Pass>
void PlanningPass::for_each_block(const Step& step, std::span<double> values, const Chunk& chunk,
                                  const Needs& needs, const Pass& pass) {
    const LaneBlocks& blocks = tiles_.blocks();
    const Index most = blocks.most_successors;
    std::vector<double> memory(at(needs.scratch + (most + 1) * lanes) + tiles_.scratch());
    double* const witness = aligned_lanes(memory);
    double* const scratch = witness + most * lanes;
    double* const made = scratch + needs.scratch;
    const auto spread = SpreadByLanes::of(chunk.width);
    const NextValues next(step.next);
    // What is made on the way takes long enough for values of later blocks to come meanwhile.
    ValuesAhead ahead(tiles_, next, (chunk.last + lanes - 1) / lanes, tiles_.kept() ? 32 : 1);
    for (Index b = chunk.first / lanes; b * lanes < chunk.last; ++b) {
        const double* const value = ahead.of(b);
        const Tile tile = tiles_.tile(b, made, needs.parts);
        std::uint8_t* const bits = witness_.data() + step.set * blocks.slots() + blocks.start[at(b)];
        spread(bits, tile.successors, witness);
        double out[lanes];
        bool moved = false;
        pass(tile, value, ahead.soon(b), witness, scratch, out, &moved);
        if (moved) collect(witness, tile.successors, bits);
        std::copy(out, out + std::min(lanes, chunk.last - b * lanes), values.begin() + b * lanes);
    }
}

void PlanningPass::witnesses(Index set, std::span<std::uint8_t> to) const {
    expects(to.size() == at(features_.entries()), "{} witnesses of a set; must be {}", to.size(),
            features_.entries());
    in_chunks(features_.pairs(), pairs_copied, threads_, [&](Index first, Index last) {
        for (Index pair = first; pair < last; ++pair)
            for (Index j = 0; j < features_.successors(pair); ++j)
                to[at(features_.first_entry(pair) + j)] = static_cast<std::uint8_t>(witness(set, pair, j));
    });
}

void PlanningPass::take_witnesses(Index set, std::span<const std::uint8_t> from) {
    expects(from.size() == at(features_.entries()), "{} witnesses of a set; must be {}", from.size(),
            features_.entries());
    const LaneBlocks& blocks = tiles_.blocks();
    // Eight pairs share their bytes, so that a chunk has whole blocks.
    in_chunks(std::ssize(blocks.start) - 1, pairs_copied / lanes, threads_, [&](Index first, Index last) {
        std::uint8_t* const bits = witness_.data() + set * blocks.slots();
        std::fill(bits + blocks.start[at(first)], bits + blocks.start[at(last)], std::uint8_t{0});
        for (Index pair = first * lanes; pair < std::min(features_.pairs(), last * lanes); ++pair)
            for (Index j = 0; j < features_.successors(pair); ++j)
                if (from[at(features_.first_entry(pair) + j)] != 0)
                    witness_[place(set, pair, j)] |= static_cast<std::uint8_t>(bit(pair));
    });
}

void PlanningPass::take_witness_bits(std::span<const std::uint8_t> bits) {
    expects(bits.size() == witness_.size(), "{} bytes of witnesses; must be {}", bits.size(),
            witness_.size());
    std::ranges::copy(bits, witness_.begin());
}

}  // namespace alidade::detail
