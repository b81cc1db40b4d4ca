#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/environment/simulated.hpp"
#include "alidade/error.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/process/command_system.hpp"
#include "alidade/run/experiment.hpp"
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
    m.def("seed_of_episode", seed_of_episode, "run_seed"_a, "episode"_a,
          "The seed of an episode by its number in the run: what a system with seeds is told.");
}

}  // namespace alidade::python
