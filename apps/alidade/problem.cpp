#include "alidade/problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/inspection.hpp"
#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

std::string range_of(const FamilyParameter& parameter) {
    std::string text;
    if (parameter.kind == ParameterKind::text) {
        for (const std::string& choice : parameter.choices) text += (text.empty() ? "" : ", ") + choice;
        return text;
    }
    if (parameter.kind == ParameterKind::real)
        return fmt::format("{:.15g} to {:.15g}", parameter.minimum, parameter.maximum);
    return fmt::format("{:.0f} to {:.0f}", parameter.minimum, parameter.maximum);
}

ordered_json object_of(const FamilyParameter& parameter) {
    ordered_json object;
    object["name"] = parameter.name;
    object["default"] = parameter.default_value;
    object["meaning"] = parameter.meaning;
    if (parameter.kind == ParameterKind::text) {
        object["choices"] = parameter.choices;
    } else {
        object["minimum"] = parameter.minimum;
        object["maximum"] = parameter.maximum;
    }
    if (!parameter.variants.empty()) object["variants"] = parameter.variants;
    return object;
}

ordered_json object_of(const Family& family) {
    ordered_json object;
    object["name"] = family.name;
    object["summary"] = family.summary;
    object["parameters"] = ordered_json::array();
    for (const FamilyParameter& parameter : family.parameters)
        object["parameters"].push_back(object_of(parameter));
    return object;
}

std::string describe_parameters(const Family& family, const Console& console) {
    Table table({{"parameter", Table::Align::left},
                 {"default", Table::Align::left},
                 {"allowed", Table::Align::left},
                 {"meaning", Table::Align::left}});
    for (const FamilyParameter& parameter : family.parameters) {
        std::string meaning = parameter.meaning;
        if (!parameter.variants.empty())
            meaning += fmt::format(" Only: {}.", fmt::join(parameter.variants, ", "));
        table.add({parameter.name, parameter.default_value, range_of(parameter), meaning});
    }
    return fmt::format("{}\n  {}\n\n{}", console.bold("builtin:" + family.name), family.summary,
                       table.text(console.width()));
}

const Family& find_family(std::string name) {
    if (is_builtin(name)) name = name.substr(std::string_view("builtin:").size());
    name = name.substr(0, name.find('?'));
    std::string names;
    for (const Family& family : families()) {
        if (family.name == name) return family;
        names += (names.empty() ? "" : ", ") + family.name;
    }
    throw UserError(fmt::format("there is no family '{}'", name),
                    {"the command line", "only families in the catalogue can be made",
                     fmt::format("alidade problem list NAME, with one of {}", names)});
}

int list_families(const std::string& name, const Console& console) {
    if (!name.empty()) {
        const Family& family = find_family(name);
        if (console.json())
            console.object(object_of(family));
        else
            console.result(describe_parameters(family, console));
        return 0;
    }
    if (console.json()) {
        ordered_json list = ordered_json::array();
        for (const Family& family : families()) list.push_back(object_of(family));
        console.object(ordered_json{{"families", std::move(list)}});
        return 0;
    }
    Table table({{"family", Table::Align::left}, {"what it is", Table::Align::left}});
    for (const Family& family : families()) table.add({family.name, family.summary});
    console.result(table.text(console.width()) +
                   "\nParameters:  alidade problem list NAME\n"
                   "To use one:  alidade explore 'builtin:garnet?states=20&horizon=5' -o RUN\n");
    return 0;
}

std::string start_in_words(const Problem& problem) {
    constexpr std::size_t most = 6;
    std::string text;
    std::size_t shown = 0;
    const auto atoms = problem.start().atoms();
    for (const auto& [state, probability] : atoms) {
        if (shown == most) return text + fmt::format(", ... ({} states)", atoms.size());
        text += shown++ == 0 ? "" : ", ";
        text += printable(problem.state_name(state));
        if (atoms.size() > 1) text += fmt::format(" ({:.4g})", probability);
    }
    return text;
}

std::string kind_of(const Problem& problem) {
    if (problem.is_linear()) return "linear MDP";
    return problem.features().kind() == FeatureKind::base_models ? "base models" : "signed features";
}

