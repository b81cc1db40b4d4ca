#include "transition_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "text_file.hpp"

namespace alidade::detail {

namespace {

constexpr std::array<std::string_view, 5> column_names = {"episode", "step", "state", "action", "next_state"};
enum Column : std::size_t { episode_column, step_column, state_column, action_column, next_column };

std::optional<Index> digits(std::string_view text) {
    Index value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc() || last != end) return std::nullopt;
    return value;
}

std::string_view without_blanks(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The cells of a line. A cell between double quotes may hold commas, and a quote is written twice in it.
void split(std::string_view line, const std::string& place, std::vector<std::string>& cells) {
    cells.clear();
    line = without_blanks(line);
    while (true) {
        std::string cell;
        line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
        if (line.starts_with('"')) {
            std::size_t at = 1;
            for (;; ++at) {
                expects(at < line.size(), "{}: a quote is not closed on its line", place);
                if (line[at] != '"') {
                    cell += line[at];
                } else if (at + 1 < line.size() && line[at + 1] == '"') {
                    cell += line[at++];
                } else {
                    break;
                }
            }
            line.remove_prefix(at + 1);
            line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
            expects(line.empty() || line.starts_with(','), "{}: '{}' follows a closed quote; must be a comma",
                    place, line.substr(0, 20));
        } else {
            const std::size_t end = std::min(line.find(','), line.size());
            cell = without_blanks(line.substr(0, end));
            line.remove_prefix(end);
        }
        cells.push_back(std::move(cell));
        if (line.empty()) return;
        line.remove_prefix(1);
    }
}

/// Where each column is in a row.
class Columns {
public:
    Columns(const std::vector<std::string>& header, const std::string& wanted, const std::string& place) {
        std::array<std::string, column_names.size()> names;
        for (std::size_t i = 0; i < names.size(); ++i) names[i] = column_names[i];
        read_wanted(wanted, names);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto found = std::ranges::find(header, names[i]);
            expects(found != header.end(),
                    "{}: no column '{}' (there are: {}); name the columns of the file with --columns "
                    "{}=NAME,...",
                    place, names[i], fmt::join(header, ", "), column_names[i]);
            places_[i] = static_cast<std::size_t>(found - header.begin());
        }
        width_ = header.size();
    }

    std::string_view cell(const std::vector<std::string>& row, Column column) const {
        return row[places_[column]];
    }
    std::size_t width() const noexcept { return width_; }

private:
    static void read_wanted(std::string_view wanted, std::array<std::string, column_names.size()>& names) {
        while (!wanted.empty()) {
            const std::size_t end = std::min(wanted.find(','), wanted.size());
            const std::string_view part = wanted.substr(0, end);
            const std::size_t equals = std::min(part.find('='), part.size());
            const auto known = std::ranges::find(column_names, part.substr(0, equals));
            expects(known != column_names.end() && equals + 1 < part.size(),
                    "columns: '{}'; must be COLUMN=NAME with a column of {}", part,
                    fmt::join(column_names, ", "));
            names[static_cast<std::size_t>(known - column_names.begin())] = part.substr(equals + 1);
            wanted.remove_prefix(std::min(end + 1, wanted.size()));
        }
    }

    std::array<std::size_t, column_names.size()> places_{};
    std::size_t width_ = 0;
};

/// Puts rows together to episodes.
class Assembly {
public:
    Assembly(const std::string& file, const EpisodeFileOptions& options,
             const std::function<void(const LoggedEpisode&)>& each)
        : file_(file),
          shape_(options.shape),
          states_("state", options.state_names),
          actions_("action", options.action_names),
          each_(each) {}

    void add(const Columns& columns, const std::vector<std::string>& row, std::int64_t line) {
        const std::string_view name = columns.cell(row, episode_column);
        if (!name_ || *name_ != name) begin(name, line);
        const auto place = [&] { return fmt::format("{}:{}", file_, line); };
        const Index step = static_cast<Index>(episode_.actions.size());
        const std::optional<Index> said = digits(columns.cell(row, step_column));
        expects(said == step,
                "{}: step '{}' of episode '{}'; must be {}: the rows of an episode follow one another, step "
                "by step from 0",
                place(), columns.cell(row, step_column), name, step);
        expects(step < shape_.horizon, "{}: step {}; an episode has steps 0 to {}", place(), step,
                shape_.horizon - 1);
        expects(!ended_, "{}: a row after the end of episode '{}', which had no next state", place(), name);
        const Index state = states_.read(columns.cell(row, state_column), shape_.states, place());
        if (step == 0) episode_.states.push_back(state);
        expects(episode_.states.back() == state,
                "{}: state '{}', where the row before says that next came state {}", place(),
                columns.cell(row, state_column), episode_.states.back());
        take_action(columns, row, place());
    }

