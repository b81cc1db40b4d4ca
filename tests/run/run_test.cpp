#include "alidade/run/run.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run_store.hpp"
#include "alidade/run/sqlite.hpp"
#include "support/files.hpp"

namespace alidade::testing::run {
namespace {

constexpr const char* garnet = "builtin:garnet?states=6&actions=3&features=3&horizon=4&successors=4&seed=5";

Run created(const TemporaryFolder& folder, RunOptions options = {}) {
    return alidade::Run::create(folder / "run", make_builtin(garnet), garnet, std::move(options));
}

RunOptions likelihood_options() {
    RunOptions options;
    options.algorithm = "likelihood?bonus=sqrt";
    options.confidence = "";
    return options;
}

TEST(Run, SpellsWhatWasAskedForInOneWay) {
    const TemporaryFolder folder;
    const alidade::Run made = created(folder, likelihood_options());
    EXPECT_EQ(made.options().algorithm, "likelihood");
    EXPECT_EQ(made.options().confidence, "likelihood?radius=centred");
    RunOptions unknown;
    unknown.algorithm = "luck";
    EXPECT_THROW(alidade::Run::create(folder / "other", make_builtin(garnet), garnet, unknown),
                 InvalidArgument);
    EXPECT_FALSE(detail::RunStore::exists(folder / "other"));
}

TEST(Run, GoesOnWhereItStoppedAndIsReadBesideItsWriter) {
    const TemporaryFolder folder;
    EXPECT_FALSE(created(folder).load());
    std::int64_t resumed = 0;
    const RunWatch watch{.resumed = [&](std::int64_t episodes) { resumed = episodes; }};
    {
        alidade::Run writer = alidade::Run::open(folder / "run");
        EXPECT_EQ(writer.explore({.episodes = 300}, watch).stopped, Stopped::budget);
        EXPECT_EQ(resumed, 0);
    }
    alidade::Run writer = alidade::Run::open(folder / "run");
    const ExploredRun explored = writer.explore({.episodes = 900}, watch);
    EXPECT_EQ(resumed, 300);
    EXPECT_EQ(explored.counts.episodes(), 900);
    EXPECT_EQ(explored.trace.back().episodes <= 900, true);
    const auto loaded = alidade::Run::open(folder / "run", Access::read).load();
    ASSERT_TRUE(loaded && loaded->result);
    EXPECT_EQ(loaded->knowledge.certificate.candidates, explored.knowledge.certificate.candidates);
    EXPECT_EQ(loaded->result->episodes, 900);
}

// Whoever is told that everything is stored may kill the process: what a reader sees then is all there is.
TEST(Run, SaysWhenNothingWouldBeLost) {
    const TemporaryFolder folder;
    alidade::Run writer = created(folder);
    std::int64_t told = 0, checks = 0;
    RunWatch watch;
    watch.observe = [&](const Progress& progress) { told = progress.episodes; };
    watch.stored = [&](bool all) {
        if (!all) return;
        ++checks;
        const auto checkpoint = alidade::Run::open(folder / "run", Access::read).checkpoint();
        ASSERT_TRUE(checkpoint);
        EXPECT_EQ(checkpoint->counts.episodes(), told);
    };
    writer.explore({.episodes = 500}, watch);
    EXPECT_GE(checks, 2);
}

TEST(Run, StopsWhenToldToAndStoresWhatItHas) {
    const TemporaryFolder folder;
    alidade::Run writer = created(folder);
    int batches = 0;
    const ExploredRun stopped =
        writer.explore({.episodes = 100'000}, {.interrupted = [&] { return ++batches > 10; }});
    EXPECT_EQ(stopped.stopped, Stopped::interrupted);
    EXPECT_EQ(writer.checkpoint()->counts.episodes(), stopped.counts.episodes());
    EXPECT_EQ(writer.result()->stopped, "interrupted");
}

Counts some_counts(const Problem& problem, std::int64_t episodes) {
    Counts counts(problem.shared_features(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_model(), 3);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return counts;
}

TEST(Run, LearnsFromDataOfAnybody) {
    const TemporaryFolder folder;
    const Problem problem = make_builtin(garnet);
    const Counts counts = some_counts(problem, 400);
    const LearnedRun learned = alidade::Run::learn(folder / "run", problem, garnet, 0.05, counts);
    EXPECT_EQ(learned.knowledge.episodes, 400);
    EXPECT_EQ(learned.run.options().delta, 0.05);
    EXPECT_EQ(learned.run.result()->stopped, stopped_at_logs);
    const auto loaded = learned.run.load();
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->knowledge.certificate.candidates, learned.knowledge.certificate.candidates);
    EXPECT_EQ(learn(task_of(problem), counts, 0.05).certificate.candidates,
              learned.knowledge.certificate.candidates);
    // What cannot be learned from replaces nothing.
    const Counts foreign(make_builtin("builtin:chain").shared_features(), 4);
    EXPECT_THROW(alidade::Run::learn(folder / "run", problem, garnet, 0.1, foreign, {.replace = true}),
                 InvalidArgument);
    EXPECT_EQ(alidade::Run::open(folder / "run", Access::read).checkpoint()->counts, counts);
    EXPECT_THROW(alidade::Run::learn(folder / "run", problem, garnet, 0.1, counts), InvalidArgument);
}

TEST(Run, KeepsTheFirstContradictionThatWasNoted) {
    const TemporaryFolder folder;
    alidade::Run writer = created(folder);
    writer.explore({.episodes = 20});
    writer.note({ContradictionKind::model_check, "first", 20});
    writer.note({ContradictionKind::model_check, "second", 20});
    EXPECT_EQ(writer.checkpoint()->contradiction->what, "first");
    EXPECT_THROW(writer.explore({.episodes = 40}), ModelContradiction);
    EXPECT_EQ(writer.explore({.episodes = 40, .despite_contradiction = true}).contradiction->what, "first");
}

/// One number that a query gives.
std::int64_t asked(const TemporaryFolder& folder, const char* query) {
    const detail::sqlite::Database database(folder / "run" / "run.sqlite", detail::sqlite::OpenMode::write);
    detail::sqlite::Statement statement(database, query);
    return statement.step() ? statement.integer(0) : -1;
}

TEST(Run, StoresCountsOnce) {
    const TemporaryFolder folder;
    {
        alidade::Run writer = created(folder, likelihood_options());
        writer.explore({.episodes = 2000});
    }
    const std::int64_t bytes = asked(folder, "SELECT sum(length(data)) FROM counts");
    EXPECT_GT(bytes, 64 * 8);
    // In the source's memory, as evidence of the best iterate, and as that of the result.
    EXPECT_GE(asked(folder, "SELECT count(*) FROM memory WHERE kind = 'counts'"), 1);
    EXPECT_EQ(asked(folder, "SELECT count(*) FROM knowledge WHERE kind IN ('counts', 'best')"), 1);
    EXPECT_LE(asked(folder, "SELECT sum(length(data)) FROM memory WHERE name LIKE '%counts'"), bytes);
}

// What was handed over rests on the counts of its own save, not on those that came after it.
TEST(Run, AResultKeepsItsEvidenceWhenTheRunGoesOn) {
    const TemporaryFolder folder;
    const Problem problem = make_builtin(garnet);
    detail::RunStore store = detail::RunStore::create(folder / "run", problem, garnet, {});
    RunCheckpoint checkpoint{{}, some_counts(problem, 100)};
    RunResult result;
    result.evidence.integers["counts"] = checkpoint.counts.record();
    result.evidence.integers["other"] = std::vector<std::int64_t>(100, 7);
    checkpoint.memory.integers["best.other"] = result.evidence.integers["other"];
    store.save(checkpoint, result);
    EXPECT_EQ(store.result()->evidence, result.evidence);
    const RunCheckpoint later{{}, some_counts(problem, 300)};
    for (int turn = 0; turn < 2; ++turn) {
        store.save(later);
        EXPECT_EQ(store.result()->evidence, result.evidence);
        EXPECT_EQ(store.checkpoint()->counts, later.counts);
    }
}

// A save that changes little writes little: SQLite's log grows by what is written.
TEST(Run, WritesOnlyWhatHasChanged) {
    const TemporaryFolder folder;
    const Problem problem = make_builtin(garnet);
    detail::RunStore store = detail::RunStore::create(folder / "run", problem, garnet, {});
    const auto logged = [&] {
        return static_cast<std::int64_t>(std::filesystem::file_size(folder / "run" / "run.sqlite-wal"));
    };
    RunCheckpoint checkpoint{{}, some_counts(problem, 100)};
    checkpoint.memory.numbers["same"] = std::vector<double>(200'000, 1.0);
    checkpoint.memory.numbers["other"] = std::vector<double>(200'000, 2.0);
    store.save(checkpoint);
    std::int64_t before = logged();
    EXPECT_GT(before, 3'000'000);
    checkpoint.memory.numbers["other"].back() = 3;
    store.save(checkpoint);
    EXPECT_LT(logged() - before, 600'000);
    EXPECT_EQ(store.checkpoint()->memory, checkpoint.memory);
    before = logged();
    store.save(checkpoint);
    EXPECT_LT(logged() - before, 100'000);
    checkpoint.memory.numbers.erase("same");
    store.save(checkpoint);
    EXPECT_EQ(store.checkpoint()->memory, checkpoint.memory);
}

// Features of more than 64 MiB are not copied into the run, which says where they were.
TEST(Run, LargeFeaturesStayWhereTheyWere) {
    const TemporaryFolder folder;
    const std::string large = "builtin:garnet?states=55000&actions=4&features=5&horizon=2&successors=8";
    const Problem problem = make_builtin(large);
    {
        detail::RunStore store = detail::RunStore::create(folder / "run", problem, large, {});
        RunCheckpoint checkpoint{{}, Counts(problem.shared_successors(), 2)};
        checkpoint.counts.add(0, 7, 3);
        checkpoint.counts.add_episodes(3);
        checkpoint.memory.integers["counts"] = checkpoint.counts.record();
        store.save(checkpoint);
        EXPECT_LT(std::filesystem::file_size(folder / "run/run.sqlite"), 4u << 20);
    }
    const alidade::Run reader = alidade::Run::open(folder / "run", Access::read);
    EXPECT_EQ(reader.problem().features(), problem.features());
    EXPECT_EQ(reader.problem_hash(), alidade::problem_hash(problem));
    EXPECT_EQ(reader.checkpoint()->counts.count(0, 7), 3);
    EXPECT_EQ(reader.checkpoint()->memory.integers.at("counts"), (std::vector<std::int64_t>{-1, 7, 3}));
    // Who has them in memory already shares them.
    EXPECT_EQ(
        &alidade::Run::open(folder / "run", Access::read, problem.shared_features()).problem().features(),
        &problem.features());
    const SharedFeatures others = make_builtin(large + "&seed=2").shared_features();
    EXPECT_EQ(alidade::Run::open(folder / "run", Access::read, others).problem_hash(),
              alidade::problem_hash(problem));
    // Another problem where it was, or none.
    for (const std::string& elsewhere :
         {large + "&seed=2", std::string("builtin:garnet"), std::string("nowhere")}) {
        detail::RunStore::create(folder / "other", problem, elsewhere, {});
        try {
            alidade::Run::open(folder / "other", Access::read);
            ADD_FAILURE() << elsewhere;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find("features"), std::string::npos) << error.what();
        }
        detail::RunStore::remove(folder / "other");
    }
}

// What was computed from a model that changed on the way is of neither; what was stored before stays.
TEST(Run, KeepsNothingThatWasComputedFromFeaturesThatWereWrittenTo) {
    const TemporaryFolder folder;
    save_problem(make_builtin(garnet), folder / "mapped", {.mapped = true});
    const Problem problem = load_problem((folder / "mapped").string());
    detail::RunStore store =
        detail::RunStore::create(folder / "run", problem, (folder / "mapped").string(), {});
    RunCheckpoint checkpoint{{}, Counts(problem.shared_successors(), problem.shape().horizon)};
    checkpoint.counts.add(0, 1, 3);
    checkpoint.counts.add_episodes(3);
    store.save(checkpoint);
    const auto values = folder / "mapped/features/values.npy";
    std::filesystem::last_write_time(values,
                                     std::filesystem::last_write_time(values) + std::chrono::seconds(1));
    checkpoint.counts.add(0, 1, 4);
    EXPECT_TRUE(says(refusal([&] { store.save(checkpoint); }), {"values.npy", "was written to"}));
    EXPECT_EQ(alidade::Run::open(folder / "run", Access::read).checkpoint()->counts.count(0, 1), 3);
    // Episodes that were told are stored all the same.
    bool told = false;
    store.save(checkpoint, nullptr, [&](detail::sqlite::Database&) { told = true; });
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace alidade::testing::run
