#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "alidade/environment/simulated.hpp"
#include "alidade/error.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/process/command_system.hpp"
#include "alidade/run/experiment.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"
#include "python_system.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

std::vector<LoggedEpisode> simulate(const std::shared_ptr<const TransitionModel>& model, nb::handle policy,
                                    std::int64_t episodes, std::uint64_t seed, std::int64_t first) {
    expects(episodes >= 0 && first >= 0, "{} episodes from episode {}; neither may be negative", episodes,
            first);
    const Policy wanted = policy_of(policy, model->shape());
    return patiently([=] {
        SimulatedEnvironment environment(*model);
        std::vector<LoggedEpisode> seen;
        for (std::int64_t k = first; k < first + episodes; ++k) {
            Episode episode = run_episode(environment, wanted, seed, k);
            seen.push_back({std::move(episode.states), std::move(episode.actions), 1, true});
        }
        return seen;
    });
}

/// Episodes as arrays (states, actions, complete) of shape (episodes, H), with -1 where nothing was seen.
nb::tuple arrays_of(std::span<const SystemEpisode> episodes, Index horizon) {
    const auto rows = episodes.size(), columns = static_cast<std::size_t>(horizon);
    std::vector<std::int32_t> states(rows * columns, -1), actions(rows * columns, -1);
    std::vector<std::uint8_t> complete(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        std::ranges::transform(episodes[i].states, &states[i * columns],
                               [](State s) { return static_cast<std::int32_t>(s); });
        std::ranges::transform(episodes[i].actions, &actions[i * columns],
                               [](Action a) { return static_cast<std::int32_t>(a); });
        complete[i] = episodes[i].complete ? 1 : 0;
    }
    return nb::make_tuple(own(std::move(states), {rows, columns}), own(std::move(actions), {rows, columns}),
                          own(std::move(complete), {rows}));
}

std::int64_t run_episodes(nb::handle system, const Policy& policy, const nb::callable& accept,
                          std::int64_t first, std::int64_t count, std::uint64_t seed) {
    const auto caller = std::make_shared<CallingThread>();
    const auto tried =
        std::make_shared<Tried>(reporting_system_of(system, policy.shape(), seed, nullptr, caller));
    const Kept told = keep(nb::object(accept));
    const auto hand_over = [=, horizon = policy.shape().horizon](std::span<const SystemEpisode> episodes) {
        const auto call = [&] {
            const nb::gil_scoped_acquire locked;
            (*told)(*arrays_of(episodes, horizon));
        };
        if (caller->is_present()) return call();
        caller->run(call);
    };
    const auto reported = std::make_shared<std::int64_t>(0);
    CallingThread::wait_for(caller, [=] {
        *reported = tried->system->run(policy, first, count, hand_over, [=] { return caller->ending(); });
    });
    return *reported;
}

}  // namespace

void bind_environment(nb::module_& m) {
    nb::class_<SimulatedSystem>(m, "SimulatedSystem",
                                "A known model as the system under study, simulated in the library.")
        .def(
            "__init__",
            [](SimulatedSystem* self, const std::shared_ptr<TransitionModel>& model,
               const std::string& method, std::optional<std::uint64_t> seed) {
                expects(method == "splitting" || method == "stepwise",
                        "method is '{}'; must be splitting or stepwise", method);
                new (self) SimulatedSystem{model, method == "splitting", seed};
            },
            "model"_a, "method"_a = "splitting", "seed"_a = nb::none(),
            "'splitting' draws the counts of a whole deployment at once, exact in law; 'stepwise' plays "
            "episodes. ``seed``: of its draws, if not that of the exploration.")
        .def_prop_ro("model", [](const SimulatedSystem& system) {
            return std::const_pointer_cast<TransitionModel>(system.model);
        });
    nb::class_<System>(m, "_System", "A system of the library that reports every episode.")
        .def_prop_ro("shape", &System::shape)
        .def_prop_ro("seeded", &System::seeded);
    nb::class_<CommandSystem, System>(
        m, "CommandSystem", "A system that is another program, which answers one JSON object a line.")
        .def(
            "__init__",
            [](CommandSystem* self, nb::handle problem, const std::string& command,
               const std::filesystem::path& folder, std::uint64_t seed, Index workers, double timeout,
               const std::filesystem::path& log) {
                const SharedProblem parts = problem_of(problem);
                CommandSystemOptions options{command, folder, seed, workers, timeout};
                options.log = log;
                options.state_names = parts->description().state_names;
                options.action_names = parts->description().action_names;
                const nb::gil_scoped_release unlocked;
                new (self) CommandSystem(task_of(*parts), options);
            },
            "problem"_a, "command"_a, nb::kw_only(), "folder"_a = "", "seed"_a = 0, "workers"_a = 1,
            "timeout"_a = 60.0, "log"_a = "",
            nb::sig("def __init__(self, problem: Problem | str, command: str, *, folder: str | "
                    "os.PathLike[str] = "
                    "'', seed: int = 0, workers: int = 1, timeout: float = 60.0, log: str | os.PathLike[str] "
                    "= '') "
                    "-> None"))
        .def_prop_ro("restarts", &CommandSystem::restarts,
                     "Children that were started in place of one that failed.");
    m.def("simulate", simulate, "model"_a, "policy"_a, "episodes"_a, "seed"_a = 0, "first"_a = 0,
          nb::sig("def simulate(model: TransitionModel, policy: typing.Any, episodes: int, seed: int = 0, "
                  "first: int "
                  "= 0) -> list[Episode]"),
          "Plays episodes first .. first+episodes-1 of a policy in a known model. The same numbers and seed "
          "give the "
          "same episodes everywhere.");
    m.def(
        "run_episodes", run_episodes, "system"_a, "policy"_a, "accept"_a, nb::kw_only(), "first"_a = 0,
        "count"_a = 1, "seed"_a = 0,
        nb::sig("def run_episodes(system: typing.Any, policy: Policy, accept: collections.abc.Callable[..., "
                "object], "
                "*, first: int = 0, count: int = 1, seed: int = 0) -> int"),
        "Runs episodes first .. first+count-1 of a policy on a system, as a run does, and calls "
        "accept(states, "
        "actions, complete) with what comes out: arrays of shape (episodes, H), -1 where nothing was seen. "
        "What the "
        "system raises arrives as it is, after what was seen before. Returns how many episodes there were.");
    m.def("seed_of_episode", seed_of_episode, "run_seed"_a, "episode"_a,
          "The seed of an episode by its number in the run: what a system with seeds is told.");
}

}  // namespace alidade::python
