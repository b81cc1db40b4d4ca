#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "alidade/run/run_store.hpp"
#include "run/run_samples.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::run_contradiction_test {
namespace {

RunContradiction sample_contradiction() {
    RunContradiction found;
    found.what = "the \"evidence\" is e^12.5;\nit would reach e^5.7 with probability 0.01";
    found.episodes = 5;
    found.step = 2;
    found.state = 0;
    found.action = 1;
    found.successor = 3;
    found.level = 0.01;
    found.log_evidence = 12.5;
    found.threshold = 0.1 + 0.2;
    return found;
}

RunCheckpoint contradicted(const Problem& problem, std::int64_t episodes) {
    RunCheckpoint checkpoint = sample_checkpoint(problem, episodes);
    checkpoint.contradiction = sample_contradiction();
    return checkpoint;
}

/// Runs statements on a run's database, without the code under test; the first column of the last row.
std::string ask(const std::filesystem::path& folder, const char* statements) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((folder / "run.sqlite").c_str(), &database), SQLITE_OK);
    std::string answer;
    const auto take = [](void* to, int, char** values, char**) {
        *static_cast<std::string*>(to) = values[0];
        return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, statements, take, &answer, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return answer;
}

TEST(RunContradiction, IsGivenBackAsItWasSaved) {
    const Problem problem(testing::small_description());
    RunContradiction bare;
    bare.kind = ContradictionKind::empty_confidence_set;
    RunContradiction impossible = sample_contradiction();
    impossible.kind = ContradictionKind::impossible_transition;
    for (const RunContradiction& found : {sample_contradiction(), bare, impossible}) {
        const TemporaryFolder folder;
        RunCheckpoint checkpoint = sample_checkpoint(problem, 5);
        checkpoint.contradiction = found;
        detail::RunStore::create(folder.path(), problem, "p", {}).save(checkpoint);
        for (const Access access : {Access::read, Access::write})
            EXPECT_EQ(detail::RunStore::open(folder.path(), access).checkpoint()->contradiction, found);
    }
}

TEST(RunContradiction, StaysOnceItIsSaved) {
    const TemporaryFolder folder;
    const Problem problem(testing::small_description());
    detail::RunStore store = detail::RunStore::create(folder.path(), problem, "p", {});
    store.save(sample_checkpoint(problem, 3));
    EXPECT_FALSE(store.checkpoint()->contradiction);
    store.save(contradicted(problem, 5), sample_result(5));
    store.save(sample_checkpoint(problem, 7), sample_result(7));
    EXPECT_EQ(store.checkpoint()->contradiction, sample_contradiction());
    EXPECT_EQ(store.checkpoint()->counts.episodes(), 7);
    RunCheckpoint later = contradicted(problem, 9);
    later.contradiction->what = "another";
    store.save(later);
    EXPECT_EQ(store.checkpoint()->contradiction, sample_contradiction());
    EXPECT_EQ(store.checkpoint()->counts.episodes(), 9);
}

TEST(RunContradiction, LeavesNoTraceInARunWithoutOne) {
    const TemporaryFolder folder;
    const Problem problem(testing::small_description());
    detail::RunStore::create(folder.path(), problem, "p", {})
        .save(sample_checkpoint(problem, 3), sample_result(3));
    EXPECT_EQ(ask(folder.path(), "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%contradiction%'"), "0");
    // The tables of format 1 as they were before there were contradictions: such runs have none.
    EXPECT_EQ(ask(folder.path(), "SELECT count(*) FROM sqlite_master WHERE type = 'table'"), "10");
    EXPECT_FALSE(detail::RunStore::open(folder.path(), Access::read).checkpoint()->contradiction);
}

TEST(RunContradiction, ThatIsNotTheOneWrittenIsRefused) {
    const Problem problem(testing::small_description());
    for (const char* damage :
         {"UPDATE contradiction SET value = 'all is well' WHERE key = 'what'",
          "UPDATE contradiction SET value = 'doubt' WHERE key = 'kind'", "DELETE FROM contradiction",
          "DROP TABLE contradiction", "DELETE FROM digests WHERE section = 'contradiction'"}) {
        SCOPED_TRACE(damage);
        const TemporaryFolder folder;
        detail::RunStore::create(folder.path(), problem, "p", {}).save(contradicted(problem, 5));
        ask(folder.path(), damage);
        const detail::RunStore store = detail::RunStore::open(folder.path(), Access::read);
        EXPECT_TRUE(says(refusal([&] { store.checkpoint(); }), {"run.sqlite", "contradiction"}));
    }
}

TEST(RunContradiction, FlippedBytesAreRefusedOrHarmless) {
    const Problem problem(testing::small_description());
    std::string sound;
    {
        const TemporaryFolder folder;
        detail::RunStore::create(folder.path(), problem, "p", sample_options())
            .save(contradicted(problem, 5));
        sound = bytes_of(folder / "run.sqlite");
    }
    std::mt19937 random(8);
    for (int trial = 0; trial < 200; ++trial) {
        std::string bytes = sound;
        bytes[random() % (trial < 100 ? 4096 : sound.size())] ^= static_cast<char>(1 + random() % 255);
        const TemporaryFolder folder;
        folder.write("run.sqlite", bytes);
        SCOPED_TRACE(trial);
        try {
            const RunCheckpoint seen =
                detail::RunStore::open(folder.path(), Access::read).checkpoint().value();
            EXPECT_TRUE(same(seen, sample_checkpoint(problem, 5)));
            EXPECT_EQ(seen.contradiction, sample_contradiction());
        } catch (const InvalidArgument& error) {
            EXPECT_TRUE(says(error.what(), {folder.path().native()}));
        }
    }
}

}  // namespace
}  // namespace alidade::testing::run_contradiction_test
