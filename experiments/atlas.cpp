// Episodes until plans for every weighting of some objectives are certified [docs/algorithms/atlas.md,
// Measured]: K at which the atlas's loss is at most H/10, H/20, H/100, looked at with every policy (10 % more
// episodes); and, against the simulated truth, every corner and random weights at these stops and at fixed K.
//
//     atlas [--quick]            one seed instead of five, and no H/100
//     atlas --scatter N [WORD]   how far N seeds are apart, of the cases whose names have the word
//     atlas --seeds A B FIRST COUNT [WORD]
//                                episodes alone, of COUNT seeds from FIRST on, objective i by seed A s + B +
//                                i
//
// Median over seeds, which change problem, run and random objectives. The study looked from 20 episodes on,
// and so do these: with fewer than that a plan may be certified that more data then call into question.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/audit/atlas_audit.hpp"
#include "alidade/certify/atlas_goal.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"

namespace {

using namespace alidade;

struct Case {
    std::string name, problem;
    std::vector<std::string> objectives;
    std::vector<double> study;  // K of the study at 0.1 H, 0.05 H, 0.01 H; it looked from 20 episodes on
};

const std::string garnet10 = "garnet?states=10&actions=3&features=3&horizon=5&successors=5&concentration=1";
const std::string garnet20 = "garnet?states=20&actions=4&features=5&horizon=5&successors=8&concentration=1";
const std::string garnet50 = "garnet?states=50&actions=4&features=5&horizon=10&successors=10&concentration=1";

const std::vector<Case> cases{
    {"inventory: s h", "inventory", {"service-level", "holding-cost"}, {20, 42, 57}},
    {"inventory: s h balanced", "inventory", {"service-level", "holding-cost", "balanced"}, {20, 111, 383}},
    {"inventory: s h n", "inventory", {"service-level", "holding-cost", "no-order"}, {101, 148, 995}},
    {"inventory: s h n e", "inventory", {"service-level", "holding-cost", "no-order", "end"}, {101, 238}},
    {"inventory: s h n e p",
     "inventory",
     {"service-level", "holding-cost", "no-order", "end", "stocked"},
     {238, 510}},
    {"garnet 10: d d d", garnet10, {"dense", "dense", "dense"}, {20, 91, 510}},
    {"garnet 10: s s s", garnet10, {"sparse", "sparse", "sparse"}, {134, 216, 1325}},
    {"garnet 10: 1 1 1", garnet10, {"single-state", "single-state", "single-state"}, {179, 317, 4159}},
    {"garnet 20: d d d", garnet20, {"dense", "dense", "dense"}, {20, 196, 1204}},
    {"garnet 20: s s s", garnet20, {"sparse", "sparse", "sparse"}, {317, 618, 3124}},
    {"garnet 20: 1 1 1", garnet20, {"single-state", "single-state", "single-state"}, {317, 562, 1457}},
    {"garnet 50: d d d", garnet50, {"dense", "dense", "dense"}, {47, 348}},
    {"garnet 50: s s s", garnet50, {"sparse", "sparse", "sparse"}, {618, 1457}},
    {"gridworld: goal avoid", "gridworld", {"goal", "avoid"}, {1763, 5032, 23125}},
    {"riverswim: classic upstream", "riverswim", {"classic", "upstream"}, {196, 1204, 2347}},
    {"needle: target informative", "needle", {"target", "informative"}, {20, 348, 995}},
};

/// Episodes that the study began to look at.
constexpr std::int64_t first_look = 20;

/// Rewards that the inventory does not have by name.
template <class Pays>
Reward reward_where(const Shape& shape, const Pays& pays) {
    std::vector<double> values;
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) values.push_back(pays(h, s, a) ? 1.0 : 0.0);
    return {shape, std::move(values)};
}

Reward objective(const Problem& problem, const std::string& name, std::uint64_t seed) {
    const Shape& shape = problem.shape();
    if (name == "no-order") return reward_where(shape, [](Step, State, Action a) { return a == 0; });
    if (name == "stocked") return reward_where(shape, [](Step, State s, Action) { return s >= 3; });
    if (name == "end")
        return reward_where(
            shape, [&](Step h, State s, Action) { return h + 1 == shape.horizon && s >= 8 && s <= 13; });
    const bool random = name == "dense" || name == "sparse" || name == "single-state";
    return make_reward(problem, random ? fmt::format("{}?seed={}", name, seed) : name);
}

