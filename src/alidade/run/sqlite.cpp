#include "sqlite.hpp"
#include "alidade/spec/printable_text.hpp"

#include <sqlite3.h>

#include <utility>

namespace alidade::detail::sqlite {
namespace {

constexpr int patience_ms = 5000;  // with another connection's short locks

constexpr std::size_t version_offset = 18;  // in a database's header: of the formats to write and to read
constexpr std::byte rollback_journal{1};

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

Database::Database(const std::filesystem::path& file, OpenMode mode) {
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0);
    // Absolute: names that begin with "file:" or ":" mean something else to SQLite.
    const int code = sqlite3_open_v2(std::filesystem::absolute(file).c_str(), &handle,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) fail(code);
    sqlite3_busy_timeout(handle, patience_ms);
    distrust();
}

Database::Database(std::vector<std::byte> image) : image_(std::move(image)) {
    // Without a file there is no log either; SQLite does not open a database that says it has one.
    for (std::size_t i = version_offset; i < version_offset + 2 && i < image_.size(); ++i)
        if (image_[i] == std::byte{2}) image_[i] = rollback_journal;
    sqlite3* handle = nullptr;
    int code = sqlite3_open_v2(":memory:", &handle,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) fail(code);
    const auto size = static_cast<sqlite3_int64>(image_.size());
    code = sqlite3_deserialize(handle, "main", reinterpret_cast<unsigned char*>(image_.data()), size, size,
                               SQLITE_DESERIALIZE_READONLY);
    if (code != SQLITE_OK) fail(code);
    distrust();
}

/// The file may be damaged or hostile: nothing in its schema is run, and cells are checked.
void Database::distrust() {
    sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    execute("PRAGMA cell_size_check = ON");
}

void Database::fail(int code) const {
    // SQLite quotes names from the file, which may be any bytes.
    const std::string message = printable(handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code));
    const int primary = code & 0xFF;
    const bool of_files = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
    throw Error(primary, message, of_files && handle_ ? sqlite3_system_errno(handle_.get()) : 0);
}

void Database::execute(const std::string& statements) {
    const int code = sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
}

bool Database::read_only() const {
    return sqlite3_db_readonly(handle_.get(), "main") != 0;
}

void Database::wait_for_others(std::chrono::milliseconds patience) {
    sqlite3_busy_timeout(handle_.get(), static_cast<int>(patience.count()));
}

std::int64_t Database::changes() const {
    return sqlite3_changes(handle_.get());
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
    sqlite3_finalize(handle);
}

Statement::Statement(const Database& database, std::string_view text) : database_(database) {
    sqlite3_stmt* handle = nullptr;
    const int code =
        sqlite3_prepare_v2(database.handle(), text.data(), static_cast<int>(text.size()), &handle, nullptr);
    handle_.reset(handle);
    check(code);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind(int parameter, std::int64_t value) {
    check(sqlite3_bind_int64(handle_.get(), parameter, value));
}

void Statement::bind(int parameter, double value) {
    check(sqlite3_bind_double(handle_.get(), parameter, value));
}

void Statement::bind(int parameter, std::string_view value) {
    // A null pointer would be stored as NULL, not as an empty text.
    const char* const data = value.empty() ? "" : value.data();
    check(sqlite3_bind_text64(handle_.get(), parameter, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int parameter, std::span<const std::byte> value) {
    if (value.empty())
        check(sqlite3_bind_zeroblob(handle_.get(), parameter, 0));
    else
        check(sqlite3_bind_blob64(handle_.get(), parameter, value.data(), value.size(), SQLITE_STATIC));
}

void Statement::bind_null(int parameter) {
    check(sqlite3_bind_null(handle_.get(), parameter));
}

bool Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail(code);
    return code == SQLITE_ROW;
}

void Statement::run() {
    step();
    check(sqlite3_reset(handle_.get()));
}

ValueType Statement::type(int column) const {
    switch (sqlite3_column_type(handle_.get(), column)) {
        case SQLITE_INTEGER:
            return ValueType::integer;
        case SQLITE_FLOAT:
            return ValueType::real;
        case SQLITE_TEXT:
            return ValueType::text;
        case SQLITE_BLOB:
            return ValueType::blob;
        default:
            return ValueType::null;
    }
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(handle_.get(), column);
}

std::string_view Statement::text(int column) const {
    const std::span<const std::byte> bytes = blob(column);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> Statement::blob(int column) const {
    const void* const data = sqlite3_column_blob(handle_.get(), column);
    const int size = sqlite3_column_bytes(handle_.get(), column);
    // SQLite also returns a null pointer when memory runs out.
    if (data == nullptr && sqlite3_errcode(database_.handle()) == SQLITE_NOMEM) database_.fail(SQLITE_NOMEM);
    if (data == nullptr) return {};
    return {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
    database_.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    // Some errors have rolled back already; then there is nothing left to do.
    if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    database_.execute("COMMIT");
    open_ = false;
}

}  // namespace alidade::detail::sqlite
