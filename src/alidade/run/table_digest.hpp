#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "digest.hpp"
#include "sqlite.hpp"

namespace alidade::detail::run_tables {

/// Throws sqlite::Error (SQLITE_CORRUPT).
[[noreturn]] void damaged(const std::string& table, std::string_view why);

/// A digest over the rows of a table, which is left beside them and compared when they are read.
class TableDigest {
public:
    template <class... Words>
    void add_row(const Words&... words) {
        (digest_.add(words), ...);
        ++rows_;
    }
    /// The words of a row one by one.
    template <class Word>
    void add(const Word& word) {
        digest_.add(word);
    }
    void end_row() { ++rows_; }

    /// Leaves the digest of what was written.
    void write(sqlite::Database& database, const std::string& table) const;
    /// Throws sqlite::Error (SQLITE_CORRUPT) unless what was read is what was written.
    void check(const sqlite::Database& database, const std::string& table) const;

private:
    Digest digest_;
    std::int64_t rows_ = 0;
};

}  // namespace alidade::detail::run_tables
