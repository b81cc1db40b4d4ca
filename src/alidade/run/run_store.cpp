#include "run_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"
#include "folder_lock.hpp"
#include "kept_plans.hpp"
#include "run_contents.hpp"
#include "run_faults.hpp"
#include "run_image.hpp"
#include "run_tables.hpp"
#include "sqlite.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::OpenMode;
using sqlite::Transaction;

fs::path file_in(const fs::path& folder) {
    return folder / "run.sqlite";
}

fs::path beside(fs::path file, const char* suffix) {
    return file += suffix;
}

/// Makes messages of what `action` throws while reading name the file.
template <class Action>
auto reading(const fs::path& file, const Action& action) {
    try {
        return action();
    } catch (const sqlite::Error& error) {
        refuse_reading(file, error);
    }
}

void require_run(const fs::path& file, const std::string& no_run) {
    if (no_run.empty()) return;
    throw RunRefused(RunFault::foreign,
                     fmt::format("{}: not a run: {}; name a folder that `explore` or `learn` made, or move "
                                 "the file away",
                                 printable(file.native()), no_run));
}

void check_file(const fs::path& folder) {
    std::error_code failure, ignored;
    const std::string name = printable(folder.native());
    const fs::file_status status = fs::status(file_in(folder), failure);
    if (fs::is_regular_file(status)) return;
    if (failure == std::errc::permission_denied)
        throw RunRefused(RunFault::forbidden,
                         fmt::format("{}: you may not look into this folder; check its permissions", name));
    if (!fs::is_directory(folder, ignored))
        throw RunRefused(
            RunFault::missing,
            fmt::format("{}: there is no such folder; a run is a folder that `explore` or `learn` "
                        "made",
                        name));
    if (fs::exists(status)) require_run(file_in(folder), "it is not a file");
    throw RunRefused(
        RunFault::missing,
        fmt::format(
            "{}: no run.sqlite in this folder, so it does not hold a run; name a folder that `explore` "
            "or `learn` made",
            name));
}

void check_format(const Database& database, const fs::path& file) {
    const std::int64_t format = run_tables::pragma(database, "user_version");
    if (format >= run_tables::first_format && format <= run_tables::ledger_format) return;
    throw RunRefused(
        RunFault::unknown,
        fmt::format("{}: the run has format {}, and this version of alidade reads formats {} to {}; use the "
                    "version that wrote it, or explore again into another folder",
                    printable(file.native()), format, run_tables::first_format, run_tables::ledger_format));
}

/// Why the file is not one that a run may replace or go on with; empty if it is.
std::string no_run_reason(const fs::path& file) {
    std::array<char, run_header_size> header{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw sqlite::Error(SQLITE_CANTOPEN, std::generic_category().message(errno), errno);
    stream.read(header.data(), header.size());
    return detail::no_run_reason(std::as_bytes(std::span(header)));
}

/// One state of the run, for one who may do no more than read.
Database open_to_read(const fs::path& file) {
    std::vector<std::byte> image = run_image(file);
    require_run(file, detail::no_run_reason(image));
    Database database(std::move(image));
    check_format(database, file);
    return database;
}

/// What tells one run from another that was put in its place: the digests of what a run is about.
std::vector<std::int64_t> mark_of(const Database& database) {
    std::vector<std::int64_t> mark;
    sqlite::Statement select(
        database, "SELECT digest FROM digests WHERE section IN ('problem', 'run') ORDER BY section");
    while (select.step()) mark.push_back(select.integer(0));
    return mark;
}

/// Writes a whole run under another name first: a run that exists is complete.
void write_new(const fs::path& file, const Identity& identity) {
    const fs::path unfinished = beside(file, "-new");
    // A log or a journal that an earlier run left behind would be taken for this one's.
    for (const char* stale : {"-new", "-wal", "-shm", "-journal"}) fs::remove(beside(file, stale));
    try {
        Database database(unfinished, OpenMode::create);
        database.execute("PRAGMA journal_mode = MEMORY");
        Transaction transaction(database, Transaction::Kind::write);
        run_tables::create(database);
        run_tables::Written written;
        write_identity(database, identity, written);
        write_creation(database);
        transaction.commit();
    } catch (...) {
        // On a full disk what is half done takes up room that is needed.
        std::error_code ignored;
        fs::remove(unfinished, ignored);
        throw;
    }
    fs::rename(unfinished, file);
}

/// What the file system reports, as SQLite would.
sqlite::Error as_error(const std::error_code& failure) {
    return {SQLITE_IOERR, failure.message(), failure.value()};
}

}  // namespace

