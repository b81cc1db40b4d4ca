#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "alidade/certify/reward_class.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "referee_case.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;
using referee::Finding;
using referee::Verdict;

const char* word_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::confirmed:
            return "confirmed";
        case Verdict::not_confirmed:
            return "NOT CONFIRMED";
        case Verdict::not_checked:
            break;
    }
    return "not checked";
}

const char* key_of(Verdict verdict) {
    return verdict == Verdict::confirmed       ? "confirmed"
           : verdict == Verdict::not_confirmed ? "not_confirmed"
                                               : "not_checked";
}

ordered_json object_of(const std::vector<Finding>& findings, double delta) {
    const auto number = [](const std::optional<double>& value) {
        return value ? ordered_json(*value) : ordered_json();
    };
    ordered_json object;
    object["confirmed"] = referee::all_confirmed(findings);
    object["delta"] = delta;
    object["tolerance"] = referee::tolerance;
    object["findings"] = ordered_json::array();
    for (const Finding& each : findings)
        object["findings"].push_back({{"what", each.what},
                                      {"verdict", key_of(each.verdict)},
                                      {"reported", number(each.reported)},
                                      {"found", number(each.found)},
                                      {"note", each.note}});
    return object;
}

std::string text_of(const std::vector<Finding>& findings, double delta, const Console& console) {
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.6f}", *value) : std::string();
    };
    Table table({{"", Table::Align::left},
                 {"reported"},
                 {"referee"},
                 {"", Table::Align::left},
                 {"", Table::Align::left}});
    for (const Finding& each : findings)
        table.add({each.what, number(each.reported), number(each.found), word_of(each.verdict), each.note});
    std::string text = fmt::format("{} once more, by plain loops that share no code with it\n{}",
                                   console.bold("Certificate"), table.text(console.width()));
    if (referee::all_confirmed(findings))
        return text + fmt::format("  Every number is a bound with probability {}, given the stored data.\n",
                                  1 - delta);
    return text + "  Not everything is confirmed: do not rely on this certificate before it is known why.\n";
}

int check_certificate(const std::string& folder, Threads threads, const Console& console) {
    const Run store = open_run(folder);
    const LoadedRun loaded = load_run(store, threads);
    const auto checkpoint = store.checkpoint();
    if (!loaded.result || !checkpoint)
        throw UserError(
            "the run has stored no certificate yet",
            {fmt::format("run folder '{}'", folder), "what is stored when a run ends is what is checked",
             fmt::format("alidade explore {} -o {} goes on with it", shell_path(store.source()),
                         shell_path(folder))});
    referee::Case given = referee_case(store.problem(), store.options().delta, store.options().confidence,
                                       *checkpoint, *loaded.result, *loaded.knowledge.learned);
    // A run stores no classes: what `certify --class total` says of it is what is checked.
    if (constants_of(store.options()) != "paper")
        given.total = certify_class(loaded.knowledge, RewardClass::total(store.problem().shape()),
                                    {.contributions = 0, .threads = threads})
                          .candidates;
    std::vector<Finding> findings = referee::examine(given);
    if (checkpoint->contradiction)
        findings.push_back({"model check", Verdict::not_confirmed, {}, {}, checkpoint->contradiction->what});
    if (console.json())
        console.object(object_of(findings, store.options().delta));
    else
        console.result(text_of(findings, store.options().delta, console));
    return referee::all_confirmed(findings) ? 0 : 1;
}

}  // namespace

void add_check_certificate(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("check-certificate", "Check a run's reward-free certificate by independent code");
    struct Arguments {
        std::string folder;
        int threads = 0;
    };
    const auto given = std::make_shared<Arguments>();
    command->add_option("RUN", given->folder, "Folder of a run that has ended")->required();
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "Every candidate is computed again from the stored data and the printed formulas, and what is "
        "stored\n"
        "together is compared; docs/checking.md says how. Exit code 0 if all is confirmed, 1 if anything is\n"
        "not confirmed or could not be checked.");
    command->callback([=, &chosen] {
        chosen.work = [given](const Console& console) {
            return check_certificate(given->folder, thread_count(given->threads), console);
        };
    });
}

}  // namespace alidade::app
