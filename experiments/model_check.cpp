// What the model check sees: the evidence against the mixture, by today's alternatives and by Krichevsky and
// Trofimov's predictor alone, on right models and on truths that are a little off; what the lower bound of
// the misspecification reaches; and how often right models are called wrong.
//
//     model_check [--seeds 5] [--only queue]  the table of docs/algorithms/model-check.md; --quick: one seed
//     model_check --alarms [--runs 1000]      right models, four looks each
//     model_check --audit [--runs 100]        bounds of truths that are off, with and without allowing for it

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/misspecification_bound.hpp"
#include "alidade/certify/model_fit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace {

using namespace alidade;

struct Cell {
    const char* label;
    const char* uri;
    const char* law;  ///< of the foreign part; empty: none
    double share;
    std::int64_t episodes;
};

constexpr const char* garnet = "builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8";
constexpr const char* inventory = "builtin:inventory?horizon=7&start=0";
constexpr const char* call_centre = "builtin:queue?lines=199&agents=4,8,12&start=60&horizon=6";
constexpr const char* queue = "the queue of docs/wrong-models.md";

const std::vector<Cell> cells{
    {"garnet", garnet, "", 0, 1'000},
    {"garnet", garnet, "", 0, 10'000},
    {"garnet", garnet, "", 0, 100'000},
    {"garnet", garnet, "random", 0.01, 100'000},
    {"garnet", garnet, "random", 0.02, 100'000},
    {"garnet", garnet, "random", 0.05, 10'000},
    {"garnet", garnet, "random", 0.05, 100'000},
    {"garnet", garnet, "uniform", 0.05, 100'000},
    {"garnet", garnet, "shared", 0.01, 100'000},
    {"garnet", garnet, "shared", 0.05, 10'000},
    {"inventory", inventory, "", 0, 1'000},
    {"inventory", inventory, "", 0, 10'000},
    {"inventory", inventory, "", 0, 100'000},
    {"inventory", inventory, "random", 0.02, 100'000},
    {"inventory", inventory, "random", 0.05, 10'000},
    {"inventory", inventory, "random", 0.05, 100'000},
    {"inventory", inventory, "lowest", 0.01, 10'000},
    {"inventory", inventory, "lowest", 0.02, 1'000},
    {"inventory", inventory, "lowest", 0.05, 1'000},
    {"queue", queue, "", 0, 2'000},
    {"queue", queue, "", 0, 10'000},
    {"queue", queue, "", 0, 100'000},
    {"queue", queue, "random", 0.02, 10'000},
    {"queue", queue, "random", 0.05, 2'000},
    {"queue", queue, "random", 0.05, 10'000},
    {"queue", queue, "lowest", 0.02, 100'000},
    {"queue", queue, "lowest", 0.05, 2'000},
    {"queue", queue, "lowest", 0.05, 10'000},
    {"call centre", call_centre, "", 0, 10'000},
    {"call centre", call_centre, "random", 0.02, 10'000},
};

std::string with(const std::string& uri, const std::string& more) {
    return uri + (uri.find('?') == std::string::npos ? "?" : "&") + more;
}

/// 200 customers fit; three crews serve 4, 7 or 10 of them a step, and up to 30 come, by one of four laws.
Problem queue_problem(std::uint64_t seed) {
    constexpr Index states = 200, most = 30;
    const std::vector<Index> crews{4, 7, 10};
    std::vector<std::vector<double>> laws(4);
    for (Index k = 0; k <= most; ++k) {
        const auto x = static_cast<double>(k);
        laws[0].push_back(std::exp(x * std::log(5.0) - std::lgamma(x + 1)));
        laws[1].push_back(std::exp(x * std::log(10.0) - std::lgamma(x + 1)));
        laws[2].push_back(std::pow(0.85, x));
        laws[3].push_back(std::exp(-(x - 20) * (x - 20) / 18) + 0.6 * std::exp(-(x - 3) * (x - 3) / 4));
    }
    std::vector<BaseKernel> kernels;
    for (std::vector<double>& law : laws) {
        double sum = 0;
        for (const double p : law) sum += p;
        BaseKernel kernel{.name = "", .rows = states * 3, .columns = states, .offsets = {0}};
        for (State s = 0; s < states; ++s)
            for (const Index crew : crews) {
                for (Index k = 0; k <= most; ++k) {
                    kernel.targets.push_back(std::min(states - 1, std::max<Index>(0, s - crew) + k));
                    kernel.probabilities.push_back(law[static_cast<std::size_t>(k)] / sum);
                }
                kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
            }
        kernels.push_back(std::move(kernel));
    }
    ProblemDescription parts;
    parts.name = "queue";
    parts.features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(states, 3, kernels));
    parts.horizon = 6;
    parts.start = StartLaw(60);
    parts.truth = Matrix(parts.horizon, 4);
    for (Step h = 0; h < parts.horizon; ++h) {
        Stream random(seed, Purpose::test, static_cast<std::uint64_t>(h), 5);
        const std::vector<double> row = sample_dirichlet(random, 4, 1.0);
        for (Index i = 0; i < 4; ++i) (*parts.truth)(h, i) = row[static_cast<std::size_t>(i)];
    }
    return Problem(std::move(parts));
}

Problem problem_of(const Cell& cell, int seed) {
    const Problem plain = cell.uri == queue ? queue_problem(static_cast<std::uint64_t>(seed))
                                            : make_builtin(with(cell.uri, fmt::format("seed={}", seed)));
    if (cell.share == 0) return plain;
    ProblemDescription parts = plain.description();
    parts.foreign = foreign_part(plain.successors(), cell.share, parse_foreign_law(cell.law),
                                 static_cast<std::uint64_t>(seed));
    return Problem(std::move(parts));
}

Counts data_of(const Problem& problem, std::int64_t episodes, std::uint64_t seed) {
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_system(), seed);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return counts;
}

/// Of the processor: others may be at work beside it.
double seconds_since(std::clock_t start) {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void table(int seeds, std::string_view only) {
    fmt::print(
        "| problem | foreign part | episodes | kt | ln E | best | zeta_low | off by | unseen | ms a step |\n"
        "|---|---|---:|---|---|---|---|---|---|---|\n");
    for (const Cell& cell : cells) {
        if (!only.empty() && only != cell.label) continue;
        std::vector<std::string> kt, evidence, best, low;
        double off = 0, unseen = 0, slowest = 0;
        for (int seed = 1; seed <= seeds; ++seed) {
            const Problem problem = problem_of(cell, seed);
            const Counts counts = data_of(problem, cell.episodes, static_cast<std::uint64_t>(seed));
            const std::clock_t start = std::clock();
            const ModelFit fit = check_model(problem.features(), counts, false);
            slowest = std::max(
                slowest, 1e3 * seconds_since(start) / static_cast<double>(problem.shape().learned_steps()));
            kt.push_back(fmt::format("{:.0f}", fit.kt));
            evidence.push_back(fmt::format("{:.1f}", fit.log_evidence));
            best.push_back(fmt::format("{} {}", fit.best.front().alternative, fit.best.front().parameter));
            low.push_back(
                fmt::format("{:.4f}", misspecification_lower(problem.features(), counts, false).lower));
            off = std::max(off, problem.true_misspecification());
            unseen = fit.unseen;
        }
        fmt::print("| {} | {} | {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {:.1f} |\n", cell.label,
                   cell.share > 0 ? fmt::format("{} % {}", 100 * cell.share, cell.law) : "none",
                   cell.episodes, fmt::join(kt, ", "), fmt::join(evidence, ", "), best.front(),
                   fmt::join(low, ", "), off, unseen, slowest);
        std::fflush(stdout);
    }
}

/// A right model: weights inside, on an edge or at a vertex, some rows on which the base models agree.
Problem right_model(int run) {
    const Problem drawn = make_builtin(with(
        run % 2 == 0 ? "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&concentration=1"
                     : "builtin:needle?states=6&actions=2&features=3&horizon=4&successors=4&concentration=1&"
                       "fraction=0.5",
        fmt::format("seed={}", run)));
    ProblemDescription parts = drawn.description();
    parts.homogeneous = run % 5 == 0;
    if (parts.homogeneous) parts.truth = Matrix(parts.truth->topRows(1));
    for (Index h = 0; h < parts.truth->rows(); ++h) {
        auto weights = parts.truth->row(h);
        if (run % 3 == 1) weights << 1, 0, 0;
        if (run % 3 == 2) {
            weights[2] = 0;
            weights /= weights.sum();
        }
    }
    return Problem(std::move(parts));
}

void alarms(int runs) {
    std::vector<double> largest(static_cast<std::size_t>(runs), -1e300);
    std::vector<std::jthread> team;
    const int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    for (int worker = 0; worker < workers; ++worker)
        team.emplace_back([&, worker] {
            for (int run = worker; run < runs; run += workers) {
                const Problem problem = right_model(run);
                CountSplittingDeployer system(problem.true_system(), static_cast<std::uint64_t>(run));
                Counts counts(problem.shared_successors(), problem.shape().horizon);
                for (const std::int64_t episodes : {5, 50, 500, 5000}) {
                    system.deploy(Policy::uniform(problem.shape()), counts.episodes(),
                                  episodes - counts.episodes(), counts);
                    double& most = largest[static_cast<std::size_t>(run)];
                    most = std::max(
                        most, check_model(problem.features(), counts, problem.homogeneous()).log_evidence);
                }
            }
        });
    team.clear();
    for (const double level : {0.01, 0.1}) {
        int found = 0;
        for (const double evidence : largest) found += evidence >= -std::log(level) ? 1 : 0;
        fmt::print("level {}: {} of {} right models called wrong at one of four looks\n", level, found, runs);
    }
    fmt::print("largest ln E: {:.2f}\n", *std::ranges::max_element(largest));
}

struct Audited {
    Index checks = 0, violations = 0;
    int outside = 0, contradicted = 0;
};

/// One exploration of a truth that is off by a tenth, under an assumption, and its audit.
void audit_one(int run, double assumed, const std::string& algorithm, Audited& all) {
    const std::vector<std::string> families{
        "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4", "builtin:inventory?capacity=6",
        "builtin:riverswim?variant=halves", "builtin:queue?lines=8"};
    const std::vector<std::string> laws{"random", "uniform", "shared", "lowest"};
    const Problem made = make_builtin(with(
        families[static_cast<std::size_t>(run) % 4],
        fmt::format("seed={}&foreign=0.1&foreign_law={}", run, laws[static_cast<std::size_t>(run / 4) % 4])));
    ProblemDescription parts = made.description();
    parts.misspecification = assumed;
    const Problem problem(std::move(parts));
    CountSplittingDeployer system(problem.true_system(), static_cast<std::uint64_t>(run));
    Exploration exploration(task_of(problem), {.algorithm = algorithm});
    try {
        exploration.run(system, {.episodes = 30'000});
        const AuditResult result = audit(exploration.best(), problem, {.rewards = 600, .climb_steps = 60});
        all.checks += result.rewards;
        all.violations += result.violations;
        all.outside += result.truth_in_confidence_set ? 0 : 1;
    } catch (const ModelContradiction&) {
        ++all.contradicted;
    }
}

void audits(int runs) {
    for (const std::string algorithm : {"likelihood", "hoeffding"})
        for (const double assumed : {0.1, 0.0}) {
            Audited all;
            for (int run = 0; run < runs; ++run) audit_one(run, assumed, algorithm, all);
            fmt::print(
                "{}, truths off by up to 0.1, {} assumed: {} violations in {} checks of {} runs ({} with the "
                "truth outside, {} contradicted)\n",
                algorithm, assumed, all.violations, all.checks, runs, all.outside, all.contradicted);
            std::fflush(stdout);
        }
}

}  // namespace

int main(int count, char** words) {
    const std::vector<std::string_view> given(words + 1, words + count);
    const auto number = [&](std::string_view flag, int otherwise) {
        for (std::size_t i = 0; i + 1 < given.size(); ++i)
            if (given[i] == flag) return std::stoi(std::string(given[i + 1]));
        return otherwise;
    };
    const auto text = [&](std::string_view flag) {
        for (std::size_t i = 0; i + 1 < given.size(); ++i)
            if (given[i] == flag) return given[i + 1];
        return std::string_view();
    };
    const bool quick = std::ranges::find(given, "--quick") != given.end();
    if (std::ranges::find(given, "--alarms") != given.end())
        alarms(number("--runs", quick ? 100 : 1000));
    else if (std::ranges::find(given, "--audit") != given.end())
        audits(number("--runs", quick ? 4 : 100));
    else
        table(number("--seeds", quick ? 1 : 5), text("--only"));
    return 0;
}
