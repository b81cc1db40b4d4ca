#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <map>

#include "../files/line_reader.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "flat_model.hpp"
#include "prism_file.hpp"
#include "prism_names.hpp"
#include "prism_parts.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;

/// The sizes in the first line of a .tra file.
struct Sizes {
    bool given = false;   ///< PRISM's dialect
    bool choices = true;  ///< lines name a choice: not for DTMCs
    std::int64_t states = prism_largest, all_choices = prism_largest, branches = prism_largest;
};

class TransitionReader {
public:
    TransitionReader(std::string_view text, std::string_view name)
        : lines_(text, fmt::format("{}.tra", name)) {}

    ExplicitModel read(PrismLayout& layout) {
        const Sizes sizes = read_sizes();
        layout = {sizes.given, sizes.choices};
        while (lines_.next()) {
            if (lines_.rest().starts_with('#')) continue;
            read_line(sizes);
        }
        end_choice();
        finish(sizes);
        return std::move(model_);
    }

private:
    Sizes read_sizes() {
        bool found = false;
        while ((found = lines_.next()) && lines_.rest().starts_with('#')) {
        }
        lines_.check(found, "there is no line with the sizes of the model");
        Sizes sizes;
        if (lines_.rest() == "mdp" || lines_.rest() == "dtmc") {
            sizes.choices = lines_.rest() == "mdp";
            return sizes;
        }
        sizes.given = true;
        sizes.states = lines_.integer("the number of states", prism_largest);
        sizes.branches = lines_.integer("the number of choices or transitions", prism_largest);
        sizes.choices = lines_.more();
        sizes.all_choices = sizes.states;
        if (sizes.choices) {
            sizes.all_choices = sizes.branches;
            sizes.branches = lines_.integer("the number of transitions", prism_largest);
        }
        lines_.end();
        return sizes;
    }

    void read_line(const Sizes& sizes) {
        const std::int64_t state = lines_.integer("the state", prism_largest);
        const auto known = static_cast<std::int64_t>(model_.states.size());
        if (state != known - 1) {
            lines_.check(state == known, "transitions of state {} come where {} is expected", state,
                         known == 0 ? "state 0" : fmt::format("state {} or {}", known - 1, known));
            end_choice();
            model_.states.emplace_back().clear();
            next_choice_ = 0;
        }
        const std::int64_t choice = sizes.choices ? lines_.integer("the choice", prism_largest) : 0;
        if (choice != next_choice_ - 1) {
            lines_.check(choice == next_choice_, "choice {} of state {} comes where choice {} is expected",
                         choice, state, next_choice_);
            end_choice();
            first_ = model_.states.back().targets.size();
            in_choice_ = true;
            ++next_choice_;
        }
        const bool first_branch = model_.states.back().targets.size() == first_;
        const std::int64_t target = lines_.integer("the next state", sizes.states - (sizes.given ? 1 : 0));
        read_probability(model_.states.back(), target);
        ++transitions_;
        read_action(first_branch);
        lines_.end();
    }

    void read_probability(ExplicitState& row, std::int64_t target) {
        std::string_view text = lines_.word("the probability");
        double lower = 0, upper = 0;
        const bool interval = text.starts_with('[') && text.ends_with(']');
        if (interval) {
            interval_ = true;
            const std::string_view inner = text.substr(1, text.size() - 2);
            const auto comma = inner.find(',');
            lines_.check(comma != std::string_view::npos && parse_fraction(inner.substr(0, comma), lower) &&
                             parse_fraction(inner.substr(comma + 1), upper),
                         "the probability is {}; an interval is written [lower,upper], without blanks",
                         LineReader::shown(text));
        } else {
            lines_.check(parse_fraction(text, lower),
                         "the probability is {}; it must be a number or [lower,upper]",
                         LineReader::shown(text));
            upper = lower;
        }
        lines_.check(lower >= 0 && lower <= upper && upper <= 1,
                     "the probability is {}; it must lie in [0, 1]", LineReader::shown(text));
        row.targets.push_back(target);
        row.lower.push_back(lower);
        row.upper.push_back(upper);
    }

