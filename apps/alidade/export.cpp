#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/formats/layered_view.hpp"
#include "alidade/formats/model_formats.hpp"
#include "alidade/run/episode_export.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "experiment_view.hpp"
#include "interruption.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "reward_choice.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

/// Above so many intervals they are had from closed forms: the solver would take minutes.
constexpr Index most_exact_intervals = 300'000;
/// Labels of states cost readers a bit for each state and label.
constexpr Index most_state_labels = 1'000;

struct ExportArguments {
    std::string folder, format = model_formats().front().name, view = "point", output;
    std::vector<std::string> rewards;
    bool stationary = false, overwrite = false, rescale = false;
    FitFlags fit;
    int threads = 0;
};

/// Ctrl-C while a file is written.
struct Interrupted {};

/// The rows of a view, until somebody types Ctrl-C.
class InterruptibleRows final : public ExplicitRows {
public:
    InterruptibleRows(const ExplicitRows& rows, const Interruption& interruption)
        : ExplicitRows(rows.header()), rows_(rows), interruption_(interruption) {}

private:
    void do_read(Index state, ExplicitState& row) const override {
        if (interruption_.requested()) throw Interrupted{};
        rows_.read(state, row);
    }
    const ExplicitRows& rows_;
    const Interruption& interruption_;
};

BranchKind kind_of(const std::string& view) {
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric})
        if (name_of(kind) == view) return kind;
    throw UserError(
        fmt::format("there is no view '{}'", view),
        {"--view", "a file holds one kind of transitions", "--view point, interval or parametric"});
}

/// The name of a reward in the file: what was typed, or the file's name without its extension.
std::string reward_name(const std::string& choice, const Problem& problem) {
    for (const NamedReward& named : problem.rewards())
        if (named.name == choice) return choice;
    return std::filesystem::path(choice).stem().string();
}

void require_free(const ExportArguments& given) {
    if (given.overwrite || !std::filesystem::exists(given.output)) return;
    throw UserError(fmt::format("'{}' exists", given.output),
                    {"-o", "what is in it would be lost", "another path, or --overwrite"});
}

LayeredOptions layered_options(const ExportArguments& given, const Problem& problem,
                               const LearnedModel& learned, const Console& console) {
    LayeredOptions options;
    options.view = kind_of(given.view);
    options.unroll = !given.stationary;
    options.threads = thread_count(given.threads);
    options.action_names = problem.description().action_names;
    if (problem.shape().states <= most_state_labels) options.state_names = problem.description().state_names;
    for (const std::string& choice : given.rewards) {
        const ScaledReward reward = choose_reward(choice, problem, given.rescale, console);
        options.rewards.emplace_back(reward_name(choice, problem), reward.reward);
        if (reward.scale != RewardScale{})
            console.say(fmt::format(
                "In {} it stays between 0 and 1: a value of x there stands for {} + {} x.", given.output,
                reward.scale.offset * static_cast<double>(problem.shape().horizon), reward.scale.scale));
    }
    const Index intervals = learned.uncertain_steps() * learned.model().successors().entries();
    options.exact_intervals = intervals <= most_exact_intervals;
    if (options.view == BranchKind::interval && !options.exact_intervals)
        console.say(fmt::format("{} intervals: by closed forms, which are a little wider than need be.",
                                with_commas(intervals)));
    return options;
}

std::string claim_of(const LearnedModel& learned, BranchKind view) {
    const double zeta = learned.mixture() ? learned.mixture()->misspecification() : 0;
    switch (view) {
        case BranchKind::point:
            return "The learned model. What its plans are worth in truth: alidade certify RUN --reward R "
                   "--policy "
                   "plan.json.";
        case BranchKind::interval:
            return fmt::format(
                "With probability {} all true transition probabilities lie in their intervals at once{}. "
                "That the "
                "intervals of a {} is lost: values computed from the file are sound, but looser than those "
                "of alidade plan and certify.",
                1 - learned.delta(),
                zeta > 0 ? ", as far as the system only goes where some base model goes" : "",
                learned.mixture() ? "step belong to the same weights"
                                  : "row lie in one total-variation ball");
        default:
            return zeta > 0 ? fmt::format(
                                  "Some weights give a model whose transition laws are within {} in total "
                                  "variation of the true ones. The confidence set is not in the file.",
                                  zeta)
                            : "The true model is this file with its weights put in (each at least 0, those "
                              "of a step "
                              "at most 1 together). The confidence set, which says which weights the data "
                              "allow, is "
                              "not in the file.";
    }
}

