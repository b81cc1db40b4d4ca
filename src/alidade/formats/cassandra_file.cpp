#include "cassandra_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <set>

#include "../files/pending_file.hpp"
#include "alidade/error.hpp"
#include "identifier_names.hpp"

namespace alidade::detail {
namespace {

/// The shortest number that reads back as the same double, with a digit on both sides of a point: the
/// format's grammar has no "1e-05".
std::string with_point(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find('.') != std::string::npos) return text;
    const auto exponent = std::min(text.find('e'), text.size());
    return text.insert(exponent, ".0");
}

/// Words of the grammar, which no action may be called.
bool is_reserved(const std::string& name) {
    static const std::set<std::string> words{
        "discount", "values",  "states",  "actions", "observations", "T",     "O",      "R",
        "start",    "include", "exclude", "uniform", "identity",     "reset", "reward", "cost"};
    return words.contains(name);
}

/// Which choice each action is in each state.
struct ActionPlan {
    bool by_name = true;
    Index actions = 0;
    std::vector<std::string> names;
};

ActionPlan plan_actions(const ExplicitRows& rows) {
    ActionPlan plan;
    Index most = 0;
    ExplicitState row;
    for (Index state = 0; state < rows.header().states; ++state) {
        rows.read(state, row);
        most = std::max(most, row.choices());
        if (!plan.by_name) continue;
        std::sort(row.actions.begin(), row.actions.end());
        plan.by_name = row.actions.front() >= 0 &&
                       std::adjacent_find(row.actions.begin(), row.actions.end()) == row.actions.end();
    }
    if (plan.by_name) {
        plan.names = identifier_names(rows.header().actions);
        for (std::string& name : plan.names)
            while (is_reserved(name)) name += '_';
    } else {
        for (Index a = 0; a < most; ++a) plan.names.push_back(fmt::format("a{}", a));
    }
    plan.actions = static_cast<Index>(plan.names.size());
    return plan;
}

std::size_t reward_position(const ExplicitHeader& header, const std::string& name, const std::string& path) {
    if (header.rewards.empty() && name.empty()) return 0;
    if (header.rewards.size() == 1 && name.empty()) return 0;
    const auto found = std::find(header.rewards.begin(), header.rewards.end(), name);
    expects(found != header.rewards.end(),
            "{}: the format keeps one reward, and '{}' is not one of the model's: {}", path, name,
            fmt::join(header.rewards, ", "));
    return static_cast<std::size_t>(found - header.rewards.begin());
}

void write_preamble(PendingText& file, const ExplicitHeader& header, const ActionPlan& plan,
                    const CassandraOptions& options) {
    file.buffer() += fmt::format("discount: {}\nvalues: reward\nstates: {}\nactions: {}\n",
                                 with_point(options.discount), header.states, fmt::join(plan.names, " "));
    if (options.observations) file.buffer() += fmt::format("observations: {}\n", header.states);
    // Readers take "start: 0" for a probability, and not all know "start include:".
    const std::string share = with_point(1.0 / static_cast<double>(header.initial_states.size()));
    std::vector<bool> initial(at(header.states), false);
    for (const auto state : header.initial_states) initial[at(state)] = true;
    file.buffer() += "start:";
    for (Index state = 0; state < header.states; ++state) {
        file.buffer() += initial[at(state)] ? " " + share : " 0.0";
        file.relieve();
    }
    file.buffer() += '\n';
    // The grammar has "identity" for transitions alone.
    for (Index state = 0; options.observations && state < header.states; ++state) {
        fmt::format_to(std::back_inserter(file.buffer()), "O: * : {} : {} 1.0\n", state, state);
        file.relieve();
    }
}

void write_choice(std::string& text, const ExplicitState& row, Index state, Index choice,
                  const std::string& action, double reward, bool observations) {
    auto out = std::back_inserter(text);
    for (auto b = row.offsets[at(choice)]; b < row.offsets[at(choice + 1)]; ++b)
        fmt::format_to(out, "T: {} : {} : {} {}\n", action, state, row.targets[at(b)],
                       with_point(row.lower[at(b)]));
    if (reward != 0)
        fmt::format_to(out, "R: {} : {} : *{} {}\n", action, state, observations ? " : *" : "",
                       with_point(reward));
}

}  // namespace

void write_cassandra(const std::filesystem::path& path, const ExplicitRows& rows,
                     const CassandraOptions& options) {
    const ExplicitHeader& header = rows.header();
    expects(header.kind == BranchKind::point,
            "{}: the format has neither intervals nor parameters; write the point view", path.string());
    expects(options.discount >= 0 && options.discount <= 1, "{}: the discount is {}; it must be from 0 to 1",
            path.string(), options.discount);
    const std::size_t reward = reward_position(header, options.reward, path.string());
    const ActionPlan plan = plan_actions(rows);
    PendingText file(path);
    write_preamble(file, header, plan, options);
    ExplicitState row;
    std::vector<Index> choice_of(at(plan.actions));
    for (Index state = 0; state < header.states; ++state) {
        rows.read(state, row);
        std::fill(choice_of.begin(), choice_of.end(), 0);
        for (Index c = 0; c < row.choices(); ++c)
            choice_of[plan.by_name ? at(row.actions[at(c)]) : at(c)] = c;
        for (std::size_t a = 0; a < choice_of.size(); ++a) {
            double earned = 0;
            if (!header.rewards.empty())
                earned = row.state_rewards[reward] +
                         row.choice_rewards[at(choice_of[a]) * header.rewards.size() + reward];
            write_choice(file.buffer(), row, state, choice_of[a], plan.names[a], earned,
                         options.observations);
        }
        file.relieve();
    }
    file.commit();
}

}  // namespace alidade::detail
