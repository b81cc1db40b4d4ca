#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "experiment_view.hpp"
#include "interruption.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct StatusArguments {
    std::string folder;
    bool watch = false;
    double seconds = 2;
};

/// Certificates fall about as the root of the episodes once they say something; before, nobody knows.
std::optional<double> episodes_left(const LedgerStatus& status, Index horizon) {
    if (!status.target || !status.certificate || *status.certificate >= static_cast<double>(horizon))
        return std::nullopt;
    const double ratio = *status.certificate / *status.target;
    if (ratio <= 1) return 0;
    return std::max(
        0.0, static_cast<double>(status.certified_at) * ratio * ratio - static_cast<double>(status.taken));
}

std::optional<double> rate_of(const LedgerStatus& status) {
    if (status.recent_seconds <= 0) return std::nullopt;
    return static_cast<double>(status.recent_episodes) / status.recent_seconds;
}

ordered_json record_json(const ExperimentRecord& record) {
    ordered_json object;
    object["id"] = record.id;
    object["kind"] = to_string(record.kind);
    object["state"] = to_string(record.state);
    object["deployment"] = record.deployment;
    object["attempt"] = record.attempt;
    object["first_episode"] = record.first_episode;
    object["episodes"] = record.episodes;
    object["told"] = record.told;
    if (!record.reason.empty()) object["reason"] = record.reason;
    object["worker"] = record.worker;
    object["asked"] = time_json(record.asked);
    object["due"] = time_json(record.due);
    object["parts"] = ordered_json::array();
    for (const ToldPart& part : record.parts) {
        ordered_json entry{
            {"part", part.part},         {"episodes", part.episodes}, {"broken_off", part.broken_off},
            {"digest", part.digest},     {"source", part.source},     {"worker", part.worker},
            {"told", time_json(part.at)}};
        if (part.taken) entry["taken_up_after"] = *part.taken;
        if (part.aside) entry["aside"] = true;
        object["parts"].push_back(std::move(entry));
    }
    return object;
}

ordered_json object_of(const LedgerStatus& status, const Run& run) {
    const Index horizon = run.problem().shape().horizon;
    ordered_json object;
    object["problem"] = run.source();
    object["system"] = run.options().system;
    object["episodes"] = {{"told", status.told},
                          {"taken_up", status.taken},
                          {"aside", status.aside},
                          {"broken_off", status.broken_off},
                          {"missing", status.missing}};
    object["certificate"] = nullptr;
    if (status.certificate)
        object["certificate"] = {{"reward_free", std::min(*status.certificate, static_cast<double>(horizon))},
                                 {"vacuous", *status.certificate >= static_cast<double>(horizon)},
                                 {"episodes", status.certified_at}};
    if (status.target) object["target"] = *status.target;
    if (status.budget < most_episodes) object["budget"] = status.budget;
    if (const auto left = episodes_left(status, horizon))
        object["episodes_left_to_target"] = std::ceil(*left);
    if (const auto rate = rate_of(status)) object["episodes_a_second"] = *rate;
    object["deployment"] = {{"number", status.deployment}, {"episodes", status.deployment_episodes}};
    object["open"] = ordered_json::array();
    for (const ExperimentRecord& record : status.open) object["open"].push_back(record_json(record));
    object["failed"] = status.failed;
    const auto different = std::ranges::count(status.repeated, false, &RepeatedAnswer::same);
    object["repeated_answers"] = {{"same", std::ssize(status.repeated) - different},
                                  {"different", different}};
    if (!status.ended.empty()) object["ended"] = status.ended;
    const auto checkpoint = run.checkpoint();
    object["contradicted"] = checkpoint && checkpoint->contradiction;
    object["run"] = run.folder().string();
    return object;
}

std::string certificate_text(const LedgerStatus& status, const Run& run) {
    const Index horizon = run.problem().shape().horizon;
    if (!status.certificate) return "  certificate   none yet\n";
    std::string text = *status.certificate >= static_cast<double>(horizon)
                           ? fmt::format("  certificate   vacuous after {} episodes (no loss can exceed {})",
                                         with_commas(status.certified_at), horizon)
                           : fmt::format("  certificate   {:.4g} after {} episodes", *status.certificate,
                                         with_commas(status.certified_at));
    if (status.target) text += fmt::format("; target {}", *status.target);
    if (const auto left = episodes_left(status, horizon); left && *left > 0)
        text += fmt::format(", some {:.2g} episodes away if it goes on falling as a root does", *left);
    return text + "\n";
}

std::string text_of(const LedgerStatus& status, const Run& run, const Console& console) {
    std::string text = fmt::format("{} {}\n", console.bold("Run"), printable(run.folder().string()));
    text += certificate_text(status, run);
    text += fmt::format("  episodes      {} told, {} of them taken up", with_commas(status.told),
                        with_commas(status.taken));
    if (status.aside > 0) text += fmt::format(", {} too late for these sets", with_commas(status.aside));
    if (status.broken_off > 0) text += fmt::format(", {} broke off", with_commas(status.broken_off));
    text += "\n";
    if (status.missing > 0)
        text += fmt::format(
            "  missing       {} episodes that were asked for: the bounds assume that they are not missing "
            "because of "
            "what happened in them\n",
            with_commas(status.missing));
    if (const auto rate = rate_of(status))
        text += fmt::format("  rate          {:.3g} episodes a second\n", *rate);
    if (const auto different = std::ranges::count(status.repeated, false, &RepeatedAnswer::same);
        different > 0)
        text += fmt::format(
            "  repeated      {} second answers were not the first: {}\n", different,
            status.seeded ? "the system is not reproducible, or a worker is broken" : "they were refused");
    if (!status.ended.empty()) return text + fmt::format("  ended         the {} is reached\n", status.ended);
    text += fmt::format("  deployment    {}, of {} episodes\n", status.deployment,
                        with_commas(status.deployment_episodes));
    for (const ExperimentRecord& record : status.open)
        text += fmt::format("  open          experiment {}: {} of {} episodes told, with {} until {} UTC\n",
                            record.id, record.told, record.episodes, printable(record.worker),
                            utc_time(record.due));
    return text;
}

