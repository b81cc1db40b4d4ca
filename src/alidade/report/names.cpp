#include "names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "alidade/spec/printable_text.hpp"

namespace alidade::report::detail {
namespace {

constexpr std::size_t longest_name = 60;

/// A column and a row, from "3,1"; nothing of another name.
std::optional<std::pair<Index, Index>> cell_of(const std::string& name) {
    const std::size_t comma = name.find(',');
    if (comma == std::string::npos) return std::nullopt;
    Index column = -1, row = -1;
    const char* const begin = name.data();
    const auto first = std::from_chars(begin, begin + comma, column);
    const auto second = std::from_chars(begin + comma + 1, begin + name.size(), row);
    if (first.ec != std::errc() || first.ptr != begin + comma || second.ec != std::errc() ||
        second.ptr != begin + name.size() || column < 0 || row < 0)
        return std::nullopt;
    return std::pair{column, row};
}

constexpr Index most_cells = 3600;

std::optional<CellGrid> grid_of(const Problem& problem) {
    const Index states = problem.shape().states;
    if (states > most_cells) return std::nullopt;
    CellGrid grid;
    std::set<std::pair<Index, Index>> cells;
    for (State s = 0; s < states; ++s) {
        const auto cell = cell_of(problem.state_name(s));
        if (!cell || !cells.insert(*cell).second) return std::nullopt;
        grid.column.push_back(cell->first);
        grid.row.push_back(cell->second);
        grid.columns = std::max(grid.columns, cell->first + 1);
        grid.rows = std::max(grid.rows, cell->second + 1);
    }
    // A grid that is mostly holes is no picture.
    if (grid.columns < 2 || grid.rows < 2 || 2 * states < grid.columns * grid.rows) return std::nullopt;
    return grid;
}

std::vector<std::string> arrows_of(const std::vector<std::string>& actions) {
    static const std::map<std::string, std::string, std::less<>> known{
        {"up", "↑"},    {"north", "↑"}, {"right", "→"}, {"east", "→"}, {"down", "↓"},
        {"south", "↓"}, {"left", "←"},  {"west", "←"},  {"stay", "•"}, {"wait", "•"}};
    std::vector<std::string> arrows;
    for (const std::string& action : actions) {
        const auto arrow = known.find(action);
        if (arrow == known.end()) return {};
        arrows.push_back(arrow->second);
    }
    return arrows;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t most) {
    std::size_t characters = 0, end = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;  // within a character
        if (++characters == most) end = i;
        if (characters > most) return std::string(text.substr(0, end)) + "…";
    }
    return std::string(text);
}

std::vector<std::string> distinct(std::vector<std::string> names) {
    std::map<std::string, int> seen;
    for (std::string& name : names) {
        const int copy = ++seen[name];
        if (copy > 1) name = fmt::format("{} ({})", name, copy);
    }
    return names;
}

namespace {

std::string shown_name(const std::string& name, Index number) {
    const std::string clean = printable(name);
    const std::string brief = shortened(clean, longest_name);
    if (brief.empty()) return fmt::format("#{}", number);
    return brief == clean ? clean : fmt::format("{} #{}", brief, number);
}

}  // namespace

std::string Names::state(State s) const {
    return shown_name(problem->state_name(s), s);
}

std::string Names::place(Step h, State s, Action a) const {
    return fmt::format("step {}, {}, {}", h, state(s), actions[static_cast<std::size_t>(a)]);
}

Names names_of(const Problem& problem) {
    Names names{.problem = &problem, .actions = {}, .bases = {}, .grid = grid_of(problem), .arrows = {}};
    std::vector<std::string> plain;
    for (Action a = 0; a < problem.shape().actions; ++a) {
        plain.push_back(problem.action_name(a));
        names.actions.push_back(shown_name(plain.back(), a));
    }
    names.actions = distinct(std::move(names.actions));
    names.arrows = arrows_of(plain);
    if (problem.is_linear()) return names;
    for (const std::string& base : problem.features().names())
        names.bases.push_back(shown_name(base, std::ssize(names.bases)));
    names.bases = distinct(std::move(names.bases));
    return names;
}

}  // namespace alidade::report::detail
