#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "../files/text_file.hpp"
#include "../files/unpacked_text.hpp"
#include "affine_text.hpp"
#include "alidade/error.hpp"
#include "choice_rows.hpp"
#include "drn_file.hpp"

namespace alidade::detail {
namespace {

std::string_view trimmed_line(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> result;
    for (text = trimmed_line(text); !text.empty(); text = trimmed_line(text)) {
        const auto end = std::min(text.find_first_of(" \t"), text.size());
        result.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return result;
}

/// The word before the first blank, which is taken off the text.
std::string_view take_word(std::string_view& text) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text = trimmed_line(text.substr(end));
    return word;
}

/// A file can ask for the square of its length in rewards and placeholders; no more than so many.
constexpr std::size_t most_values = std::size_t{1} << 26U;

class Reader {
public:
    Reader(std::istream& stream, std::string_view file, const ModelReadOptions& options)
        : stream_(stream), file_(file), options_(options), rows_(model_, !options.normalise) {}

    ExplicitModel read() {
        read_header();
        while (next_line()) {
            std::string_view text = trimmed_line(line_);
            if (text.empty() || text.starts_with("//")) continue;
            if (text.starts_with("state "))
                begin_state(trimmed_line(text.substr(6)));
            else if (text.starts_with("action "))
                begin_choice(trimmed_line(text.substr(7)));
            else
                read_branch(text);
        }
        expects(!stream_.bad(), "{}: cannot be read to its end", file_);
        rows_.finish(file_);
        finish_header();
        if (options_.normalise) normalise(model_);
        validate(model_, file_);
        return std::move(model_);
    }

private:
    std::string place() const { return fmt::format("{}:{}", file_, number_); }

    template <class... Args>
    void demand(bool ok, fmt::format_string<Args...> message, Args&&... args) const {
        if (!ok)
            throw InvalidArgument(
                fmt::format("{}: {}", place(), fmt::format(message, std::forward<Args>(args)...)));
    }

    bool next_line() {
        ++number_;
        return read_line(stream_, line_, file_);
    }

    std::string_view line_after(std::string_view keyword) {
        demand(next_line(), "the file ends after {}", keyword);
        return trimmed_line(line_);
    }

    Index whole(std::string_view text, std::string_view what) const {
        Index value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        demand(problem == std::errc{} && end == text.data() + text.size() && value >= 0,
               "{} is '{}'; must be an integer of at least 0", what, text);
        return value;
    }

    void read_type(std::string_view type) {
        demand(type == "MDP" || type == "DTMC", "models of type '{}' cannot be read; must be MDP or DTMC",
               type);
        typed_ = true;
    }

    void read_value_type(std::string_view type) {
        value_type_ = type;
        demand(type == "double" || type == "rational" || type == "double-interval" ||
                   type == "rational-interval" || type == "parametric",
               "value type '{}' is not known", type);
    }

    void read_parameters() {
        model_.header.parameters = words(line_after("@parameters"));
        for (const std::string& name : model_.header.parameters)
            demand(
                names_.parameters.emplace(name, static_cast<std::int32_t>(names_.parameters.size())).second,
                "parameter '{}' is named twice", name);
    }

    void read_placeholder(std::string_view text) {
        const auto colon = text.find(':');
        demand(colon != std::string_view::npos, "a placeholder must be written as '$name : value'");
        const std::string name(trimmed_line(text.substr(1, colon - 1)));
        Affine value = parse_affine(trimmed_line(text.substr(colon + 1)), names_, place());
        slopes_ += value.slopes.size();
        demand(slopes_ <= most_values, "placeholders name parameters more than {} times", most_values);
        demand(names_.placeholders.emplace(name, std::move(value)).second, "placeholder ${} is named twice",
               name);
    }

