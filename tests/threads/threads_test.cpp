// Everything that takes a number of threads, on models large enough to be split: the same bits for any
// number.
// `./dev test threads` runs these under ThreadSanitizer, which sees what one chunk does to another.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <thread>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/occupancy_bounds.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/robust_plan.hpp"
#include "alidade/confidence/learned_rows.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/formats/layered_view.hpp"
#include "alidade/model/sweep.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run_store.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"

namespace alidade::threads_test {
namespace {

/// 600 pairs: every split of the library takes place.
const char* const wide = "builtin:garnet?states=150&actions=4&features=3&horizon=3&successors=4&seed=5";

struct Explored {
    Snapshot memory;
    Counts counts;

    bool operator==(const Explored&) const = default;
};

Explored explored(const std::string& name, int threads, std::uint64_t seed = 1) {
    const Problem problem = make_builtin(name == "lsvi" ? "builtin:linear-random?states=60" : wide);
    CountSplittingDeployer system(problem.true_system(), seed);
    ExplorerOptions options{.algorithm = name, .seed = seed, .threads = threads};
    // A search is made on one thread; what goes around it is what is asked about.
    if (name == "bernstein") options.confidence = "bernstein?starts=1";
    Exploration exploration(task_of(problem), options);
    exploration.run(system, {.episodes = support::repetitions(300)});
    return {exploration.memory(), exploration.counts()};
}

TEST(Threads, GiveEveryExplorerTheSameBytes) {
    for (const BehaviourEntry& entry : behaviours()) {
        const Explored one = explored(entry.name, 1);
        EXPECT_EQ(explored(entry.name, 2), one) << entry.name;
        EXPECT_EQ(explored(entry.name, 4), one) << entry.name;
    }
}

Knowledge wide_knowledge() {
    return support::knowledge_about(make_builtin(wide).true_model(), 3, 10);
}

TEST(Threads, GiveTheSameWidths) {
    const Knowledge knowledge = wide_knowledge();
    const LearnedMixture& learned = knowledge.mixture();
    const FeatureMap& features = learned.model().features();
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    const auto widths = [&](int threads) {
        WidthTable table(static_cast<Index>(learned.sets().size()), features);
        bracket_widths(features, tangent, learned.sets(), {}, threads, table);
        return std::tuple(table.lower, table.upper, table.witness);
    };
    EXPECT_EQ(widths(2), widths(1));
}

// A pair of a planner's sweep takes so little that it takes 2000 states to be worth a second thread.
TEST(Threads, GiveTheSamePlansValuesAndOccupancies) {
    const MixtureModel model =
        make_builtin("builtin:garnet?states=2000&actions=3&features=2&horizon=4&successors=5&seed=5")
            .true_model();
    Stream random = support::test_stream(4, 4);
    const Reward reward = support::random_reward(random, model.shape());
    const OptimalPlan plan = backward_induction(model, reward);
    const Policy uniform = Policy::uniform(model.shape());
    for (const int threads : {2, 4}) {
        const OptimalPlan shared = backward_induction(model, reward, threads);
        EXPECT_EQ(shared.policy, plan.policy);
        EXPECT_EQ(shared.values, plan.values);
        EXPECT_EQ(shared.value, plan.value);
        for (const Policy& policy : {plan.policy, uniform}) {
            EXPECT_EQ(evaluate(model, policy, reward, threads).values,
                      evaluate(model, policy, reward).values);
            EXPECT_EQ(occupancy(model, policy, threads), occupancy(model, policy));
        }
    }
}

// Every recursion, those with scratch memory of their own and those that others cut.
TEST(Threads, GiveTheSameRewardFreeCertificates) {
    const Knowledge knowledge = wide_knowledge();
    const LearnedModel& learned = *knowledge.learned;
    const DeviationTable deviations = DeviationTable::of(learned);
    const auto candidates = [&](int threads) {
        const auto certificate = certify_reward_free(learned, deviations, {.threads = threads});
        return certificate.candidates;
    };
    const auto one = candidates(1);
    EXPECT_EQ(one.size(), 8U);
    EXPECT_EQ(candidates(2), one);
    EXPECT_EQ(candidates(4), one);
    const ErrorRecursion coupling = coupling_recursion(learned, deviations);
    const ErrorRecursion shared = coupling_recursion(learned, deviations, {.threads = 4});
    EXPECT_EQ(shared.values, coupling.values);
    EXPECT_EQ(shared.actions, coupling.actions);
}

TEST(Threads, GiveTheSameValueBounds) {
    const Knowledge knowledge = wide_knowledge();
    Stream random = support::test_stream(8, 9);
    const Reward reward = support::random_reward(random, knowledge.learned->shape());
    const Policy policy = backward_induction(knowledge.learned->model(), reward).policy;
    const ValueBounds one = value_bounds(*knowledge.learned, reward, policy);
    for (const int threads : {2, 4}) {
        const ValueBounds shared = value_bounds(*knowledge.learned, reward, policy, threads);
        EXPECT_EQ(shared.policy_lower, one.policy_lower);
        EXPECT_EQ(shared.policy_upper, one.policy_upper);
        EXPECT_EQ(shared.optimal_upper, one.optimal_upper);
    }
}

TEST(Threads, GiveTheSameRewardCertificates) {
    const Knowledge knowledge = wide_knowledge();
    Stream random = support::test_stream(8, 8);
    std::vector<RewardQuestion> questions;
    for (int i = 0; i < 5; ++i) {
        const Reward reward = support::random_reward(random, knowledge.mixture().shape());
        questions.push_back({reward, backward_induction(knowledge.mixture().model(), reward).policy});
    }
    const auto one = certify_rewards(knowledge, questions, 1), two = certify_rewards(knowledge, questions, 2);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        EXPECT_EQ(one[i].methods, two[i].methods);
        EXPECT_EQ(one[i].value.lower, two[i].value.lower);
        EXPECT_EQ(one[i].value.upper, two[i].value.upper);
    }
}

// The states of one question are shared, instead of the questions.
TEST(Threads, GiveTheSameCertificateOfOneReward) {
    const Knowledge knowledge = wide_knowledge();
    const LearnedModel& learned = *knowledge.learned;
    Stream random = support::test_stream(8, 10);
    const Reward reward = support::random_reward(random, learned.shape());
    const Policy best = backward_induction(learned.model(), reward).policy;
    for (const Policy& policy : {best, Policy::uniform(learned.shape())}) {
        const RewardCertificate one = certify_reward(knowledge, reward, policy);
        for (const int threads : {2, 4}) {
            const RewardCertificate shared = certify_reward(knowledge, reward, policy, threads);
            EXPECT_EQ(shared.methods, one.methods);
            EXPECT_EQ(shared.value.lower, one.value.lower);
            EXPECT_EQ(shared.value.upper, one.value.upper);
            EXPECT_EQ(shared.optimal_upper, one.optimal_upper);
            EXPECT_EQ(detail::occupancy_bounds(knowledge.mixture(), policy, std::nullopt, threads),
                      detail::occupancy_bounds(knowledge.mixture(), policy));
        }
    }
}

TEST(Threads, GiveTheSameRobustPlans) {
    const Knowledge knowledge = wide_knowledge();
    Stream random = support::test_stream(8, 11);
    const Reward reward = support::random_reward(random, knowledge.learned->shape());
    const RobustPlan one = robust_plan(*knowledge.learned, reward);
    const RobustPlan shared = robust_plan(*knowledge.learned, reward, WorstCase::closed_form, 4);
    EXPECT_EQ(shared.policy, one.policy);
    EXPECT_EQ(shared.guaranteed, one.guaranteed);
    const PriceOfRobustness price = price_of_robustness(*knowledge.learned, reward, one.policy, 4);
    EXPECT_EQ(price.guaranteed, price_of_robustness(*knowledge.learned, reward, one.policy).guaranteed);
    EXPECT_EQ(price.model_value, one.price.model_value);
}

TEST(Threads, GiveTheSameLossOfRows) {
    const MixtureModel model = make_builtin(wide).true_model();
    const std::vector<double> radii(at(model.shape().learned_steps() * model.shape().pairs()), 0.1);
    const LearnedRows learned(model, false, radii, 0.1);
    Stream random = support::test_stream(8, 12);
    const Reward reward = support::random_reward(random, model.shape());
    const Policy policy = backward_induction(model, reward).policy;
    const RewardCertificate one = certify_reward(learned, reward, policy);
    for (const int threads : {2, 4})
        EXPECT_EQ(certify_reward(learned, reward, policy, threads).methods, one.methods);
}

TEST(Threads, GiveTheSameAudit) {
    const Knowledge knowledge = wide_knowledge();
    const MixtureModel truth = support::adversarial_truth(knowledge, 9);
    const auto found = [&](int threads) {
        const AuditResult result =
            audit(knowledge, truth, {.rewards = 12, .climb_steps = 4, .threads = threads});
        return std::tuple(result.max_gap, result.mean_gap, result.mean_bound, result.max_bound);
    };
    EXPECT_EQ(found(2), found(1));
}

TEST(Threads, GiveTheSameIntervals) {
    const Knowledge knowledge = wide_knowledge();
    const auto rows = [&](int threads) {
        return collect(
            LayeredView(knowledge.mixture(),
                        {.view = BranchKind::interval, .exact_intervals = false, .threads = threads}));
    };
    EXPECT_EQ(rows(2), rows(1));
}

/// Seen from outside, or ThreadSanitizer would leave out what nobody else can reach.
[[gnu::noinline]] void count_up(std::span<double> numbers) {
    std::iota(numbers.begin(), numbers.end(), 0.0);
}

/// Uses the part of the stack that the calls before it have left.
[[gnu::noinline]] double scribble() {
    std::array<double, 4096> numbers;
    count_up(numbers);
    return numbers.back();
}

/// A sweep in which the caller waits for a worker to help it, and the worker works for longer than it,
/// `rounds` of a few numbers.
void let_a_worker_end_last(int rounds) {
    using Clock = std::chrono::steady_clock;
    const std::thread::id caller = std::this_thread::get_id();
    const Clock::time_point patience = Clock::now() + std::chrono::milliseconds(20);
    // Relaxed, so that it puts nothing into an order.
    std::atomic<bool> helped = false;
    detail::Sweep({64, 1, 1}, 2, 1)
        .forwards(1, detail::no_scratch, [&](detail::NoScratch, Step, State first, State last) {
            if (std::this_thread::get_id() == caller) {
                while (!helped.load(std::memory_order_relaxed) && Clock::now() < patience) {
                }
                return;
            }
            helped.store(true, std::memory_order_relaxed);
            std::array<double, 64> numbers{};
            for (int i = 0; i < rounds; ++i)
                for (State s = first; s < last; ++s) numbers[at(s)] += static_cast<double>(s + i);
            volatile const double* seen = numbers.data();
            EXPECT_GE(seen[at(first)], 0.0);
        });
}

/// The same somewhat further down the stack.
[[gnu::noinline]] double let_a_worker_end_last_below(int rounds) {
    std::array<double, 2048> numbers;
    count_up(numbers);
    let_a_worker_end_last(rounds);
    return numbers.back();
}

/// Uses the caller's stack from within a chunk of its own.
void scribble_in_a_chunk() {
    const std::thread::id caller = std::this_thread::get_id();
    detail::Sweep({64, 1, 1}, 2, 1)
        .forwards(1, detail::no_scratch, [&](detail::NoScratch, Step, State, State) {
            if (std::this_thread::get_id() != caller) return;
            EXPECT_EQ(scribble(), 4095.0);
        });
}

// The scheduler's records of a loop lie on the caller's stack, and a worker reads them once more after its
// last chunk. ThreadSanitizer would not see that the caller waits for that: when it has forgotten who read,
// because the worker has done much for another thread since, it would call the caller's next use of its stack
// a race, be it after the loop or in a chunk of the next.
TEST(Threads, LeaveTheCallersStackAlone) {
    std::atomic<bool> done = false;
    std::thread beside([&] {
        while (!done.load(std::memory_order_relaxed)) let_a_worker_end_last(20'000);
    });
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(let_a_worker_end_last_below(5000), 2047.0);
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        EXPECT_EQ(scribble(), 4095.0);
        scribble_in_a_chunk();
    }
    done = true;
    beside.join();
}

// Nothing global: two runs in one process do not meet.
TEST(Threads, RunTwoExplorationsAtOnce) {
    const Explored one = explored("likelihood", 2, 1), two = explored("likelihood", 2, 2);
    Explored beside_two = one, beside_one = two;
    std::thread first([&] { beside_two = explored("likelihood", 2, 1); });
    std::thread second([&] { beside_one = explored("likelihood", 2, 2); });
    first.join();
    second.join();
    EXPECT_EQ(beside_two, one);
    EXPECT_EQ(beside_one, two);
}

TEST(Threads, ReadARunThatAnotherOneWrites) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("alidade-threads-" + std::to_string(::getpid()));
    const Problem problem = make_builtin("builtin:chain");
    detail::RunStore writer = detail::RunStore::create(folder, problem, "builtin:chain", {});
    CountSplittingDeployer system(problem.true_model(), 1);
    Exploration exploration(task_of(problem), {.algorithm = "likelihood"});
    exploration.run(system, {.episodes = 1});
    writer.save({exploration.memory(), exploration.counts()});
    std::thread reader([&] {
        std::int64_t last = 0;
        for (int i = 0; i < 20; ++i) {
            const auto seen = detail::RunStore::open(folder, Access::read).checkpoint();
            ASSERT_TRUE(seen.has_value());
            EXPECT_GE(seen->counts.episodes(), last);
            last = seen->counts.episodes();
        }
    });
    for (std::int64_t episodes = 2; episodes <= 40; ++episodes) {
        exploration.run(system, {.episodes = episodes});
        writer.save({exploration.memory(), exploration.counts()});
    }
    reader.join();
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace alidade::threads_test
