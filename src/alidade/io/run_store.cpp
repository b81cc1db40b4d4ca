#include "alidade/io/run_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fstream>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/io/folder_lock.hpp"
#include "alidade/io/problem_hash.hpp"
#include "alidade/io/run_contents.hpp"
#include "alidade/io/run_tables.hpp"
#include "alidade/io/sqlite.hpp"

namespace alidade {
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

/// What is wrong with a file that SQLite or the tables refuse, and what to do.
[[noreturn]] void refuse(const fs::path& file, const sqlite::Error& error) {
    const std::string why = error.what();
    switch (error.code()) {
        case SQLITE_NOTADB:
            throw InvalidArgument(
                fmt::format("{}: not a run: it is not an SQLite database, or its first page is damaged ({}); "
                            "restore it from a copy or explore again into another folder",
                            file.string(), why));
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw InvalidArgument(
                fmt::format("{}: another process is using this run ({}); wait until it ends or stop it",
                            file.string(), why));
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_READONLY:
        case SQLITE_AUTH:
            throw InvalidArgument(
                fmt::format("{}: the run cannot be opened ({}); check that you may read and write the file "
                            "and its folder",
                            file.string(), why));
        default:
            throw InvalidArgument(
                fmt::format("{}: the run is damaged ({}); restore it from a copy or explore again into "
                            "another folder",
                            file.string(), why));
    }
}

/// Makes messages of what `action` throws while reading name the file.
template <class Action>
auto reading(const fs::path& file, const Action& action) {
    try {
        return action();
    } catch (const sqlite::Error& error) {
        refuse(file, error);
    }
}

void check_file(const fs::path& folder) {
    std::error_code ignored;
    expects(fs::is_directory(folder, ignored),
            "{}: there is no such folder; a run is a folder that `explore` made", folder.string());
    expects(fs::is_regular_file(file_in(folder), ignored),
            "{}: no run.sqlite in this folder, so it does not hold a run; name a folder that `explore` made",
            folder.string());
}

void check_format(const Database& database, const fs::path& file) {
    const std::int64_t owner = run_tables::pragma(database, "application_id");
    expects(owner == run_tables::application_id,
            "{}: an SQLite database, but not a run (application id {}, a run's is {}); name a folder that "
            "`explore` made",
            file.string(), owner, run_tables::application_id);
    const std::int64_t format = run_tables::pragma(database, "user_version");
    expects(format == run_tables::format,
            "{}: the run has format {}, and this version of alidade reads format {}; use the version that "
            "wrote it, or explore again into another folder",
            file.string(), format, run_tables::format);
}

/// Whether the file is one that remove() may delete: SQLite's magic, and our id at offset 68.
bool is_run(const fs::path& file) {
    std::string header(72, '\0');
    std::ifstream(file, std::ios::binary).read(header.data(), 72);
    std::int64_t owner = 0;
    for (std::size_t i = 68; i < 72; ++i) owner = owner * 256 + static_cast<unsigned char>(header[i]);
    return header.starts_with("SQLite format 3") && owner == run_tables::application_id;
}

/// What tells whether somebody wrote while we read without a lock.
struct Trace {
    bool journal = false;  // a -wal file with something in it
    std::uintmax_t size = 0;
    fs::file_time_type written;

    explicit Trace(const fs::path& file) {
        std::error_code ignored;
        const std::uintmax_t wal = fs::file_size(beside(file, "-wal"), ignored);
        journal = !ignored && wal > 0;
        size = fs::file_size(file, ignored);
        written = fs::last_write_time(file, ignored);
    }
    bool operator==(const Trace&) const = default;
};

/// Reads one state of the run while others may write. Without a journal the file is all there is, and it
/// is read as it is, so that no -wal and -shm files appear; if it changed meanwhile, that is no state.
template <class Read>
auto read_snapshot(const fs::path& file, const Read& read) {
    constexpr int attempts = 20;
    for (int attempt = 1;; ++attempt) {
        const Trace before(file);
        const auto settled = [&] { return before.journal || attempt == attempts || Trace(file) == before; };
        try {
            Database database(file, before.journal ? OpenMode::read : OpenMode::frozen);
            const Transaction snapshot(database, Transaction::Kind::read);
            auto value = read(database);
            if (settled()) return value;
        } catch (const std::exception&) {
            if (settled()) throw;
        }
    }
}

/// Writes a whole run under another name first: a run that exists is complete.
void write_new(const fs::path& file, const Identity& identity) {
    const fs::path unfinished = beside(file, "-new");
    for (const char* stale : {"-new", "-wal", "-shm"}) fs::remove(beside(file, stale));
    {
        Database database(unfinished, OpenMode::create);
        database.execute("PRAGMA journal_mode = MEMORY");
        Transaction transaction(database, Transaction::Kind::write);
        run_tables::create(database);
        write_identity(database, identity);
        transaction.commit();
    }
    fs::rename(unfinished, file);
}

[[noreturn]] void cannot_write(const fs::path& file, const std::string& why) {
    throw std::runtime_error(
        fmt::format("{}: the run could not be saved ({}); what was saved before is intact: make room or mend "
                    "the permissions, and start it again to go on",
                    file.string(), why));
}

}  // namespace

