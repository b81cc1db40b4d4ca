#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "reward_choice.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct RewardArguments {
    std::string source, name, output;
    bool overwrite = false;
};

/// A problem as elsewhere, or just a family's name.
Problem problem_of(const std::string& source) {
    for (const Family& family : families())
        if (family.name == source && !std::filesystem::exists(source))
            return load_problem_argument("builtin:" + source, {});
    return load_problem_argument(source, {});
}

std::string parameters_in_words(const RewardKind& kind) {
    std::string text;
    for (const FamilyParameter& parameter : kind.parameters)
        text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", parameter.name, parameter.default_value);
    return text;
}

ordered_json object_of(const RewardKind& kind) {
    ordered_json object{{"name", kind.name}, {"meaning", kind.meaning}, {"natural", false}};
    object["parameters"] = ordered_json::array();
    for (const FamilyParameter& parameter : kind.parameters)
        object["parameters"].push_back({{"name", parameter.name},
                                        {"default", parameter.default_value},
                                        {"meaning", parameter.meaning},
                                        {"minimum", parameter.minimum},
                                        {"maximum", parameter.maximum}});
    return object;
}

int list_rewards(const RewardArguments& given, const Console& console) {
    const Problem problem = problem_of(given.source);
    if (console.json()) {
        ordered_json list = ordered_json::array();
        for (const NamedReward& own : problem.rewards())
            list.push_back({{"name", own.name},
                            {"meaning", own.meaning},
                            {"natural", true},
                            {"parameters", ordered_json::array()}});
        for (const RewardKind& kind : reward_kinds()) list.push_back(object_of(kind));
        console.object(ordered_json{{"problem", problem.name()}, {"rewards", std::move(list)}});
        return 0;
    }
    std::string text = fmt::format("{} of {}\n", console.bold("Rewards"), printable(problem.name()));
    Table natural({{"reward", Table::Align::left}, {"what it is", Table::Align::left}});
    for (const NamedReward& own : problem.rewards()) natural.add({own.name, own.meaning});
    text += problem.rewards().empty() ? "  none of its own\n" : natural.text(console.width());
    Table kinds({{"any problem's", Table::Align::left},
                 {"parameters [default]", Table::Align::left},
                 {"what it is", Table::Align::left}});
    for (const RewardKind& kind : reward_kinds())
        kinds.add({kind.name, parameters_in_words(kind), kind.meaning});
    console.result(text + "\n" + kinds.text(console.width()) +
                   "\nTo plan:   alidade plan RUN --reward NAME, or --reward 'sparse?seed=7&density=0.1'\n"
                   "As a file: alidade reward make PROBLEM NAME -o FILE.json\n");
    return 0;
}

int write_one(const RewardArguments& given, const Console& console) {
    const Problem problem = problem_of(given.source);
    const Reward reward = make_named_reward(given.name, problem);
    const std::filesystem::path file = given.output;
    if (file.extension() != ".json" && file.extension() != ".npz")
        throw UserError(fmt::format("'{}' ends neither in .json nor in .npz", given.output),
                        {"-o", "the ending says how the reward is written", "-o reward.json"});
    if (std::filesystem::exists(file) && !given.overwrite)
        throw UserError(fmt::format("'{}' exists", given.output),
                        {"-o", "it would be replaced", "choose another file, or add --overwrite"});
    writing([&] { write_reward(file, reward); });
    if (console.json())
        console.object(ordered_json{{"reward", given.name},
                                    {"file", given.output},
                                    {"states", reward.shape().states},
                                    {"actions", reward.shape().actions},
                                    {"horizon", reward.shape().horizon},
                                    {"stationary", reward.stationary()}});
    else
        console.result(fmt::format("Wrote {}\n", printable(given.output)));
    return 0;
}

}  // namespace

void add_reward(CLI::App& app, Chosen& chosen) {
    CLI::App* reward = app.add_subcommand("reward", "List and write the rewards that have a name");
    reward->require_subcommand(1);
    const auto given = std::make_shared<RewardArguments>();
    const std::string problem = "A folder, a problem.toml, builtin:NAME?parameter=value&..., or a family";

    CLI::App* list = reward->add_subcommand("list", "A problem's own rewards, and those every problem has");
    list->add_option("PROBLEM", given->source, problem)->required();
    add_output_flags(*list, chosen);
    list->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return list_rewards(*given, console); };
    });

    CLI::App* make = reward->add_subcommand("make", "Write a reward as a file");
    make->add_option("PROBLEM", given->source, problem)->required();
    make->add_option("NAME", given->name,
                     "A name that alidade reward list shows, or NAME?parameter=value&...")
        ->required();
    make->add_option("-o,--output", given->output, "A .json or .npz file")->required();
    make->add_flag("--overwrite", given->overwrite, "Replace a file that is there");
    add_output_flags(*make, chosen);
    make->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return write_one(*given, console); };
    });
}

}  // namespace alidade::app
