#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "alidade/run/run_image.hpp"
#include "alidade/run/run_store.hpp"
#include "run/run_samples.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::run_reading_test {
namespace {

namespace fs = std::filesystem;

/// A writer in another process that saves as many checkpoints and is killed, so that nothing is tidied up.
void save_and_be_killed(const fs::path& folder, std::int64_t episodes) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        detail::RunStore store = detail::RunStore::open(folder);
        for (std::int64_t k = 1; k <= episodes; ++k)
            store.save(sample_checkpoint(store.problem(), k), sample_result(k));
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
}

/// A run whose last four checkpoints are in the log only.
void make_killed_run(const fs::path& folder) {
    detail::RunStore::create(folder, small_problem(), "p", sample_options());
    save_and_be_killed(folder, 4);
    ASSERT_GT(fs::file_size(folder / "run.sqlite-wal"), 0);
}

/// Everything that can be told about a folder: names, bytes, and when they were written.
std::map<std::string, std::pair<std::string, fs::file_time_type>> state_of(const fs::path& folder) {
    std::map<std::string, std::pair<std::string, fs::file_time_type>> state;
    for (const auto& entry : fs::directory_iterator(folder))
        state[entry.path().filename()] = {bytes_of(entry.path()), entry.last_write_time()};
    state["."].second = fs::last_write_time(folder);
    return state;
}

TEST(RunReading, SeesAllThatAKilledWriterSavedAndLeavesEverythingAsItIs) {
    const TemporaryFolder folder;
    make_killed_run(folder.path());
    for (const bool shared_memory : {true, false}) {
        if (!shared_memory) fs::remove(folder / "run.sqlite-shm");
        SCOPED_TRACE(shared_memory);
        const auto before = state_of(folder.path());
        {
            const detail::RunStore reader = detail::RunStore::open(folder.path(), Access::read);
            const detail::RunStore another = detail::RunStore::open(folder.path(), Access::read);
            EXPECT_TRUE(same(reader.checkpoint().value(), sample_checkpoint(small_problem(), 4)));
            EXPECT_TRUE(same(another.result().value(), sample_result(4)));
        }
        EXPECT_TRUE(state_of(folder.path()) == before);
    }
    EXPECT_TRUE(same(detail::RunStore::open(folder.path()).checkpoint().value(),
                     sample_checkpoint(small_problem(), 4)));
}

/// The database as SQLite itself recovers it from a file and its log.
std::string recovered(const std::string& database, const std::string& log) {
    const TemporaryFolder folder;
    const fs::path file = folder.write("run.sqlite", database);
    folder.write("run.sqlite-wal", log);
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, "PRAGMA synchronous = OFF; PRAGMA wal_checkpoint(TRUNCATE)", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(handle);
    return bytes_of(file);
}

std::string image_of(const std::string& database, const std::string& log) {
    const TemporaryFolder folder;
    const fs::path file = folder.write("run.sqlite", database);
    folder.write("run.sqlite-wal", log);
    const std::vector<std::byte> image = detail::run_image(file);
    return {reinterpret_cast<const char*>(image.data()), image.size()};
}

TEST(RunReading, AgreesWithSqliteOnLogsThatAreCutOrDamaged) {
    const TemporaryFolder folder;
    make_killed_run(folder.path());
    const std::string database = bytes_of(folder / "run.sqlite"), log = bytes_of(folder / "run.sqlite-wal");
    EXPECT_NE(image_of(database, log), database);
    int states = 0;
    std::string last;
    for (std::size_t length = 0; length <= log.size(); length += length < 100 ? 9 : 997) {
        SCOPED_TRACE(length);
        const std::string cut = log.substr(0, length);
        const std::string image = image_of(database, cut);
        EXPECT_TRUE(image == recovered(database, cut));
        states += image != last;
        last = image;
    }
    EXPECT_EQ(states, 4);  // before the first save, and after the first three of four
    for (std::size_t place = 0; place < log.size(); place += place < 64 ? 3 : 1511) {
        SCOPED_TRACE(place);
        // A log of an unknown version is an error to SQLite and nothing to us.
        if (place >= 4 && place < 8) continue;
        std::string flipped = log;
        flipped[place] = static_cast<char>(flipped[place] ^ 0x10);
        EXPECT_TRUE(image_of(database, flipped) == recovered(database, flipped));
    }
}

TEST(RunReading, SeesWholeStatesWhileAWriterBeginsTheLogAgainAndAgain) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    // More than SQLite lets a log grow to before it moves it into the database: every save begins it again.
    const auto large = [&](std::int64_t episodes) {
        RunCheckpoint checkpoint = sample_checkpoint(problem, episodes);
        checkpoint.memory.integers["large"].assign(700'000, episodes);
        return checkpoint;
    };
    detail::RunStore::create(folder.path(), problem, "p", {}).save(large(1));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        detail::RunStore store = detail::RunStore::open(folder.path());
        for (std::int64_t episodes = 2; episodes <= 12; ++episodes) store.save(large(episodes));
        _exit(0);
    }
    int status = 0;
    std::int64_t last = 0;
    const detail::RunStore reader = detail::RunStore::open(folder.path(), Access::read);
    while (waitpid(child, &status, WNOHANG) == 0) {
        const RunCheckpoint seen = reader.checkpoint().value();
        EXPECT_TRUE(same(seen, large(seen.counts.episodes())));
        EXPECT_GE(seen.counts.episodes(), last);
        last = seen.counts.episodes();
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(reader.checkpoint()->counts.episodes(), 12);
}

TEST(RunReading, NoticesThatAnotherRunTookThePlace) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore::create(folder.path(), problem, "p", {})
        .save(sample_checkpoint(problem, 1), sample_result(1));
    const detail::RunStore reader = detail::RunStore::open(folder.path(), Access::read);
    RunOptions other;
    other.seed = 1;
    const auto fault = [&] {
        try {
            reader.result();
        } catch (const RunRefused& refused) {
            return refused.fault();
        }
        return RunFault::taken;
    };
    detail::RunStore::remove(folder.path());
    EXPECT_EQ(fault(), RunFault::missing);
    detail::RunStore::create(folder.path(), problem, "p", other)
        .save(sample_checkpoint(problem, 2), sample_result(2));
    EXPECT_EQ(fault(), RunFault::replaced);
    // The same problem and options: the same run, if it is begun again.
    detail::RunStore::remove(folder.path());
    detail::RunStore::create(folder.path(), problem, "p", {})
        .save(sample_checkpoint(problem, 3), sample_result(3));
    EXPECT_TRUE(same(reader.result().value(), sample_result(3)));
}

}  // namespace
}  // namespace alidade::testing::run_reading_test
