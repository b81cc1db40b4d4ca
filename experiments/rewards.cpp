// Episodes until single rewards are certified [likelihood §8.2]: K at which the mean, and the largest, of 20
// certified losses is at most H/10; how many losses are proved to be exactly 0 at fixed K [likelihood §8.3];
// and how wide the intervals of the plans' values are.
//
//     rewards [--quick]       one seed instead of five, and no run of 1e6 episodes
//
// Median over seeds, which change problem, run and rewards; replanning and certifying at 10 % growth.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace {

using namespace alidade;

constexpr Index rewards_each = 20;

struct Case {
    std::string name, problem;
    double mean, worst;  // K of the study's "likelihood advantage"
};

const std::vector<Case> cases{
    {"garnet 10,3,3,5,5",
     "garnet?states=10&actions=3&features=3&horizon=5&successors=5&concentration=1&seed=", 121, 611},
    {"garnet 20,4,5,5,8",
     "garnet?states=20&actions=4&features=5&horizon=5&successors=8&concentration=1&seed=", 193, 672},
    {"garnet 50,4,5,10,10",
     "garnet?states=50&actions=4&features=5&horizon=10&successors=10&concentration=1&seed=", 233, 893},
    {"inventory", "inventory?seed=", 133, 556},
};

/// In turn dense (uniform), sparse (one entry in twenty, as the audit has it), and being in one state.
Reward make_reward(const Shape& shape, Stream& random, Index number) {
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()), 0.0);
    const State goal = sample_index(random, shape.states);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double u = sample_uniform(random);
        const State state = static_cast<Index>(k) % shape.pairs() / shape.actions;
        values[k] = number % 3 == 0   ? u
                    : number % 3 == 1 ? (u < 0.05 ? 1.0 : 0.0)
                                      : (state == goal ? 1.0 : 0.0);
    }
    return {shape, std::move(values)};
}

/// The certified losses of all rewards, by `method`, for the exact plans on the learned model.
struct Losses {
    double mean = 0, worst = 0;
    int zero = 0;
};

/// Mean widths of the intervals of the plans' values.
struct Widths {
    double by_states = 0;  // every state chooses a member of its own
    double reported = 0;   // and with one member for all states of a step
};

struct Outcome {
    std::map<std::string, std::pair<double, double>> episodes;  // by column: K for the mean and the worst
    std::map<std::int64_t, std::map<std::string, Losses>> at;   // by K and method
    std::map<std::int64_t, Widths> widths;                      // by K
    double below = 0;  // the most by which a true loss exceeded its bound
};

class Run {
public:
    Run(const Case& which, std::uint64_t seed, const std::string& algorithm)
        : problem_(make_builtin("builtin:" + which.problem + std::to_string(seed))),
          truth_(problem_.true_model()),
          system_(truth_, seed),
          explorer_(task_of(problem_), {.algorithm = algorithm, .delta = 0.1, .seed = seed}) {
        Stream random(seed, Purpose::test, 0, 78);
        for (Index k = 0; k < rewards_each; ++k) rewards_.push_back(make_reward(problem_.shape(), random, k));
    }

    Outcome watch(const std::vector<std::string>& methods, const std::vector<std::int64_t>& checkpoints) {
        const double target = 0.1 * static_cast<double>(problem_.shape().horizon);
        const double never = std::numeric_limits<double>::infinity();
        Outcome outcome;
        for (const std::string& method : methods) outcome.episodes[method] = {never, never};
        std::size_t next = 0;
        bool pending = true;
        while (pending || next < checkpoints.size()) {
            const std::int64_t left = next < checkpoints.size() ? checkpoints[next] - done_ : 1'000'000;
            deploy(left);
            const bool checkpoint = next < checkpoints.size() && done_ == checkpoints[next];
            if (!pending && !checkpoint) continue;
            const auto losses = certify(outcome);
            pending = false;
            for (const std::string& method : methods) {
                auto& [mean, worst] = outcome.episodes[method];
                if (losses.at(method).mean <= target) mean = std::min(mean, static_cast<double>(done_));
                if (losses.at(method).worst <= target) worst = std::min(worst, static_cast<double>(done_));
                pending = pending || mean == never || worst == never;
            }
            if (!checkpoint) continue;
            outcome.widths[done_] = measure_widths();
            outcome.at[checkpoints[next++]] = losses;
        }
        return outcome;
    }

private:
    void deploy(std::int64_t most) {
        const Deployment deployment = explorer_.ask();
        Counts counts(problem_.shared_features(), problem_.shape().horizon);
        const std::int64_t episodes = std::min(most, deployment.episodes);
        system_.deploy(*deployment.policy, done_, episodes, counts);
        explorer_.tell(counts);
        done_ += episodes;
    }

    std::map<std::string, Losses> certify(Outcome& outcome) {
        const Knowledge knowledge = explorer_.knowledge();
        const LearnedModel& learned = *knowledge.learned;
        const DeviationTable deviations = DeviationTable::of(learned);
        std::map<std::string, Losses> result;
        for (const Reward& reward : rewards_) {
            const Policy plan = backward_induction(learned.model(), reward).policy;
            const RewardCertificate certificate = certify_reward(learned, deviations, reward, plan);
            const double loss =
                backward_induction(truth_, reward).value - evaluate(truth_, plan, reward).value;
            outcome.below = std::max(outcome.below, loss - certificate.loss_bound);
            for (const auto& [name, bound] : certificate.methods) {
                Losses& losses = result[name];
                losses.mean += bound / static_cast<double>(rewards_each);
                losses.worst = std::max(losses.worst, bound);
                losses.zero += bound <= 0 ? 1 : 0;
            }
        }
        return result;
    }

