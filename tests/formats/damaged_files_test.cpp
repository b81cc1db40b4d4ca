#include <cmath>
#include <random>

#include "alidade/files/csr_file.hpp"
#include "alidade/files/features_file.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

// Files that were cut off or changed at random: a reader either refuses them with InvalidArgument or gives
// something that is what it says. Any other exception ends the test; the sanitizers watch memory.

namespace alidade::testing::damaged_files_test {
namespace {

/// Flips bits, overwrites, removes and repeats bytes: one to four changes.
std::string damage(std::string bytes, std::mt19937_64& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
        const std::size_t at = below(bytes.size());
        switch (below(6)) {
            case 0:
                bytes.erase(at, 1 + below(4));
                break;
            case 1:
                bytes.insert(at, bytes, below(bytes.size()), below(8));
                break;
            case 2:
                bytes[at] = static_cast<char>(random());
                break;
            case 3:
                bytes[at] = "\0\xFF\x7F\x80"[below(4)];
                break;
            default:
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
                break;
        }
    }
    return bytes;
}

/// A kernel that was accepted must be a distribution in every row, checked with loops of our own.
void expect_distributions(const BaseKernel& kernel) {
    ASSERT_EQ(static_cast<Index>(kernel.offsets.size()), kernel.rows + 1);
    for (std::size_t row = 0; row + 1 < kernel.offsets.size(); ++row) {
        double sum = 0;
        for (auto e = kernel.offsets[row]; e < kernel.offsets[row + 1]; ++e) {
            const double p = kernel.probabilities.at(static_cast<std::size_t>(e));
            const auto target = kernel.targets.at(static_cast<std::size_t>(e));
            ASSERT_TRUE(p >= 0 && target >= 0 && target < kernel.columns);
            sum += p;
        }
        ASSERT_NEAR(sum, 1, 1e-9);
    }
}

/// Reads a kernel the way a problem does; whether it was accepted.
template <class Read>
bool accepted(const Read& read) {
    try {
        const BaseKernel kernel = read();
        if (kernel.rows % kernel.columns != 0) return false;
        detail::validate_rows(kernel, kernel.rows / kernel.columns, "k");
        expect_distributions(kernel);
        return true;
    } catch (const InvalidArgument&) {
        return false;
    }
}

TEST(DamagedFiles, ATruncatedArchiveIsRefusedAtEveryLength) {
    for (const char* name : {"scipy_stored.npz", "scipy_compressed.npz", "scipy_array_int64.npz"}) {
        const std::string bytes = bytes_of(data(name));
        ASSERT_GT(bytes.size(), 500u);
        for (std::size_t length = 0; length < bytes.size(); ++length)
            EXPECT_THROW(detail::parse_npz(std::string_view(bytes).substr(0, length), "k.npz"),
                         InvalidArgument)
                << name << " cut to " << length;
    }
    const BaseKernel kernel = detail::read_csr(data("scipy_stored.npz"));
    for (const auto compression : {detail::NpzCompression::stored, detail::NpzCompression::deflated}) {
        const std::string bytes = detail::format_npz(detail::csr_to_arrays(kernel), compression);
        for (std::size_t length = 0; length < bytes.size(); ++length)
            EXPECT_THROW(detail::parse_npz(bytes.substr(0, length), "k.npz"), InvalidArgument) << length;
    }
}

TEST(DamagedFiles, ATruncatedFileOnDiskIsRefusedAtEveryLength) {
    const TemporaryFolder folder;
    const std::string bytes = bytes_of(data("scipy_compressed.npz"));
    for (std::size_t length = 0; length < bytes.size(); length += 7)
        EXPECT_THROW(detail::read_csr(folder.write("k.npz", bytes.substr(0, length))), InvalidArgument)
            << length;
}

TEST(DamagedFiles, ATruncatedArrayIsRefusedAtEveryLength) {
    const std::string bytes = detail::format_npy(detail::NpyArray::of_reals({3}, {0.1, 0.2, 0.3}));
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_THROW(detail::parse_npy(std::string_view(bytes).substr(0, length), "x"), InvalidArgument)
            << length;
}

TEST(DamagedFiles, ADamagedArchiveIsRefusedOrHoldsDistributions) {
    std::mt19937_64 random(1);
    int read = 0;
    for (const char* name : {"scipy_stored.npz", "scipy_compressed.npz"}) {
        const std::string bytes = bytes_of(data(name));
        for (int i = 0; i < 3000; ++i) {
            const std::string damaged = damage(bytes, random);
            read += accepted(
                [&] { return detail::csr_from_arrays(detail::parse_npz(damaged, "k.npz"), "k.npz"); });
        }
    }
    // Some bytes do not matter (dates, attributes): a test in which nothing is read would test nothing.
    EXPECT_GT(read, 0);
    EXPECT_LT(read, 3000);
}

TEST(DamagedFiles, DamagedArraysAreRefusedOrHoldDistributions) {
    // Behind the archive's checksum: every array's own bytes are damaged.
    std::mt19937_64 random(2);
    const detail::NpzArrays arrays = detail::csr_to_arrays(detail::read_csr(data("scipy_stored.npz")));
    int read = 0;
    for (const auto& [name, array] : arrays) {
        const std::string bytes = detail::format_npy(array);
        for (int i = 0; i < 2000; ++i) {
            const std::string damaged = damage(bytes, random);
            read += accepted([&, &key = name] {
                detail::NpzArrays changed = arrays;
                changed[key] = detail::parse_npy(damaged, key);
                return detail::csr_from_arrays(std::move(changed), "k.npz");
            });
        }
    }
    EXPECT_GT(read, 0);
}

TEST(DamagedFiles, DamagedFeaturesAreRefusedOrValid) {
    std::mt19937_64 random(3);
    const detail::NpzArrays arrays = detail::features_to_arrays(*testing::signed_description().features);
    for (const auto& [name, array] : arrays) {
        const std::string bytes = detail::format_npy(array);
        for (int i = 0; i < 1000; ++i) {
            detail::NpzArrays changed = arrays;
            try {
                changed[name] = detail::parse_npy(damage(bytes, random), name);
                const FeatureMap map =
                    FeatureMap::from_features(detail::features_from_arrays(changed, 1.25, "f.npz"));
                for (const double value : map.values()) ASSERT_TRUE(std::isfinite(value));
            } catch (const InvalidArgument&) {
            }
        }
    }
}

TEST(DamagedFiles, ADamagedProblemFileIsRefusedOrAProblem) {
    const TemporaryFolder folder;
    const Problem problem(testing::small_description());
    save_problem(problem, folder.path());
    std::mt19937_64 random(4);
    for (const char* name : {"problem.toml", "truth.json", "rewards/be-full.json"}) {
        const std::string bytes = bytes_of(folder / name);
        ASSERT_FALSE(bytes.empty());
        for (int i = 0; i < 500; ++i) {
            folder.write(name, damage(bytes, random));
            try {
                const Problem read = load_problem(folder.path().string());
                if (read.truth()) read.true_model();
            } catch (const InvalidArgument&) {
            }
        }
        folder.write(name, bytes);
    }
    EXPECT_TRUE(testing::same(load_problem(folder.path().string()), problem));
}

TEST(DamagedFiles, DamagedPoliciesAreRefusedOrValid) {
    const TemporaryFolder folder;
    const Shape shape{2, 2, 2};
    write_policy(folder / "p.json", Policy::stochastic(shape, {0.5, 0.5, 1, 0, 0.25, 0.75, 0, 1}));
    const std::string bytes = bytes_of(folder / "p.json");
    std::mt19937_64 random(5);
    for (int i = 0; i < 2000; ++i) try {
            const Policy policy = read_policy(folder.write("p.json", damage(bytes, random)), shape);
            for (Step h = 0; h < 2; ++h)
                for (State s = 0; s < 2; ++s)
                    ASSERT_NEAR(policy.probability(h, s, 0) + policy.probability(h, s, 1), 1, 1e-9);
        } catch (const InvalidArgument&) {
        }
}

}  // namespace
}  // namespace alidade::testing::damaged_files_test
