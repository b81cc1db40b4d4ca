#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "alidade/error.hpp"
#include "alidade/io/gym_file.hpp"
#include "alidade/io/json_file.hpp"
#include "alidade/io/text_file.hpp"

namespace alidade {
namespace {

using nlohmann::json;

struct Branch {
    double probability = 0;
    std::int64_t next = 0;
    double reward = 0;
    bool terminated = false;
};

/// branches[first .. last) of one choice.
struct Choice {
    std::size_t first = 0, last = 0;
};

/// The file, its branches of positive probability one after the other.
struct Dictionary {
    std::vector<Branch> branches;
    std::vector<std::vector<Choice>> states;
    std::vector<double> start;
};

/// A list, or a dictionary whose keys are "0", "1", ...; calls each(position, element) in that order.
template <class Each>
void for_each(const json& value, const std::string& place, const Each& each) {
    expects(value.is_array() || value.is_object(), "{}: is {}; must be a dictionary or a list", place,
            shown(value));
    expects(!value.empty(), "{}: is empty", place);
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value.is_array()) {
            each(i, value[i]);
            continue;
        }
        const auto found = value.find(std::to_string(i));
        expects(found != value.end(), "{}: has {} keys, but not \"{}\"; they must be 0, 1, 2, ...", place,
                value.size(), i);
        each(i, *found);
    }
}

Branch read_branch(const json& value, std::int64_t states, const std::string& place) {
    expects(value.is_array() && value.size() == 4,
            "{}: is {}; must be [probability, next state, reward, terminated]", place, shown(value));
    // Places are put into words only where something is wrong: there are many branches.
    const bool plain = value[0].is_number_float() && value[1].is_number_unsigned() && value[2].is_number() &&
                       value[3].is_boolean() && value[0].get<double>() >= 0 &&
                       value[1].get<std::uint64_t>() < static_cast<std::uint64_t>(states);
    if (plain)
        return {value[0].get<double>(), value[1].get<std::int64_t>(), value[2].get<double>(),
                value[3].get<bool>()};
    Branch branch;
    branch.probability = number(value[0], place + ", probability");
    expects(branch.probability >= 0, "{}: the probability is {}; must not be negative", place,
            branch.probability);
    branch.next = position(value[1], states - 1, place + ", next state");
    branch.reward = number(value[2], place + ", reward");
    expects(value[3].is_boolean(), "{}, terminated: is {}; must be true or false", place, shown(value[3]));
    branch.terminated = value[3].get<bool>();
    return branch;
}

Dictionary read_dictionary(const json& whole, const std::string& file) {
    const bool wrapped = whole.is_object() && whole.contains("P");
    if (wrapped) check_object(whole, {"P", "initial_state_distrib"}, file);
    const json& p = wrapped ? whole["P"] : whole;
    Dictionary result;
    for_each(p, file + ": P", [&](std::size_t s, const json& choices) {
        result.states.emplace_back();
        for_each(choices, fmt::format("{}: P[{}]", file, s), [&](std::size_t k, const json& branches) {
            const std::string place = fmt::format("{}: P[{}][{}]", file, s, k);
            Choice choice{result.branches.size(), 0};
            for (const json& item : list(branches, place)) {
                Branch branch = read_branch(item, static_cast<std::int64_t>(p.size()), place);
                if (branch.probability > 0) result.branches.push_back(branch);
            }
            choice.last = result.branches.size();
            expects(choice.last > choice.first, "{}: no next state has a positive probability", place);
            result.states.back().push_back(choice);
        });
    });
    if (!wrapped || !whole.contains("initial_state_distrib")) return result;
    const std::string place = file + ": initial_state_distrib";
    const json& start = list(whole["initial_state_distrib"], place);
    expects(start.size() == result.states.size(), "{}: has {} elements; must be {}, one for each state",
            place, start.size(), result.states.size());
    for (const json& value : start) result.start.push_back(number(value, place));
    return result;
}

class Builder {
public:
    Builder(const Dictionary& from, std::string_view file) : from_(from), file_(file) {
        const std::size_t states = from.states.size();
        absorbing_.resize(states);
        for (std::size_t s = 0; s < states; ++s) absorbing_[s] = is_absorbing(s);
        ends_.resize(states);
        for (const Branch& branch : from.branches) {
            rewarded_ = rewarded_ || branch.reward != 0;
            if (!branch.terminated) continue;
            const auto next = static_cast<std::size_t>(branch.next);
            if (absorbing_[next])
                ends_[next] = true;
            else
                extra_end_ = true;
        }
    }

