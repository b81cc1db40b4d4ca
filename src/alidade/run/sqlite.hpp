#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace alidade::detail::sqlite {

/// What SQLite reports, in printable characters. The run store turns it into a message that names the folder.
class Error : public std::runtime_error {
public:
    Error(int code, const std::string& message, int system = 0)
        : std::runtime_error(message), code_(code), system_(system) {}
    /// SQLite's primary result code.
    int code() const noexcept { return code_; }
    /// The system's reason (errno) if it failed to open, read or write a file; 0 if none is known.
    int system() const noexcept { return system_; }

private:
    int code_;
    int system_;
};

enum class OpenMode {
    create,  ///< reads and writes, makes the file
    write,   ///< reads and writes a file that exists
};

/// One connection.
class Database {
public:
    Database(const std::filesystem::path& file, OpenMode mode);
    /// Reads the bytes of a database; no file takes part.
    explicit Database(std::vector<std::byte> image);

    /// Runs statements that give no rows of interest.
    void execute(const std::string& statements);
    bool read_only() const;
    /// Waits so long for another connection's transaction before SQLITE_BUSY is thrown.
    void wait_for_others(std::chrono::milliseconds patience);
    /// Rows that the last statement changed.
    std::int64_t changes() const;
    sqlite3* handle() const noexcept { return handle_.get(); }
    /// Throws what the connection says about `code`.
    [[noreturn]] void fail(int code) const;

private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    void distrust();

    std::vector<std::byte> image_;  // outlives the connection that reads it
    std::unique_ptr<sqlite3, Close> handle_;
};

enum class ValueType { integer, real, text, blob, null };

/// A prepared statement. Bound texts and blobs must live until step().
class Statement {
public:
    Statement(const Database& database, std::string_view text);

    /// Parameters count from 1.
    void bind(int parameter, std::int64_t value);
    void bind(int parameter, double value);
    void bind(int parameter, std::string_view value);
    void bind(int parameter, std::span<const std::byte> value);
    void bind_null(int parameter);
    /// Whether there is a (further) row.
    bool step();
    /// One step that gives no row, then ready for the next values.
    void run();

    /// Columns count from 0; views live until the next step.
    ValueType type(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string_view text(int column) const;
    std::span<const std::byte> blob(int column) const;

private:
    void check(int code) const;

    struct Finalize {
        void operator()(sqlite3_stmt* handle) const;
    };
    const Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// All or nothing: rolled back unless committed.
class Transaction {
public:
    enum class Kind { read, write };
    Transaction(Database& database, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    Database& database_;
    bool open_ = true;
};

}  // namespace alidade::detail::sqlite
