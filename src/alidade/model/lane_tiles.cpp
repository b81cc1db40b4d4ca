#include "lane_tiles.hpp"

#include <algorithm>
#include <cstdlib>

#include "kept_size.hpp"
#include "lane_dispatch.hpp"
#include "lane_rows.hpp"
#include "tangent_coordinates.hpp"

namespace alidade::detail {

namespace {

/// Reads and writes the lanes of a tile; no lambdas, as in tangent_coordinates.hpp.
template <class Number>
struct NumberAt {
    const double* from;
    ALIDADE_INLINE Number operator()(Index i) const { return number_at<Number>(from, i); }
};
template <class Number>
struct SetNumber {
    double* to;
    ALIDADE_INLINE void operator()(Index k, const Number& x) const { set_number(to, k, x); }
};

/// psi and centre of every successor, as many lanes at once as `Number` has.
template <class Number>
ALIDADE_INLINE void coordinates_of_tile(const Coordinates& given, Index successors, const double* phi,
                                        double* psi, double* centre) {
    const Index d = given.features, p = given.dimension;
    for (Index l = 0; l < lanes; l += width_of<Number>)
        for (Index j = 0; j < successors; ++j) {
            const double* const from = phi + j * d * lanes + l;
            double* const to = psi + j * p * lanes + l;
            const Number middle =
                tangent_coordinates<Number>(given, NumberAt<Number>{from}, SetNumber<Number>{to});
            set_number(centre + l, j, middle);
        }
}

struct CoordinatesKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const Coordinates& given, Index successors, const double* phi, double* psi,
                                   double* centre) {
        coordinates_of_tile<Number>(given, successors, phi, psi, centre);
    }
};
using CoordinatesByLanes =
    ByLanes<CoordinatesKernel, const Coordinates&, Index, const double*, double*, double*>;

/// Calls for what is read next, so that it comes while there is other work: eight pairs read in turns are
/// eight places, and a machine does not foresee that they are one stream. As many places at a time as are
/// read, since a machine forgets what is called for all at once; and not to be kept, since it is read once.
ALIDADE_INLINE void call_for(const double* place) {
#if ALIDADE_LANES
    __builtin_prefetch(place, 0, 0);
#else
    (void)place;
#endif
}

/// Numbers of eight pairs, each of which has them one after another, into lanes; `ahead` of them lie those of
/// the next eight.
struct TransposeKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const double* const* from, Index count, Index ahead, double* to) {
        constexpr Index width = width_of<Number>;
        Index i = 0;
        for (; i + width <= count; i += width) some<Number>(from, i, ahead, to);
        if (i == count) return;
        // The last ones together with some before them, which come out once more as they are: what is stored
        // number by number cannot be read as a vector soon after.
        if (count >= width) return some<Number>(from, count - width, ahead, to);
        for (; i < count; ++i)
            for (Index l = 0; l < lanes; ++l) to[i * lanes + l] = from[l][i];
    }

private:
    template <class Number>
    ALIDADE_INLINE static void some(const double* const* from, Index first, Index ahead, double* to) {
        constexpr Index width = width_of<Number>;
        for (Index l = 0; l < lanes; l += width) {
            Number row[at(width)];
            for (Index r = 0; r < width; ++r) {
                row[r] = numbers_from<Number>(from[l + r] + first);
                call_for(from[l + r] + first + ahead);
            }
            transpose(row);
            for (Index k = 0; k < width; ++k) set_number(to + l, first + k, row[k]);
        }
    }
};

using TransposeByLanes = ByLanes<TransposeKernel, const double* const*, Index, Index, double*>;

}  // namespace

