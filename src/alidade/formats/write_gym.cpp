#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "../files/pending_file.hpp"
#include "alidade/error.hpp"
#include "gym_file.hpp"

namespace alidade::detail {
namespace {

bool stays_for_nothing(const ExplicitState& row, Index state) {
    const auto zero = [](double reward) { return reward == 0; };
    return std::ranges::all_of(row.targets, [&](std::int64_t target) { return target == state; }) &&
           std::ranges::all_of(row.state_rewards, zero) && std::ranges::all_of(row.choice_rewards, zero);
}

/// Of each state, whether an episode is over there.
std::vector<bool> ends_of(const ExplicitRows& rows) {
    const ExplicitHeader& header = rows.header();
    std::vector<bool> ends(static_cast<std::size_t>(header.states));
    const auto found = std::ranges::find(header.labels, "end");
    if (found == header.labels.end()) return ends;
    const auto label = static_cast<std::int32_t>(found - header.labels.begin());
    ExplicitState row;
    for (Index state = 0; state < header.states; ++state) {
        rows.read(state, row);
        ends[static_cast<std::size_t>(state)] =
            std::ranges::find(row.labels, label) != row.labels.end() && stays_for_nothing(row, state);
    }
    return ends;
}

void append_choice(std::string& out, const ExplicitState& row, std::size_t choice,
                   const std::vector<bool>& ends) {
    const double reward = row.state_rewards.empty() ? 0 : row.state_rewards[0] + row.choice_rewards[choice];
    fmt::format_to(std::back_inserter(out), "{}\"{}\": [", choice == 0 ? "" : ", ", choice);
    for (std::int64_t i = row.offsets[choice]; i < row.offsets[choice + 1]; ++i) {
        const auto branch = static_cast<std::size_t>(i);
        const std::int64_t target = row.targets[branch];
        fmt::format_to(std::back_inserter(out), "{}[{}, {}, {}, {}]", i == row.offsets[choice] ? "" : ", ",
                       row.lower[branch], target, reward, ends[static_cast<std::size_t>(target)]);
    }
    out += ']';
}

void append_start(PendingText& file, const ExplicitHeader& header) {
    std::string& out = file.buffer();
    const double share = 1 / static_cast<double>(header.initial_states.size());
    out += "},\n\"initial_state_distrib\": [";
    auto next = header.initial_states.begin();
    for (Index state = 0; state < header.states; ++state) {
        const bool initial = next != header.initial_states.end() && *next == state;
        if (initial) ++next;
        if (state > 0) out += ", ";
        fmt::format_to(std::back_inserter(out), "{}", initial ? share : 0);
        file.relieve();
    }
    out += "]}\n";
}

}  // namespace

void write_gym(const std::filesystem::path& path, const ExplicitRows& rows) {
    const ExplicitHeader& header = rows.header();
    expects(header.kind == BranchKind::point, "{}: a P dictionary holds one probability for each transition",
            path.string());
    expects(header.rewards.size() <= 1, "{}: a P dictionary holds one reward; there are {} ({})",
            path.string(), header.rewards.size(), fmt::join(header.rewards, ", "));
    PendingText file(path);
    const std::vector<bool> ends = ends_of(rows);
    std::string& out = file.buffer();
    out += "{\"P\": {";
    ExplicitState row;
    for (Index state = 0; state < header.states; ++state) {
        rows.read(state, row);
        fmt::format_to(std::back_inserter(out), "{}\"{}\": {{", state == 0 ? "\n" : ",\n", state);
        for (Index k = 0; k < row.choices(); ++k) append_choice(out, row, static_cast<std::size_t>(k), ends);
        out += '}';
        file.relieve();
    }
    append_start(file, header);
    file.commit();
}

}  // namespace alidade::detail
