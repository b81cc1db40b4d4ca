#include <algorithm>
#include <memory>

#include "../files/csr_file.hpp"
#include "../files/json_file.hpp"
#include "../files/pair_features_file.hpp"
#include "../files/toml_section.hpp"
#include "alidade/error.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"
#include "at_place.hpp"
#include "problem_features.hpp"

namespace alidade {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_size = 0x7fffffff;
constexpr std::int64_t largest_count = std::int64_t{1} << 53;
constexpr std::int64_t most_workers = 1024;

/// The parsed file of a problem and the folder that its paths are relative to.
struct Document {
    fs::path file;
    toml::table table;

    detail::TomlSection root() const { return {table, file.string(), ""}; }
    fs::path beside(const std::string& relative) const {
        return (file.parent_path() / relative).lexically_normal();
    }
};

Document open_document(std::string_view path_text) {
    fs::path path(path_text);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        expects(fs::exists(path / "problem.toml", ignored),
                "{}: the folder has no problem.toml; name a problem's folder or a `builtin:` problem",
                path.string());
        path /= "problem.toml";
    }
    expects(
        fs::exists(path, ignored),
        "{}: there is no such problem; name a folder with a problem.toml, that file, or a `builtin:` problem",
        path.string());
    Document document{path, detail::read_toml(path)};
    const detail::TomlSection root = document.root();
    root.allow_only({"problem", "base", "features", "linear", "environment", "target", "reward"});
    root.section("problem").allow_only({"name", "horizon", "initial_state", "initial", "homogeneous",
                                        "misspecification", "reach", "state_names", "action_names"});
    if (root.has("environment")) {
        const detail::TomlSection environment = root.section("environment");
        environment.allow_only(
            {"weights", "measures", "foreign", "foreign_share", "command", "system", "workers", "timeout"});
        const std::string truth = root.has("linear") ? "measures" : "weights";
        expects(!(environment.has(truth) && environment.has("command")),
                "{} has both '{}' and 'command'; keep the one that is to be explored",
                environment.where("command"), truth);
        expects(!(environment.has("system") && environment.has("command")),
                "{} has both 'system' and 'command'; keep one of them", environment.where("command"));
        const std::string other = root.has("linear") ? "weights" : "measures";
        expects(!environment.has(other), "{} is the truth of another kind of problem; this one has '{}'",
                environment.where(other), truth);
        for (const char* part : {"foreign", "foreign_share"})
            expects(!environment.has(part) || environment.has("measures"),
                    "{} is a part of the truth of a linear MDP, beside 'measures'; mixtures have it in "
                    "truth.json",
                    environment.where(part));
    }
    return document;
}

/// The kernel of a foreign part, in a file of its own.
ForeignPart foreign_from(const fs::path& file, double share, const SuccessorMap& map) {
    const BaseKernel kernel = detail::read_csr(file);
    detail::validate_rows(kernel, kernel.rows / kernel.columns, file.string());
    return detail::at_place(file.string(), [&] { return foreign_part(map, share, kernel); });
}

/// Features of pairs, and the truth if it is there.
void load_linear(const Document& document, ProblemDescription& parts) {
    const detail::TomlSection root = document.root(), section = root.section("linear");
    section.allow_only({"file", "norm_bound"});
    std::optional<double> bound;
    if (section.has("norm_bound")) bound = section.real("norm_bound");
    parts.linear = std::make_shared<const PairFeatures>(
        detail::read_pair_features(document.beside(section.text("file")), bound));
    if (!root.has("environment") || !root.section("environment").has("measures")) return;
    const detail::TomlSection environment = root.section("environment");
    parts.measures = detail::read_measures(document.beside(environment.text("measures")));
    if (!environment.has("foreign")) return;
    const double share = environment.real("foreign_share");
    expects(share > 0 && share <= 1, "{} is {}; must be greater than 0 and at most 1",
            environment.where("foreign_share"), share);
    parts.foreign = foreign_from(document.beside(environment.text("foreign")), share, *parts.linear);
}

/// Which of the kinds of features a problem has; it needs exactly one.
void load_any_features(const Document& document, const LoadOptions& options, ProblemDescription& parts) {
    const detail::TomlSection root = document.root();
    const int kinds = int{root.has("base")} + int{root.has("features")} + int{root.has("linear")};
    expects(kinds == 1, "{}: has {} [[base]], [features] and [linear]; a problem needs exactly one of them",
            document.file.string(), kinds == 0 ? "none of" : "more than one of");
    if (root.has("linear"))
        load_linear(document, parts);
    else
        parts.features = detail::load_features(root, document.file, options);
}