LaneTiles::LaneTiles(const FeatureMap& features, const TangentFeatures* tangent, TileParts parts,
                     KeptTiles kept)
    : features_(features), tangent_(tangent), parts_(parts), blocks_(features) {
    const Index d = features.features(), p = dimension(), slots = blocks_.slots();
    const Index each = (parts == TileParts::psi ? 0 : d) + (parts == TileParts::phi ? 0 : p + 1);
    kept_ = kept == KeptTiles::by_size ? is_kept(static_cast<double>(slots * each * lanes))
                                       : kept == KeptTiles::yes;
    if (!kept_) return;
    if (parts != TileParts::psi) phi_.resize(at(slots * d * lanes));
    psi_.resize(parts == TileParts::phi ? 0 : at(slots * p * lanes));
    centre_.resize(parts == TileParts::phi ? 0 : at(slots * lanes));
    std::vector<double> memory(scratch() + at(lanes));
    for (Index b = 0; b + 1 < std::ssize(blocks_.start); ++b) {
        const Tile tile = made(b, aligned_lanes(memory), parts_);
        const Index start = blocks_.start[at(b)], count = tile.successors;
        if (tile.phi != nullptr && !phi_.empty())
            std::copy_n(tile.phi, count * d * lanes, phi_.begin() + start * d * lanes);
        if (tile.psi != nullptr) {
            std::copy_n(tile.psi, count * p * lanes, psi_.begin() + start * p * lanes);
            std::copy_n(tile.centre, count * lanes, centre_.begin() + start * lanes);
        }
    }
}

std::size_t LaneTiles::scratch() const noexcept {
    // Features, coordinates and centres.
    return at(blocks_.most_successors * lanes * (features_.features() + dimension() + 1));
}

Tile LaneTiles::stored(Index block) const noexcept {
    const Index start = blocks_.start[at(block)], d = features_.features(), p = dimension();
    Tile tile;
    if (!phi_.empty()) tile.phi = phi_.data() + start * d * lanes;
    if (!centre_.empty()) {
        tile.psi = psi_.data() + start * p * lanes;
        tile.centre = centre_.data() + start * lanes;
    }
    tile.successors = blocks_.successors(block);
    return tile;
}

void LaneTiles::gather(Index block, Index successors, double* phi) const noexcept {
    const Index d = features_.features(), first = block * lanes;
    const double* const values = features_.values().data();
    // Most blocks have eight pairs of as many successors, which is done in registers.
    const bool whole = first + lanes <= features_.pairs();
    if (whole && features_.first_entry(first + lanes) - features_.first_entry(first) == lanes * successors) {
        const double* const begin = values + features_.first_entry(first) * d;
        static const auto transpose = TransposeByLanes::of(widest_lanes());
        const double* from[lanes];
        for (Index lane = 0; lane < lanes; ++lane) from[lane] = begin + lane * successors * d;
        const Index size = lanes * successors * d;
        const bool more = begin + 2 * size <= values + features_.values().size();
        transpose(from, successors * d, more ? size : 0, phi);
        return;
    }
    for (Index lane = 0; lane < lanes; ++lane) {
        const Index pair = first + lane;
        const Index begin = pair < features_.pairs() ? features_.first_entry(pair) : 0;
        const Index count = pair < features_.pairs() ? features_.successors(pair) : 0;
        const double* const from = values + begin * d;
        for (Index i = 0; i < count * d; ++i) phi[i * lanes + lane] = from[i];
        for (Index i = count * d; i < successors * d; ++i) phi[i * lanes + lane] = 0;
    }
}

Tile LaneTiles::made(Index block, double* scratch, TileParts parts) const {
    const Index d = features_.features(), p = dimension(), most = blocks_.most_successors;
    const Index successors = blocks_.successors(block);
    double* const phi = scratch;
    double* const psi = phi + most * d * lanes;
    double* const centre = psi + most * p * lanes;
    gather(block, successors, phi);
    Tile tile;
    tile.successors = successors;
    if (parts != TileParts::psi) tile.phi = phi;
    if (parts == TileParts::phi) return tile;
    static const auto coordinates = CoordinatesByLanes::of(widest_lanes());
    coordinates(tangent_->coordinates(), successors, phi, psi, centre);
    tile.psi = psi;
    tile.centre = centre;
    return tile;
}

}  // namespace alidade::detail
