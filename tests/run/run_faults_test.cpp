#include "alidade/run/run_faults.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "alidade/run/run_store.hpp"
#include "alidade/spec/printable_text.hpp"
#include "run/run_samples.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::run_faults_test {
namespace {

namespace fs = std::filesystem;
/// The fault that `action` is refused for; nothing if it is not.
std::optional<RunFault> fault_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const RunRefused& refused) {
        return refused.fault();
    }
    return std::nullopt;
}

/// What is wrong with a run's folder, as all who open it say.
std::optional<RunFault> fault_in(const fs::path& folder) {
    const auto reader = fault_of([&] { detail::RunStore::open(folder, Access::read); });
    EXPECT_EQ(fault_of([&] { detail::RunStore::open(folder, Access::write); }), reader);
    return reader;
}

std::string database_of_another_program() {
    const TemporaryFolder folder;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((folder / "x").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, "CREATE TABLE accounts (year)", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    return bytes_of(folder / "x");
}

TEST(RunFaults, WhatIsCalledForeignIsWhatIsNeverRemoved) {
    const std::string sound = sound_run();
    std::string other_program = sound, newer = sound, no_magic = sound, damaged = sound;
    other_program[71] = 'x';
    newer[63] = 9;
    no_magic[3] = 'x';
    // The number of a page's cells.
    for (std::size_t page = 0; page < sound.size(); page += 4096)
        damaged[page + (page == 0 ? 103 : 3)] ^= 0x55;
    const std::vector<std::pair<std::string, std::optional<RunFault>>> files{
        {"", RunFault::foreign},
        {"the accounts of 1998", RunFault::foreign},
        {std::string(5000, '\xFF'), RunFault::foreign},
        {database_of_another_program(), RunFault::foreign},
        {other_program, RunFault::foreign},
        {no_magic, RunFault::foreign},
        {newer, RunFault::unknown},
        {damaged, RunFault::damaged},
        {sound.substr(0, 2000), RunFault::damaged},
        {sound, std::nullopt}};
    for (std::size_t i = 0; i < files.size(); ++i) {
        SCOPED_TRACE(i);
        const auto& [bytes, fault] = files[i];
        const bool foreign = fault == RunFault::foreign;
        const TemporaryFolder folder;
        folder.write("run.sqlite", bytes);
        EXPECT_EQ(fault_in(folder.path()), fault);
        EXPECT_EQ(detail::RunStore::is_run(folder.path()), !foreign);
        EXPECT_EQ(fault_of([&] { detail::RunStore::remove(folder.path()); }),
                  foreign ? std::optional(RunFault::foreign) : std::nullopt);
        EXPECT_EQ(detail::RunStore::exists(folder.path()), foreign);
        EXPECT_EQ(bytes_of(folder / "run.sqlite"), foreign ? bytes : "");
    }
}

TEST(RunFaults, AFolderWithoutARunIsMissingAndOneInUseIsBusy) {
    const TemporaryFolder folder;
    EXPECT_EQ(fault_in(folder / "nowhere"), RunFault::missing);
    EXPECT_EQ(fault_in(folder.path()), RunFault::missing);
    fs::create_directories(folder / "odd/run.sqlite");
    EXPECT_EQ(fault_in(folder / "odd"), RunFault::foreign);
    EXPECT_EQ(fault_of([&] { detail::RunStore::remove(folder / "odd"); }), RunFault::foreign);
    const detail::RunStore writer = detail::RunStore::create(folder.path(), small_problem(), "p", {});
    EXPECT_EQ(fault_of([&] { detail::RunStore::open(folder.path(), Access::read); }), std::nullopt);
    EXPECT_EQ(fault_of([&] { detail::RunStore::open(folder.path()); }), RunFault::busy);
    EXPECT_EQ(fault_of([&] { detail::RunStore::remove(folder.path()); }), RunFault::busy);
}

/// What a std::runtime_error says; a failure if the error is another one.
std::string failure(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::runtime_error& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "not a failure of the machine: " << error.what();
    }
    return {};
}

