#include "prism_parts.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <map>

#include "../files/line_reader.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

// Rewards are kept for every structure, state and choice, whatever the files leave out.
constexpr std::size_t most_prism_rewards = 256;

/// Which label a name stands for; -1 for the initial states.
using LabelNumbers = std::map<std::string, std::int32_t, std::less<>>;

std::int32_t add_label(std::string_view name, ExplicitHeader& header, LabelNumbers& numbers,
                       const LineReader& lines) {
    const bool initial = name == "init";
    const auto number = initial ? -1 : static_cast<std::int32_t>(header.labels.size());
    lines.check(numbers.emplace(name, number).second, "label \"{}\" is declared twice", name);
    if (!initial) header.labels.emplace_back(name);
    return number;
}

/// 0="init" 1="deadlock" 2="goal"
std::vector<std::int32_t> numbered_labels(LineReader& lines, ExplicitHeader& header) {
    LabelNumbers names;
    std::vector<std::int32_t> labels;
    std::string_view text = lines.rest();
    while (!text.empty()) {
        const std::string start = fmt::format("{}=\"", labels.size());
        const auto end = text.starts_with(start) ? text.find('"', start.size()) : std::string_view::npos;
        lines.check(end != std::string_view::npos && end > start.size(),
                    "{} is not a label; label {} is declared as {}=\"name\"", LineReader::shown(text),
                    labels.size(), labels.size());
        labels.push_back(add_label(text.substr(start.size(), end - start.size()), header, names, lines));
        text.remove_prefix(end + 1);
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    }
    return labels;
}

/// Names between #DECLARATION and #END.
LabelNumbers declared_labels(LineReader& lines, ExplicitHeader& header) {
    LabelNumbers names;
    for (;;) {
        lines.check(lines.next(), "#END is missing after #DECLARATION");
        if (lines.rest() == "#END") return names;
        while (lines.more()) add_label(lines.word("a label"), header, names, lines);
    }
}

void mark(std::int64_t state, std::int32_t label, ExplicitModel& model) {
    if (label < 0)
        model.header.initial_states.push_back(state);
    else
        model.states[at(state)].labels.push_back(label);
}

template <class T>
void make_ascending(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// "# Reward structure "r"": the name, or nothing.
std::string_view structure_name(std::string_view comment) {
    constexpr std::string_view start = "# Reward structure \"";
    if (!comment.starts_with(start) || !comment.ends_with('"') || comment.size() < start.size() + 1)
        return {};
    return comment.substr(start.size(), comment.size() - start.size() - 1);
}

/// Skips comments and, in PRISM's dialect, the line of `sizes` numbers. Returns false where nothing follows.
/// The name of the structure goes to `found`.
bool skip_header(LineReader& lines, std::size_t sizes, std::string& found) {
    while (lines.next()) {
        if (lines.rest().starts_with('#')) {
            if (const std::string_view given = structure_name(lines.rest()); !given.empty()) found = given;
            continue;
        }
        if (sizes == 0) return true;
        for (std::size_t i = 0; i < sizes; ++i) lines.integer("a size", prism_largest);
        lines.end();
        return lines.next();
    }
    return false;
}

}  // namespace

void check_prism_states(std::string_view text, std::string_view name, Index states) {
    LineReader lines(text, fmt::format("{}.sta", name));
    lines.check(lines.next() && lines.rest().starts_with('(') && lines.rest().ends_with(')'),
                "the first line must be the variables, (x,y,...)");
    Index count = 0;
    while (lines.next()) {
        const std::string start = fmt::format("{}:(", count);
        lines.check(lines.rest().starts_with(start) && lines.rest().ends_with(')'),
                    "{} is not state {}, which is written {}value,...)", LineReader::shown(lines.rest()),
                    count, start);
        ++count;
    }
    lines.check(count == states, "there are {} states; the transitions have {}", count, states);
}

