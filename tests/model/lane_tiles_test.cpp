#include "alidade/model/lane_tiles.hpp"

#include <gtest/gtest.h>

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
                        EXPECT_EQ(tile.target[j * detail::lanes + lane],
                                  entry < 0 ? 0 : features.targets()[at(entry)]);
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
