#include "alidade/run/run_record.hpp"

#include <bit>
#include <cstdint>

#include <fmt/format.h>

#include "problem_record.hpp"

namespace alidade {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide join(std::uint64_t high, std::uint64_t low) {
    return (Wide{high} << 64) | low;
}

/// FNV-1a with 128 bits, over numbers as eight little-endian bytes.
class Hash {
public:
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) {
            state_ ^= (number >> (8 * i)) & 0xFF;
            state_ *= join(0x0000000001000000, 0x000000000000013B);
        }
    }
    /// A number at once instead of byte by byte, which is eight times as fast.
    void add_whole(std::uint64_t number) {
        state_ ^= number;
        state_ *= join(0x0000000001000000, 0x000000000000013B);
        state_ ^= state_ >> 64;
    }
    void add(Index number) { add(static_cast<std::uint64_t>(number)); }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }

    std::string hex() const {
        return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(state_ >> 64),
                           static_cast<std::uint64_t>(state_));
    }

private:
    Wide state_ = join(0x6C62272E07BB0142, 0x62B821756295C58D);
};

}  // namespace

namespace {

/// Features of either kind, which `kind` tells apart.
template <class Features>
void add_features(Hash& hash, Index kind, const Features& features, bool whole) {
    hash.add(kind);
    hash.add(features.states());
    hash.add(features.actions());
    hash.add(features.features());
    hash.add(features.norm_bound());
    if (whole) {
        for (Index pair = 0; pair <= features.pairs(); ++pair)
            hash.add_whole(static_cast<std::uint64_t>(features.first_entry(pair)));
        for (const std::int32_t target : features.targets())
            hash.add_whole(static_cast<std::uint64_t>(target));
        for (const double value : features.values()) hash.add_whole(std::bit_cast<std::uint64_t>(value));
        return;
    }
    for (Index pair = 0; pair <= features.pairs(); ++pair) hash.add(features.first_entry(pair));
    for (const std::int32_t target : features.targets()) hash.add(Index{target});
    for (const double value : features.values()) hash.add(value);
}

}  // namespace

namespace {

std::string hash_of(const Problem& problem, bool whole) {
    Hash hash;
    if (problem.is_linear())
        add_features(hash, 2, problem.pair_features(), whole);
    else
        add_features(hash, problem.features().kind() == FeatureKind::general ? 1 : 0, problem.features(),
                     whole);
    const auto atoms = problem.start().atoms();
    hash.add(static_cast<Index>(atoms.size()));
    for (const auto& [state, probability] : atoms) {
        hash.add(state);
        hash.add(probability);
    }
    hash.add(problem.shape().horizon);
    hash.add(Index{problem.homogeneous()});
    // Left out when zero, so that exact mixtures keep the hash they had before there was any other.
    if (problem.misspecification() > 0) hash.add(problem.misspecification());
    return hash.hex();
}

}  // namespace

bool detail::has_many_features(const Problem& problem) {
    // 64 MiB: a run that holds more than that of what can be had elsewhere is a burden.
    constexpr std::size_t many = std::size_t{1} << 23;
    return !problem.is_linear() && problem.features().values().size() > many;
}

std::string problem_hash(const Problem& problem) {
    return hash_of(problem, detail::has_many_features(problem));
}

std::string detail::earlier_problem_hash(const Problem& problem) {
    return hash_of(problem, false);
}

}  // namespace alidade
