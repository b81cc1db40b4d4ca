#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "alidade/environment/simulated.hpp"
#include "alidade/environment/system_deployer.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/run/run.hpp"
#include "support/files.hpp"

namespace alidade::testing::asking {

inline constexpr const char* garnet =
    "builtin:garnet?states=6&actions=3&features=3&horizon=4&successors=4&seed=5";

inline RunOptions options(const std::string& algorithm = "likelihood", const std::string& confidence = "") {
    RunOptions chosen;
    chosen.algorithm = algorithm;
    chosen.confidence = confidence;
    chosen.system = "ask";
    return chosen;
}

/// The problem's true system, episode by episode.
class Truth {
public:
    explicit Truth(const Problem& problem, std::uint64_t seed = 0)
        : environment_(problem.true_system()), seed_(seed) {}

    std::vector<LoggedEpisode> run(const Policy& policy, std::int64_t first, std::int64_t count) {
        std::vector<LoggedEpisode> episodes;
        for (std::int64_t k = first; k < first + count; ++k) {
            Episode episode = run_episode(environment_, policy, seed_, k);
            episodes.push_back({std::move(episode.states), std::move(episode.actions)});
        }
        return episodes;
    }
    std::vector<LoggedEpisode> run(const Experiment& experiment) {
        return run(*experiment.policy, experiment.first_episode + experiment.told,
                   experiment.episodes - experiment.told);
    }

private:
    SimulatedEnvironment environment_;
    std::uint64_t seed_;
};

inline EpisodeSource source(std::vector<LoggedEpisode> episodes) {
    return [episodes = std::move(episodes)](const std::function<void(const LoggedEpisode&)>& each) {
        for (const LoggedEpisode& episode : episodes) each(episode);
    };
}

/// A run that is asked and told in one process, with a clock of its own.
struct Desk {
    explicit Desk(const RunOptions& chosen = options(), const AskGoal& goal = {})
        : run(Run::create(folder / "run", make_builtin(garnet), garnet, chosen)),
          experiments(run),
          truth(run.problem()) {
        experiments.set_clock([this] { return now; });
        experiments.prepare(goal);
    }

    std::vector<Experiment> ask(std::int64_t count = 1, std::int64_t chunk = 0) {
        return experiments.ask({.experiments = count, .chunk = chunk, .lease_seconds = 100, .worker = "w"})
            .experiments;
    }
    /// Asks and tells so many deployments, whole.
    void turn(int deployments) {
        for (int i = 0; i < deployments; ++i)
            for (const Experiment& experiment : ask(1000)) tell(experiment);
    }
    Told tell(const Experiment& experiment, const TellOptions& how = {}) {
        return experiments.tell(experiment.id, source(truth.run(experiment)), how);
    }
    /// Takes up what was told.
    LedgerStatus status() {
        experiments.ask({.experiments = 0});
        return experiments.status();
    }

    TemporaryFolder folder;
    std::int64_t now = 1'000'000;
    Run run;
    AskTell experiments;
    Truth truth;
};

}  // namespace alidade::testing::asking
