#pragma once

#include <stdexcept>

namespace alidade::detail {

/// A check inside toml++ that a malformed file has failed.
struct TomlAssertion : std::logic_error {
    using std::logic_error::logic_error;
};
constexpr void check_toml(bool ok, const char* what) {
    if (!ok) throw TomlAssertion(what);
}

}  // namespace alidade::detail

// The parser from the headers, not from the shared library, whose checks are fixed.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
// toml++ 3.3 asserts that a table's name follows `[`, which a file may violate (found by fuzzing): it would
// abort, and with NDEBUG the compiler may assume that it cannot happen. Its checks throw instead, always.
#ifdef NDEBUG
#define ALIDADE_NDEBUG
#undef NDEBUG
#endif
#define TOML_ASSERT(condition) ::alidade::detail::check_toml(static_cast<bool>(condition), #condition)
#include <toml++/toml.h>
#ifdef ALIDADE_NDEBUG
#define NDEBUG
#undef ALIDADE_NDEBUG
#endif

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace alidade::detail {

/// Parses a TOML file. Throws InvalidArgument with path, line and column.
toml::table read_toml(const std::filesystem::path& path);
/// The same from text; `file` is what messages call it.
toml::table parse_toml(std::string_view text, const std::string& file);

/// One table of a TOML file, read key by key; every message starts with file and line. The table must
/// outlive the section.
class TomlSection {
public:
    /// `title` is how messages call the table: "[problem]"; empty for the whole file.
    TomlSection(const toml::table& table, std::string file, std::string title)
        : table_(table), file_(std::move(file)), title_(std::move(title)) {}

    /// Throws InvalidArgument naming the first key that is not among `known`.
    void allow_only(std::initializer_list<std::string_view> known) const;
    bool has(std::string_view key) const { return table_.contains(key); }
    /// "problem.toml:3: [problem] horizon", for messages about the value of a key.
    std::string where(std::string_view key) const;
    /// "problem.toml:1: [problem]"; for messages about the table.
    std::string where() const;

    std::string text(std::string_view key) const;
    std::int64_t integer(std::string_view key, std::int64_t smallest, std::int64_t largest) const;
    /// A finite number; integers are taken too.
    double real(std::string_view key) const;
    bool boolean(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key) const;
    const toml::array& array(std::string_view key) const;
    /// A table of this one: "[key]".
    TomlSection section(std::string_view key) const;
    /// The tables of "[[key]]"; none if the key is absent.
    std::vector<TomlSection> sections(std::string_view key) const;

private:
    const toml::node& required(std::string_view key) const;

    const toml::table& table_;
    std::string file_;
    std::string title_;
};

/// A number that may be written as an integer. Throws InvalidArgument, starting with `where`, otherwise.
double toml_number(const toml::node& node, std::string_view where);

}  // namespace alidade::detail