    void read_header() {
        std::set<std::string> seen;
        while (true) {
            demand(next_line(), "the file ends before @model");
            const std::string_view text = trimmed_line(line_);
            if (text.empty() || text.starts_with("//") || text == "@placeholders") continue;
            if (text == "@model") break;
            // Twice, and the second list of parameters would be shorter than what was read by the first.
            if (text.starts_with('@'))
                demand(seen.emplace(text.substr(0, text.find(':'))).second, "{} is there twice",
                       text.substr(0, std::min<std::size_t>(text.find(':'), 40)));
            if (text.starts_with("@type:"))
                read_type(trimmed_line(text.substr(6)));
            else if (text.starts_with("@value_type:"))
                read_value_type(std::string(trimmed_line(text.substr(12))));
            else if (text == "@parameters")
                read_parameters();
            else if (text.starts_with("$"))
                read_placeholder(text);
            else if (text == "@reward_models")
                model_.header.rewards = words(line_after(text));
            else if (text == "@nr_states")
                states_ = whole(line_after("@nr_states"), "the number of states");
            else if (text == "@nr_choices")
                choices_ = whole(line_after("@nr_choices"), "the number of choices");
            else
                demand(false, "'{}' is not known in a header", text.substr(0, 40));
        }
        demand(typed_, "@type is missing before @model");
        demand(states_ >= 0, "@nr_states is missing before @model");
        ExplicitHeader& header = model_.header;
        if (value_type_ == "parametric" || (value_type_.empty() && !header.parameters.empty()))
            header.kind = BranchKind::parametric;
        else if (value_type_.ends_with("interval"))
            header.kind = BranchKind::interval;
        demand(header.kind == BranchKind::parametric || header.parameters.empty(),
               "value type {} has no parameters", value_type_);
        // Told at once where it can be; what the header hides is counted while reading.
        const double states = static_cast<double>(states_);
        demand(states * static_cast<double>(header.rewards.size()) <= static_cast<double>(most_values) &&
                   states * static_cast<double>(header.parameters.size()) <= static_cast<double>(most_values),
               "{} states times {} rewards or {} parameters are more than {}; such a model is too large to "
               "be read",
               states_, header.rewards.size(), header.parameters.size(), most_values);
    }

    void begin_state(std::string_view rest) {
        const Index id = whole(take_word(rest), "the state");
        demand(id == rows_.states(), "state {} comes where state {} is due", id, rows_.states());
        rows_.begin_state(place());
        std::vector<double> rewards = read_rewards(rest);
        // Storm calls rewards that have no name in the header rew0, rew1, ...
        if (id == 0)
            for (std::size_t i = model_.header.rewards.size(); i < rewards.size(); ++i)
                model_.header.rewards.push_back(fmt::format("rew{}", i));
        rows_.state_rewards(padded(std::move(rewards)));
        read_labels(rest, id);
    }

    void begin_choice(std::string_view rest) {
        demand(rows_.states() > 0, "an action comes before the first state");
        const std::string_view name = take_word(rest);
        rows_.begin_choice(name, padded(read_rewards(rest)), place());
        demand(rest.empty(), "'{}' is left over after the action", rest.substr(0, 40));
    }

    /// Takes "[1, 2]" off the text; Storm writes the rewards of interval models as "[[1, 1], [2, 2]]".
    std::vector<double> read_rewards(std::string_view& text) const {
        std::vector<double> values;
        if (!text.starts_with('[')) return values;
        std::size_t item = 1;
        int depth = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char letter = text[i];
            if (letter == '[') ++depth;
            if (letter == ']') --depth;
            if ((letter != ',' || depth > 1) && depth > 0) continue;
            values.push_back(reward(trimmed_line(text.substr(item, i - item))));
            item = i + 1;
            if (depth > 0) continue;
            text = trimmed_line(text.substr(item));
            return values;
        }
        demand(false, "a ] is missing");
        return values;
    }

    double reward(std::string_view text) const {
        if (text.starts_with('[')) {
            const auto [lower, upper] = interval(text);
            demand(lower == upper, "reward {} is an interval; it must be a number", text);
            return lower;
        }
        double value = 0;
        if (parse_number(text, value)) return value;
        const Affine affine = parse_affine(text, names_, place());
        demand(affine.is_constant(), "reward '{}' depends on a parameter; it must be a number", text);
        return affine.constant;
    }