/// A label and what the laws of transitions are made of.
std::pair<std::string, std::string> features_in_words(const Problem& problem) {
    if (problem.is_linear())
        return {"features",
                fmt::format("{} of each state and action (a linear MDP); measures of norm at most {:.6g}",
                            problem.pair_features().features(), problem.pair_features().norm_bound())};
    const FeatureMap& features = problem.features();
    if (features.kind() == FeatureKind::base_models)
        return {"base models", fmt::format("{}: {}", features.features(),
                                           printable(fmt::format("{}", fmt::join(features.names(), ", "))))};
    return {"features", fmt::format("{}, signed; weights of norm at most {}", features.features(),
                                    features.norm_bound())};
}

ordered_json object_of(const Problem& problem, std::int64_t bytes) {
    const SuccessorMap& map = problem.successors();
    ordered_json object;
    object["name"] = problem.name();
    object["states"] = map.states();
    object["actions"] = map.actions();
    object["horizon"] = problem.shape().horizon;
    object["features"] =
        problem.is_linear() ? problem.pair_features().features() : problem.features().features();
    object["homogeneous"] = problem.homogeneous();
    object["misspecification"] = problem.misspecification();
    object["kind"] = kind_of(problem);
    object["norm_bound"] =
        problem.is_linear() ? problem.pair_features().norm_bound() : problem.features().norm_bound();
    object["transitions"] = map.entries();
    object["max_successors"] = map.max_successors();
    object["memory_bytes"] = bytes;
    object["start"] = ordered_json::array();
    for (const auto& [state, probability] : problem.start().atoms())
        object["start"].push_back({{"state", state}, {"probability", probability}});
    if (!problem.is_linear()) object["base"] = problem.features().names();
    object["truth_known"] = problem.truth_known();
    if (problem.foreign())
        object["foreign"] = {{"share", problem.foreign()->share},
                             {"misspecification", problem.true_misspecification()}};
    object["rewards"] = ordered_json::array();
    for (const NamedReward& reward : problem.rewards())
        object["rewards"].push_back({{"name", reward.name}, {"meaning", reward.meaning}});
    const ProblemTarget& target = problem.target();
    object["target"] = ordered_json::object();
    if (target.epsilon) object["target"]["epsilon"] = *target.epsilon;
    if (target.delta) object["target"]["delta"] = *target.delta;
    if (target.episodes) object["target"]["episodes"] = *target.episodes;
    object["hash"] = problem_hash(problem);
    return object;
}

std::string text_of(const Problem& problem, std::int64_t bytes, const Console& console) {
    const SuccessorMap& map = problem.successors();
    std::string text = fmt::format("{}\n", console.bold(problem.name()));
    const auto line = [&](std::string_view label, const std::string& value) {
        text += fmt::format("  {:<14}{}\n", label, value);
    };
    line("size", fmt::format("{} states, {} actions, {} steps", map.states(), map.actions(),
                             problem.shape().horizon));
    line("transitions", fmt::format("{} possible, at most {} from one state and action",
                                    with_commas(map.entries()), map.max_successors()));
    const auto [label, made_of] = features_in_words(problem);
    line(label, made_of);
    line(problem.is_linear() ? "measures" : "weights",
         problem.homogeneous() ? "one set for all steps" : "one set a step");
    if (problem.misspecification() > 0)
        line("mixture", fmt::format("off by at most {:.4g} in total variation", problem.misspecification()));
    line("start", start_in_words(problem));
    line("truth", problem.truth_known() ? "known: it can be simulated and audited" : "not known");
    if (problem.foreign())
        line("", fmt::format("{:.4g} of it is no mixture: off by up to {:.4g} in total variation",
                             problem.foreign()->share, problem.true_misspecification()));
    line("memory", fmt::format("about {}", memory_size(bytes)));
    const ProblemTarget& target = problem.target();
    if (target.epsilon) line("target", fmt::format("certificate of at most {}", *target.epsilon));
    if (target.delta) line("delta", fmt::format("{}", *target.delta));
    if (target.episodes) line("episodes", with_commas(*target.episodes));
    if (problem.rewards().empty()) return text;
    Table rewards({{"reward", Table::Align::left}, {"what it is", Table::Align::left}});
    for (const NamedReward& reward : problem.rewards()) rewards.add({reward.name, reward.meaning});
    return text + "\n" + rewards.text(console.width());
}