/// Which seed of a draw an objective has, by the seed of the problem.
struct Seeding {
    std::uint64_t factor = 100, first = 0;
    std::uint64_t operator()(std::uint64_t seed, std::size_t i) const { return factor * seed + first + i; }
};

struct Audited {
    Index checks = 0, violations = 0, missed = 0;
};

void look(const Atlas& atlas, const Knowledge& knowledge, const Objectives& objectives,
          const Problem& problem, Audited& audited) {
    const AtlasAudit found = audit(atlas, knowledge, objectives, problem, {.weights = 200});
    audited.checks += found.checks;
    if (found.truth_in_confidence_set)
        audited.violations += found.violations;
    else
        ++audited.missed;
}

Objectives objectives_of(const Case& of, const Problem& problem, std::uint64_t seed, const Seeding& seeding) {
    std::vector<Reward> rewards;
    for (std::size_t i = 0; i < of.objectives.size(); ++i)
        rewards.push_back(objective(problem, of.objectives[i], seeding(seed, i)));
    return Objectives(std::move(rewards));
}

Problem problem_of(const Case& of, std::uint64_t seed) {
    return make_builtin(fmt::format("builtin:{}{}seed={}", of.problem,
                                    of.problem.find('?') == std::string::npos ? "?" : "&", seed));
}

/// Episodes to each loss; true losses are looked at where somebody wants to know.
std::vector<double> episodes_to(const Case& of, std::uint64_t seed, const std::vector<double>& parts,
                                Audited* audited, const Seeding& seeding = {}) {
    const Problem problem = problem_of(of, seed);
    const Objectives objectives = objectives_of(of, problem, seed, seeding);
    CountSplittingDeployer system(problem.true_model(), seed);
    Exploration exploration(task_of(problem), {.algorithm = "likelihood", .seed = seed});
    std::vector<double> episodes;
    for (const double part : parts) {
        const AtlasOptions options{.loss = part * static_cast<double>(problem.shape().horizon)};
        AtlasGoal goal(objectives, options);
        exploration.run(system, {.episodes = 1'000'000, .enough = [&](const Knowledge& knowledge) {
                                     return knowledge.episodes >= first_look && goal.met(knowledge);
                                 }});
        episodes.push_back(static_cast<double>(exploration.counts().episodes()));
        if (audited != nullptr)
            look(make_atlas(exploration.best(), objectives, options), exploration.best(), objectives, problem,
                 *audited);
    }
    return episodes;
}

/// Looks at fixed numbers of episodes, whatever the atlas is good for by then.
void watch_coverage(const Case& of, std::uint64_t seed, Audited& audited) {
    const Problem problem = problem_of(of, seed);
    const Objectives objectives = objectives_of(of, problem, seed, {});
    CountSplittingDeployer system(problem.true_model(), 1000 + seed);
    Exploration exploration(task_of(problem), {.algorithm = "likelihood", .seed = seed});
    for (const std::int64_t episodes : {10, 100, 1000, 10'000}) {
        exploration.run(system, {.episodes = episodes});
        const Atlas atlas =
            make_atlas(exploration.best(), objectives,
                       {.loss = 0.02 * static_cast<double>(problem.shape().horizon), .certificates = 300});
        look(atlas, exploration.best(), objectives, problem, audited);
    }
}

double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::lround(share * last))];
}

double median(const std::vector<double>& values) {
    return quantile(values, 0.5);
}

/// Medians of all triples: what a study of three seeds could have found.
std::vector<double> medians_of_three(const std::vector<double>& values) {
    std::vector<double> medians;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < values.size(); ++j)
            for (std::size_t k = j + 1; k < values.size(); ++k)
                medians.push_back(median({values[i], values[j], values[k]}));
    return medians;
}

void print_scatter(const Case& of, double part, double study, const std::vector<double>& values) {
    const std::vector<double> medians = medians_of_three(values);
    const auto below = std::ranges::count_if(medians, [&](double each) { return each < study; });
    const auto at_most = std::ranges::count_if(medians, [&](double each) { return each <= study; });
    fmt::print("| {}, {} H | {:.0f} | {:.0f} to {:.0f} | {:.0f} to {:.0f} | {:.0f} | {:.0f} % |\n", of.name,
               part, median(values), quantile(values, 0.1), quantile(values, 0.9), quantile(medians, 0.05),
               quantile(medians, 0.95), study,
               50.0 * static_cast<double>(below + at_most) / static_cast<double>(medians.size()));
    std::fflush(stdout);
}

