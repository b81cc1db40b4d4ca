#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <ios>
#include <limits>
#include <type_traits>

#include "../files/json_file.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "gym_file.hpp"
#include "gym_rows.hpp"

namespace alidade::detail {
namespace {

using nlohmann::json;

constexpr std::string_view law_key = "initial_state_distrib";
constexpr std::string_view branch_layout = "[probability, next state, reward, terminated]";

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> message, Args&&... args) {
    throw InvalidArgument(fmt::format(message, std::forward<Args>(args)...));
}

/// The events of the JSON parser, in the order of the file. A level that P does not have is refused when it
/// opens, so that a file cannot nest deeper than six levels.
class GymEvents {
public:
    explicit GymEvents(std::string_view file) : file_(file), rows_(file) {}

    ExplicitModel finish() { return rows_.finish(); }

    bool null() { return scalar(nullptr); }
    bool boolean(bool value) { return scalar(value); }
    bool number_integer(json::number_integer_t value) { return scalar(value); }
    bool number_unsigned(json::number_unsigned_t value) { return scalar(value); }
    bool number_float(json::number_float_t value, const std::string&) { return scalar(value); }
    bool string(const std::string& value) { return scalar(value); }
    bool binary(const json::binary_t&) { return scalar(nullptr); }  // not in JSON text
    bool start_object(std::size_t) { return open(false); }
    bool end_object() { return close(); }
    bool start_array(std::size_t) { return open(true); }
    bool end_array() { return close(); }
    bool key(const std::string& name);
    bool parse_error(std::size_t, const std::string&, const json::exception& problem) {
        refuse_json(problem, file_);
    }

private:
    /// What the next value is in.
    enum class Level {
        document,  ///< nothing
        object,    ///< the outermost object, whose first key tells what it is
        wrapper,
        states,
        choices,
        branches,
        branch,
        start,
    };
    struct Branch {
        double probability = 0;
        std::int64_t next = 0;
        double reward = 0;
        bool terminated = false;
    };

    bool open(bool list);
    bool close();
    void open_states(bool list) {
        level_ = Level::states;
        listed_states_ = list;
    }
    void close_branch();
    std::int64_t state_number() const { return listed_states_ ? rows_.states() : key_; }
    std::int64_t choice_number() const { return listed_choices_ ? rows_.choices() : key_; }
    std::int64_t number_key(const std::string& name) const;
    [[noreturn]] void refuse_value(const json& value);
    [[noreturn]] void refuse_shown(const std::string& shown);
    std::string field_place() const;
    std::string branch_shown() const;

    template <class Value>
    bool scalar(const Value& value);
    template <class Value>
    void field(const Value& value);
    template <class Value>
    bool as_number(const Value& value, double& number) const;