    Widths measure_widths() {
        const Knowledge knowledge = explorer_.knowledge();
        const LearnedModel& learned = *knowledge.learned;
        const DeviationTable deviations = DeviationTable::of(learned);
        const auto mean = [&](const Matrix& values) {
            const Vector first = values.row(0).transpose();
            return learned.model().start().expect({first.data(), static_cast<std::size_t>(first.size())});
        };
        Widths widths;
        for (const Reward& reward : rewards_) {
            const Policy plan = backward_induction(learned.model(), reward).policy;
            const ValueBounds bounds = value_bounds(learned, reward, plan);
            widths.by_states += (mean(bounds.policy_upper) - mean(bounds.policy_lower)) / rewards_each;
            const Interval value = certify_reward(learned, deviations, reward, plan).value;
            widths.reported += (value.upper - value.lower) / rewards_each;
        }
        return widths;
    }

    Problem problem_;
    MixtureModel truth_;
    CountSplittingDeployer system_;
    Explorer explorer_;
    std::vector<Reward> rewards_;
    std::int64_t done_ = 0;
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

template <class Value>
double median_of(const std::vector<Outcome>& outcomes, Value value) {
    std::vector<double> values;
    for (const Outcome& outcome : outcomes) values.push_back(value(outcome));
    return median(values);
}

std::vector<Outcome> over_seeds(const Case& which, std::uint64_t seeds, const std::string& algorithm,
                                const std::vector<std::string>& methods,
                                const std::vector<std::int64_t>& checkpoints) {
    std::vector<Outcome> outcomes(seeds);
    const unsigned workers = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> team;
    for (unsigned worker = 0; worker < workers; ++worker)
        team.emplace_back([&, worker] {
            for (std::uint64_t k = worker; k < seeds; k += workers)
                outcomes[k] = Run(which, k + 1, algorithm).watch(methods, checkpoints);
        });
    team.clear();
    return outcomes;
}

std::string both(const std::vector<Outcome>& outcomes, const std::string& method) {
    return fmt::format("{:.0f} / {:.0f}",
                       median_of(outcomes, [&](const Outcome& o) { return o.episodes.at(method).first; }),
                       median_of(outcomes, [&](const Outcome& o) { return o.episodes.at(method).second; }));
}

}  // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
    const std::uint64_t seeds = quick ? 1 : 5;
    const std::vector<std::int64_t> checkpoints =
        quick ? std::vector<std::int64_t>{10'000} : std::vector<std::int64_t>{10'000, 1'000'000};
    std::vector<std::vector<Outcome>> all;
    double below = 0;
    fmt::print(
        "K to a certified loss of H/10: mean of 20 rewards / worst of 20; in brackets the study's\n\n");
    fmt::print(
        "| problem | regression plain | likelihood plain | likelihood gap | likelihood advantage | of the "
        "study's |\n");
    fmt::print("|---|---:|---:|---:|---:|---:|\n");
    for (const Case& which : cases) {
        const auto regression = over_seeds(which, seeds, "hoeffding", {"plain"}, {});
        all.push_back(over_seeds(which, seeds, "likelihood", {"plain", "gap", "advantage"}, checkpoints));
        const auto& ours = all.back();
        const double mean =
            median_of(ours, [](const Outcome& o) { return o.episodes.at("advantage").first; });
        const double worst =
            median_of(ours, [](const Outcome& o) { return o.episodes.at("advantage").second; });
        fmt::print("| {} | {} | {} | {} | {} ({:.0f} / {:.0f}) | {:.2f} / {:.2f} |\n", which.name,
                   both(regression, "plain"), both(ours, "plain"), both(ours, "gap"), both(ours, "advantage"),
                   which.mean, which.worst, mean / which.mean, worst / which.worst);
        std::fflush(stdout);
        for (const auto& outcomes : {regression, ours})
            for (const Outcome& outcome : outcomes) below = std::max(below, outcome.below);
    }
    fmt::print(
        "\nMean certified loss of the rewards, median over seeds, and share proved to be exactly 0, mean "
        "over seeds\n\n");
    fmt::print(
        "| problem; K | plain | gap | advantage | 0 by gap | 0 by advantage "
        "|\n|---|---:|---:|---:|---:|---:|\n");
    for (std::size_t k = 0; k < cases.size(); ++k)
        for (const std::int64_t episodes : checkpoints) {
            const auto value = [&](const char* method) {
                return median_of(all[k], [&](const Outcome& o) { return o.at.at(episodes).at(method).mean; });
            };
            const auto zeros = [&](const char* method) {
                double sum = 0;
                for (const Outcome& o : all[k]) sum += o.at.at(episodes).at(method).zero;
                return 100 * sum / static_cast<double>(seeds * rewards_each);
            };
            fmt::print("| {}; {:.0e} | {:.2g} | {:.2g} | {:.2g} | {:.0f} % | {:.0f} % |\n", cases[k].name,
                       static_cast<double>(episodes), value("plain"), value("gap"), value("advantage"),
                       zeros("gap"), zeros("advantage"));
        }
    fmt::print(
        "\nMean width of the intervals of the plans' values, median over seeds\n\n"
        "| problem; K | every state with a member of its own | reported |\n|---|---:|---:|\n");
    for (std::size_t k = 0; k < cases.size(); ++k)
        for (const std::int64_t episodes : checkpoints)
            fmt::print("| {}; {:.0e} | {:.4f} | {:.4f} |\n", cases[k].name, static_cast<double>(episodes),
                       median_of(all[k], [&](const Outcome& o) { return o.widths.at(episodes).by_states; }),
                       median_of(all[k], [&](const Outcome& o) { return o.widths.at(episodes).reported; }));
    fmt::print("\nLargest excess of a true loss over its bound: {:.2g}\n", below);
    return below > 0 ? 1 : 0;
}