struct RunStore::Connection {
    fs::path folder;
    std::optional<Identity> identity;
    std::optional<FolderLock> lock;    // of the writer; outlives its database
    std::optional<Database> database;  // the writer's; readers open one for each call

    fs::path file() const { return file_in(folder); }

    void open_to_write() {
        database.emplace(file(), OpenMode::write);
        check_format(*database, file());
        if (database->read_only()) throw sqlite::Error(SQLITE_READONLY, "it may only be read");
        // NORMAL survives a killed process; a power failure may cost the last checkpoints of a simulation,
        // which can be run again.
        database->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    }

    /// Calls `read` with a database that shows one state of the run.
    template <class Read>
    auto read(const Read& action) const {
        return reading(file(), [&] {
            if (!database) return read_snapshot(file(), action);
            return action(*database);
        });
    }

    void write(const RunCheckpoint& checkpoint, const RunResult* result) {
        expects(database.has_value(), "{}: the run was opened to read; open it to write before saving",
                folder.string());
        const Counts& counts = checkpoint.counts;
        const Problem& problem = identity->problem;
        expects(
            counts.shape() == problem.shape() && counts.features().entries() == problem.features().entries(),
            "{}: the counts to be saved are of another problem than the run", folder.string());
        try {
            Transaction transaction(*database, Transaction::Kind::write);
            write_checkpoint(*database, checkpoint);
            if (result != nullptr) write_result(*database, *result);
            transaction.commit();
        } catch (const sqlite::Error& error) {
            cannot_write(file(), error.what());
        }
    }
};

RunStore RunStore::create(const fs::path& folder, const Problem& problem, const std::string& source,
                          const RunOptions& options) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    expects(!failure, "{}: the run's folder cannot be made: {}; choose another folder", folder.string(),
            failure.message());
    auto connection = std::make_unique<Connection>();
    connection->folder = folder;
    connection->lock.emplace(folder);
    expects(!exists(folder),
            "{}: the folder holds a run already; choose another folder, or remove the run first",
            folder.string());
    connection->identity.emplace(Identity{problem, alidade::problem_hash(problem), source, options});
    try {
        write_new(connection->file(), *connection->identity);
        connection->open_to_write();
    } catch (const sqlite::Error& error) {
        cannot_write(connection->file(), error.what());
    } catch (const fs::filesystem_error& error) {
        cannot_write(connection->file(), error.code().message());
    }
    return RunStore(std::move(connection));
}

RunStore RunStore::open(const fs::path& folder, Access access) {
    check_file(folder);
    auto connection = std::make_unique<Connection>();
    connection->folder = folder;
    if (access == Access::write) {
        connection->lock.emplace(folder);
        reading(connection->file(), [&] { connection->open_to_write(); });
    }
    connection->identity = connection->read([&](const Database& database) {
        check_format(database, connection->file());
        return read_identity(database);
    });
    return RunStore(std::move(connection));
}

bool RunStore::exists(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(file_in(folder), ignored);
}

void RunStore::remove(const fs::path& folder) {
    if (!exists(folder)) return;
    const FolderLock lock(folder);
    const fs::path file = file_in(folder);
    expects(is_run(file), "{}: not a run, so it is not removed; if you do not need it, delete it by hand",
            file.string());
    // The database goes first: without it the others mean nothing, the other way round they may be missed.
    std::error_code failure;
    for (const char* suffix : {"", "-wal", "-shm"}) {
        fs::remove(beside(file, suffix), failure);
        expects(!failure, "{}{}: cannot be removed: {}", file.string(), suffix, failure.message());
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

std::optional<RunCheckpoint> RunStore::checkpoint() const {
    return connection_->read([&](const Database& database) { return read_checkpoint(database, problem()); });
}

std::optional<RunResult> RunStore::result() const {
    return connection_->read([](const Database& database) { return read_result(database); });
}

}  // namespace alidade
