#include "alidade/model/lane_tiles.hpp"

#include <gtest/gtest.h>

#include "alidade/model/next_values.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/tangent_coordinates.hpp"
#include "support/random_models.hpp"
#include "support/signed_features.hpp"

namespace alidade::lane_tiles_test {
namespace {

/// Every number of every tile is the features' or zero, whether tiles are kept or made.
void expect_tiles_of(const FeatureMap& features, const TangentFeatures& tangent) {
    const Index d = features.features(), p = tangent.space.dimension();
    for (const detail::TileParts parts :
         {detail::TileParts::phi, detail::TileParts::psi, detail::TileParts::both})
        for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no}) {
            const detail::LaneTiles tiles(features, tangent, parts, kept);
            std::vector<double> memory(tiles.scratch() + at(detail::lanes));
            for (Index b = 0; b * detail::lanes < features.pairs(); ++b) {
                const detail::Tile tile = tiles.tile(b, detail::aligned_lanes(memory));
                for (Index lane = 0; lane < detail::lanes; ++lane) {
                    const Index pair = b * detail::lanes + lane;
                    const Index m = pair < features.pairs() ? features.successors(pair) : 0;
                    for (Index j = 0; j < tile.successors; ++j) {
                        const Index entry = j < m ? features.first_entry(pair) + j : -1;
                        for (Index i = 0; i < d && parts != detail::TileParts::psi; ++i) {
                            EXPECT_EQ(tile.phi[(j * d + i) * detail::lanes + lane],
                                      entry < 0 ? 0 : features.phi(entry)[at(i)]);
                        }
                        if (parts == detail::TileParts::phi) continue;
                        const Vector psi = entry < 0 ? Vector::Zero(p) : tangent.psi(entry);
                        for (Index k = 0; k < p; ++k)
                            EXPECT_EQ(tile.psi[(j * p + k) * detail::lanes + lane], psi[k]);
                        EXPECT_EQ(tile.centre[j * detail::lanes + lane],
                                  entry < 0 ? 0 : tangent.centre(entry));
                    }
                }
            }
        }
}

TEST(LaneTiles, HaveTheNumbersOfTheFeaturesKeptOrMade) {
    for (const Index d : {1, 2, 3, 4, 5, 8, 11}) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(d), 3);
        const auto features =
            support::random_features(random, {.shape = {7, 3, 3}, .features = d, .successors = 4});
        expect_tiles_of(*features, TangentFeatures(*features, TangentSpace::of(*features)));
        // In R^d, as the paper has it.
        TangentSpace whole{Vector::Zero(d), Matrix::Identity(d, d)};
        expect_tiles_of(*features, TangentFeatures(*features, whole));
    }
    Stream random = support::test_stream(5, 3);
    const FeatureMap features = support::random_signed_features(random, {5, 3, 3}, 4, 3, 1);
    expect_tiles_of(features, TangentFeatures(features, TangentSpace::of(features)));
}

// Whatever blocks are asked for, in order or not, and however many vectors are read together.
TEST(ValuesAhead, AreTheValuesOfTheSuccessors) {
    Stream random = support::test_stream(7, 3);
    const auto features =
        support::random_features(random, {.shape = {131, 3, 3}, .features = 2, .successors = 4});
    std::vector<std::vector<double>> vectors(3, std::vector<double>(at(features->states())));
    for (auto& vector : vectors)
        for (double& x : vector) x = sample_uniform(random);
    const std::vector<std::span<const double>> given{vectors[0], vectors[1], vectors[0], vectors[2]};
    const std::vector<std::span<const double>> same{vectors[1], vectors[1]};
    const detail::LaneTiles tiles(*features);
    const Index blocks = (features->pairs() + detail::lanes - 1) / detail::lanes;
    const auto expect_all = [&](const detail::NextValues& next, std::size_t vectors_given,
                                std::span<const std::span<const double>> wanted) {
        for (const Index last : {blocks, blocks - 2}) {
            detail::ValuesAhead ahead(tiles, next, last);
            for (const Index stride : {1, 7, -1})
                for (Index b = stride > 0 ? 0 : last - 1; b >= 0 && b < last; b += stride) {
                    const double* const values = ahead.of(b);
                    const Index m = tiles.blocks().successors(b);
                    for (std::size_t k = 0; k < vectors_given; ++k)
                        for (Index lane = 0; lane < detail::lanes; ++lane) {
                            const Index pair = b * detail::lanes + lane;
                            if (pair >= features->pairs()) continue;
                            for (Index j = 0; j < features->successors(pair); ++j) {
                                const Index target = features->targets()[at(features->first_entry(pair) + j)];
                                EXPECT_EQ(values[(next.place(k) * m + j) * detail::lanes + lane],
                                          wanted[k][at(target)]);
                            }
                        }
                }
        }
    };
    const detail::NextValues several(given, Threads{2}), twice(same, Threads{1});
    EXPECT_EQ(several.vectors(), 3);
    EXPECT_EQ(twice.vectors(), 1);
    expect_all(several, given.size(), given);
    expect_all(twice, same.size(), same);
    expect_all(detail::NextValues(vectors[2]), 1, std::span(given).subspan(3));
}

// The product with the basis, by Eigen, whose bits the runs of earlier programs have.
TEST(TangentFeatures, AreTheProductWithTheBasis) {
    for (const Index d : {2, 3, 4, 5, 6, 7, 9, 10, 16, 17}) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(d), 4);
        const auto features =
            support::random_features(random, {.shape = {6, 2, 3}, .features = d, .successors = 4});
        const TangentFeatures tangent(*features, TangentSpace::of(*features));
        for (Index e = 0; e < features->entries(); ++e) {
            const Eigen::Map<const Vector> phi(features->phi(e).data(), d);
            EXPECT_LE((tangent.psi(e) - tangent.space.basis.transpose() * phi).norm(), 1e-15);
            EXPECT_NEAR(tangent.centre(e), tangent.space.centre.dot(phi), 1e-15);
        }
    }
}

}  // namespace
}  // namespace alidade::lane_tiles_test