struct RunStore::Connection {
    fs::path folder;
    std::optional<Identity> identity;
    std::vector<std::int64_t> mark;            // of the identity, for readers
    std::optional<FolderLock> lock;            // of the writer; outlives its database
    mutable std::optional<Database> database;  // the writer's; readers take an image for each call
    run_tables::Written written;               // what the writer has put into it
    bool shared = false;                       // others write, too

    fs::path file() const { return file_in(folder); }

    void open_to_write() {
        require_run(file(), no_run_reason(file()));
        database.emplace(file(), OpenMode::write);
        check_format(*database, file());
        if (database->read_only()) throw sqlite::Error(SQLITE_READONLY, "it may only be read");
        // NORMAL survives a killed process; a power failure may cost the last checkpoints of a simulation,
        // which can be run again.
        database->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
        if (run_tables::pragma(*database, "user_version") >= run_tables::format) return;
        Transaction transaction(*database, Transaction::Kind::write);
        bring_up_to_date(*database);
        transaction.commit();
    }

    void read_identity_first(const SharedFeatures& at_hand) {
        reading(file(), [&] {
            if (database) {
                identity = read_identity(*database, at_hand);
            } else {
                const Database image = open_to_read(file());
                mark = mark_of(image);
                identity = read_identity(image, at_hand);
            }
        });
    }

    /// Calls `action` with a database that shows one state of the run.
    template <class Read>
    auto read(const Read& action) const {
        return reading(file(), [&] {
            if (database && shared) {
                // Others write between two statements.
                const Transaction one_state(*database, Transaction::Kind::read);
                return action(*database);
            }
            if (database) return action(*database);
            const Database image = open_to_read(file());
            if (mark_of(image) != mark)
                throw RunRefused(RunFault::replaced,
                                 fmt::format("{}: another run was put in the place of this one while it was "
                                             "read; start again",
                                             printable(folder.native())));
            return action(image);
        });
    }

    void write(const RunCheckpoint& checkpoint, const RunResult* result,
               const std::function<void(Database&)>& more = {}) {
        const Counts& counts = checkpoint.counts;
        const Problem& problem = identity->problem;
        expects(counts.shape() == problem.shape() &&
                    counts.successors().entries() == problem.successors().entries(),
                "{}: the counts to be saved are of another problem than the run", printable(folder.native()));
        // What was computed from features that changed meanwhile is of no problem. Episodes that come with it
        // are stored all the same: they happened.
        if ((result != nullptr || !more) && !problem.is_linear()) problem.features().check_unchanged();
        in_transaction([&] {
            if (more) more(*database);
            // What others have written meanwhile is not known.
            if (shared) written.clear();
            // An older result must not begin to mean what is counted now.
            const auto kept = result == nullptr ? evidence_by_reference(*database, *identity) : std::nullopt;
            write_checkpoint(*database, checkpoint, written);
            if (result != nullptr) write_result(*database, *result, checkpoint, written);
            if (kept) keep_evidence(*database, *kept, checkpoint, written);
        });
    }

    /// All that `work` writes, or nothing.
    template <class Work>
    void in_transaction(const Work& work) {
        expects(database.has_value(), "{}: the run was opened to read; open it to write before saving",
                printable(folder.native()));
        try {
            Transaction transaction(*database, Transaction::Kind::write);
            work();
            transaction.commit();
        } catch (const sqlite::Error& error) {
            written.clear();
            refuse_writing(file(), with_reason(file(), error), true);
        } catch (...) {
            written.clear();
            throw;
        }
    }
};

RunStore RunStore::create(const fs::path& folder, const Problem& problem, const std::string& source,
                          const RunOptions& options) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure == std::errc::no_space_on_device) refuse_writing(file_in(folder), as_error(failure), false);
    expects(!failure, "{}: the run's folder cannot be made: {}; choose another folder",
            printable(folder.native()), failure.message());
    auto connection = std::make_unique<Connection>();
    connection->folder = folder;
    connection->lock.emplace(folder);
    if (exists(folder))
        throw RunRefused(
            RunFault::taken,
            fmt::format("{}: the folder holds a run already; choose another folder, or remove the run first",
                        printable(folder.native())));
    connection->identity.emplace(Identity{problem, alidade::problem_hash(problem), source, options});
    try {
        write_new(connection->file(), *connection->identity);
        connection->open_to_write();
    } catch (const sqlite::Error& error) {
        refuse_writing(connection->file(), with_reason(connection->file(), error), false);
    } catch (const fs::filesystem_error& error) {
        refuse_writing(connection->file(), as_error(error.code()), false);
    }
    return RunStore(std::move(connection));
}

