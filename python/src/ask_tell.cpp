#include "alidade/run/ask_tell.hpp"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/error.hpp"
#include "alidade/run/episode_export.hpp"
#include "bindings.hpp"
#include "decisions.hpp"
#include "problem.hpp"
#include "run.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

/// Who asks and tells on a run. It keeps the run open.
struct Desk {
    std::shared_ptr<Run> run;
    std::shared_ptr<AskTell> desk;
};

EpisodeSource source_of(const std::vector<LoggedEpisode>& episodes) {
    return [&](const std::function<void(const LoggedEpisode&)>& each) {
        for (const LoggedEpisode& episode : episodes) each(episode);
    };
}

Asked ask_desk(const Desk& self, std::int64_t experiments, std::int64_t chunk, double lease,
               const std::string& worker, bool own_again, int threads, bool despite) {
    const AskOptions options{experiments,         chunk,  static_cast<std::int64_t>(lease), worker, own_again,
                             threads_of(threads), despite};
    const auto desk = self.desk;
    return patiently([=] { return desk->ask(options); });
}

Told tell(const Desk& self, std::int64_t id, nb::handle episodes, std::int64_t part, bool whole,
          const std::string& failed, const std::string& worker, const std::string& source) {
    std::vector<LoggedEpisode> seen;
    if (!episodes.is_none()) seen = episodes_of(episodes);
    const TellOptions options{part, whole, failed, worker, source};
    const auto desk = self.desk;
    return patiently([=, seen = std::move(seen)] { return desk->tell(id, source_of(seen), options); });
}

Told tell_unasked(const Desk& self, nb::handle episodes, const std::string& worker, const std::string& source,
                  bool log) {
    std::vector<LoggedEpisode> seen = episodes_of(episodes);
    TellOptions options;
    options.worker = worker;
    options.source = source;
    if (log) options.kind = ExperimentKind::log;
    const auto desk = self.desk;
    return patiently([=, seen = std::move(seen)] { return desk->tell_unasked(source_of(seen), options); });
}