    std::vector<double> padded(std::vector<double> rewards) {
        rewards_ += model_.header.rewards.size();
        demand(rewards_ <= most_values, "there are more than {} rewards", most_values);
        demand(rewards.size() <= model_.header.rewards.size(), "there are {} rewards; the model has {}",
               rewards.size(), model_.header.rewards.size());
        rewards.resize(model_.header.rewards.size(), 0);
        return rewards;
    }

    void read_labels(std::string_view text, Index state) {
        while (!text.empty()) {
            std::string_view label;
            if (text[0] == '"') {
                const auto end = text.find('"', 1);
                demand(end != std::string_view::npos && end > 1, "a label's quotation mark is missing");
                label = text.substr(1, end - 1);
                text = trimmed_line(text.substr(end + 1));
            } else {
                label = take_word(text);
            }
            if (label == "init")
                model_.header.initial_states.push_back(state);
            else
                rows_.label(label);
        }
        auto& initial = model_.header.initial_states;
        initial.erase(std::unique(initial.begin(), initial.end()), initial.end());
    }

    void read_branch(std::string_view text) {
        const auto colon = text.find(':');
        demand(colon != std::string_view::npos,
               "'{}' is neither a state, nor an action, nor 'next : probability'", text.substr(0, 40));
        demand(rows_.states() > 0, "a transition comes before the first state");
        const Index target = whole(trimmed_line(text.substr(0, colon)), "the next state");
        demand(target < states_, "the next state is {}; there are {}", target, states_);
        const std::string_view value = trimmed_line(text.substr(colon + 1));
        if (model_.header.kind == BranchKind::parametric) {
            rows_.branch(target, parse_affine(value, names_, place()), place());
        } else if (value.starts_with('[')) {
            demand(value_type_.empty() || value_type_.ends_with("interval"),
                   "an interval in a model of value type {}", value_type_);
            model_.header.kind = BranchKind::interval;
            const auto [lower, upper] = interval(value);
            rows_.branch(target, lower, upper, place());
        } else {
            const double point = number_of(value);
            rows_.branch(target, point, point, place());
        }
    }

    std::pair<double, double> interval(std::string_view text) const {
        const auto comma = text.find(',');
        demand(comma != std::string_view::npos && text.ends_with(']'), "'{}' is no interval [lower, upper]",
               text.substr(0, 40));
        return {number_of(trimmed_line(text.substr(1, comma - 1))),
                number_of(trimmed_line(text.substr(comma + 1, text.size() - comma - 2)))};
    }

    double number_of(std::string_view text) const {
        double value = 0;
        return parse_number(text, value) ? value : parse_affine(text, names_, place()).constant;
    }

    void finish_header() {
        const ExplicitHeader& header = model_.header;
        expects(header.states == states_, "{}: @nr_states is {}, but there are {}", file_, states_,
                header.states);
        expects(choices_ < 0 || header.choices == choices_, "{}: @nr_choices is {}, but there are {}", file_,
                choices_, header.choices);
    }

    std::istream& stream_;
    std::string_view file_;
    ModelReadOptions options_;
    ExplicitModel model_;
    ChoiceRows rows_;
    AffineNames names_;
    std::string line_;
    std::int64_t number_ = 0;
    std::string value_type_;
    bool typed_ = false;
    Index states_ = -1;
    Index choices_ = -1;
    std::size_t slopes_ = 0;   // in placeholders
    std::size_t rewards_ = 0;  // of states and choices, those that are left out included
};

}  // namespace

ExplicitModel read_drn(const std::filesystem::path& path, const ModelReadOptions& options) {
    check_readable(path);
    const std::string file = path.string();
    if (is_packed(path)) {
        UnpackedText text(path, ".drn");
        return Reader(text.stream(), file, options).read();
    }
    std::ifstream stream(path, std::ios::binary);
    return Reader(stream, file, options).read();
}

ExplicitModel parse_drn(std::string_view text, std::string_view file, const ModelReadOptions& options) {
    std::istringstream stream{std::string(text)};
    return Reader(stream, file, options).read();
}

}  // namespace alidade::detail