StartLaw load_start(const detail::TomlSection& problem, Index states) {
    expects(problem.has("initial_state") != problem.has("initial"),
            "{} has {} 'initial_state' and 'initial'; a problem needs exactly one of them", problem.where(),
            problem.has("initial") ? "both" : "neither");
    if (problem.has("initial_state")) return StartLaw(problem.integer("initial_state", 0, states - 1));
    std::vector<std::pair<State, double>> law;
    const std::string where = problem.where("initial");
    for (const toml::node& node : problem.array("initial")) {
        const auto* const atom = node.as_array();
        expects(atom != nullptr && atom->size() == 2 && atom->get(0)->is_integer(),
                "{}: element {} must be [state, probability]", where, law.size());
        const std::int64_t state = atom->get(0)->as_integer()->get();
        expects(state >= 0 && state < states, "{}: element {} names state {}; must be 0 to {}", where,
                law.size(), state, states - 1);
        const double p =
            detail::toml_number(*atom->get(1), fmt::format("{}: probability of state {}", where, state));
        law.emplace_back(state, p);
    }
    return detail::at_place(where, [&] { return StartLaw(std::move(law)); });
}

std::vector<std::string> load_names(const detail::TomlSection& problem, std::string_view key, Index count) {
    if (!problem.has(key)) return {};
    std::vector<std::string> names = problem.texts(key);
    expects(static_cast<Index>(names.size()) == count, "{} has {} names; must have {} or be left out",
            problem.where(key), names.size(), count);
    return names;
}

double load_misspecification(const detail::TomlSection& problem) {
    if (!problem.has("misspecification")) return 0;
    const double zeta = problem.real("misspecification");
    expects(zeta >= 0 && zeta < 1, "{} is {}; must be at least 0 and less than 1",
            problem.where("misspecification"), zeta);
    return zeta;
}

Reach load_reach(const detail::TomlSection& problem) {
    if (!problem.has("reach")) return Reach::anywhere;
    const std::string name = problem.text("reach");
    expects(name == to_string(Reach::anywhere) || name == to_string(Reach::support),
            "{} is '{}'; must be anywhere or support", problem.where("reach"), name);
    return parse_reach(name);
}

/// The foreign part of a truth.json, if it has one; its kernel lies beside it.
std::optional<ForeignPart> load_foreign(const nlohmann::json& document, const fs::path& path,
                                        const SuccessorMap& map) {
    if (!document.contains("foreign")) return std::nullopt;
    const std::string where = path.string() + ": \"foreign\"";
    const nlohmann::json& object = document["foreign"];
    detail::check_object(object, {"share", "file"}, where);
    const double share = detail::number(detail::member(object, "share", where), where + ", \"share\"");
    expects(share > 0 && share <= 1, "{}, \"share\": is {}; must be greater than 0 and at most 1", where,
            share);
    const nlohmann::json& name = detail::member(object, "file", where);
    expects(name.is_string(), "{}, \"file\": must be a text, the name of a kernel's file", where);
    return foreign_from((path.parent_path() / name.get<std::string>()).lexically_normal(), share, map);
}

Matrix load_truth(const nlohmann::json& document, const fs::path& path, Index rows, Index features,
                  bool homogeneous) {
    const std::string file = path.string();
    detail::check_object(document, {"weights", "foreign"}, file);
    const auto& steps = detail::list(detail::member(document, "weights", file), file + ": \"weights\"");
    expects(static_cast<Index>(steps.size()) == rows, "{}: \"weights\" has {} rows; must have {}, {}", file,
            steps.size(), rows, homogeneous ? "as the problem is homogeneous" : "one for each step");
    Matrix weights(rows, features);
    for (Index h = 0; h < rows; ++h) {
        const std::string where = fmt::format("{}: weights of step {}", file, h);
        const auto& row = detail::list(steps[static_cast<std::size_t>(h)], where);
        expects(static_cast<Index>(row.size()) == features,
                "{}: has {} numbers; must have {}, one for each base model or feature", where, row.size(),
                features);
        for (Index i = 0; i < features; ++i)
            weights(h, i) =
                detail::number(row[static_cast<std::size_t>(i)], fmt::format("{}, number {}", where, i));
    }
    return weights;
}

