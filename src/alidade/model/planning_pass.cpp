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

using AscentsByLanes =
    ByLanes<AscentKernel, const AscentStep&, const PairRows&, double*, double*, double*, bool*>;
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
    if (tiles_.kept())
        run_tiles(step, values, chunk);
    else
        run_rows(step, values, chunk);
}

void PlanningPass::run_tiles(const Step& step, std::span<double> values, const Chunk& chunk) {
    const Index p = tangent_.space.dimension();
    const Matrix& root = *step.inverse_factor;
    // One product with the inverse gives slope and norm. What that rounds may cost a better witness,
    // never validity: certificates have widths from upper ends of their own.
    const Matrix inverse = root.transpose().lazyProduct(root);
    const CoordinateStep shared{p, inverse.data(), step.weights->data(), step.scale, step.ascents};
    const auto pass = CoordinatesAscend::of(chunk.width);
    const NextValues next(step.next);
    ValuesAhead ahead(tiles_, next, (chunk.last + lanes - 1) / lanes);
    for_each_block(step, values, chunk, CoordinateKernel::scratch(p),
                   [&](Index block, double* witness, double* scratch, double* out, bool* moved) {
                       pass(shared, tiles_.tile(block, nullptr), ahead.of(block), witness, scratch, out,
                            moved);
                   });
}

namespace {

/// Whether root(k, i) is zero for i > k + first.
bool is_triangular(const Matrix& root, Index first) {
    for (Index i = first + 1; i < root.cols(); ++i)
        for (Index k = 0; k < std::min(i - first, root.rows()); ++k)
            if (root(k, i) != 0) return false;
    return true;
}

/// The rows of a map's pairs, block by block.
class RowsOfBlocks {
public:
    RowsOfBlocks(const FeatureMap& features, const LaneBlocks& blocks, std::span<const double> next)
        : features_(features), blocks_(blocks), nothing_(at(padded(features.features())), 0) {
        rows_.next = next.data();
        rows_.nothing = nothing_.data();
    }

    /// Of a block; valid until it is asked for another.
    const PairRows& of(Index block) {
        const Index d = features_.features(), first = block * lanes;
        const Index last = std::min(features_.pairs(), first + lanes);
        const Index begin = features_.first_entry(first), end = features_.first_entry(last);
        const double* phi = features_.values().data() + begin * d;
        if (end * d + lanes > std::ssize(features_.values())) {
            // Numbers behind the last row are read, and count nothing.
            end_.assign(at((end - begin) * d + lanes), 0);
            std::copy_n(phi, (end - begin) * d, end_.begin());
            phi = end_.data();
        }
        rows_.most = rows_.least = blocks_.successors(block);
        for (Index lane = 0; lane < lanes; ++lane) {
            const Index pair = std::min(first + lane, last - 1), entry = features_.first_entry(pair);
            rows_.phi[lane] = phi + (entry - begin) * d;
            rows_.target[lane] = features_.targets().data() + entry;
            rows_.successors[lane] = first + lane < last ? features_.successors(pair) : 0;
            rows_.least = std::min(rows_.least, rows_.successors[lane]);
        }
        // As far as the features go.
        rows_.later = std::min(end - begin, features_.entries() - end) * d;
        return rows_;
    }

private:
    const FeatureMap& features_;
    const LaneBlocks& blocks_;
    std::vector<double> nothing_, end_;
    PairRows rows_;
};

}  // namespace

void PlanningPass::run_rows(const Step& step, std::span<double> values, const Chunk& chunk) {
    const TangentSpace& space = tangent_.space;
    const Index d = features_.features(), p = space.dimension();
    // Coordinates of every successor would have to be made first; those of the witness' sum are enough.
    const Matrix root = step.inverse_factor->lazyProduct(space.basis.transpose());
    const Vector weights = space.centre + space.basis.lazyProduct(*step.weights);
    const bool centred = tangent_.coordinates().equal_is_zero;
    const AscentStep shared{d,           p,           weights.data(),
                            root.data(), centred,     is_triangular(root, centred ? 1 : 0),
                            step.scale,  step.ascents};
    const auto pass = AscentsByLanes::of(chunk.width);
    RowsOfBlocks rows(features_, tiles_.blocks(), step.next);
    for_each_block(step, values, chunk, AscentKernel::scratch(d, p),
                   [&](Index block, double* witness, double* scratch, double* out, bool* moved) {
                       pass(shared, rows.of(block), witness, scratch, out, moved);
                   });
}

template <class Pass>
void PlanningPass::for_each_block(const Step& step, std::span<double> values, const Chunk& chunk,
                                  Index numbers, const Pass& pass) {
    const LaneBlocks& blocks = tiles_.blocks();
    const Index most = blocks.most_successors;
    std::vector<double> memory(at(numbers + (most + 1) * lanes));
    double* const witness = aligned_lanes(memory);
    double* const scratch = witness + most * lanes;
    const auto spread = SpreadByLanes::of(chunk.width);
    for (Index b = chunk.first / lanes; b * lanes < chunk.last; ++b) {
        const Index successors = blocks.successors(b);
        std::uint8_t* const bits = witness_.data() + step.set * blocks.slots() + blocks.start[at(b)];
        spread(bits, successors, witness);
        double out[lanes];
        bool moved = false;
        pass(b, witness, scratch, out, &moved);
        if (moved) collect(witness, successors, bits);
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
