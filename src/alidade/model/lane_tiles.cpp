#include "lane_tiles.hpp"

#include <algorithm>
#include <cstring>

#include "kept_size.hpp"
#include "tangent_coordinates.hpp"

namespace alidade::detail {

namespace {

/// psi and centre of every successor, as many lanes at once as `Number` has.
template <class Number>
ALIDADE_INLINE void coordinates_of_tile(const Coordinates& given, Index successors, const double* phi,
                                        double* psi, double* centre) {
    const Index d = given.features, p = given.dimension;
    for (Index l = 0; l < lanes; l += width_of<Number>)
        for (Index j = 0; j < successors; ++j) {
            const double* const from = phi + j * d * lanes + l;
            double* const to = psi + j * p * lanes + l;
            const Number middle = tangent_coordinates<Number>(
                given, [&](Index i) { return number_at<Number>(from, i); },
                [&](Index k, const Number& x) { set_number(to, k, x); });
            set_number(centre + l, j, middle);
        }
}

using CoordinatesOfTile = void (*)(const Coordinates&, Index, const double*, double*, double*);

#if ALIDADE_WIDER_LANES
[[gnu::target("avx512f")]] void coordinates_by_eight(const Coordinates& given, Index successors,
                                                     const double* phi, double* psi, double* centre) {
    coordinates_of_tile<EightLanes>(given, successors, phi, psi, centre);
}
[[gnu::target("avx2")]] void coordinates_by_four(const Coordinates& given, Index successors,
                                                 const double* phi, double* psi, double* centre) {
    coordinates_of_tile<FourLanes>(given, successors, phi, psi, centre);
}
#endif

CoordinatesOfTile coordinates_of(LaneWidth width) {
#if ALIDADE_WIDER_LANES
    if (width == LaneWidth::eight) return coordinates_by_eight;
    if (width == LaneWidth::four) return coordinates_by_four;
#endif
#if ALIDADE_LANES
    if (width != LaneWidth::one) return coordinates_of_tile<TwoLanes>;
#endif
    (void)width;
    return coordinates_of_tile<double>;
}

}  // namespace

LaneTiles::LaneTiles(const FeatureMap& features, const TangentFeatures& tangent, TileParts parts,
                     KeptTiles kept)
    : features_(features), tangent_(tangent), parts_(parts), blocks_(features) {
    const Index d = features.features(), p = tangent.space.dimension(), slots = blocks_.slots();
    const Index each = (parts == TileParts::psi ? 0 : d) + (parts == TileParts::phi ? 0 : p + 1);
    kept_ = kept == KeptTiles::by_size ? is_kept(static_cast<double>(slots * each * lanes))
                                       : kept == KeptTiles::yes;
    if (!kept_) return;
    if (parts != TileParts::psi) phi_.resize(at(slots * d * lanes));
    psi_.resize(parts == TileParts::phi ? 0 : at(slots * p * lanes));
    centre_.resize(parts == TileParts::phi ? 0 : at(slots * lanes));
    target_.resize(at(slots * lanes));
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
        std::copy_n(tile.target, count * lanes, target_.begin() + start * lanes);
    }
}

std::size_t LaneTiles::scratch() const noexcept {
    // Features, coordinates and centres; targets are half as wide as numbers.
    return at(blocks_.most_successors * lanes * (features_.features() + tangent_.space.dimension() + 2));
}

Tile LaneTiles::stored(Index block) const noexcept {
    const Index start = blocks_.start[at(block)], d = features_.features(), p = tangent_.space.dimension();
    Tile tile;
    if (!phi_.empty()) tile.phi = phi_.data() + start * d * lanes;
    if (!centre_.empty()) {
        tile.psi = psi_.data() + start * p * lanes;
        tile.centre = centre_.data() + start * lanes;
    }
    tile.target = target_.data() + start * lanes;
    tile.successors = blocks_.start[at(block + 1)] - start;
    return tile;
}

void LaneTiles::gather(Index block, Index successors, double* phi, std::int32_t* target) const noexcept {
    const Index d = features_.features(), first = block * lanes;
    const double* const values = features_.values().data();
    const std::int32_t* const targets = features_.targets().data();
    for (Index lane = 0; lane < lanes; ++lane) {
        const Index pair = first + lane;
        const Index begin = pair < features_.pairs() ? features_.first_entry(pair) : 0;
        const Index count = pair < features_.pairs() ? features_.successors(pair) : 0;
        const double* const from = values + begin * d;
        for (Index i = 0; i < count * d; ++i) phi[i * lanes + lane] = from[i];
        for (Index i = count * d; i < successors * d; ++i) phi[i * lanes + lane] = 0;
        for (Index j = 0; j < count; ++j) target[j * lanes + lane] = targets[begin + j];
        for (Index j = count; j < successors; ++j) target[j * lanes + lane] = 0;
    }
}

Tile LaneTiles::made(Index block, double* scratch, TileParts parts) const {
    const Index d = features_.features(), p = tangent_.space.dimension(), most = blocks_.most_successors;
    const Index successors = blocks_.start[at(block + 1)] - blocks_.start[at(block)];
    double* const phi = scratch;
    double* const psi = phi + most * d * lanes;
    double* const centre = psi + most * p * lanes;
    auto* const target = reinterpret_cast<std::int32_t*>(centre + most * lanes);
    gather(block, successors, phi, target);
    Tile tile;
    tile.target = target;
    tile.successors = successors;
    if (parts != TileParts::psi) tile.phi = phi;
    if (parts == TileParts::phi) return tile;
    static const CoordinatesOfTile coordinates = coordinates_of(widest_lanes());
    coordinates(tangent_.coordinates(), successors, phi, psi, centre);
    tile.psi = psi;
    tile.centre = centre;
    return tile;
}

void LaneTiles::fetch_values(Index block, const double* values) const noexcept {
#if ALIDADE_LANES
    const Index first = block * lanes;
    if (first >= features_.pairs()) return;
    const Index last = std::min(features_.pairs(), first + lanes);
    const std::int32_t* const targets = features_.targets().data();
    for (Index e = features_.first_entry(first); e < features_.first_entry(last); ++e)
        __builtin_prefetch(values + targets[e]);
#else
    (void)block, (void)values;
#endif
}

}  // namespace alidade::detail