/// The problem of a run, and how the data stand with its model.
struct ModelStanding {
    const Problem& problem;
    const Standing& standing;
};

struct Written {
    std::vector<std::filesystem::path> files;
    std::int64_t bytes = 0;
    double seconds = 0;
};

Written write(const ExportArguments& given, const ModelFormat& format, const ExplicitRows& rows) {
    const Interruption interruption;
    const auto begin = std::chrono::steady_clock::now();
    Written written;
    written.files =
        explaining({fmt::format("-o '{}'", given.output), "nothing was written",
                    "another path, name or format; a P dictionary holds one reward"},
                   [&] { return write_model(format, given.output, InterruptibleRows(rows, interruption)); });
    for (const auto& file : written.files)
        written.bytes += static_cast<std::int64_t>(std::filesystem::file_size(file));
    written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return written;
}

/// Complaints that would come after long work come before it.
void check_arguments(const ExportArguments& given, const ModelFormat& format, const Problem& problem) {
    const BranchKind kind = kind_of(given.view);
    if (std::find(format.writes.begin(), format.writes.end(), kind) == format.writes.end())
        throw UserError(fmt::format("format {} cannot hold the {} view", format.name, given.view),
                        {"--view", "what it would leave out is what the view is for",
                         kind == BranchKind::point ? "another --as" : "--view point, or --as drn"});
    if (kind == BranchKind::parametric && problem.is_linear())
        throw UserError("the parametric view of a linear MDP",
                        {"--view",
                         "its measures are as many numbers as there are features times states, and "
                         "not weights of models that are known",
                         "--view interval, or --view point"});
    if (given.stationary && !problem.homogeneous())
        throw UserError("--stationary with weights that depend on the step",
                        {fmt::format("run folder '{}'", given.folder),
                         "one set of states cannot say at which step it is", "leave --stationary out"});
    require_free(given);
}

void report(const ExportArguments& given, const LearnedModel& learned, const ExplicitHeader& header,
            const ModelFormat& format, const Written& written, const ModelStanding& model,
            const Console& console) {
    const Index steps =
        learned.shape().horizon +
        (header.labels.end() != std::find(header.labels.begin(), header.labels.end(), "start") ? 1 : 0);
    const std::string usage = format.usage({given.output, header, steps, given.stationary ? steps : 0});
    const std::string claim = claim_of(learned, header.kind);
    if (console.json()) {
        ordered_json object;
        object["format"] = given.format;
        object["view"] = given.view;
        object["unrolled"] = !given.stationary;
        object["states"] = header.states;
        object["choices"] = header.choices;
        object["branches"] = header.branches;
        object["parameters"] = header.parameters;
        object["labels"] = header.labels;
        object["rewards"] = header.rewards;
        object["initial_state"] = header.initial_states.at(0);
        object["steps"] = steps;
        object["delta"] = learned.delta();
        object["claim"] = claim;
        add_standing(object, model.standing, model.problem);
        object["usage"] = usage;
        object["files"] = ordered_json::array();
        for (const auto& file : written.files) object["files"].push_back(file.string());
        object["bytes"] = written.bytes;
        object["seconds"] = written.seconds;
        console.object(object);
        return;
    }
    std::string names;
    for (const auto& file : written.files) names += (names.empty() ? "" : ", ") + printable(file.string());
    std::string text = fmt::format(
        "{} {} ({}, {} view): {} states, {} choices, {} branches; {} in {}\n", console.bold("Wrote"), names,
        given.format, given.view, with_commas(header.states), with_commas(header.choices),
        with_commas(header.branches), memory_size(written.bytes), duration(written.seconds));
    text +=
        paragraph(claim, console.width()) + describe_contradiction(model.standing, model.problem, console);
    text += "To read it:\n";
    for (std::size_t from = 0; from < usage.size();) {
        const std::size_t end = usage.find('\n', from);
        text += "  " + usage.substr(from, end - from) + "\n";
        from = end == std::string::npos ? usage.size() : end + 1;
    }
    console.result(text);
}