TEST(RunFaults, TroubleWithTheDiskIsNotCalledDamage) {
    const TemporaryFolder folder;
    const fs::path file = folder / "run.sqlite";
    struct Case {
        int code, system;
        std::string_view reading, writing;
    };
    const Case cases[] = {{SQLITE_FULL, 0, "disk is full", "disk is full"},
                          {SQLITE_IOERR, ENOSPC, "disk is full", "disk is full"},
                          {SQLITE_CANTOPEN, ENOSPC, "disk is full", "disk is full"},
                          {SQLITE_IOERR, EDQUOT, "file system failed", "may not grow"},
                          {SQLITE_IOERR, EFBIG, "file system failed", "may not grow"},
                          {SQLITE_IOERR, EIO, "Input/output error", "Input/output error"},
                          {SQLITE_IOERR, 0, "file system failed", "file system failed"},
                          {SQLITE_NOMEM, 0, "not enough memory", "not enough memory"}};
    for (const auto& [code, system, reading, writing] : cases) {
        SCOPED_TRACE(::testing::Message() << code << " " << system);
        const detail::sqlite::Error error(code, "as SQLite says", system);
        const std::string read = failure([&] { detail::refuse_reading(file, error); });
        const std::string saved = failure([&] { detail::refuse_writing(file, error, true); });
        const std::string made = failure([&] { detail::refuse_writing(file, error, false); });
        EXPECT_TRUE(says(read, {file.native(), reading}));
        EXPECT_TRUE(says(saved, {file.native(), writing, "saved before is intact", "start it again"}));
        EXPECT_TRUE(says(made, {file.native(), writing, "nothing had been saved"}));
        for (const std::string& text : {read, saved, made}) {
            EXPECT_EQ(text.find("damaged"), std::string::npos) << text;
            EXPECT_EQ(text.find("copy"), std::string::npos) << text;
        }
    }
    EXPECT_EQ(fault_of([&] { detail::refuse_reading(file, {SQLITE_CORRUPT, "x"}); }), RunFault::damaged);
    EXPECT_EQ(fault_of([&] { detail::refuse_reading(file, {SQLITE_NOTADB, "x"}); }), RunFault::damaged);
    EXPECT_EQ(fault_of([&] {
                  detail::refuse_reading(file, {SQLITE_CANTOPEN, "x", EACCES});
              }),
              RunFault::forbidden);
}

/// While it lives, no file of this process can grow beyond a size: the disk is full, as far as SQLite can
/// tell.
class NoRoom {
public:
    explicit NoRoom(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~NoRoom() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    NoRoom(const NoRoom&) = delete;
    NoRoom& operator=(const NoRoom&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(RunFaults, WithoutRoomNothingSavedIsLostAndReadersAnswer) {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore::create(folder.path(), problem, "p", {})
        .save(sample_checkpoint(problem, 1), sample_result(1));
    std::string opening, saving, making;
    {
        const NoRoom none(1000);
        opening = failure([&] { detail::RunStore::open(folder.path()); });
        making = failure([&] { detail::RunStore::create(folder / "new", problem, "p", {}); });
        EXPECT_EQ(detail::RunStore::open(folder.path(), Access::read).checkpoint()->counts.episodes(), 1);
    }
    EXPECT_FALSE(fs::exists(folder / "new/run.sqlite-new"));
    EXPECT_TRUE(says(opening, {"run.sqlite", "file system failed"}));
    EXPECT_TRUE(says(making, {"run.sqlite", "may not grow", "nothing had been saved"}));
    {
        detail::RunStore store = detail::RunStore::open(folder.path());
        store.save(sample_checkpoint(problem, 2), sample_result(2));
        RunCheckpoint large = sample_checkpoint(problem, 3);
        large.memory.numbers["large"].assign(100'000, 1);
        const auto log = static_cast<rlim_t>(fs::file_size(folder / "run.sqlite-wal"));
        {
            const NoRoom little(log + 100'000);
            saving = failure([&] { store.save(large, sample_result(3)); });
            const detail::RunStore reader = detail::RunStore::open(folder.path(), Access::read);
            EXPECT_TRUE(same(reader.checkpoint().value(), sample_checkpoint(problem, 2)));
        }
        EXPECT_TRUE(says(saving, {"run.sqlite", "may not grow", "saved before is intact"}));
        EXPECT_TRUE(same(store.result().value(), sample_result(2)));
        store.save(large, sample_result(3));
    }
    EXPECT_TRUE(same(detail::RunStore::open(folder.path()).result().value(), sample_result(3)));
}

TEST(RunFaults, MessagesCarryNoBytesThatATerminalWouldActOn) {
    // SQLite quotes what it cannot read in the definition of a table.
    const std::string sound = sound_run();
    const std::string_view definition = "CREATE TABLE meta (key";
    const std::size_t place = sound.find(definition);
    ASSERT_NE(place, std::string::npos);
    const TemporaryFolder folder;
    for (const auto& [words, quoted] : {std::pair("CREATE TABLE \x1B[2J  m(k", "\"\\x1b\""),
                                        std::pair("CREATE TABLE x \xFF\x9Bq  (k", "\"\\xff\\x9bq\"")}) {
        std::string bytes = sound;
        bytes.replace(place, definition.size(), words);
        ASSERT_EQ(bytes.size(), sound.size());
        folder.write("run.sqlite", bytes);
        for (const Access access : {Access::read, Access::write}) {
            const std::string message = refusal([&] { detail::RunStore::open(folder.path(), access); });
            EXPECT_EQ(message, printable(message));
            EXPECT_TRUE(says(message, {"damaged", quoted}));
        }
    }
    const std::string odd = refusal([&] { detail::RunStore::open(folder / "a\x1B\xFE\n", Access::read); });
    EXPECT_TRUE(says(odd, {"a\\x1b\\xfe\\x0a: there is no such folder"}));
}

}  // namespace
}  // namespace alidade::testing::run_faults_test
