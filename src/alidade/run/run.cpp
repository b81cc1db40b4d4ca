#include "alidade/run/run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "../explore/likelihood_source.hpp"
#include "alidade/environment/system.hpp"
#include "alidade/error.hpp"
#include "ledger.hpp"
#include "run_result.hpp"
#include "run_store.hpp"

namespace alidade {

namespace {

constexpr double checkpoint_seconds = 1;
/// Waiting for less than this is no waiting.
constexpr double long_thought_seconds = 0.25;

using Clock = std::chrono::steady_clock;

double seconds_from(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Stores a checkpoint when the last one is old enough, or before work that a signal could not wait for: as
/// long as no such work begins with anything unstored, the process may be killed at any moment.
class Checkpoints {
public:
    Checkpoints(detail::RunStore& store, Exploration& exploration, const RunWatch& watch)
        : store_(store), exploration_(exploration), watch_(watch) {}

    /// A batch has been told; planning and certifying follow.
    void batch_told() {
        thinking_since_ = Clock::now();
        if (seconds_from(last_) < checkpoint_seconds && longest_thought_ < long_thought_seconds) return;
        save();
    }
    /// A batch is about to be run.
    void before_batch() {
        if (thinking_since_) longest_thought_ = std::max(longest_thought_, seconds_from(*thinking_since_));
        say(false);
        current_ = false;
    }
    /// No batch will follow, but a last certificate.
    void ending() {
        if (!current_) save();
    }
    void save() {
        write([&] { store_.save(now(exploration_.contradiction())); });
    }
    void save(const RunResult& result, const std::optional<RunContradiction>& contradiction) {
        write([&] { store_.save(now(contradiction), result); });
    }

private:
    RunCheckpoint now(const std::optional<RunContradiction>& contradiction) {
        return {exploration_.memory(), exploration_.counts(), contradiction};
    }
    void say(bool stored) const {
        if (watch_.stored) watch_.stored(stored);
    }
    template <class Write>
    void write(const Write& write) {
        say(false);
        write();
        say(true);
        current_ = true;
        last_ = Clock::now();
    }

    detail::RunStore& store_;
    Exploration& exploration_;
    const RunWatch& watch_;
    Clock::time_point last_ = Clock::now();
    std::optional<Clock::time_point> thinking_since_;
    double longest_thought_ = 0;
    bool current_ = true;  // the store has all that was told
};

ExploreOptions loop_options(const RunGoal& goal, const RunWatch& watch, Checkpoints& checkpoints) {
    ExploreOptions options;
    options.episodes = goal.episodes;
    options.target = goal.target;
    options.despite_contradiction = goal.despite_contradiction;
    options.enough = goal.enough;
    options.interrupted = [&] {
        if (watch.interrupted && watch.interrupted()) return true;
        checkpoints.before_batch();
        return false;
    };
    options.ending = [&] { checkpoints.ending(); };
    options.observe = [&](const Progress& progress) {
        if (watch.observe) watch.observe(progress);
        checkpoints.batch_told();
    };
    return options;
}

}  // namespace

Task task_of(const Problem& problem, const RunOptions& options) {
    return assuming(task_of(problem), options.assumed);
}

ExplorerOptions explorer_options(const RunOptions& options, Threads threads) {
    return {.algorithm = options.algorithm,
            .confidence = options.confidence,
            .delta = options.delta,
            .seed = options.seed,
            .schedule = options.schedule,
            .threads = threads};
}

Run Run::create(const std::filesystem::path& folder, const Problem& problem, const std::string& source,
                RunOptions options) {
    const ExplorerOptions asked = canonical(explorer_options(options, 1), task_of(problem, options));
    options.algorithm = asked.algorithm;
    options.confidence = asked.confidence;
    return Run(detail::RunStore::create(folder, problem, source, options));
}

Run Run::open(const std::filesystem::path& folder, Access access, const SharedFeatures& at_hand) {
    return Run(detail::RunStore::open(folder, access, detail::RunStore::default_patience, at_hand));
}

bool Run::exists(const std::filesystem::path& folder) {
    return detail::RunStore::exists(folder);
}

bool Run::is_run(const std::filesystem::path& folder) {
    return detail::RunStore::is_run(folder);
}

void Run::remove(const std::filesystem::path& folder) {
    detail::RunStore::remove(folder);
}

Run::Run(detail::RunStore store) : store_(std::make_shared<detail::RunStore>(std::move(store))) {}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

const std::filesystem::path& Run::folder() const noexcept {
    return store_->folder();
}

const Problem& Run::problem() const noexcept {
    return store_->problem();
}

const RunOptions& Run::options() const noexcept {
    return store_->options();
}

const std::string& Run::source() const noexcept {
    return store_->source();
}

const std::string& Run::problem_hash() const noexcept {
    return store_->problem_hash();
}

std::optional<RunCheckpoint> Run::checkpoint() const {
    return store_->checkpoint();
}

std::optional<RunResult> Run::result() const {
    return store_->result();
}

bool Run::keeps_episodes() const {
    bool kept = false;
    store_->inspect(
        [&](const detail::sqlite::Database& database) { kept = detail::ledger::exists(database); });
    return kept;
}

ExploredRun Run::explore(Deployer& system, const RunGoal& goal, const RunWatch& watch) {
    expects(!keeps_episodes(),
            "{}: the run keeps every episode; explore it with a system that reports them, not with counts",
            folder().string());
    Exploration exploration(task_of(problem(), options()), explorer_options(options(), goal.threads));
    std::optional<RunContradiction> known;
    if (auto checkpoint = store_->checkpoint()) {
        known = std::move(checkpoint->contradiction);
        if (known && !goal.despite_contradiction) throw ModelContradiction(known->what);
        const std::int64_t episodes = checkpoint->counts.episodes();
        exploration.restore(checkpoint->memory, std::move(checkpoint->counts));
        if (watch.resumed && episodes > 0) watch.resumed(episodes);
    }
    const auto previous = store_->result();
    Checkpoints checkpoints(*store_, exploration, watch);
    Stopped stopped = Stopped::budget;
    try {
        stopped = exploration.run(system, loop_options(goal, watch, checkpoints));
    } catch (const ModelContradiction&) {
        checkpoints.save();
        throw;
    } catch (const SystemFailed&) {
        checkpoints.save();
        throw;
    }
    RunResult result = detail::result_of(exploration, stopped, previous ? previous->timings : Timings{});
    if (!known) known = exploration.contradiction();
    checkpoints.save(result, known);
    return detail::explored_run(exploration, stopped, std::move(result), std::move(known));
}

ExploredRun Run::explore(const RunGoal& goal, const RunWatch& watch) {
    expects(problem().truth_known(), "the problem does not say how to run its system");
    CountSplittingDeployer system(problem().true_system(), options().seed);
    return explore(system, goal, watch);
}

LearnedRun Run::learn(const std::filesystem::path& folder, const Problem& problem, const std::string& source,
                      double delta, const Counts& counts, const LearnOptions& options) {
    const auto begin = Clock::now();
    RunOptions asked;
    asked.algorithm = offline_algorithm(task_of(problem));
    asked.confidence.clear();  // the algorithm's own
    asked.delta = delta;
    asked.assumed = options.assumed;
    Snapshot evidence = detail::likelihood_evidence(counts);
    // As it is computed when the run is loaded, to the last bit.
    Knowledge knowledge =
        recompute(task_of(problem, asked), evidence, explorer_options(asked, options.threads));
    RunResult result = detail::result_of(knowledge, std::move(evidence), std::string(stopped_at_logs));
    result.timings.total = result.timings.certify = seconds_from(begin);
    if (options.replace) detail::RunStore::remove(folder);
    Run run = create(folder, problem, source, asked);
    run.store_->save(RunCheckpoint{{}, counts}, result);
    return {std::move(run), std::move(knowledge), std::move(result)};
}

std::optional<LoadedRun> Run::load(Threads threads, const AssumedError& assumed) const {
    const ExplorerOptions explorer = explorer_options(options(), threads);
    const Task task = assuming(task_of(problem(), options()), assumed);
    if (!(assumed == AssumedError{}))
        for (const Request& source : parse_requests(options().confidence))
            expects(source.name == "likelihood" || (source.name == "regression" && source.given.empty()),
                    "the run's confidence sets are by {}, whose weights were chosen for the misspecification "
                    "that the run assumes; others can be assumed of likelihood and regression only",
                    to_string(source));
    const bool kept = keeps_episodes();
    auto result = store_->result();
    std::optional<RunCheckpoint> checkpoint;
    if (kept || !result) checkpoint = store_->checkpoint();
    // Episodes may have been taken up after the last result.
    if (result && checkpoint && checkpoint->counts.episodes() != result->episodes) result.reset();
    if (result) {
        Knowledge knowledge = recompute(task, result->evidence, explorer);
        return LoadedRun{std::move(knowledge), std::move(result)};
    }
    if (!checkpoint) return std::nullopt;
    Exploration exploration(task, explorer);
    exploration.restore(checkpoint->memory, std::move(checkpoint->counts));
    // Who asks and tells ends nowhere: what is known is what all episodes that were taken up say.
    if (kept) exploration.conclude({.episodes = most_episodes, .despite_contradiction = true});
    return LoadedRun{exploration.best(), std::nullopt};
}

void Run::note(const RunContradiction& found) {
    store_->note(found);
}

void Run::keep(std::span<const KeptPlan> plans) {
    store_->keep(plans);
}

std::vector<KeptPlan> Run::kept_plans() const {
    return store_->kept_plans();
}

}  // namespace alidade
