// What it costs to allow for a truth that is off its mixture, by sets of bets and by regression
// [docs/algorithms/misspecification.md]: how wide a set leaves the expectation of a random function, what
// becomes of certificates, and how long it takes.
//
//     misspecification [--quick]      up to 1e4 transitions instead of 1e6

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/sensitivity.hpp"
#include "alidade/confidence/bets.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace {

using namespace alidade;

struct Named {
    std::string name, uri;
};
const std::vector<Named> problems{
    {"garnet 10,3,3,5,5", "builtin:garnet?states=10&actions=3&features=3&horizon=5&successors=5&seed=1"},
    {"garnet 20,4,5,5,8", "builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8&seed=1"},
    {"inventory", "builtin:inventory"}};
const std::vector<double> zetas{.001, .003, .01, .03, .05};

/// Of the processor, on one thread: others may be at work beside it.
double seconds_of(const auto& work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Expectations of random 0/1 functions at random pairs, as directions of weights.
std::vector<std::vector<double>> directions_of(const FeatureMap& features) {
    Stream random(1, Purpose::test, 0, 31);
    std::vector<std::vector<double>> directions;
    for (int k = 0; k < 10; ++k) {
        const Index pair = sample_index(random, features.pairs());
        std::vector<double> direction(at(features.features()), 0.0);
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
            if (sample_index(random, 2) == 0)
                for (std::size_t i = 0; i < direction.size(); ++i) direction[i] += features.phi(e)[i];
        directions.push_back(std::move(direction));
    }
    return directions;
}

double half_width(const ConfidenceSet& set, const std::vector<std::vector<double>>& directions) {
    double sum = 0;
    for (const auto& direction : directions) {
        const Interval range = set.range(direction);
        sum += 0.5 * (range.upper - range.lower);
    }
    return sum / static_cast<double>(directions.size());
}

/// One step of the problem, uniform pairs; the regressions learn in batches of a tenth.
void tabulate_widths(const Named& named, std::int64_t most) {
    const Problem problem = make_builtin(named.uri);
    Task task{problem.shared_features(), 2, StartLaw(0)};
    const FeatureMap& features = *task.features;
    const Vector weights = problem.truth()->row(0).transpose();
    const auto directions = directions_of(features);
    Stream random(1, Purpose::test, 0, 32);
    Counts all(task.features, 2);
    std::vector<Explorer> regressions;
    for (const double zeta : zetas) {
        task.misspecification = zeta;
        regressions.emplace_back(
            task, ExplorerOptions{.algorithm = "uniform", .confidence = "regression", .threads = 1});
    }
    std::int64_t next_row = 100;
    while (all.transitions() < most) {
        Counts batch(task.features, 2);
        const std::int64_t wanted =
            std::min(next_row - all.transitions(), std::max<std::int64_t>(1, all.transitions() / 10));
        std::vector<std::int64_t> visits(at(features.pairs()));
        sample_multinomial(random, wanted, std::vector<double>(visits.size(), 1.0), visits);
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            std::vector<double> law;
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
                law.push_back(weights.dot(Eigen::Map<const Vector>(features.phi(e).data(), weights.size())));
            std::vector<std::int64_t> split(law.size());
            sample_multinomial(random, visits[at(pair)], law, split);
            for (std::size_t j = 0; j < split.size(); ++j)
                batch.add(0, features.first_entry(pair) + static_cast<Index>(j), split[j]);
        }
        batch.add_episodes(wanted);
        for (Explorer& regression : regressions) {
            regression.ask();  // what is regressed on is fixed before the data
            regression.tell(batch);
        }
        all += batch;
        if (all.transitions() < next_row) continue;
        next_row *= 10;
        const auto set_of = [&](double zeta) {
            task.misspecification = zeta;
            return learn(task, all).mixture().sets().front();
        };
        fmt::print("| {} | {:.0e} | {:.4f} |", named.name, static_cast<double>(all.transitions()),
                   half_width(set_of(0), directions));
        for (std::size_t k = 0; k < zetas.size(); ++k) {
            const ConfidenceSet set = set_of(zetas[k]);
            const double bets = half_width(set, directions),
                         regression =
                             half_width(regressions[k].knowledge().mixture().sets().front(), directions);
            fmt::print(" {:.4f} / {:.4f} ({:.2f}), {} |", bets, regression, bets / regression,
                       set.vertices()->size());
        }
        const BetDesign design(features);
        const BetTable table = bet_tables(features, design, all, false).front();
        const double took = seconds_of([&] {
            VertexSet::of(bet_half_spaces(bet_tables(features, design, all, false).front(), 0.01,
                                          bet_allowance(1, table.bets(), 0.1), weights));
        });
        fmt::print(" {:.1f} ms |\n", 1e3 * took);
        std::fflush(stdout);
    }
}