void bind_experiments(nb::module_& m) {
    nb::class_<ExperimentAim>(m, "ExperimentAim", "What an experiment is for.")
        .def_ro("step", &ExperimentAim::step)
        .def_ro("state", &ExperimentAim::state)
        .def_ro("action", &ExperimentAim::action)
        .def_ro("share", &ExperimentAim::share, "Of the certificate, in reward.");
    nb::class_<Experiment>(m, "Experiment", "A policy, and how many episodes of it are wanted.")
        .def_ro("id", &Experiment::id)
        .def_ro("deployment", &Experiment::deployment)
        .def_ro("attempt", &Experiment::attempt)
        .def_ro("first_episode", &Experiment::first_episode)
        .def_ro("episodes", &Experiment::episodes, "Wanted, those told already included.")
        .def_ro("told", &Experiment::told)
        .def_ro("parts", &Experiment::parts)
        .def_ro("seed", &Experiment::seed)
        .def_ro("aim", &Experiment::aim)
        .def_prop_ro("policy", [](const Experiment& e) { return std::const_pointer_cast<Policy>(e.policy); })
        .def_ro("due", &Experiment::due, "Unix time after which it may be given to somebody else.")
        .def("__repr__", [](const Experiment& e) {
            return fmt::format("<experiment {}: {} episodes from {}>", e.id, e.episodes, e.first_episode);
        });
    nb::class_<Asked>(m, "Asked", "What asking gave.")
        .def_ro("experiments", &Asked::experiments)
        .def_ro("ended", &Asked::ended, "'target' or 'budget' if nothing is left to be asked.")
        .def_ro("with_others", &Asked::with_others)
        .def_ro("next_due", &Asked::next_due)
        .def(
            "__iter__", [](const Asked& asked) { return nb::iter(nb::cast(asked.experiments)); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[Experiment]"))
        .def("__len__", [](const Asked& asked) { return asked.experiments.size(); });
    nb::class_<Told>(m, "Told", "What became of an answer.")
        .def_ro("id", &Told::id)
        .def_ro("repeated", &Told::repeated)
        .def_ro("episodes", &Told::episodes)
        .def_ro("transitions", &Told::transitions)
        .def_ro("off_policy", &Told::off_policy)
        .def_ro("aside", &Told::aside)
        .def_ro("contradiction", &Told::contradiction);
}

void bind_records(nb::module_& m) {
    nb::class_<ToldPart>(m, "ToldPart")
        .def_ro("part", &ToldPart::part)
        .def_ro("episodes", &ToldPart::episodes)
        .def_ro("broken_off", &ToldPart::broken_off)
        .def_ro("digest", &ToldPart::digest)
        .def_ro("source", &ToldPart::source)
        .def_ro("worker", &ToldPart::worker)
        .def_ro("at", &ToldPart::at)
        .def_ro("taken", &ToldPart::taken)
        .def_ro("aside", &ToldPart::aside);
    nb::class_<ExperimentRecord>(m, "ExperimentRecord", "A line of a run's log.")
        .def_ro("id", &ExperimentRecord::id)
        .def_prop_ro("kind", [](const ExperimentRecord& r) { return to_string(r.kind); })
        .def_prop_ro("state", [](const ExperimentRecord& r) { return to_string(r.state); })
        .def_ro("deployment", &ExperimentRecord::deployment)
        .def_ro("attempt", &ExperimentRecord::attempt)
        .def_ro("first_episode", &ExperimentRecord::first_episode)
        .def_ro("episodes", &ExperimentRecord::episodes)
        .def_ro("told", &ExperimentRecord::told)
        .def_ro("reason", &ExperimentRecord::reason)
        .def_ro("worker", &ExperimentRecord::worker)
        .def_ro("asked", &ExperimentRecord::asked)
        .def_ro("due", &ExperimentRecord::due)
        .def_ro("parts", &ExperimentRecord::parts);
    nb::class_<LedgerStatus>(m, "LedgerStatus", "How a run's experiments stand.")
        .def_ro("seeded", &LedgerStatus::seeded)
        .def_ro("budget", &LedgerStatus::budget)
        .def_ro("target", &LedgerStatus::target)
        .def_ro("deployment", &LedgerStatus::deployment)
        .def_ro("deployment_episodes", &LedgerStatus::deployment_episodes)
        .def_ro("told", &LedgerStatus::told)
        .def_ro("taken", &LedgerStatus::taken)
        .def_ro("aside", &LedgerStatus::aside)
        .def_ro("broken_off", &LedgerStatus::broken_off)
        .def_ro("failed", &LedgerStatus::failed)
        .def_ro("missing", &LedgerStatus::missing)
        .def_ro("open", &LedgerStatus::open)
        .def_ro("ended", &LedgerStatus::ended)
        .def_ro("certificate", &LedgerStatus::certificate)
        .def_ro("certified_at", &LedgerStatus::certified_at)
        .def("__repr__", [](const LedgerStatus& s) {
            return fmt::format("<ledger: {} episodes told, {} experiments open>", s.told, s.open.size());
        });
    nb::class_<AskGoal>(m, "AskGoal")
        .def_ro("episodes", &AskGoal::episodes)
        .def_ro("target", &AskGoal::target)
        .def_ro("seeded", &AskGoal::seeded);
    nb::class_<Replay>(m, "Replay", "Whether the knowledge of a run follows from its stored episodes.")
        .def_ro("deployments", &Replay::deployments)
        .def_ro("episodes", &Replay::episodes)
        .def_ro("differences", &Replay::differences, "What is not as stored; none: every byte is.");
    nb::class_<StoredEpisode>(m, "StoredEpisode")
        .def_ro("experiment", &StoredEpisode::experiment)
        .def_ro("part", &StoredEpisode::part)
        .def_ro("number", &StoredEpisode::number)
        .def_prop_ro("kind", [](const StoredEpisode& e) { return to_string(e.kind); })
        .def_ro("seed", &StoredEpisode::seed)
        .def_ro("source", &StoredEpisode::source)
        .def_ro("worker", &StoredEpisode::worker)
        .def_ro("at", &StoredEpisode::at)
        .def_ro("episode", &StoredEpisode::episode);
}

}  // namespace

void bind_ask_tell(nb::module_& m) {
    bind_experiments(m);
    bind_records(m);
    nb::class_<Desk>(m, "AskTell",
                     "A run whose experiments somebody else runs: ask for some, run them, tell what was "
                     "seen. Every episode "
                     "is kept. Many processes may do so on one run, each with ``Run.open(folder, 'share')``.")
        .def(
            "__init__",
            [](Desk* self, const RunObject& run) {
                const auto opened = run.settled();
                new (self) Desk{opened, std::make_shared<AskTell>(*opened)};
            },
            "run"_a,
            ">>> import alidade, tempfile\n"
            ">>> run = alidade.Run.create(tempfile.mkdtemp(), 'builtin:riverswim?length=4&horizon=6', "
            "system='ask')\n"
            ">>> desk = alidade.AskTell(run)\n"
            ">>> desk.prepare(episodes=10)\n"
            ">>> experiment = desk.ask().experiments[0]\n"
            ">>> seen = alidade.simulate(run.problem.true_model(), experiment.policy, experiment.episodes)\n"
            ">>> desk.tell(experiment.id, seen).episodes == experiment.episodes\n"
            "True\n")
        .def(
            "prepare",
            [](const Desk& self, std::int64_t episodes, std::optional<double> target, bool seeded) {
                self.desk->prepare({episodes, target, seeded});
            },
            "episodes"_a = most_episodes, "target"_a = nb::none(), "seeded"_a = false,
            "Makes the run one whose episodes are kept, or changes its goal.")
        .def_prop_ro("goal", [](const Desk& self) { return self.desk->goal(); })
        .def("ask", ask_desk, "experiments"_a = 1, nb::kw_only(), "chunk"_a = 0, "lease"_a = 86'400.0,
             "worker"_a = "", "own_again"_a = false, "threads"_a = 0, "despite_contradiction"_a = false,
             "The next experiments. Takes up what was told, plans and certifies where that is due. "
             "``chunk``: episodes of "
             "one experiment at most (0: a sixteenth of its deployment); ``lease``: seconds until it may be "
             "given to "
             "somebody else.")
        .def(
            "experiment", [](const Desk& self, std::int64_t id) { return self.desk->experiment(id); }, "id"_a)
        .def("tell", tell, "id"_a, "episodes"_a = nb::none(), nb::kw_only(), "part"_a = 0, "whole"_a = true,
             "failed"_a = "", "worker"_a = "", "source"_a = "",
             nb::sig("def tell(self, id: int, episodes: typing.Any = None, *, part: int = 0, whole: bool = "
                     "True, failed: "
                     "str = '', worker: str = '', source: str = '') -> Told"),
             "What an experiment showed. Equal to what was told before: nothing happens. ``failed``: why the "
             "rest will never "
             "come.")
        .def("tell_unasked", tell_unasked, "episodes"_a, nb::kw_only(), "worker"_a = "", "source"_a = "",
             "log"_a = false,
             nb::sig("def tell_unasked(self, episodes: typing.Any, *, worker: str = '', source: str = '', "
                     "log: bool = "
                     "False) -> Told"),
             "Episodes that nobody asked for.")
        .def_prop_ro(
            "late_refusal", [](const Desk& self) { return self.desk->late_refusal(); },
            "Why the run's sets cannot count an answer that comes when its deployment is over; empty: they "
            "can.")
        .def_prop_ro("status", [](const Desk& self) { return self.desk->status(); })
        .def(
            "log", [](const Desk& self) { return self.desk->log(); }, "Every experiment.")
        .def("experiments", in_python("alidade._table", "experiments"),
             nb::sig("def experiments(self) -> alidade._table.Table"), "Every experiment, as a table.")
        .def(
            "episodes",
            [](const Desk& self) {
                std::vector<StoredEpisode> all;
                self.desk->visit([&](const StoredEpisode& episode) { all.push_back(episode); });
                return all;
            },
            "Every stored episode, by experiment and part.")
        .def(
            "export",
            [](const Desk& self, const std::filesystem::path& path) {
                return export_episodes(*self.desk, self.run->problem().shape(), path);
            },
            "path"_a, nb::sig("def export(self, path: str | os.PathLike[str]) -> int"),
            "Writes every episode to a .jsonl, .csv or .npz; returns how many records they are.")
        .def(
            "replay",
            [](const Desk& self, int threads) {
                const auto desk = self.desk;
                const Threads count = threads_of(threads);
                return patiently([=] { return desk->replay(count); });
            },
            "threads"_a = 0,
            "Computes all knowledge again from the stored episodes and compares it with what is stored.");
}

}  // namespace alidade::python