void read_prism_labels(std::string_view text, std::string_view name, ExplicitModel& model) {
    LineReader lines(text, fmt::format("{}.lab", name));
    lines.check(lines.next(), "there is no line that declares labels");
    const bool declared = lines.rest() == "#DECLARATION";
    LabelNumbers names;
    std::vector<std::int32_t> numbers;
    if (declared)
        names = declared_labels(lines, model.header);
    else
        numbers = numbered_labels(lines, model.header);
    while (lines.next()) {
        std::string_view rest = lines.rest();
        const auto end = declared ? std::min(rest.find_first_of(" \t"), rest.size()) : rest.find(':');
        lines.check(end != std::string_view::npos, "the line must be 'state: label label ...'");
        const std::string where = lines.place();
        LineReader first(rest.substr(0, end), where);
        LineReader others(rest.substr(std::min(end + 1, rest.size())), where);
        lines.check(first.next(), "there is no state before the colon");
        const std::int64_t state = first.integer("the state", model.header.states - 1);
        first.end();
        if (!others.next()) continue;
        while (others.more()) {
            if (declared) {
                const std::string_view label = others.word("a label");
                const auto found = names.find(label);
                lines.check(found != names.end(), "label {} was not declared", LineReader::shown(label));
                mark(state, found->second, model);
            } else {
                const auto last = static_cast<std::int64_t>(numbers.size()) - 1;
                mark(state, numbers[at(others.integer("a label", last))], model);
            }
        }
    }
    make_ascending(model.header.initial_states);
    for (ExplicitState& row : model.states) make_ascending(row.labels);
}

namespace {

void read_state_rewards(std::string_view text, const std::string& file, std::size_t reward,
                        const PrismLayout& layout, std::string& found, ExplicitModel& model) {
    LineReader lines(text, file);
    for (bool more = skip_header(lines, layout.sized ? 2 : 0, found); more; more = lines.next()) {
        const std::int64_t state = lines.integer("the state", model.header.states - 1);
        model.states[at(state)].state_rewards[reward] = lines.number("the reward");
        lines.end();
    }
}

void read_transition_rewards(std::string_view text, const std::string& file, std::size_t reward,
                             const PrismLayout& layout, std::string& found, ExplicitModel& model) {
    LineReader lines(text, file);
    std::vector<std::size_t> first{0};
    for (const ExplicitState& row : model.states) first.push_back(first.back() + row.targets.size());
    std::vector<double> rewards(first.back(), 0.0);
    for (bool more = skip_header(lines, layout.sized ? 2 + (layout.choices ? 1 : 0) : 0, found); more;
         more = lines.next()) {
        const std::int64_t state = lines.integer("the state", model.header.states - 1);
        const ExplicitState& row = model.states[at(state)];
        const std::int64_t choice = layout.choices ? lines.integer("the choice", row.choices() - 1) : 0;
        const std::int64_t target = lines.integer("the next state", model.header.states - 1);
        const auto begin = row.targets.begin() + row.offsets[at(choice)],
                   end = row.targets.begin() + row.offsets[at(choice + 1)];
        const auto branch = std::lower_bound(begin, end, target);
        lines.check(branch != end && *branch == target, "choice {} of state {} does not lead to state {}",
                    choice, state, target);
        rewards[first[at(state)] + at(branch - row.targets.begin())] = lines.number("the reward");
        lines.end();
    }
    const std::size_t structures = model.header.rewards.size();
    for (std::size_t s = 0; s < model.states.size(); ++s) {
        ExplicitState& row = model.states[s];
        for (Index c = 0; c < row.choices(); ++c) {
            const auto from = rewards.begin() + static_cast<std::ptrdiff_t>(first[s]) + row.offsets[at(c)],
                       to = rewards.begin() + static_cast<std::ptrdiff_t>(first[s]) + row.offsets[at(c + 1)];
            expects(std::all_of(from, to, [&](double r) { return r == *from; }),
                    "{}: the reward differs between the transitions of state {}, choice {}; only rewards of "
                    "states and choices are read",
                    file, s, c);
            row.choice_rewards[at(c) * structures + reward] = *from;
        }
    }
}

}  // namespace

void read_prism_rewards(const PrismTexts& texts, std::string_view name, const PrismLayout& layout,
                        ExplicitModel& model) {
    const std::size_t structures = texts.state_rewards.size();
    expects(structures <= most_prism_rewards, "{}: there are {} reward structures; at most {} are read", name,
            structures, most_prism_rewards);
    for (std::size_t r = 0; r < structures; ++r)
        model.header.rewards.push_back(structures == 1 ? "reward" : fmt::format("reward{}", r + 1));
    for (ExplicitState& row : model.states) {
        row.state_rewards.assign(structures, 0.0);
        row.choice_rewards.assign(at(row.choices()) * structures, 0.0);
    }
    for (std::size_t r = 0; r < structures; ++r) {
        const std::string stem = structures == 1 ? std::string(name) : fmt::format("{}{}", name, r + 1);
        std::string found;
        if (texts.state_rewards[r])
            read_state_rewards(*texts.state_rewards[r], stem + ".srew", r, layout, found, model);
        if (texts.transition_rewards[r])
            read_transition_rewards(*texts.transition_rewards[r], stem + ".trew", r, layout, found, model);
        if (!found.empty()) model.header.rewards[r] = found;
    }
}

}  // namespace alidade::detail
