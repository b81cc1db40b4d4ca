// Coverage of sets by bets under attack [docs/algorithms/misspecification.md, Measured]: runs in which the
// true weights were outside the set at some look, for truths that are as far off their mixture as is claimed,
// as twice what is claimed, and where nothing is claimed.
//
//     bet_coverage [--runs 1000] [--looks 500]      --quick: 100 runs of 60 looks

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "alidade/confidence/bets.hpp"
#include "support/coverage_attack.hpp"

namespace {

using namespace alidade;
using support::Adversary;

struct Tally {
    int of_claim = 0, of_half = 0, of_none = 0, empty = 0;
};

constexpr double delta = 0.1;

/// One run: whether the true weights were ever outside, for three claims.
void attack(std::uint64_t seed, Adversary adversary, double zeta, int looks, Tally& tally) {
    support::CoverageAttack run(seed, adversary, zeta, looks);
    const std::array claims{zeta, zeta / 2, 0.0};
    std::array<bool, 3> outside{};
    for (int look = 0; look < looks; ++look) {
        const BetTable table = run.next();
        for (std::size_t k = 0; k < claims.size(); ++k)
            outside[k] = outside[k] || run.outside(table, claims[k], delta);
        if (look + 1 < looks) continue;
        // What certificates are computed from contains the set: it has no member only where there is none.
        const double allowance = bet_allowance(1, table.bets(), delta);
        const auto hull = VertexSet::of(bet_half_spaces(table, zeta, allowance, run.truth().weights));
        if (!outside[0] && (!hull || hull->depth(run.truth().weights) > 1 + 1e-9)) ++tally.empty;
    }
    tally.of_claim += outside[0] ? 1 : 0;
    tally.of_half += outside[1] ? 1 : 0;
    tally.of_none += outside[2] ? 1 : 0;
}

Tally attacked(int runs, Adversary adversary, double zeta, int looks) {
    Tally all;
    std::mutex door;
    const int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::jthread> team;
    for (int worker = 0; worker < workers; ++worker)
        team.emplace_back([&, worker] {
            Tally mine;
            for (int run = worker; run < runs; run += workers)
                attack(static_cast<std::uint64_t>(run), adversary, zeta, looks, mine);
            const std::scoped_lock alone(door);
            all.of_claim += mine.of_claim;
            all.of_half += mine.of_half;
            all.of_none += mine.of_none;
            all.empty += mine.empty;
        });
    team.clear();
    return all;
}

}  // namespace

int main(int count, char** words) {
    const std::vector<std::string_view> given(words + 1, words + count);
    const bool quick = std::ranges::find(given, "--quick") != given.end();
    const auto number = [&](std::string_view flag, int otherwise) {
        for (std::size_t i = 0; i + 1 < given.size(); ++i)
            if (given[i] == flag) return std::stoi(std::string(given[i + 1]));
        return otherwise;
    };
    const int runs = number("--runs", quick ? 100 : 1000), looks = number("--looks", quick ? 60 : 500);
    fmt::print(
        "{} runs of {} looks each, delta {}: runs in which the true weights were outside at some look\n\n"
        "| adversary | off by | it is claimed | half of it | nothing | polytope without them |\n"
        "|---|---:|---:|---:|---:|---:|\n",
        runs, looks, delta);
    bool held = true;
    for (const Adversary adversary :
         {Adversary::constant, Adversary::score, Adversary::alternating, Adversary::worst_pair})
        for (const double zeta : {0.02, 0.05, 0.1}) {
            const Tally found = attacked(runs, adversary, zeta, looks);
            fmt::print("| {} | {} | {} | {} | {} | {} |\n", to_string(adversary), zeta, found.of_claim,
                       found.of_half, found.of_none, found.empty);
            std::fflush(stdout);
            held = held && found.of_claim <= delta * runs && found.empty == 0;
        }
    return held ? 0 : 1;
}