int status(const StatusArguments& given, const Console& console) {
    const Interruption interruption;
    while (true) {
        const Run run = open_run(given.folder);
        require_episodes(run);
        const LedgerStatus found = AskTell(run).status();
        if (console.json())
            console.object(object_of(found, run));
        else
            console.result(text_of(found, run, console));
        if (!given.watch || !found.ended.empty()) return 0;
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(given.seconds);
        while (std::chrono::steady_clock::now() < until) {
            if (interruption.requested()) return 130;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
}

std::string line_of(const ExperimentRecord& record) {
    std::string text = fmt::format("{:>5}  {:<8} {:<7} {:>7}/{:<7}", record.id, to_string(record.kind),
                                   to_string(record.state), record.told, record.episodes);
    text += record.kind == ExperimentKind::asked && record.asked > 0
                ? fmt::format("  asked {} by {}", utc_time(record.asked), printable(record.worker))
                : "";
    for (const ToldPart& part : record.parts)
        text += fmt::format("\n       told {}: {} episodes by {}{}{}", utc_time(part.at), part.episodes,
                            printable(part.worker),
                            part.source.empty() ? "" : fmt::format(", from {}", printable(part.source)),
                            part.aside   ? "; too late for these sets"
                            : part.taken ? ""
                                         : "; not taken up yet");
    if (!record.reason.empty()) text += fmt::format("\n       failed: {}", printable(record.reason));
    return text + "\n";
}

int log(const std::string& folder, const Console& console) {
    const Run run = open_run(folder);
    require_episodes(run);
    const AskTell experiments(run);
    const std::vector<ExperimentRecord> records = experiments.log();
    if (console.json()) {
        ordered_json object;
        object["experiments"] = ordered_json::array();
        for (const ExperimentRecord& record : records) object["experiments"].push_back(record_json(record));
        object["repeated"] = ordered_json::array();
        for (const RepeatedAnswer& answer : experiments.status().repeated)
            object["repeated"].push_back({{"experiment", answer.experiment},
                                          {"part", answer.part},
                                          {"same", answer.same},
                                          {"worker", answer.worker},
                                          {"at", time_json(answer.at)}});
        console.object(object);
        return 0;
    }
    std::string text;
    for (const ExperimentRecord& record : records) text += line_of(record);
    console.result(text.empty() ? "No experiments yet.\n" : text);
    return 0;
}

int replay(const std::string& folder, int threads, const Console& console) {
    const Run run = open_run(folder);
    require_episodes(run);
    const Replay found = AskTell(run).replay(thread_count(threads));
    if (console.json()) {
        console.object({{"episodes", found.episodes},
                        {"deployments", found.deployments},
                        {"equal", found.differences.empty()},
                        {"differences", found.differences},
                        {"run", folder}});
    } else if (found.differences.empty()) {
        console.result(
            fmt::format("{} episodes in {} deployments give what the run knows, to the last byte.\n",
                        with_commas(found.episodes), with_commas(found.deployments)));
    } else {
        std::string text = "The stored episodes do not give what the run has stored. Different:\n";
        for (const std::string& difference : found.differences) text += fmt::format("  {}\n", difference);
        console.result(text);
    }
    return found.differences.empty() ? 0 : 1;
}

}  // namespace

void add_status(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("status", "How a run's experiments stand");
    const auto given = std::make_shared<StatusArguments>();
    command->add_option("RUN", given->folder, "Folder of a run that keeps its episodes")->required();
    command->add_flag("--watch", given->watch, "Again and again, until it has ended or Ctrl-C");
    command->add_option("--every", given->seconds, "Seconds between two looks")->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "The certificate is the best that was computed on the way, when the episodes had doubled; alidade "
        "certify RUN\n"
        "computes the one of all episodes that were taken up. Changes nothing and waits for nobody.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return status(*given, console); }; });
}

void add_log(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("log", "Every experiment of a run: who ran it, when, what became of it");
    const auto folder = std::make_shared<std::string>();
    command->add_option("RUN", *folder, "Folder of a run that keeps its episodes")->required();
    add_output_flags(*command, chosen);
    command->callback(
        [=, &chosen] { chosen.work = [folder](const Console& console) { return log(*folder, console); }; });
}

void add_replay(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand(
        "replay", "Compute all that a run knows again from its stored episodes, and compare");
    const auto folder = std::make_shared<std::string>();
    const auto threads = std::make_shared<int>(0);
    command->add_option("RUN", *folder, "Folder of a run that keeps its episodes")->required();
    command->add_option("--threads", *threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "Plans and certifies all that was planned and certified on the way. Exit code: 0 equal, 1 not.");
    command->callback([=, &chosen] {
        chosen.work = [folder, threads](const Console& console) {
            return replay(*folder, *threads, console);
        };
    });
}

}  // namespace alidade::app
