#include "alidade/model/divergence_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/model/lane_dispatch.hpp"
#include "alidade/random/samplers.hpp"
#include "support/lane_widths.hpp"
#include "support/random_models.hpp"

namespace alidade::divergence_kernel_test {
namespace {

constexpr Index lanes = detail::lanes;

template <bool kl>
using Divergences = detail::ByLanes<detail::DivergenceKernel<kl>, const detail::DivergenceBlock&, double*>;

struct Outcome {
    std::vector<double> bounds, strange;
    bool operator==(const Outcome&) const = default;
};

/// phi of eight pairs, [successor][feature][lane].
template <bool kl>
Outcome run(const std::vector<double>& phi, Index m, Index d, const std::vector<double>& weights,
            const std::vector<double>& map, detail::LaneWidth width) {
    const Index p = d - 1;
    const std::vector<std::int32_t> targets(at(m * lanes), 0);
    const std::vector<double> counts(at(lanes), static_cast<double>(m));
    std::vector<double> own(phi.size() + at(lanes)),
        memory(at(detail::DivergenceKernel<kl>::scratch(m, p) + lanes));
    double* const aligned = detail::aligned_lanes(own);
    std::ranges::copy(phi, aligned);
    Outcome outcome{std::vector<double>(at(lanes)), std::vector<double>(at(lanes))};
    detail::Tile tile;
    tile.phi = aligned;
    tile.successors = m;
    Divergences<kl>::of(width)({tile, d, p, counts.data(), weights.data(), map.data(), outcome.bounds.data(),
                                outcome.strange.data()},
                               detail::aligned_lanes(memory));
    return outcome;
}

std::vector<double> in_all_lanes(const std::vector<double>& phi) {
    std::vector<double> all;
    for (const double x : phi) all.insert(all.end(), at(lanes), x);
    return all;
}

// What overflows or underflows must not pass for zero: it is asked alone.
TEST(DivergenceKernel, OwnsUpToWhatItCannotTell) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const detail::LaneWidth width : support::lane_widths()) {
        const Outcome over =
            run<true>(in_all_lanes({.7, .5, .3, .5}), 2, 2, {.5, .5}, {infinite, -infinite}, width);
        const Outcome under = run<true>(in_all_lanes({1, 1, 1e-170, 0}), 2, 2, {.5, .5}, {.7, -.7}, width);
        for (const Outcome& outcome : {over, under})
            for (const double strange : outcome.strange) EXPECT_NE(strange, 0);
        // Where base models agree the divergence is zero, and that is no question.
        const Outcome known = run<true>(in_all_lanes({.7, .7, .3, .3}), 2, 2, {.5, .5}, {.7, -.7}, width);
        EXPECT_EQ(known, (Outcome{std::vector<double>(at(lanes), 0.0), std::vector<double>(at(lanes), 0.0)}));
    }
}

// A lane does not see its neighbours: pairs whose base models differ by much, by little, by rounding, side by
// side.
TEST(DivergenceKernel, GivesTheSameBitsByAllVectors) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Stream random = support::test_stream(seed, 71);
        const Index m = 2 + sample_index(random, 4), d = 2 + sample_index(random, 4), p = d - 1;
        std::vector<double> phi(at(m * d * lanes));
        for (Index l = 0; l < lanes; ++l) {
            const auto base = sample_dirichlet(random, m, 1.0);
            const double off = std::pow(10.0, -4.0 * static_cast<double>(sample_index(random, 5)));
            for (Index i = 0; i < d; ++i) {
                const auto other = sample_dirichlet(random, m, 0.5);
                for (Index j = 0; j < m; ++j)
                    phi[at((j * d + i) * lanes + l)] = (1 - off) * base[at(j)] + off * other[at(j)];
            }
        }
        const auto weights = sample_dirichlet(random, d, 1.0);
        std::vector<double> map(at(p * d));
        for (double& x : map) x = sample_normal(random) * std::pow(10.0, -static_cast<double>(seed % 4));
        const auto same = [&]<bool kl>() {
            const Outcome plain = run<kl>(phi, m, d, weights, map, detail::LaneWidth::one);
            for (const detail::LaneWidth width : support::lane_widths())
                EXPECT_EQ(run<kl>(phi, m, d, weights, map, width), plain) << "seed " << seed;
        };
        same.template operator()<true>();
        same.template operator()<false>();
    }
}

}  // namespace
}  // namespace alidade::divergence_kernel_test