int show_problem(const std::string& source, bool normalise, const Console& console) {
    const Problem problem = load_problem_argument(source, normalise);
    const std::int64_t bytes = exploring_bytes(problem);
    if (console.json()) {
        ordered_json object = object_of(problem, bytes);
        if (is_builtin(source)) object["family"] = object_of(find_family(source));
        console.object(object);
        return 0;
    }
    std::string text = text_of(problem, bytes, console);
    if (is_builtin(source)) text += "\n" + describe_parameters(find_family(source), console);
    console.result(text);
    return 0;
}

struct ProblemArguments {
    std::string name, source, folder;
    bool normalise = false, overwrite = false, one_hot = false, mapped = false;
};

int make_problem(const ProblemArguments& given, const Console& console) {
    const std::filesystem::path folder = given.folder;
    Problem problem = load_problem_argument(given.source, given.normalise);
    if (given.mapped && (given.one_hot || problem.is_linear()))
        throw UserError(
            "a linear MDP has no features that could be mapped",
            {"--mapped", "the features of its pairs are few beside those of transitions, and are read",
             "leave --mapped out"});
    if (given.one_hot)
        problem =
            explaining({"--one-hot", "a linear MDP with a feature for each state and action was asked for",
                        "leave --one-hot out, or take a smaller problem of base models"},
                       [&] { return one_hot_linear(problem); });
    const bool taken = std::filesystem::exists(folder) &&
                       !(std::filesystem::is_directory(folder) && std::filesystem::is_empty(folder));
    if (taken && !given.overwrite)
        throw UserError(fmt::format("'{}' exists and is not an empty folder", folder.string()),
                        {"-o", "files of the same names in it would be replaced",
                         "choose another folder, or add --overwrite"});
    writing([&] { save_problem(problem, folder, {.mapped = given.mapped}); });
    if (console.json())
        console.object(ordered_json{{"folder", folder.string()}, {"hash", problem_hash(problem)}});
    else
        console.result(fmt::format("Wrote {}\nNext: alidade check {}\n",
                                   printable((folder / "problem.toml").string()),
                                   shell_path(folder.string())));
    return 0;
}

}  // namespace

void add_problem(CLI::App& app, Chosen& chosen) {
    CLI::App* problem = app.add_subcommand("problem", "List, show and write problems");
    problem->require_subcommand(1);
    const auto given = std::make_shared<ProblemArguments>();

    CLI::App* list = problem->add_subcommand("list", "The families that are built in, or one's parameters");
    list->add_option("NAME", given->name, "A family");
    add_output_flags(*list, chosen);
    list->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return list_families(given->name, console); };
    });

    CLI::App* show = problem->add_subcommand("show", "What a problem is made of");
    show->add_option("PROBLEM", given->source,
                     "A folder, a problem.toml, or builtin:NAME?parameter=value&...")
        ->required();
    show->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*show, chosen);
    show->callback([=, &chosen] {
        chosen.work = [given](const Console& console) {
            return show_problem(given->source, given->normalise, console);
        };
    });

    CLI::App* make =
        problem->add_subcommand("make", "Write a problem as a folder, with base models and truth");
    make->add_option("PROBLEM", given->source,
                     "A folder, a problem.toml, or builtin:NAME?parameter=value&...")
        ->required();
    make->add_option("-o,--output", given->folder, "The folder to write")->required();
    make->add_flag("--overwrite", given->overwrite, "Replace the files of a problem that is there");
    make->add_flag("--one-hot", given->one_hot,
                   "As a linear MDP with one feature for each state and action, which knows no base models");
    make->add_flag(
        "--mapped", given->mapped,
        "Features as .npy files in the layout of the memory, which are mapped instead of read: for large "
        "models");
    make->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*make, chosen);
    make->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return make_problem(*given, console); };
    });
}

}  // namespace alidade::app