    std::string file_;
    GymRows rows_;
    Level level_ = Level::document;
    bool wrapped_ = false;
    bool law_due_ = false;  // the next value of the wrapper is the start law, not P
    bool has_states_ = false, has_law_ = false;
    bool listed_states_ = false, listed_choices_ = false;
    std::int64_t key_ = 0;
    Branch branch_;
    int fields_ = 0;
};

std::int64_t GymEvents::number_key(const std::string& name) const {
    std::int64_t number = -1;
    const char* const end = name.data() + name.size();
    const auto [next, problem] = std::from_chars(name.data(), end, number);
    const bool plain =
        problem == std::errc() && next == end && name[0] != '-' && (name[0] != '0' || name.size() == 1);
    if (plain) return number;
    const std::string shown_name = shown(json(name));
    if (level_ == Level::choices)
        refuse("{}: has the key {}; keys must be \"0\", \"1\", \"2\", ...", rows_.state_place(), shown_name);
    refuse("{}: P: has the key {}; keys must be \"0\", \"1\", \"2\", ..., or around them \"P\" and \"{}\"",
           file_, shown_name, law_key);
}

bool GymEvents::key(const std::string& name) {
    const bool law = name == law_key;
    if (level_ == Level::object) {
        wrapped_ = law || name == "P";
        if (wrapped_)
            level_ = Level::wrapper;
        else
            open_states(false);
    }
    if (level_ != Level::wrapper) {
        key_ = number_key(name);
        return true;
    }
    if (!law && name != "P")
        refuse("{}: unknown key {} (known: P, {}); remove or rename it", file_, shown(json(name)), law_key);
    bool& seen = law ? has_law_ : has_states_;
    if (seen) refuse("{}: the key \"{}\" is there twice; remove one", file_, name);
    seen = true;
    law_due_ = law;
    return true;
}

bool GymEvents::open(bool list) {
    const auto demand_list = [&] {
        if (!list) refuse_shown("an object {...}");
    };
    switch (level_) {
        case Level::document:
            if (list)
                open_states(true);
            else
                level_ = Level::object;
            break;
        case Level::wrapper:
            if (!law_due_) {
                open_states(list);
                break;
            }
            demand_list();
            rows_.begin_start();
            level_ = Level::start;
            break;
        case Level::states:
            rows_.begin_state(state_number());
            listed_choices_ = list;
            level_ = Level::choices;
            break;
        case Level::choices:
            rows_.begin_choice(choice_number());
            demand_list();
            level_ = Level::branches;
            break;
        case Level::branches:
            demand_list();
            fields_ = 0;
            level_ = Level::branch;
            break;
        default:
            refuse_shown(list ? "a list: this JSON nests deeper than P"
                              : "an object: this JSON nests deeper than P");
    }
    return true;
}

bool GymEvents::close() {
    switch (level_) {
        case Level::branch:
            close_branch();
            level_ = Level::branches;
            break;
        case Level::branches:
            rows_.end_choice();
            level_ = Level::choices;
            break;
        case Level::choices:
            if (rows_.choices() == 0) refuse("{}: is empty", rows_.state_place());
            rows_.end_state();
            level_ = Level::states;
            break;
        case Level::start:
            level_ = Level::wrapper;
            break;
        case Level::wrapper:
            if (!has_states_) refuse("{}: the key \"P\" is missing; add it", file_);
            level_ = Level::document;
            break;
        default:
            if (rows_.states() == 0) refuse("{}: P: is empty", file_);
            level_ = wrapped_ ? Level::wrapper : Level::document;
    }
    return true;
}

void GymEvents::close_branch() {
    if (fields_ != 4) refuse("{}: is {}; must be {}", rows_.choice_place(), branch_shown(), branch_layout);
    if (branch_.probability < 0)
        refuse("{}: the probability is {}; must not be negative", rows_.choice_place(), branch_.probability);
    rows_.branch(branch_.probability, branch_.next, branch_.reward, branch_.terminated);
}

/// The fields of the branch that have come.
std::string GymEvents::branch_shown() const {
    std::string text = "[";
    if (fields_ > 0) text += fmt::format("{}", branch_.probability);
    if (fields_ > 1) text += fmt::format(",{}", branch_.next);
    if (fields_ > 2) text += fmt::format(",{}", branch_.reward);
    if (fields_ > 3) text += fmt::format(",{}", branch_.terminated);
    return text + (fields_ > 4 ? ",...]" : "]");
}

std::string GymEvents::field_place() const {
    static constexpr std::string_view names[] = {"probability", "next state", "reward", "terminated"};
    return fmt::format("{}, {}", rows_.choice_place(), names[fields_]);
}

/// A value where something else is due.
void GymEvents::refuse_value(const json& value) {
    refuse_shown(shown(value));
}

void GymEvents::refuse_shown(const std::string& text) {
    switch (level_) {
        case Level::states:
            rows_.begin_state(state_number());
            refuse("{}: is {}; must be a dictionary or a list", rows_.state_place(), text);
        case Level::choices:
            rows_.begin_choice(choice_number());
            refuse("{}: is {}; must be a list [...]", rows_.choice_place(), text);
        case Level::branches:
            refuse("{}: is {}; must be {}", rows_.choice_place(), text, branch_layout);
        case Level::branch:
            if (fields_ > 3) {
                ++fields_;
                refuse("{}: is {}; must be {}", rows_.choice_place(), branch_shown(), branch_layout);
            }
            refuse("{}: is {}; must be {}", field_place(), text,
                   fields_ == 1   ? "an integer from 0 to one less than the number of states"
                   : fields_ == 3 ? "true or false"
                                  : "a finite number");
        case Level::start:
            refuse("{}: {}: is {}; must be a finite number", file_, law_key, text);
        case Level::wrapper:
            if (law_due_) refuse("{}: {}: is {}; must be a list [...]", file_, law_key, text);
            [[fallthrough]];
        default:
            refuse("{}: P: is {}; must be a dictionary or a list", file_, text);
    }
}

template <class Value>
bool GymEvents::as_number(const Value& value, double& number) const {
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
        number = static_cast<double>(value);
        return true;
    } else {
        return false;
    }
}

template <class Value>
void GymEvents::field(const Value& value) {
    bool ok = false;
    if (fields_ == 0) ok = as_number(value, branch_.probability);
    if (fields_ == 2) ok = as_number(value, branch_.reward);
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>)
        if (fields_ == 1) {
            ok = std::in_range<std::int64_t>(value) && std::cmp_greater_equal(value, 0) &&
                 std::cmp_less(value, std::numeric_limits<std::int64_t>::max());
            branch_.next = static_cast<std::int64_t>(value);
        }
    if constexpr (std::is_same_v<Value, bool>)
        if (fields_ == 3) {
            ok = true;
            branch_.terminated = value;
        }
    if (!ok) refuse_value(json(value));
    ++fields_;
}

template <class Value>
bool GymEvents::scalar(const Value& value) {
    double probability = 0;
    if (level_ == Level::branch)
        field(value);
    else if (level_ == Level::start && as_number(value, probability))
        rows_.start(probability);
    else
        refuse_value(json(value));
    return true;
}

ExplicitModel complete(GymEvents& events, std::string_view file, const ModelReadOptions& options) {
    ExplicitModel model = events.finish();
    if (options.normalise) normalise(model);
    validate(model, file);
    return model;
}

}  // namespace

ExplicitModel parse_gym(std::string_view text, std::string_view file, const ModelReadOptions& options) {
    GymEvents events(file);
    json::sax_parse(text.begin(), text.end(), &events);
    return complete(events, file, options);
}

ExplicitModel read_gym(const std::filesystem::path& path, const ModelReadOptions& options) {
    check_readable(path);
    const std::string file = path.string();
    GymEvents events(file);
    std::ifstream stream(path, std::ios::binary);
    try {
        json::sax_parse(stream, &events);
    } catch (const std::ios_base::failure& problem) {
        throw InvalidArgument(fmt::format("{}: cannot be read to its end ({})", file, problem.what()));
    }
    return complete(events, file, options);
}

}  // namespace alidade::detail
