#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "../files/archive_file.hpp"
#include "../files/json_file.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "flat_model.hpp"
#include "umb_file.hpp"
#include "umb_members.hpp"

namespace alidade::detail {
namespace {

using nlohmann::json;

constexpr std::int64_t largest = std::int64_t{1} << 53;
constexpr std::size_t most_rewards = 256;

bool is_wanted(std::string_view name) {
    return name == "index.json" || name == "state-is-initial.bin" || name == "state-to-choices.bin" ||
           name == "choice-to-branches.bin" || name == "branch-to-target.bin" ||
           name == "branch-to-probability.bin" || name.starts_with("actions/choices/") ||
           name.starts_with("annotations/rewards/") || name.starts_with("annotations/aps/");
}

/// One annotation of the index.
struct Annotation {
    std::string id;
    std::string name;  ///< the alias, or else the id
    bool on_states = false, on_choices = false, on_branches = false;
    bool interval = false;  ///< numbers are pairs of ends
};

/// The index, and the names in the order in which the file lists them.
// JSON's destructor may allocate. NOLINTNEXTLINE(bugprone-exception-escape)
struct UmbIndex {
    json document;
    std::vector<std::string> reward_ids, ap_ids;
};

UmbIndex parse_index(const std::string& text, const std::string& where) {
    check_nesting(text, where);
    UmbIndex index;
    std::vector<std::string> path;
    const auto note = [&](int depth, json::parse_event_t event, json& parsed) {
        if (event != json::parse_event_t::key || depth > 3 || depth < 1) return true;
        path.resize(at(depth));
        path.back() = parsed.get<std::string>();
        if (depth == 3 && path[0] == "annotations" && path[1] == "rewards")
            index.reward_ids.push_back(path[2]);
        if (depth == 3 && path[0] == "annotations" && path[1] == "aps") index.ap_ids.push_back(path[2]);
        return true;
    };
    try {
        index.document = json::parse(text, note);
    } catch (const json::exception& problem) {
        throw InvalidArgument(
            fmt::format("{}: not valid JSON: {}; write the file again", where, problem.what()));
    }
    return index;
}

class UmbReader {
public:
    UmbReader(const ArchiveMembers& members, std::string_view file) : file_(file), members_(members) {}

    FlatModel read() {
        const std::string* const text = find("index.json");
        expects(text != nullptr, "{}: has no index.json; it is not a UMB file", file_);
        const std::string where = file_ + ": index.json";
        const UmbIndex index = parse_index(*text, where);
        expects(index.document.is_object(), "{}: is not an object", where);
        const std::int64_t version =
            position(member(index.document, "format-version", where), largest, where + ", format-version");
        // The package umbi writes 0, as long as it runs without its own project file.
        expects(version <= 1, "{}: format-version is {}; this is a reader of version 1", where, version);
        read_sizes(index.document, where);
        read_structure();
        read_probabilities();
        if (actions_ > 0) read_actions();
        // Rewards are kept for every structure, state and choice, whatever the file leaves out.
        expects(index.reward_ids.size() <= most_rewards, "{}: has {} reward structures; at most {} are read",
                where, index.reward_ids.size(), most_rewards);
        for (const std::string& id : index.reward_ids)
            read_rewards(annotation(index.document, "rewards", id, where), index.reward_ids.size());
        read_labels(index, where);
        return std::move(flat_);
    }

private:
    const std::string* find(std::string_view name) const {
        const auto found = members_.find(name);
        return found == members_.end() ? nullptr : &found->second;
    }

