#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "alidade/run/run_store.hpp"
#include "alidade/spec/printable_text.hpp"
#include "run/run_samples.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::run_damage_test {
namespace {

/// Whether the run is refused; otherwise everything in it must be what was written.
bool refused_or_right(const std::filesystem::path& folder, Access access) {
    try {
        const detail::RunStore store = detail::RunStore::open(folder, access);
        EXPECT_TRUE(same(store.problem(), small_problem()));
        EXPECT_EQ(store.options(), sample_options());
        EXPECT_EQ(store.source(), "p");
        EXPECT_TRUE(same(store.checkpoint().value(), sample_checkpoint(small_problem(), 5)));
        EXPECT_TRUE(same(store.result().value(), sample_result(5)));
        return false;
    } catch (const InvalidArgument& error) {
        EXPECT_TRUE(says(error.what(), {folder.native(), ";"}));
        // No byte of the file reaches a terminal as it is.
        EXPECT_EQ(error.what(), printable(error.what()));
        return true;
    }
}

TEST(DamagedRun, TruncatedAnywhereIsRefused) {
    const std::string sound = sound_run();
    for (std::size_t length = 0; length < sound.size(); length += length < 200 ? 7 : 509) {
        const TemporaryFolder folder;
        folder.write("run.sqlite", std::string_view(sound).substr(0, length));
        SCOPED_TRACE(length);
        EXPECT_TRUE(refused_or_right(folder.path(), Access::read));
        EXPECT_TRUE(refused_or_right(folder.path(), Access::write));
    }
}

TEST(DamagedRun, FlippedBytesAreRefusedOrHarmless) {
    const std::string sound = sound_run();
    std::mt19937 random(7);
    int refused = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const std::size_t range = trial < 100 ? 100 : trial < 300 ? 4096 : sound.size();
        std::string bytes = sound;
        for (int flips = 1 + trial % 3; flips > 0; --flips)
            bytes[random() % range] ^= static_cast<char>(1 + random() % 255);
        const TemporaryFolder folder;
        folder.write("run.sqlite", bytes);
        SCOPED_TRACE(trial);
        refused += refused_or_right(folder.path(), trial % 4 == 0 ? Access::write : Access::read);
    }
    EXPECT_GT(refused, 50);
}

TEST(DamagedRun, MessagesSayWhatAndWhere) {
    const TemporaryFolder folder;
    const auto message = [&] { return refusal([&] { detail::RunStore::open(folder.path()); }); };
    EXPECT_TRUE(
        says(refusal([&] { detail::RunStore::open(folder / "nowhere"); }), {"nowhere", "no such folder"}));
    EXPECT_TRUE(says(message(), {folder.path().native(), "no run.sqlite"}));
    folder.write("run.sqlite", std::string(5000, 'x'));
    EXPECT_TRUE(says(message(), {"run.sqlite", "not an SQLite database"}));
    folder.write("run.sqlite", "");
    EXPECT_TRUE(says(message(), {"run.sqlite", "not a run"}));
    // SQLite's header: the user version is at offset 60, the application id at 68, big endian.
    std::string bytes = sound_run();
    bytes[63] = 9;
    folder.write("run.sqlite", bytes);
    EXPECT_TRUE(says(message(), {"run.sqlite", "format 9", "reads formats 1 to 3"}));
    bytes[68] = 0;
    folder.write("run.sqlite", bytes);
    EXPECT_TRUE(says(message(), {"run.sqlite", "not a run", "application id"}));
    EXPECT_EQ(bytes_of(folder / "run.sqlite"), bytes);
}

/// Goes on with the run, telling every checkpoint that was saved, until killed.
[[noreturn]] void save_for_ever(const std::filesystem::path& folder, int tell) {
    try {
        detail::RunStore store = detail::RunStore::open(folder);
        const Problem& problem = store.problem();
        for (std::int64_t episodes = store.checkpoint() ? store.checkpoint()->counts.episodes() : 0;;) {
            ++episodes;
            store.save(sample_checkpoint(problem, episodes), sample_result(episodes));
            if (write(tell, &episodes, sizeof episodes) != sizeof episodes) _exit(2);
        }
    } catch (...) {
        _exit(1);
    }
}

TEST(DamagedRun, KilledAnywhereLosesNothingAcknowledged) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore::create(folder.path(), problem, "p", sample_options());
    std::mt19937 random(11);
    std::int64_t acknowledged = 0;
    for (int round = 0; round < 20; ++round) {
        int channel[2];
        ASSERT_EQ(pipe(channel), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) save_for_ever(folder.path(), channel[1]);
        close(channel[1]);
        // At least one checkpoint, then a reader beside the writer, then the end at a random moment.
        std::int64_t told = 0;
        ASSERT_EQ(read(channel[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
        acknowledged = told;
        const auto beside = detail::RunStore::open(folder.path(), Access::read).checkpoint().value();
        EXPECT_TRUE(same(beside, sample_checkpoint(problem, beside.counts.episodes())));
        usleep(static_cast<useconds_t>(random() % 20'000));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended with " << WEXITSTATUS(status);
        while (read(channel[0], &told, sizeof told) == static_cast<ssize_t>(sizeof told)) acknowledged = told;
        close(channel[0]);

        const detail::RunStore store =
            detail::RunStore::open(folder.path(), round % 2 ? Access::read : Access::write);
        const RunCheckpoint checkpoint = store.checkpoint().value();
        const std::int64_t episodes = checkpoint.counts.episodes();
        // The last save may be done and not yet told.
        EXPECT_TRUE(episodes == acknowledged || episodes == acknowledged + 1)
            << episodes << " " << acknowledged;
        EXPECT_EQ(checkpoint.memory.integers.at("episodes").at(0), episodes);
        EXPECT_TRUE(same(checkpoint, sample_checkpoint(problem, episodes)));
        EXPECT_TRUE(same(store.result().value(), sample_result(episodes)));
    }
    EXPECT_GT(acknowledged, 20);
}

TEST(DamagedRun, AReaderBesideAWriterThatComesAndGoesSeesWholeCheckpoints) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore::create(folder.path(), problem, "p", sample_options())
        .save(sample_checkpoint(problem, 1));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // Every close moves the journal into the database and deletes it.
        for (std::int64_t episodes = 2; episodes < 80; ++episodes)
            detail::RunStore::open(folder.path()).save(sample_checkpoint(problem, episodes));
        _exit(0);
    }
    int status = 0;
    std::int64_t last = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        const RunCheckpoint seen = detail::RunStore::open(folder.path(), Access::read).checkpoint().value();
        EXPECT_TRUE(same(seen, sample_checkpoint(problem, seen.counts.episodes())));
        EXPECT_GE(seen.counts.episodes(), last);
        last = seen.counts.episodes();
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(detail::RunStore::open(folder.path(), Access::read).checkpoint()->counts.episodes(), 79);
}

}  // namespace
}  // namespace alidade::testing::run_damage_test