RunStore RunStore::open(const fs::path& folder, Access access, std::chrono::milliseconds patience,
                        const SharedFeatures& at_hand) {
    check_file(folder);
    auto connection = std::make_unique<Connection>();
    connection->folder = folder;
    if (access != Access::read) {
        connection->shared = access == Access::share;
        if (connection->shared)
            connection->lock.emplace(folder, FolderLock::Kind::shared, patience);
        else
            connection->lock.emplace(folder);
        try {
            connection->open_to_write();
            if (connection->shared) connection->database->wait_for_others(patience);
        } catch (const sqlite::Error& error) {
            refuse_reading(connection->file(), with_reason(connection->file(), error));
        }
    }
    connection->read_identity_first(at_hand);
    return RunStore(std::move(connection));
}

bool RunStore::exists(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(file_in(folder), ignored);
}

bool RunStore::is_run(const fs::path& folder) {
    std::error_code ignored;
    const fs::path file = file_in(folder);
    return fs::is_regular_file(file, ignored) && reading(file, [&] { return no_run_reason(file).empty(); });
}

void RunStore::remove(const fs::path& folder) {
    if (!exists(folder)) return;
    const FolderLock lock(folder);
    const fs::path file = file_in(folder);
    check_file(folder);
    reading(file, [&] { require_run(file, no_run_reason(file)); });
    // The database goes first: without it the others mean nothing, the other way round they may be missed.
    std::error_code failure;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
        fs::remove(beside(file, suffix), failure);
        if (failure)
            throw RunRefused(RunFault::forbidden,
                             fmt::format("{}{}: cannot be removed: {}", printable(file.native()), suffix,
                                         failure.message()));
    }
}

RunStore::RunStore(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

const fs::path& RunStore::folder() const noexcept {
    return connection_->folder;
}

const Problem& RunStore::problem() const noexcept {
    return connection_->identity->problem;
}

const std::string& RunStore::problem_hash() const noexcept {
    return connection_->identity->hash;
}

const std::string& RunStore::source() const noexcept {
    return connection_->identity->source;
}

const RunOptions& RunStore::options() const noexcept {
    return connection_->identity->options;
}

void RunStore::save(const RunCheckpoint& checkpoint) {
    connection_->write(checkpoint, nullptr);
}

void RunStore::save(const RunCheckpoint& checkpoint, const RunResult& result) {
    connection_->write(checkpoint, &result);
}

void RunStore::save(const RunCheckpoint& checkpoint, const RunResult* result,
                    const std::function<void(Database&)>& more) {
    connection_->write(checkpoint, result, more);
}

void RunStore::transact(const std::function<void(Database&)>& work) {
    connection_->in_transaction([&] { work(*connection_->database); });
}

void RunStore::inspect(const std::function<void(const Database&)>& work) const {
    connection_->read([&](const Database& database) { work(database); });
}

std::optional<RunCheckpoint> RunStore::checkpoint_in(const Database& database) const {
    return read_checkpoint(database, *connection_->identity);
}

std::optional<RunResult> RunStore::result_in(const Database& database) const {
    return read_result(database, *connection_->identity);
}

void RunStore::synchronise() {
    connection_->database->execute("PRAGMA synchronous = FULL");
}

bool RunStore::writable() const noexcept {
    return connection_->database.has_value();
}

void RunStore::note(const RunContradiction& found) {
    connection_->in_transaction([&] { write_contradiction(*connection_->database, found); });
}

void RunStore::keep(std::span<const KeptPlan> plans) {
    for (const KeptPlan& plan : plans) require_keepable(plan, problem().shape());
    connection_->in_transaction([&] {
        Database& database = *connection_->database;
        std::vector<KeptPlan> kept = read_kept_plans(database, problem().shape());
        for (const KeptPlan& plan : plans) {
            std::erase_if(kept, [&](const KeptPlan& other) { return other.name == plan.name; });
            kept.push_back(plan);
        }
        write_kept_plans(database, kept);
    });
}

std::vector<KeptPlan> RunStore::kept_plans() const {
    return connection_->read(
        [&](const Database& database) { return read_kept_plans(database, problem().shape()); });
}

std::optional<RunCheckpoint> RunStore::checkpoint() const {
    return connection_->read(
        [&](const Database& database) { return read_checkpoint(database, *connection_->identity); });
}

std::optional<RunResult> RunStore::result() const {
    return connection_->read(
        [&](const Database& database) { return read_result(database, *connection_->identity); });
}

}  // namespace alidade::detail
