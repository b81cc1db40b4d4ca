#include "alidade/random/stream.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

#include "alidade/random/samplers.hpp"

namespace alidade::stream_test {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
using Block = std::array<std::uint64_t, 4>;

// Expected words come from NumPy 2, with u = lambda *x: numpy.array(x, dtype=numpy.uint64) and M = 2**64-1.

TEST(Philox, GivesTheWordsOfNumpy) {
    // numpy.random.Philox(key=u(42, 6), counter=u(0, 0, 0, 0)).random_raw(8)
    EXPECT_EQ(philox({1, 0, 0, 0}, {42, 6}),
              (Block{0x59ecaca5f04c4535, 0xbf4bed9ebd35704e, 0xe4d88188302b6a76, 0x546fe2594f69f306}));
    EXPECT_EQ(philox({2, 0, 0, 0}, {42, 6}),
              (Block{0x4685ca05f5a1f531, 0xc28038d9f8c38096, 0xe25eb0f7672e1e7f, 0x3f8dad7309eca525}));
    // numpy.random.Philox(key=u(M, M), counter=u(M-1, M, M, M)).random_raw(4)
    EXPECT_EQ(philox({largest, largest, largest, largest}, {largest, largest}),
              (Block{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
    // numpy.random.Philox(key=u(2**63+5, 2), counter=u(M, M, M, M)).random_raw(4)
    EXPECT_EQ(philox({0, 0, 0, 0}, {(std::uint64_t{1} << 63) + 5, 2}),
              (Block{0x6d008c087905c4c7, 0x0f1ead670ab060da, 0x55eb9a933352d28f, 0xf4007bfe94156182}));
}

TEST(Stream, StartsAtBlockZeroOfItsAddressAndGoesOn) {
    // numpy.random.Philox(key=u(42, 6), counter=u(M, 2, 7, 0)).random_raw(4), which steps to (0, 3, 7, 0),
    // then numpy.random.Philox(key=u(42, 6), counter=u(0, 3, 7, 0)).random_raw(8)
    const std::vector<std::uint64_t> expected = {0xd5f6ea209a35c777, 0x944c08306914be8a, 0xc2cd353c8b8f0a92,
                                                 0x7028d6a47d8bed83, 0xf92c53c9575bba6b, 0x0e868e777eefa0dc,
                                                 0x441d9b662453ef0d, 0x8e1bbe90d12c2601, 0xaf4e54e827fd7718,
                                                 0x13089e95d9db254a, 0xbc4cbe91fdf04b13, 0x1c97bdbff04144f9};
    Stream random(42, Purpose::test, 7, 3);
    for (const std::uint64_t word : expected) EXPECT_EQ(random.next(), word);
}

TEST(Stream, GivesTheUniformsOfNumpy) {
    // numpy.random.Generator(numpy.random.Philox(key=u(42, 6), counter=u(0, 3, 7, 0))).random(4)
    Stream random(42, Purpose::test, 7, 3);
    for (int i = 0; i < 4; ++i) random.next();
    EXPECT_EQ(sample_uniform(random), 0x1.f258a792aeb77p-1);
    EXPECT_EQ(sample_uniform(random), 0x1.d0d1ceefddf40p-5);
    EXPECT_EQ(sample_uniform(random), 0x1.10766d98914fap-2);
    EXPECT_EQ(sample_uniform(random), 0x1.1c377d21a2584p-1);
}

TEST(Stream, SameAddressGivesTheSameWords) {
    Stream one(9, Purpose::simulation, 5, 4);
    Stream other(9, Purpose::simulation, 5, 4);
    Stream interloper(9, Purpose::simulation, 5, 3);
    for (int i = 0; i < 100; ++i) {
        interloper.next();
        EXPECT_EQ(one.next(), other.next());
    }
}

TEST(Stream, ACopyGoesOnFromTheSamePlace) {
    Stream one(9, Purpose::simulation, 5, 4);
    for (int i = 0; i < 6; ++i) one.next();
    Stream copy = one;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(one.next(), copy.next());
}

TEST(Stream, DifferentAddressesShareNoWord) {
    std::set<std::uint64_t> words;
    std::size_t drawn = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        for (const Purpose purpose : {Purpose::instance, Purpose::simulation, Purpose::splitting,
                                      Purpose::ties, Purpose::audit, Purpose::test}) {
            for (std::uint64_t episode = 0; episode < 4; ++episode) {
                for (std::uint64_t step = 0; step < 4; ++step) {
                    Stream random(seed, purpose, episode, step);
                    for (int i = 0; i < 16; ++i, ++drawn) words.insert(random.next());
                }
            }
        }
    }
    // 6144 ideal words repeat one with odds 6144^2 / 2^65 = 1e-12.
    EXPECT_EQ(words.size(), drawn);
}

}  // namespace
}  // namespace alidade::stream_test