    void finish() {
        if (!name_) return;
        // What follows the last step is not recorded: no reward depends on it.
        if (static_cast<Index>(episode_.states.size()) > shape_.horizon) episode_.states.pop_back();
        try {
            each_(episode_);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}", first_place(), error.what()));
        } catch (const ModelContradiction& error) {
            throw ModelContradiction(fmt::format("{}: {}", first_place(), error.what()));
        }
        name_.reset();
    }

private:
    void begin(std::string_view name, std::int64_t line) {
        finish();
        name_ = std::string(name);
        line_ = line;
        episode_ = {};
        ended_ = false;
        const auto [place, is_new] = seen_.emplace(*name_, line);
        expects(is_new,
                "{}:{}: episode '{}' goes on here, after another one; it began on line {}: sort the rows by "
                "episode and step",
                file_, line, name, place->second);
    }

    void take_action(const Columns& columns, const std::vector<std::string>& row, const std::string& place) {
        const std::string_view action = columns.cell(row, action_column);
        const std::string_view next = columns.cell(row, next_column);
        ended_ = action.empty() || next.empty();
        expects(!action.empty() || next.empty(), "{}: a next state without an action", place);
        if (!action.empty()) episode_.actions.push_back(actions_.read(action, shape_.actions, place));
        if (!next.empty()) episode_.states.push_back(states_.read(next, shape_.states, place));
    }

    std::string first_place() const { return fmt::format("{}:{}", file_, line_); }

    const std::string& file_;
    Shape shape_;
    NameTable states_, actions_;
    const std::function<void(const LoggedEpisode&)>& each_;
    std::map<std::string, std::int64_t, std::less<>> seen_;  // episodes and their first lines
    std::optional<std::string> name_;
    std::int64_t line_ = 0;
    LoggedEpisode episode_;
    bool ended_ = false;
};

}  // namespace

NameTable::NameTable(std::string what, std::span<const std::string> names) : what_(std::move(what)) {
    for (std::size_t i = 0; i < names.size(); ++i) numbers_.emplace(names[i], static_cast<Index>(i));
}

Index NameTable::number(std::string_view name, std::string_view where) const {
    const auto place = numbers_.find(name);
    if (place != numbers_.end()) return place->second;
    std::vector<std::string> known;
    for (const auto& entry : numbers_) known.push_back(entry.first);
    throw InvalidArgument(
        fmt::format("{}: there is no {} '{}'{}; must be a name of the problem's, or a number", where, what_,
                    name.substr(0, 40), suggestion(std::string(name.substr(0, 40)), known)));
}

Index NameTable::read(std::string_view text, Index count, std::string_view where) const {
    const auto place = numbers_.find(text);
    if (place != numbers_.end()) return place->second;
    const std::optional<Index> value = digits(text);
    if (!value && !empty()) return number(text, where);
    expects(value && *value >= 0 && *value < count, "{}: {} is '{}'; must be an integer from 0 to {}", where,
            what_, text.substr(0, 40), count - 1);
    return *value;
}

void read_transition_table(std::istream& stream, const std::string& name, const EpisodeFileOptions& options,
                           const std::function<void(const LoggedEpisode&)>& each) {
    std::optional<Columns> columns;
    Assembly assembly(name, options, each);
    std::string line;
    std::vector<std::string> cells;
    for (std::int64_t number = 1; read_line(stream, line, name); ++number) {
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // as spreadsheets begin
        if (without_blanks(line).empty()) continue;
        const std::string place = fmt::format("{}:{}", name, number);
        split(line, place, cells);
        if (!columns) {
            columns.emplace(cells, options.columns, place);
            continue;
        }
        expects(cells.size() == columns->width(), "{}: {} cells; must be {}, as in the first line", place,
                cells.size(), columns->width());
        assembly.add(*columns, cells, number);
    }
    assembly.finish();
    expects(!stream.bad(), "{}: cannot be read to its end", name);
}

}  // namespace alidade::detail