/// Every episode that a run has kept.
int export_all_episodes(const ExportArguments& given, const Run& store, const Console& console) {
    require_episodes(store);
    require_free(given);
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t records =
        explaining({fmt::format("-o '{}'", given.output), "nothing was written",
                    "a path that ends in .jsonl, .csv or .npz"},
                   [&] { return export_episodes(AskTell(store), store.problem().shape(), given.output); });
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(given.output));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (console.json())
        console.object({{"format", "episodes"},
                        {"records", records},
                        {"files", {given.output}},
                        {"bytes", bytes},
                        {"seconds", seconds}});
    else
        console.result(fmt::format("{} {}: {} records of episodes; {} in {}\n", console.bold("Wrote"),
                                   printable(given.output), with_commas(records), memory_size(bytes),
                                   duration(seconds)));
    return 0;
}

int export_model(const ExportArguments& given, const Console& console) {
    const Run store = open_run(given.folder);
    if (given.format == "episodes") return export_all_episodes(given, store, console);
    const Problem& problem = store.problem();
    const ModelFormat format =
        explaining({"--as", "only formats that are known can be written", "alidade export --help names them"},
                   [&] { return find_model_format(given.format); });
    check_arguments(given, format, problem);
    const Knowledge knowledge = load_run(store, thread_count(given.threads)).knowledge;
    const Standing standing = standing_of(store, given.fit);
    // A file says nothing of what contradicts it, so it is not to be made unawares.
    if (standing.contradiction && !standing.despite)
        throw refusal(*standing.contradiction, given.folder, "nothing was written");
    insist(standing, console);
    const LearnedModel& learned = *knowledge.learned;
    const auto options = layered_options(given, problem, learned, console);
    const auto view =
        explaining({fmt::format("the model of run folder '{}'", given.folder),
                    "a file that left something out would be another model", "alidade export --help"},
                   [&] { return std::make_unique<LayeredView>(learned, options); });
    try {
        const Written written = write(given, format, *view);
        report(given, learned, view->header(), format, written, {problem, standing}, console);
    } catch (const Interrupted&) {
        console.say("Interrupted: nothing was written.");
        return 130;
    }
    return 0;
}

std::string format_names() {
    std::string names;
    for (const ModelFormat& format : model_formats())
        if (!format.writes.empty())
            names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", format.name, format.summary);
    return names + "; episodes (every episode that the run has kept: .jsonl, .csv or .npz)";
}

}  // namespace

void add_export(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("export", "Write a run's model for another tool, and say how it is read there");
    const auto given = std::make_shared<ExportArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("--as", given->format, format_names())->capture_default_str();
    command
        ->add_option("--view", given->view,
                     "point: the learned model; interval: bounds of every transition probability; "
                     "parametric: probabilities as functions of the weights")
        ->capture_default_str();
    command->add_option("-o,--output", given->output, "The file to write")->required();
    command
        ->add_option("--reward", given->rewards,
                     "A .json or .npz file, or a reward that the problem names; may be repeated")
        ->allow_extra_args(false);
    command->add_flag("--rescale", given->rescale, "Map rewards outside [0, 1] onto it");
    command->add_flag("--stationary", given->stationary,
                      "Do not unroll: only for weights that are the same at all steps; the reader must count "
                      "steps");
    command->add_flag("--overwrite", given->overwrite, "Replace a file that exists");
    add_fit_flags(*command, given->fit);
    command->add_option("--threads", given->threads, "For intervals; 0: all cores")->capture_default_str();
    command->footer(
        "Unrolled, state h*S+s of the file is state s at step h; every choice of the last step leads to a "
        "state\n"
        "labelled end. What holds with probability 1 - delta: in the interval view, every true transition\n"
        "probability lies in its interval, all at once; values computed from the intervals are sound, but "
        "looser\n"
        "than those of alidade plan and certify, because the file does not say that they share their "
        "weights. In\n"
        "the parametric view the true model is the file with its weights put in; which weights the data "
        "allow is\n"
        "not in the file. If the data contradict the model, nothing is written and the exit code is 4, but "
        "for\n"
        "--despite-contradiction.");
    add_output_flags(*command, chosen);
    command->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return export_model(*given, console); };
    });
}

}  // namespace alidade::app