    ExplicitModel build() {
        if (rewarded_) model_.header.rewards = {"reward"};
        if (extra_end_ || std::ranges::find(ends_, true) != ends_.end()) model_.header.labels = {"end"};
        for (std::size_t s = 0; s < from_.states.size(); ++s) {
            begin(ends_[s]);
            for (const Choice& choice : from_.states[s]) add_choice(choice);
        }
        if (extra_end_) {
            const auto end = static_cast<std::int64_t>(from_.states.size());
            begin(true);
            // As many choices as other states have, so that all have the same actions where they had.
            for (std::size_t k = 0; k < from_.states[0].size(); ++k) close({{end, 1.0}}, 0);
        }
        add_start();
        ExplicitHeader& header = model_.header;
        header.states = static_cast<Index>(model_.states.size());
        for (const ExplicitState& row : model_.states) {
            header.choices += row.choices();
            header.branches += static_cast<Index>(row.targets.size());
        }
        return std::move(model_);
    }

private:
    bool is_absorbing(std::size_t s) const {
        return std::ranges::all_of(from_.states[s], [&](const Choice& choice) {
            return std::all_of(from_.branches.begin() + static_cast<std::ptrdiff_t>(choice.first),
                               from_.branches.begin() + static_cast<std::ptrdiff_t>(choice.last),
                               [&](const Branch& branch) {
                                   return branch.next == static_cast<std::int64_t>(s) && branch.reward == 0;
                               });
        });
    }

    void begin(bool end) {
        model_.states.emplace_back();
        model_.states.back().clear();
        if (end) model_.states.back().labels = {0};
        if (rewarded_) model_.states.back().state_rewards = {0};
    }

    void close(const std::map<std::int64_t, double>& law, double reward) {
        ExplicitState& row = model_.states.back();
        row.actions.push_back(-1);
        for (const auto& [target, probability] : law) {
            row.targets.push_back(target);
            // Several branches to one state may sum to a little more than one.
            row.lower.push_back(probability > 1 && probability <= 1 + 1e-9 ? 1 : probability);
        }
        row.offsets.push_back(static_cast<std::int64_t>(row.targets.size()));
        if (rewarded_) row.choice_rewards.push_back(reward);
    }

    void add_choice(const Choice& choice) {
        std::map<std::int64_t, double> law;
        double expected = 0;
        bool same = true;
        const double first = from_.branches[choice.first].reward;
        for (std::size_t i = choice.first; i < choice.last; ++i) {
            const Branch& branch = from_.branches[i];
            const bool ends = branch.terminated && !absorbing_[static_cast<std::size_t>(branch.next)];
            law[ends ? static_cast<std::int64_t>(from_.states.size()) : branch.next] += branch.probability;
            expected += branch.probability * branch.reward;
            same = same && branch.reward == first;
        }
        // A sum of equal rewards would be off by rounding.
        close(law, same ? first : expected);
    }

    void add_start() {
        auto& initial = model_.header.initial_states;
        std::map<std::int64_t, double> law;
        double sum = 0;
        bool uniform = true;
        for (std::size_t s = 0; s < from_.start.size(); ++s) {
            const double p = from_.start[s];
            expects(p >= 0, "{}: initial_state_distrib has {} at state {}; must not be negative", file_, p,
                    s);
            if (p > 0) law[static_cast<std::int64_t>(s)] = p;
            uniform = uniform && (p == 0 || p == law.begin()->second);
            sum += p;
        }
        expects(from_.start.empty() || std::abs(sum - 1) <= 1e-9,
                "{}: initial_state_distrib sums to {}; must be 1 within 1e-9", file_, sum);
        if (from_.start.empty()) initial = {0};
        if (uniform) {
            for (const auto& atom : law) initial.push_back(atom.first);
            return;
        }
        const auto label = static_cast<std::int32_t>(model_.header.labels.size());
        model_.header.labels.emplace_back("start");
        initial = {static_cast<std::int64_t>(model_.states.size())};
        begin(false);
        model_.states.back().labels = {label};
        close(law, 0);
    }

    const Dictionary& from_;
    std::string_view file_;
    std::vector<bool> absorbing_;
    std::vector<bool> ends_;
    bool extra_end_ = false;
    bool rewarded_ = false;
    ExplicitModel model_;
};

}  // namespace

ExplicitModel parse_gym(std::string_view text, std::string_view file, const ModelReadOptions& options) {
    const std::string name(file);
    const Dictionary dictionary = read_dictionary(parse_json(text, name), name);
    ExplicitModel model = Builder(dictionary, file).build();
    if (options.normalise) normalise(model);
    validate(model, file);
    return model;
}

ExplicitModel read_gym(const std::filesystem::path& path, const ModelReadOptions& options) {
    return parse_gym(read_text(path), path.string(), options);
}

}  // namespace alidade