    void read_action(bool first_branch) {
        std::int32_t action = -1;
        if (lines_.more()) {
            const std::string name(lines_.word("the action"));
            const auto [place, is_new] =
                action_numbers_.try_emplace(name, static_cast<std::int32_t>(action_numbers_.size()));
            if (is_new) model_.header.actions.push_back(name);
            action = place->second;
        }
        if (first_branch)
            model_.states.back().actions.push_back(action);
        else
            lines_.check(model_.states.back().actions.back() == action,
                         "the action differs from that of the choice's first transition");
    }

    void end_choice() {
        if (!in_choice_) return;
        in_choice_ = false;
        ExplicitState& row = model_.states.back();
        sort_branches(row, first_, BranchKind::interval, 0);
        row.offsets.push_back(static_cast<std::int64_t>(row.targets.size()));
    }

    void finish(const Sizes& sizes) {
        ExplicitHeader& header = model_.header;
        header.kind = interval_ ? BranchKind::interval : BranchKind::point;
        header.states = static_cast<Index>(model_.states.size());
        for (ExplicitState& row : model_.states) {
            header.choices += row.choices();
            header.branches += static_cast<Index>(row.targets.size());
            if (!interval_) row.upper.clear();
            for (const std::int64_t target : row.targets)
                lines_.check(target < header.states, "there is a transition to state {}, but no state {}",
                             target, target);
        }
        if (!sizes.given) return;
        lines_.check(
            header.states == sizes.states && header.choices == sizes.all_choices &&
                transitions_ == sizes.branches,
            "the file has {} states, {} choices and {} transitions; its first line says {}, {} and {}",
            header.states, header.choices, transitions_, sizes.states, sizes.all_choices, sizes.branches);
    }

    LineReader lines_;
    ExplicitModel model_;
    std::map<std::string, std::int32_t> action_numbers_;
    std::int64_t next_choice_ = 0, transitions_ = 0;
    std::size_t first_ = 0;
    bool in_choice_ = false, interval_ = false;
};

std::optional<std::string> read_part(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return std::nullopt;
    return read_text(path);
}

}  // namespace

ExplicitModel parse_prism(const PrismTexts& texts, std::string_view name, const ModelReadOptions& options) {
    expects(texts.state_rewards.size() == texts.transition_rewards.size(),
            "{}: {} texts of state rewards and {} of transition rewards; there must be as many of each", name,
            texts.state_rewards.size(), texts.transition_rewards.size());
    PrismLayout layout;
    ExplicitModel model = TransitionReader(texts.transitions, name).read(layout);
    if (texts.states) check_prism_states(*texts.states, name, model.header.states);
    if (texts.labels)
        read_prism_labels(*texts.labels, name, model);
    else
        model.header.initial_states = {0};
    read_prism_rewards(texts, name, layout, model);
    if (options.normalise) normalise(model);
    validate(model, fmt::format("{}.tra", name));
    return model;
}

ExplicitModel read_prism(const fs::path& path, const ModelReadOptions& options) {
    expects(path.extension() == ".tra", "{}: the file of transitions must end in .tra", path.string());
    PrismTexts texts;
    texts.transitions = read_text(path);
    texts.states = read_part(prism_part(path, ".sta", 0, 1));
    texts.labels = read_part(prism_part(path, ".lab", 0, 1));
    const auto add = [&](std::size_t r, std::size_t structures) {
        auto states = read_part(prism_part(path, ".srew", r, structures));
        auto transitions = read_part(prism_part(path, ".trew", r, structures));
        if (!states && !transitions) return false;
        texts.state_rewards.push_back(std::move(states));
        texts.transition_rewards.push_back(std::move(transitions));
        return true;
    };
    const bool single = add(0, 1);
    for (std::size_t r = 0; add(r, 2); ++r)
        expects(!single, "{}: there are rewards both with and without a number beside it; remove one kind",
                path.string());
    fs::path name = path;
    return parse_prism(texts, name.replace_extension().string(), options);
}

}  // namespace alidade::detail
