#include "experiment_view.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "run_advice.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

Index index_argument(const std::string& text, const std::vector<std::string>& names, Index count,
                     const char* flag) {
    if (const auto name = std::ranges::find(names, text); name != names.end())
        return static_cast<Index>(name - names.begin());
    Index value = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc() && end == text.data() + text.size() && value >= 0 && value < count)
        return value;
    throw UserError(
        fmt::format("{} is '{}'; must be 0 to {}{}", flag, text, count - 1,
                    names.empty() ? "" : ", or a name of the problem's"),
        {"the command line", "another one would be another answer",
         names.empty() ? fmt::format("{} 0", flag) : fmt::format("{} '{}'", flag, names.front())});
}

}  // namespace

std::string utc_time(std::int64_t time) {
    if (time == 0) return "-";
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(time)));
}

ordered_json time_json(std::int64_t time) {
    if (time == 0) return nullptr;
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::string this_worker() {
    const char* user = std::getenv("USER");
    std::array<char, 256> machine{};
    if (gethostname(machine.data(), machine.size() - 1) != 0) machine[0] = '\0';
    return fmt::format("{}@{}", user != nullptr ? user : "somebody", machine.data());
}

State state_argument(const std::string& text, const Problem& problem, const char* flag) {
    return index_argument(text, problem.description().state_names, problem.shape().states, flag);
}

Action action_argument(const std::string& text, const Problem& problem, const char* flag) {
    return index_argument(text, problem.description().action_names, problem.shape().actions, flag);
}

EpisodeFileOptions episode_options(const Problem& problem, const std::string& columns) {
    return {.shape = problem.shape(),
            .state_names = problem.description().state_names,
            .action_names = problem.description().action_names,
            .columns = columns};
}

Run open_run_to_share(const std::string& folder) {
    return explaining_run(folder, keeping_use(), [&] { return Run::open(folder, Access::share); });
}

void require_same_system(const Run& run, bool same_system) {
    if (same_system || run.options().system.starts_with("ask")) return;
    throw UserError(fmt::format("the run's experiments are not run by those who ask: its system is {}",
                                run.options().system),
                    {fmt::format("run folder '{}'", run.folder().string()),
                     "data of two systems must not be mixed: the bounds would not hold",
                     "explore --system ask -o ANOTHER_FOLDER for a run of your own; or, if it is one system, "
                     "--same-system"});
}

void require_episodes(const Run& run) {
    if (run.keeps_episodes()) return;
    throw UserError("the run keeps no episodes: it was simulated, or it is of an earlier version",
                    {fmt::format("run folder '{}'", run.folder().string()),
                     "simulated episodes are counted and can be had again from the seed",
                     "a run of explore --system cmd:... or --system ask, or of learn"});
}

ordered_json to_json(const ExperimentAim& aim, const Problem& problem) {
    return {{"step", aim.step},
            {"state", aim.state},
            {"state_name", problem.state_name(aim.state)},
            {"action", aim.action},
            {"action_name", problem.action_name(aim.action)},
            {"share", aim.share}};
}

std::string in_words(const ExperimentAim& aim, const Problem& problem) {
    return fmt::format("step {}, {}, {}", aim.step, problem.state_name(aim.state),
                       problem.action_name(aim.action));
}

}  // namespace alidade::app