ProblemTarget load_target(const detail::TomlSection& root, Index horizon) {
    ProblemTarget target;
    if (!root.has("target")) return target;
    const detail::TomlSection section = root.section("target");
    section.allow_only({"epsilon", "delta", "episodes"});
    if (section.has("epsilon")) {
        target.epsilon = section.real("epsilon");
        expects(*target.epsilon > 0 && *target.epsilon <= static_cast<double>(horizon),
                "{} is {}; must be above 0 and at most the horizon, {}", section.where("epsilon"),
                *target.epsilon, horizon);
    }
    if (section.has("delta")) {
        target.delta = section.real("delta");
        expects(*target.delta > 0 && *target.delta < 1, "{} is {}; must lie strictly between 0 and 1",
                section.where("delta"), *target.delta);
    }
    if (section.has("episodes")) target.episodes = section.integer("episodes", 1, largest_count);
    return target;
}

std::vector<NamedReward> load_rewards(const Document& document, const Shape& shape) {
    std::vector<NamedReward> rewards;
    for (const detail::TomlSection& section : document.root().sections("reward")) {
        section.allow_only({"name", "meaning", "file"});
        rewards.push_back({section.text("name"), section.has("meaning") ? section.text("meaning") : "",
                           read_reward(document.beside(section.text("file")), shape).reward});
    }
    return rewards;
}

}  // namespace

Problem load_problem(std::string_view path_or_uri, const LoadOptions& options) {
    if (is_builtin(path_or_uri)) return make_builtin(path_or_uri);
    const Document document = open_document(path_or_uri);
    const detail::TomlSection root = document.root(), problem = root.section("problem");
    ProblemDescription parts;
    parts.name = problem.text("name");
    parts.horizon = problem.integer("horizon", 1, largest_size);
    parts.homogeneous = problem.has("homogeneous") && problem.boolean("homogeneous");
    parts.misspecification = load_misspecification(problem);
    parts.reach = load_reach(problem);
    load_any_features(document, options, parts);
    const SuccessorMap& map =
        parts.linear ? static_cast<const SuccessorMap&>(*parts.linear) : *parts.features;
    const Shape shape{map.states(), map.actions(), parts.horizon};
    parts.start = load_start(problem, shape.states);
    parts.state_names = load_names(problem, "state_names", shape.states);
    parts.action_names = load_names(problem, "action_names", shape.actions);
    parts.target = load_target(root, shape.horizon);
    std::string weights_file;
    if (root.has("environment") && root.section("environment").has("weights")) {
        const fs::path path = document.beside(root.section("environment").text("weights"));
        const nlohmann::json truth = detail::read_json(path);
        parts.truth = load_truth(truth, path, parts.homogeneous ? 1 : shape.horizon,
                                 parts.features->features(), parts.homogeneous);
        parts.foreign = load_foreign(truth, path, *parts.features);
        weights_file = fmt::format(" (weights: {})", path.string());
    }
    parts.rewards = load_rewards(document, shape);
    return detail::at_place(document.file.string() + weights_file, [&] { return Problem(std::move(parts)); });
}

std::vector<std::string> environment_command(std::string_view path_or_uri) {
    if (is_builtin(path_or_uri)) return {};
    const Document document = open_document(path_or_uri);
    if (!document.root().has("environment")) return {};
    const detail::TomlSection environment = document.root().section("environment");
    if (!environment.has("command")) return {};
    std::vector<std::string> command = environment.texts("command");
    expects(!command.empty(), "{} is empty; must start with a program", environment.where("command"));
    return command;
}

ProblemSystem problem_system(std::string_view path_or_uri) {
    ProblemSystem said;
    if (is_builtin(path_or_uri)) return said;
    const Document document = open_document(path_or_uri);
    if (!document.root().has("environment")) return said;
    const detail::TomlSection environment = document.root().section("environment");
    said.command = environment_command(path_or_uri);
    if (environment.has("system")) said.system = environment.text("system");
    if (environment.has("workers")) said.workers = environment.integer("workers", 1, most_workers);
    if (environment.has("timeout")) {
        said.timeout = environment.real("timeout");
        expects(*said.timeout > 0, "{} is {}; must be greater than 0", environment.where("timeout"),
                *said.timeout);
    }
    said.folder = fs::absolute(document.file).parent_path();
    return said;
}

}  // namespace alidade