/// How far draws are apart, and where the study's medians of three lie among such medians.
int scatter(std::uint64_t seeds, std::string_view word) {
    fmt::print(
        "| | median of {} seeds | 10 % to 90 % | medians of three, 5 % to 95 % | study | of such medians "
        "below it |\n|---|---:|---:|---:|---:|---:|\n",
        seeds);
    for (const Case& of : cases) {
        if (of.name.find(word) == std::string::npos) continue;
        std::vector<double> parts{0.1, 0.05, 0.01};
        parts.resize(of.study.size());
        std::vector<std::vector<double>> found(parts.size());
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const std::vector<double> episodes = episodes_to(of, seed, parts, nullptr);
            for (std::size_t i = 0; i < episodes.size(); ++i) found[i].push_back(episodes[i]);
        }
        for (std::size_t i = 0; i < parts.size(); ++i) print_scatter(of, parts[i], of.study[i], found[i]);
    }
    return 0;
}

/// Episodes by other seeds of the objectives: whether the study's draws can be found again.
int by_seeds(const Seeding& seeding, std::uint64_t first, std::uint64_t count, std::string_view word) {
    for (const Case& of : cases) {
        if (of.name.find(word) == std::string::npos) continue;
        std::vector<double> parts{0.1, 0.05, 0.01};
        parts.resize(of.study.size());
        std::vector<std::vector<double>> found(parts.size());
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
            const std::vector<double> episodes = episodes_to(of, seed, parts, nullptr, seeding);
            for (std::size_t i = 0; i < episodes.size(); ++i) found[i].push_back(episodes[i]);
        }
        fmt::print("{:<30}", of.name);
        for (std::size_t i = 0; i < parts.size(); ++i)
            fmt::print("{:>18}", fmt::format("{:.0f} ({:.0f})", median(found[i]), of.study[i]));
        fmt::print("\n");
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto number = [&](std::size_t i) { return std::stoull(words.at(i)); };
    if (!words.empty() && words[0] == "--scatter")
        return scatter(number(1), words.size() > 2 ? words[2] : "");
    if (!words.empty() && words[0] == "--seeds")
        return by_seeds({number(1), number(2)}, number(3), number(4), words.size() > 5 ? words[5] : "");
    const bool quick = !words.empty() && words[0] == "--quick";
    const std::uint64_t seeds = quick ? 1 : 5;
    Audited stops, looks;
    fmt::print("Episodes until all weightings are certified, median of {} seeds (the study's in brackets)\n",
               seeds);
    fmt::print("{:<30}{:>18}{:>18}{:>18}\n", "", "0.1 H", "0.05 H", "0.01 H");
    for (const Case& of : cases) {
        std::vector<double> parts{0.1, 0.05, 0.01};
        parts.resize(quick ? 2 : of.study.size());
        std::vector<std::vector<double>> found(parts.size());
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const std::vector<double> episodes = episodes_to(of, seed, parts, &stops);
            for (std::size_t i = 0; i < episodes.size(); ++i) found[i].push_back(episodes[i]);
        }
        fmt::print("{:<30}", of.name);
        for (std::size_t i = 0; i < parts.size(); ++i)
            fmt::print("{:>18}", fmt::format("{:.0f} ({:.0f})", median(found[i]), of.study[i]));
        fmt::print("\n");
        std::fflush(stdout);
    }
    for (const Case& of : cases) {
        if (of.problem == garnet50) continue;
        for (std::uint64_t seed = 1; seed <= (quick ? 1U : 4U); ++seed) watch_coverage(of, seed, looks);
    }
    for (const auto& [name, audited] :
         {std::pair{"at stops", stops}, std::pair{"at 10, 100, 1e3, 1e4", looks}})
        fmt::print("True losses {}: {} compared, {} above their bound; sets that missed the truth: {}\n",
                   name, audited.checks, audited.violations, audited.missed);
    return stops.violations + looks.violations == 0 ? 0 : 1;
}