    void read_sizes(const json& document, const std::string& index) {
        const json& system = member(document, "transition-system", index);
        const std::string where = index + ", transition-system";
        expects(system.is_object(), "{}: is not an object", where);
        const auto count = [&](const char* key) {
            return position(member(system, key, where), largest, fmt::format("{}, {}", where, key));
        };
        const json& time = member(system, "time", where);
        expects(time == "discrete", "{}, time: is {}; only \"discrete\" models are read", where, shown(time));
        expects(count("#players") <= 1, "{}, #players: is {}; games are not read, only 0 or 1", where,
                count("#players"));
        const auto observations = system.find("#observations");
        expects(observations == system.end() || *observations == 0,
                "{}, #observations: is {}; only fully observable models are read", where,
                shown(observations == system.end() ? json() : *observations));
        states_ = count("#states");
        choices_ = count("#choices");
        branches_ = count("#branches");
        actions_ = count("#choice-actions");
        expects(states_ >= 1 && choices_ >= 1 && branches_ >= 1,
                "{}: has {} states, {} choices and {} branches; a model needs one of each", where, states_,
                choices_, branches_);
        const json& type = member(member(system, "branch-probability-type", where), "type",
                                  where + ", branch-probability-type");
        expects(type == "double" || type == "double-interval",
                "{}, branch-probability-type: is {}; only double and double-interval are read", where,
                shown(type));
        flat_.header.kind = type == "double" ? BranchKind::point : BranchKind::interval;
    }

    /// The elements of a member, which must be as many as the index says.
    template <class Stored, class Held>
    std::optional<std::vector<Held>> array(const std::string& name, std::int64_t count) const {
        const std::string* const bytes = find(name);
        if (bytes == nullptr) return std::nullopt;
        // Divided rather than multiplied: the product may not fit.
        expects(bytes->size() % sizeof(Stored) == 0 && bytes->size() / sizeof(Stored) == at(count),
                "{}: member '{}' has {} bytes; the index asks for {} elements of {} bytes", file_, name,
                bytes->size(), count, sizeof(Stored));
        std::vector<Held> values(at(count));
        for (std::size_t i = 0; i < values.size(); ++i) {
            Stored value;
            std::memcpy(&value, bytes->data() + i * sizeof value, sizeof value);
            if constexpr (!std::is_same_v<Stored, double>)
                expects(value <= static_cast<std::uint64_t>(largest),
                        "{}: member '{}': element {} is {}; it must be at most 2^53", file_, name, i, value);
            values[i] = static_cast<Held>(value);
        }
        return values;
    }

    std::vector<bool> bits(const std::string& name, std::int64_t count) const {
        const std::string* const bytes = find(name);
        expects(bytes != nullptr, "{}: member '{}' is missing; write the file again", file_, name);
        expects(bytes->size() == at((count + 63) / 64 * 8), "{}: member '{}' has {} bytes; {} bits need {}",
                file_, name, bytes->size(), count, (count + 63) / 64 * 8);
        std::vector<bool> result(at(count));
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] =
                ((static_cast<unsigned>(static_cast<unsigned char>((*bytes)[i / 8])) >> (i % 8)) & 1U) != 0;
        return result;
    }

    /// Where positions are missing, every source has exactly one target [UMB, CSR mappings].
    std::vector<std::int64_t> positions(const std::string& name, std::int64_t sources, std::int64_t targets) {
        if (auto found = array<std::uint64_t, std::int64_t>(name, sources + 1)) return std::move(*found);
        expects(sources == targets, "{}: member '{}' is missing, but {} are not {}", file_, name, sources,
                targets);
        // The count is the index's word: some member must back it before memory is spent on it.
        const std::string* const witness = find("branch-to-target.bin");
        expects(witness != nullptr && witness->size() / 8 >= at(sources),
                "{}: member 'branch-to-target.bin' is too short for {} choices", file_, sources);
        std::vector<std::int64_t> result(at(sources + 1));
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::int64_t>(i);
        return result;
    }

    void read_structure() {
        auto targets = array<std::uint64_t, std::int64_t>("branch-to-target.bin", branches_);
        expects(targets.has_value(), "{}: member 'branch-to-target.bin' is missing; write the file again",
                file_);
        flat_.targets = std::move(*targets);
        flat_.choice_branches = positions("choice-to-branches.bin", choices_, branches_);
        flat_.state_choices = positions("state-to-choices.bin", states_, choices_);
        const std::vector<bool> initial = bits("state-is-initial.bin", states_);
        for (std::size_t s = 0; s < initial.size(); ++s)
            if (initial[s]) flat_.header.initial_states.push_back(static_cast<std::int64_t>(s));
    }