struct Certified {
    double reward_free = 0, plain = 0, advantage = 0;
};

Certified certified(const Problem& problem, const std::string& algorithm, const std::string& confidence,
                    double zeta, std::int64_t episodes) {
    Task task = task_of(problem);
    task.misspecification = zeta;
    Exploration exploration(task, {.algorithm = algorithm, .confidence = confidence, .threads = 1});
    CountSplittingDeployer system(problem.true_system(), 1);
    exploration.run(system, {.episodes = episodes});
    const Knowledge& knowledge = exploration.best();
    Certified found{knowledge.certificate.bound};
    constexpr int rewards = 10;
    for (int k = 0; k < rewards; ++k) {
        const Reward reward =
            make_reward(problem, fmt::format("{}?seed={}", k % 2 == 0 ? "dense" : "sparse", k));
        const Policy policy = backward_induction(knowledge.learned->model(), reward).policy;
        for (const auto& [name, bound] : certify_reward(knowledge, reward, policy, 1).methods) {
            if (name == "plain") found.plain += bound / rewards;
            if (name == "advantage") found.advantage += bound / rewards;
        }
    }
    return found;
}

void tabulate_certificates(const Named& named, const std::vector<std::int64_t>& sizes) {
    const Problem problem = make_builtin(named.uri);
    for (const std::int64_t episodes : sizes)
        for (const double zeta : {0.0, 0.003, 0.01, 0.05}) {
            const Certified bets = certified(problem, "likelihood?bonus=none", "", zeta, episodes),
                            regression = certified(problem, "uniform", "regression", zeta, episodes);
            fmt::print("| {} | {:.0e} | {} | {:.4f} / {:.4f} | {:.4f} / {:.4f} | {:.4f} / {:.4f} |\n",
                       named.name, static_cast<double>(episodes), zeta, bets.reward_free,
                       regression.reward_free, bets.plain, regression.plain, bets.advantage,
                       regression.advantage);
            std::fflush(stdout);
        }
}

void time_curve(const Named& named) {
    const Problem problem = make_builtin(named.uri);
    const Task task = task_of(problem);
    Exploration exploration(task, {.algorithm = "likelihood", .threads = 1});
    CountSplittingDeployer system(problem.true_system(), 1);
    exploration.run(system, {.episodes = 10'000});
    const Knowledge& knowledge = exploration.best();
    const Reward reward = make_reward(problem, "dense?seed=1");
    const RewardQuestion question{reward, backward_induction(knowledge.learned->model(), reward).policy};
    const Sensitivity sensitivity(task, exploration.counts(), knowledge.mixture(), {.threads = 1});
    const Sensitivity of_plan(task, exploration.counts(), knowledge.mixture(),
                              {.threads = 1, .reward_free = false});
    fmt::print("| {} | {:.3f} s | {:.3f} s | {:.3f} s |\n", named.name,
               seconds_of([&] { sensitivity.curve(usual_misspecifications()); }),
               seconds_of([&] { of_plan.curve(usual_misspecifications(), &question); }),
               seconds_of([&] { of_plan.breakdown(0.1, &question); }));
}

}  // namespace

int main(int argc, char** argv) {
    const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
    fmt::print(
        "Mean half-width of ten functions: bets / regression (ratio), vertices; likelihood, zeta 0\n\n"
        "| problem | n | lik. |");
    for (const double zeta : zetas) fmt::print(" {} |", zeta);
    fmt::print(" one set |\n|---|---|---|---|---|---|---|---|---|\n");
    for (const Named& named : problems) tabulate_widths(named, quick ? 10'000 : 1'000'000);
    fmt::print(
        "\nUniform actions: likelihood or bets / regression; means of ten rewards\n\n"
        "| problem | episodes | zeta | reward-free | plain | advantage |\n|---|---|---|---|---|---|\n");
    for (const Named& named : problems)
        tabulate_certificates(named, quick ? std::vector<std::int64_t>{1000}
                                           : std::vector<std::int64_t>{1000, 10'000, 100'000});
    fmt::print(
        "\nSensitivity, eight points, 1e4 episodes, one thread\n\n"
        "| problem | reward-free | one plan | breakdown |\n|---|---|---|---|\n");
    for (const Named& named : problems) time_curve(named);
}
