#pragma once

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace alidade::detail {

/// Parses a JSON file. Throws InvalidArgument with path, line and column.
nlohmann::json read_json(const std::filesystem::path& path);

/// The same from text; `file` is what messages call it. Nesting deeper than 100 is refused: some of the
/// JSON library's functions call themselves level by level, and a hostile file could exhaust the stack.
nlohmann::json parse_json(std::string_view text, std::string_view file);

/// Throws InvalidArgument, starting with `file`, for what the JSON library refuses.
[[noreturn]] void refuse_json(const nlohmann::json::exception& problem, std::string_view file);

/// Throws InvalidArgument, starting with `file`, if `text` nests lists and objects more than 100 deep.
void check_nesting(std::string_view text, std::string_view file);

/// A value for messages, shortened.
std::string shown(const nlohmann::json& value);

/// Throws InvalidArgument unless `value` is an object with no other keys than `allowed`.
void check_object(const nlohmann::json& value, std::initializer_list<std::string_view> allowed,
                  std::string_view where);

/// The member `key`. Throws InvalidArgument if it is missing.
const nlohmann::json& member(const nlohmann::json& object, std::string_view key, std::string_view where);

/// A list. Throws InvalidArgument, starting with `where`, if it is something else.
const nlohmann::json& list(const nlohmann::json& value, std::string_view where);

/// An integer from 0 to last. Throws InvalidArgument, starting with `where`, otherwise.
std::int64_t position(const nlohmann::json& value, std::int64_t last, std::string_view where);

/// A finite number.
double number(const nlohmann::json& value, std::string_view where);

}  // namespace alidade::detail
