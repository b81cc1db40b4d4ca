#include "alidade/run/run_store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <set>

#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run_record.hpp"
#include "run/run_samples.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::run_store_test {
namespace {

std::set<std::string> names_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

void expect_round_trip(const Problem& problem, const std::string& source) {
    SCOPED_TRACE(source);
    const TemporaryFolder folder;
    const std::filesystem::path run = folder / "new/run";
    const RunOptions options = sample_options();
    {
        detail::RunStore store = detail::RunStore::create(run, problem, source, options);
        EXPECT_FALSE(store.checkpoint());
        EXPECT_FALSE(store.result());
        store.save(sample_checkpoint(problem, 12), sample_result(12));
        EXPECT_TRUE(same(store.checkpoint().value(), sample_checkpoint(problem, 12)));
    }
    for (const Access access : {Access::read, Access::write}) {
        const detail::RunStore store = detail::RunStore::open(run, access);
        EXPECT_TRUE(same(store.problem(), problem));
        EXPECT_EQ(store.problem_hash(), problem_hash(problem));
        EXPECT_EQ(store.source(), source);
        EXPECT_EQ(store.options(), options);
        EXPECT_EQ(store.folder(), run);
        EXPECT_TRUE(same(store.checkpoint().value(), sample_checkpoint(problem, 12)));
        EXPECT_EQ(&store.checkpoint()->counts.successors(), &store.problem().successors());
        const RunResult result = store.result().value();
        EXPECT_TRUE(same(result, sample_result(12)));
        EXPECT_EQ(result.timings.total, 1.5);
        EXPECT_EQ(result.timings.simulate, 0.25);
        EXPECT_EQ(result.timings.plan, 1e-9);
        EXPECT_EQ(result.timings.certify, 3);
    }
}

TEST(RunStore, GivesBackEverythingForEveryFamily) {
    for (const Family& family : families()) {
        const std::string uri = "builtin:" + family.name;
        expect_round_trip(make_builtin(uri), uri);
    }
}

TEST(RunStore, GivesBackForeignPartsOfTruths) {
    for (const char* uri : {"builtin:garnet?foreign=0.05", "builtin:hard?foreign=0.2&foreign_law=shared"})
        expect_round_trip(make_builtin(uri), uri);
}

TEST(RunStore, GivesBackNamesRewardsTargetsAndSignedFeatures) {
    expect_round_trip(small_problem(), "a folder/with \"quotes\"\n");
    expect_round_trip(Problem(testing::signed_description()), "");
    expect_round_trip(Problem(testing::linear_description()), "linear");
    ProblemDescription bare = testing::small_description();
    bare.truth.reset();
    bare.rewards.clear();
    bare.state_names.clear();
    bare.action_names.clear();
    bare.target = {};
    bare.horizon = 1;
    bare.name = std::string("\0\xFF", 2);
    expect_round_trip(Problem(bare), "bare");
    bare.misspecification = 0.015625;
    expect_round_trip(Problem(bare), "aggregated");
}

TEST(RunStore, KeepsTheLastCheckpointAndTheLastResult) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore store = detail::RunStore::create(folder.path(), problem, "p", {});
    store.save(sample_checkpoint(problem, 3));
    EXPECT_FALSE(store.result());
    RunCheckpoint large = sample_checkpoint(problem, 4);
    large.memory.numbers["only here"] = std::vector<double>(100'000, 0.5);
    store.save(large, sample_result(4));
    EXPECT_TRUE(same(store.checkpoint().value(), large));
    RunResult other = sample_result(5);
    other.candidates = {{"model", 1}};
    store.save(sample_checkpoint(problem, 5), other);
    store.save(sample_checkpoint(problem, 6));
    EXPECT_TRUE(same(store.checkpoint().value(), sample_checkpoint(problem, 6)));
    EXPECT_TRUE(same(store.result().value(), other));
}

TEST(RunStore, HasOneWriterAndAnyNumberOfReaders) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    std::optional<detail::RunStore> writer = detail::RunStore::create(folder.path(), problem, "p", {});
    const detail::RunStore reader = detail::RunStore::open(folder.path(), Access::read);
    EXPECT_FALSE(reader.checkpoint());
    const auto in_use = {std::string_view(folder.path().native()),
                         std::string_view("another process is using")};
    EXPECT_TRUE(says(refusal([&] { detail::RunStore::open(folder.path()); }), in_use));
    EXPECT_TRUE(says(refusal([&] { detail::RunStore::remove(folder.path()); }), in_use));
    EXPECT_TRUE(says(refusal([&] { detail::RunStore::create(folder.path(), problem, "p", {}); }), in_use));
    for (const std::int64_t episodes : {1, 2, 3}) {
        writer->save(sample_checkpoint(problem, episodes));
        EXPECT_EQ(reader.checkpoint()->counts.episodes(), episodes);
    }
    writer.reset();
    EXPECT_EQ(reader.checkpoint()->counts.episodes(), 3);
    writer = detail::RunStore::open(folder.path());
    detail::RunStore moved = std::move(*writer);
    writer.reset();
    EXPECT_TRUE(says(refusal([&] { detail::RunStore::open(folder.path()); }), in_use));
    moved.save(sample_checkpoint(problem, 4));
    EXPECT_EQ(reader.checkpoint()->counts.episodes(), 4);
}