    void read_probabilities() {
        const bool interval = flat_.header.kind == BranchKind::interval;
        auto numbers =
            array<double, double>("branch-to-probability.bin", interval ? 2 * branches_ : branches_);
        expects(numbers.has_value(),
                "{}: member 'branch-to-probability.bin' is missing; write the file again", file_);
        if (!interval) {
            flat_.lower = std::move(*numbers);
            return;
        }
        for (std::size_t i = 0; i < numbers->size(); i += 2) {
            flat_.lower.push_back((*numbers)[i]);
            flat_.upper.push_back((*numbers)[i + 1]);
        }
    }

    void read_actions() {
        auto values = array<std::uint32_t, std::int64_t>("actions/choices/values.bin", choices_);
        const std::vector<std::int64_t> given =
            values.has_value() ? std::move(*values) : std::vector<std::int64_t>(at(choices_), 0);
        const std::vector<std::string> names = action_names(given);
        // The empty name stands for none; the others move up.
        std::vector<std::int64_t> number(names.size(), -1);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i].empty()) continue;
            number[i] = static_cast<std::int64_t>(flat_.header.actions.size());
            flat_.header.actions.push_back(names[i]);
        }
        for (std::size_t c = 0; c < given.size(); ++c) {
            expects(at(given[c]) < number.size(),
                    "{}: member 'actions/choices/values.bin': element {} is {}; there are {} actions", file_,
                    c, given[c], number.size());
            flat_.choice_actions.push_back(number[at(given[c])]);
        }
    }

    std::vector<std::string> action_names(const std::vector<std::int64_t>& given) const {
        const std::string mapping = "actions/choices/string-mapping.bin";
        const auto offsets = array<std::uint64_t, std::int64_t>(mapping, actions_ + 1);
        std::vector<std::string> names;
        if (!offsets.has_value()) {
            // Numbers instead, but only as many as are used: the count may be anything.
            const std::int64_t most = *std::max_element(given.begin(), given.end());
            expects(most < std::min<std::int64_t>(actions_, choices_ + 1),
                    "{}: an action is {}; {} are announced, without names", file_, most, actions_);
            for (std::int64_t i = 0; i <= most; ++i) names.push_back(fmt::format("{}", i));
            return names;
        }
        const std::string* const text = find("actions/choices/strings.bin");
        const std::size_t size = text == nullptr ? 0 : text->size();
        for (std::size_t i = 0; i + 1 < offsets->size(); ++i) {
            expects((*offsets)[i] <= (*offsets)[i + 1] && at((*offsets)[i + 1]) <= size,
                    "{}: member '{}': element {} is {}; it must be at least {} and at most {}", file_,
                    mapping, i + 1, (*offsets)[i + 1], (*offsets)[i], size);
            names.push_back(text == nullptr
                                ? ""
                                : text->substr(at((*offsets)[i]), at((*offsets)[i + 1] - (*offsets)[i])));
        }
        return names;
    }

    Annotation annotation(const json& document, const char* group, const std::string& id,
                          const std::string& index) const {
        const std::string where = fmt::format("{}, annotation {}/{}", index, group, id);
        const json& entry = document.at("annotations").at(group).at(id);
        expects(entry.is_object(), "{}: is not an object", where);
        Annotation result;
        result.id = id;
        const auto alias = entry.find("alias");
        result.name = alias != entry.end() && alias->is_string() ? alias->get<std::string>() : id;
        for (const json& place : list(member(entry, "applies-to", where), where + ", applies-to")) {
            expects(place == "states" || place == "choices" || place == "branches",
                    "{}: applies to {}; only states, choices and branches are read", where, shown(place));
            (place == "states"    ? result.on_states
             : place == "choices" ? result.on_choices
                                  : result.on_branches) = true;
        }
        const json& type = member(member(entry, "type", where), "type", where);
        const bool is_label = std::string_view(group) == "aps";
        // Storm writes the rewards of interval models as intervals, whose ends agree.
        result.interval = !is_label && type == "double-interval";
        expects(type == (is_label ? "bool" : "double") || result.interval, "{}: has type {}; only {} is read",
                where, shown(type), is_label ? "bool" : "double");
        expects(!entry.contains("probability-type"), "{}: is random, which is not read", where);
        return result;
    }

    std::vector<double> numbers(const Annotation& reward, std::string_view place, std::int64_t count) const {
        const std::string name = fmt::format("annotations/rewards/{}/{}/values.bin", reward.id, place);
        auto values = array<double, double>(name, reward.interval ? 2 * count : count);
        expects(values.has_value(), "{}: member '{}' is missing; write the file again", file_, name);
        if (!reward.interval) return std::move(*values);
        for (std::size_t i = 0; i < at(count); ++i) {
            expects((*values)[2 * i] == (*values)[2 * i + 1],
                    "{}: member '{}': element {} is an interval of rewards, which is not read", file_, name,
                    i);
            (*values)[i] = (*values)[2 * i];
        }
        values->resize(at(count));
        return std::move(*values);
    }

    void read_rewards(const Annotation& reward, std::size_t count) {
        // Each structure has a member of its own, so that the product is no larger than the file.
        if (flat_.header.rewards.empty()) {
            expects(reward.on_states || reward.on_choices || reward.on_branches,
                    "{}: reward '{}' applies to nothing", file_, reward.name);
            flat_.state_rewards.assign(at(states_) * count, 0.0);
            flat_.choice_rewards.assign(at(choices_) * count, 0.0);
        }
        const std::size_t r = flat_.header.rewards.size();
        flat_.header.rewards.push_back(reward.name);
        const auto add = [&](const std::vector<double>& values, std::vector<double>& to) {
            for (std::size_t i = 0; i < values.size(); ++i) to[i * count + r] += values[i];
        };
        if (reward.on_states) add(numbers(reward, "states", states_), flat_.state_rewards);
        if (reward.on_choices) add(numbers(reward, "choices", choices_), flat_.choice_rewards);
        if (reward.on_branches) add(branch_rewards(reward), flat_.choice_rewards);
    }

    std::vector<double> branch_rewards(const Annotation& reward) const {
        const std::vector<double> given = numbers(reward, "branches", branches_);
        std::vector<double> result(at(choices_), 0.0);
        for (std::size_t c = 0; c < result.size(); ++c)
            for (auto b = flat_.choice_branches[c]; b < flat_.choice_branches[c + 1]; ++b) {
                expects(b >= 0 && b < branches_, "{}: choice {} has branch {} of {}", file_, c, b, branches_);
                result[c] = given[at(flat_.choice_branches[c])];
                expects(given[at(b)] == result[c],
                        "{}: reward '{}' differs between the branches of choice {}; only rewards of states "
                        "and choices are read",
                        file_, reward.name, c);
            }
        return result;
    }

    void read_labels(const UmbIndex& index, const std::string& where) {
        std::vector<std::vector<bool>> columns;
        for (const std::string& id : index.ap_ids) {
            const Annotation label = annotation(index.document, "aps", id, where);
            expects(label.on_states && !label.on_choices && !label.on_branches,
                    "{}: label '{}' applies to something other than states", file_, label.name);
            flat_.header.labels.push_back(label.name);
            columns.push_back(bits(fmt::format("annotations/aps/{}/states/values.bin", id), states_));
        }
        if (columns.empty()) return;
        flat_.label_offsets.push_back(0);
        for (std::size_t s = 0; s < at(states_); ++s) {
            for (std::size_t l = 0; l < columns.size(); ++l)
                if (columns[l][s]) flat_.labels.push_back(static_cast<std::int64_t>(l));
            flat_.label_offsets.push_back(static_cast<std::int64_t>(flat_.labels.size()));
        }
    }

    std::string file_;
    const ArchiveMembers& members_;
    std::int64_t states_ = 0, choices_ = 0, branches_ = 0, actions_ = 0;
    FlatModel flat_;
};

}  // namespace

ExplicitModel parse_umb(std::string_view bytes, std::string_view file, const ModelReadOptions& options) {
    return model_of_members(parse_tar(bytes, file, is_wanted), file, options);
}

ExplicitModel model_of_members(const ArchiveMembers& members, std::string_view file,
                               const ModelReadOptions& options) {
    return assemble(UmbReader(members, file).read(), file, options);
}

ExplicitModel read_umb(const std::filesystem::path& path, const ModelReadOptions& options) {
    return parse_umb(read_text(path), path.string(), options);
}

}  // namespace alidade::detail
