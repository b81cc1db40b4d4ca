#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "experiment_view.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct TellArguments {
    std::string folder, file, columns, failed, worker = this_worker();
    std::optional<std::int64_t> id, part;
    bool unasked = false, same_system = false;
};

void require_one_way(const TellArguments& given) {
    const Context context{
        "the command line", "what was told must be known for what it is",
        "alidade tell RUN ID --episodes FILE, or alidade tell RUN --unasked --episodes FILE"};
    if (given.unasked == given.id.has_value())
        throw UserError(
            given.unasked ? "both an experiment and --unasked" : "neither an experiment nor --unasked",
            context);
    if (given.unasked && (given.part || !given.failed.empty()))
        throw UserError(fmt::format("--unasked with {}", given.part ? "--part" : "--failed"), context);
    if (given.file.empty() && given.failed.empty())
        throw UserError("neither --episodes nor --failed", context);
}

Told tell_all(AskTell& experiments, const TellArguments& given, const Problem& problem) {
    const EpisodeFileOptions options = episode_options(problem, given.columns);
    EpisodeSource source;
    if (!given.file.empty())
        source = [&](const std::function<void(const LoggedEpisode&)>& each) {
            visit_episodes(given.file, options, each);
        };
    const TellOptions how{.part = given.part.value_or(0),
                          .whole = !given.part,
                          .failed = given.failed,
                          .worker = given.worker,
                          .source = given.file};
    const Context context{
        given.unasked ? fmt::format("--unasked, run folder '{}'", given.folder)
                      : fmt::format("experiment {} of run folder '{}'", *given.id, given.folder),
        "an answer that is guessed at, or counted twice, would void every bound; nothing was stored",
        "correct the file or the command line; docs/ask-and-tell.md says what may be told"};
    return explaining_file(given.file.empty() ? given.folder + "/run.sqlite" : given.file, context, [&] {
        return given.unasked ? experiments.tell_unasked(source, how)
                             : experiments.tell(*given.id, source, how);
    });
}

std::string text_of(const Told& told, const TellArguments& given) {
    if (told.repeated)
        return fmt::format("Told before, as experiment {}, and the same: nothing has changed.\n", told.id);
    std::string text =
        fmt::format("Told {} {} ({} transitions) of experiment {}.\n", with_commas(told.episodes),
                    told.episodes == 1 ? "episode" : "episodes", with_commas(told.transitions), told.id);
    if (!given.failed.empty()) text += "It is closed as failed; what was told of it counts.\n";
    if (told.off_policy > 0)
        text += fmt::format("{} actions were not the policy's. The bounds hold for any actions.\n",
                            with_commas(told.off_policy));
    if (told.aside)
        text +=
            "It came after its deployment was over. The episodes are kept, but the run's sets must not count "
            "them:\n"
            "what they predict has been fixed anew since they were asked for.\n";
    return text;
}

int tell(const TellArguments& given, const Console& console) {
    require_one_way(given);
    const Run run = open_run_to_share(given.folder);
    AskTell experiments(run);
    if (given.unasked) {
        require_same_system(run, given.same_system);
        if (!run.keeps_episodes()) experiments.prepare({});
    } else {
        require_episodes(run);
    }
    const Told told = tell_all(experiments, given, run.problem());
    if (told.contradiction)
        console.insist(
            fmt::format("The data contradict the model: {}. The episodes are stored, and so is this.",
                        printable(told.contradiction->what)));
    if (console.json()) {
        ordered_json object;
        object["id"] = told.id;
        object["repeated"] = told.repeated;
        object["episodes"] = told.episodes;
        object["transitions"] = told.transitions;
        object["off_policy"] = told.off_policy;
        object["aside"] = told.aside;
        if (told.contradiction) object["contradiction"] = to_json(*told.contradiction);
        object["run"] = given.folder;
        console.object(object);
    } else {
        console.result(text_of(told, given));
    }
    return told.contradiction ? 4 : 0;
}

}  // namespace

void add_tell(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("tell", "What an experiment showed, or episodes of your own");
    const auto given = std::make_shared<TellArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("ID", given->id, "The experiment, as ask numbered it");
    command->add_option("--episodes", given->file,
                        "A file of episodes, in the order in which they were run: .jsonl, .csv or .npz");
    command->add_option("--columns", given->columns,
                        "Of a .csv: where what is, as episode=run,step=t,state=s,action=a,next_state=s2");
    command->add_option(
        "--part", given->part,
        "The part with this number of the answer, from 0; others follow [the answer is whole]");
    command->add_option("--failed", given->failed, "Why the rest will never come; what was told counts");
    command->add_flag(
        "--unasked", given->unasked,
        "Episodes of your own, of any policy: for runs whose sets hold for any data (likelihood, linear)");
    command->add_option("--worker", given->worker, "Who ran it")->capture_default_str();
    command->add_flag("--same-system", given->same_system,
                      "With --unasked, where the run's other data come from elsewhere: it is one system");
    add_output_flags(*command, chosen);
    command->footer(
        "When it returns, the episodes are on disk. An answer is counted once: told again and equal, nothing "
        "happens;\n"
        "different, it is refused and noted. Fewer episodes than were wanted are welcome, and late ones. "
        "Waits up to\n"
        "half a minute for others who write.\n"
        "Exit code: 0 done, 4 done, but a transition is in no base model. docs/ask-and-tell.md");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return tell(*given, console); }; });
}

}  // namespace alidade::app