TEST(RunStore, ReadingLeavesNoFileAndChangesNone) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    const std::filesystem::path run = folder / "odd ?#%20 name";
    detail::RunStore::create(run, problem, "p", {}).save(sample_checkpoint(problem, 3), sample_result(3));
    const std::string before = bytes_of(run / "run.sqlite");
    EXPECT_EQ(names_in(run), std::set<std::string>{"run.sqlite"});
    detail::RunStore reader = detail::RunStore::open(run, Access::read);
    EXPECT_TRUE(reader.checkpoint());
    EXPECT_TRUE(reader.result());
    EXPECT_EQ(names_in(run), std::set<std::string>{"run.sqlite"});
    EXPECT_EQ(bytes_of(run / "run.sqlite"), before);
    EXPECT_TRUE(says(refusal([&] { reader.save(sample_checkpoint(problem, 4)); }), {"opened to read"}));
}

TEST(RunStore, RefusesASecondRunAndCountsOfAnotherProblem) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    folder.write("notes.txt", "kept");
    detail::RunStore store = detail::RunStore::create(folder.path(), problem, "p", {});
    const Problem other(testing::signed_description());
    EXPECT_TRUE(says(refusal([&] { store.save(sample_checkpoint(other, 1)); }), {"another problem"}));
    EXPECT_FALSE(store.checkpoint());
    RunResult bad = sample_result(2);
    bad.candidates.emplace_back("bad", std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(
        says(refusal([&] { store.save(sample_checkpoint(problem, 2), bad); }), {"bad", "not a number"}));
    EXPECT_FALSE(store.checkpoint());
    store.save(sample_checkpoint(problem, 2));
    { const detail::RunStore ended = std::move(store); }
    EXPECT_TRUE(says(refusal([&] { detail::RunStore::create(folder.path(), problem, "p", {}); }),
                     {folder.path().native(), "holds a run already"}));
    EXPECT_EQ(detail::RunStore::open(folder.path(), Access::read).checkpoint()->counts.episodes(), 2);
}

TEST(RunStore, RemovesTheRunAndNothingElse) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    EXPECT_FALSE(detail::RunStore::exists(folder / "nowhere"));
    detail::RunStore::remove(folder / "nowhere");
    detail::RunStore::create(folder.path(), problem, "p", {});
    EXPECT_TRUE(detail::RunStore::exists(folder.path()));
    for (const char* name :
         {"run.sqlite-wal", "run.sqlite-shm", "run.sqlite-journal", "run.sqlite.bak", "plan.json", "run/x"})
        folder.write(name, "left by somebody");
    detail::RunStore::remove(folder.path());
    EXPECT_FALSE(detail::RunStore::exists(folder.path()));
    EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"run.sqlite.bak", "plan.json", "run"}));
    folder.write("run.sqlite-wal", "stale");
    folder.write("run.sqlite-journal", "stale");
    folder.write("run.sqlite-new", "of a run that was cut short");
    detail::RunStore::create(folder.path(), problem, "p", {}).save(sample_checkpoint(problem, 1));
    EXPECT_EQ(names_in(folder.path()),
              (std::set<std::string>{"run.sqlite", "run.sqlite.bak", "plan.json", "run"}));

    const TemporaryFolder foreign;
    foreign.write("run.sqlite", "the accounts of 1998");
    EXPECT_TRUE(detail::RunStore::exists(foreign.path()));
    EXPECT_TRUE(
        says(refusal([&] { detail::RunStore::remove(foreign.path()); }), {"run.sqlite", "not a run"}));
    EXPECT_EQ(bytes_of(foreign / "run.sqlite"), "the accounts of 1998");
}

/// All rows of all tables but meta, read without the code under test.
std::string tables_of(const std::filesystem::path& run) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2((run / "run.sqlite").c_str(), &database, SQLITE_OPEN_READONLY, nullptr),
              SQLITE_OK);
    std::string text;
    const auto append = [](void* to, int columns, char** values, char**) {
        for (int i = 0; i < columns; ++i)
            *static_cast<std::string*>(to) += std::string(values[i] != nullptr ? values[i] : "NULL") + "|";
        return 0;
    };
    const auto ask = [&](const std::string& query, std::string& answer) {
        EXPECT_EQ(sqlite3_exec(database, query.c_str(), append, &answer, nullptr), SQLITE_OK) << query;
    };
    ask("PRAGMA integrity_check", text);
    for (const char* table : {"run", "progress", "result", "certificate", "digests"})
        ask(std::string("SELECT * FROM ") + table, text);
    for (const char* table : {"problem", "memory", "knowledge"})
        ask(std::string("SELECT name, kind, part, hex(data) FROM ") + table, text);
    ask("SELECT step, part, hex(data) FROM counts", text);
    sqlite3_close(database);
    return text;
}

TEST(RunStore, WritesTheSameRowsForTheSameRun) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore::create(folder / "a", problem, "p", {})
        .save(sample_checkpoint(problem, 9), sample_result(9));
    {
        // The way there, and the time it took, leave no trace.
        detail::RunStore store = detail::RunStore::create(folder / "b", problem, "p", {});
        store.save(sample_checkpoint(problem, 3), sample_result(4));
        RunResult slow = sample_result(9);
        slow.timings.total *= 2;
        store.save(sample_checkpoint(problem, 9), slow);
    }
    const std::string rows = tables_of(folder / "a");
    EXPECT_TRUE(rows.starts_with("ok|"));
    // The first count is 9, as eight little-endian bytes.
    EXPECT_NE(rows.find("|0900000000000000"), std::string::npos);
    EXPECT_EQ(rows, tables_of(folder / "b"));
}

}  // namespace
}  // namespace alidade::testing::run_store_test
