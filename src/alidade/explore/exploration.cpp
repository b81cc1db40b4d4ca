#include "alidade/explore/exploration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

#include "alidade/error.hpp"
#include "alidade/model/counts.hpp"

namespace alidade {

namespace {

/// A certificate takes as long as dozens of policies, so that on the way one is computed when the episodes
/// have doubled [design decision 2]. Where a target is near they come sooner, or it would be overshot and
/// paid for.
constexpr double most_growth = 2, least_growth = 1.02;
/// From so many targets on batches end where the next certificate is due.
constexpr double near_target = 1.1;

/// A certificate of all candidates takes as long as some ten policies. Where that is noticed, and nobody
/// waits for a target, those on the way take well below half of the time of planning: forty policies lie
/// between two of them. Counted, not timed, so that it does not depend on the machine.
constexpr std::int64_t policies_between = 40;
/// From so many (step, state, action) on.
constexpr double many_places = 1e4;

bool takes_long(const Shape& shape) {
    return static_cast<double>(shape.pairs()) * static_cast<double>(shape.learned_steps()) >= many_places;
}

class Watch {
public:
    explicit Watch(double& total) : total_(total) {}
    ~Watch() { total_ += seconds(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    double& total_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

double least_candidate(const RewardFreeCertificate& certificate) {
    double least = certificate.candidates.front().second;
    for (const auto& [name, value] : certificate.candidates) least = std::min(least, value);
    return least;
}

}  // namespace

std::string to_string(Stopped stopped) {
    switch (stopped) {
        case Stopped::target:
            return "target";
        case Stopped::budget:
            return "budget";
        case Stopped::interrupted:
            break;
    }
    return "interrupted";
}

Exploration::Exploration(const Task& task, const ExplorerOptions& options)
    : task_(task),
      explorer_(task, options),
      counts_(task.successors(), task.horizon, task.elsewhere()),
      batch_(task.successors(), task.horizon, task.elsewhere()) {}

bool Exploration::certificate_due(const std::optional<double>& target) const {
    if (!target && takes_long(task_.shape())) {
        const std::int64_t since = explorer_.replans() - (trace_.empty() ? 0 : trace_.back().replans);
        if (since < policies_between) return false;
    }
    if (!scheduled_.made) return true;
    // Without new data it would be the same.
    if (explorer_.episodes() <= certified_at_) return false;
    return static_cast<double>(explorer_.episodes()) >= next_certificate(target);
}

double Exploration::next_certificate(const std::optional<double>& target) const {
    // Certificates fall as the root of the episodes; where new ground is reached faster, but hardly ever
    // faster than their inverse. So that long nothing can be missed.
    const double growth =
        target ? std::clamp(scheduled_.bound / *target, least_growth, most_growth) : most_growth;
    return growth * static_cast<double>(certified_at_);
}

// A whole batch is a tenth of all episodes, and most of the last one would be paid for and not needed.
std::int64_t Exploration::until_certificate(const std::optional<double>& target) const {
    if (!target || !scheduled_.made || scheduled_.bound > near_target * *target) return most_episodes;
    const double left = std::ceil(next_certificate(target)) - static_cast<double>(explorer_.episodes());
    return left > 1 ? static_cast<std::int64_t>(left) : 1;
}

void Exploration::take_if_better(Iterate& iterate, Knowledge knowledge) {
    // Not clipped at H: while certificates are vacuous the clipped ones tie, and the best would not be seen.
    // All iterates hold on one event, so the least may be handed over [theory §3m].
    const double bound = least_candidate(knowledge.certificate);
    // Ties go to the latest [design decision 3]. The paper hands over the last [paper, Alg. 1 line 19].
    if (iterate.made && explorer_.keeps_best() && bound > iterate.bound) return;
    iterate = {true, std::move(knowledge), explorer_.evidence(), bound};
}

template <class Action>
bool Exploration::judged(bool despite, const Action& action) {
    try {
        action();
        return true;
    } catch (const ModelContradiction& error) {
        if (!contradiction_)
            contradiction_ = {ContradictionKind::empty_confidence_set, error.what(), explorer_.episodes()};
        if (!despite) throw;
        return false;
    }
}

Deployment Exploration::next(bool despite) {
    const Watch planning(timings_.plan);
    Deployment deployment;
    // Nothing can be planned with a set that has no members; who goes on keeps the last policy.
    if (!judged(despite, [&] { deployment = explorer_.ask(); })) deployment = explorer_.repeat();
    return deployment;
}

void Exploration::certify(bool despite, const Policy* next) {
    const Watch watch(timings_.certify);
    std::optional<ExperimentAim> aim;
    // Without an earlier certificate there is nothing to hand over.
    const bool certified = judged(despite && scheduled_.made, [&] {
        Knowledge knowledge = explorer_.knowledge();
        if (next != nullptr) aim = aim_of(knowledge.certificate, *next);
        take_if_better(scheduled_, std::move(knowledge));
    });
    certified_at_ = explorer_.episodes();
    if (certified) trace_.push_back({certified_at_, scheduled_.bound, explorer_.replans(), aim});
}

bool Exploration::met(double bound, const ExploreOptions& options) const {
    return options.target && std::min(bound, static_cast<double>(task_.horizon)) <= *options.target;
}

std::optional<Deployment> Exploration::ask(const ExploreOptions& options) {
    expects(options.episodes >= 1 && options.episodes <= most_episodes, "episodes is {}; must be 1 to {}",
            options.episodes, most_episodes);
    expects(!options.target || *options.target > 0, "target is {}; must be greater than 0",
            options.target.value_or(0));
    final_.reset();
    Deployment deployment = next(options.despite_contradiction);
    if (!options.enough && certificate_due(options.target))
        certify(options.despite_contradiction, deployment.policy.get());
    const std::int64_t left = options.episodes - explorer_.episodes();
    // Certificates hold at all times at once, so that stopping at the first small one costs no
    // probability [theory §3f].
    if (is_enough(options) || met(scheduled_.bound, options) || left <= 0) return std::nullopt;
    deployment.episodes = std::min({left, deployment.episodes, until_certificate(options.target)});
    return deployment;
}

// The sets hold at all times at once, so that whoever looks at them may end the run when it likes [theory
// §3f].
bool Exploration::is_enough(const ExploreOptions& options) {
    enough_ = false;
    if (!options.enough) return false;
    const Watch watch(timings_.certify);
    judged(options.despite_contradiction, [&] {
        enough_ = options.enough({explorer_.learned(), {}, explorer_.episodes()});
    });
    return enough_;
}

void Exploration::note(const std::optional<RunContradiction>& found) {
    if (found && !contradiction_) contradiction_ = found;
}

void Exploration::tell(const Counts& batch, const std::optional<RunContradiction>& found) {
    const Watch planning(timings_.plan);
    explorer_.tell(batch);
    counts_ += batch;
    note(found);
}

void Exploration::tell_unasked(const Counts& batch, const std::optional<RunContradiction>& found) {
    const Watch planning(timings_.plan);
    explorer_.tell_unasked(batch);
    counts_ += batch;
    note(found);
}

Stopped Exploration::conclude(const ExploreOptions& options) {
    enough_ = enough_ && options.enough;
    const bool target = enough_ || met(scheduled_.bound, options);
    finish(options.despite_contradiction);
    if (target || met(final_->knowledge->certificate.bound, options)) return Stopped::target;
    return explorer_.episodes() >= options.episodes ? Stopped::budget : Stopped::interrupted;
}

Stopped Exploration::run(Deployer& system, const ExploreOptions& options) {
    const Watch watch(timings_.total);
    while (true) {
        const std::optional<Deployment> deployment = ask(options);
        if (!deployment || (options.interrupted && options.interrupted())) {
            if (options.ending) options.ending();
            return conclude(options);
        }
        advance(system, *deployment, deployment->episodes, options.despite_contradiction);
        if (options.observe)
            options.observe({explorer_.episodes(), explorer_.replans(),
                             std::min(scheduled_.bound, static_cast<double>(task_.horizon)),
                             watch.seconds()});
    }
}

void Exploration::advance(Deployer& system, const Deployment& deployment, std::int64_t episodes,
                          bool despite) {
    batch_.clear();
    std::exception_ptr contradicted, failed;
    std::optional<RunContradiction> found;
    try {
        const Watch simulation(timings_.simulate);
        system.deploy(*deployment.policy, explorer_.episodes(), episodes, batch_);
    } catch (const ModelContradiction& error) {
        // The episode that showed it was run as well: it is not to be run again by those who go on.
        batch_.add_episodes(1);
        found = impossible_transition(error, explorer_.episodes() + batch_.episodes());
        contradicted = std::current_exception();
    } catch (...) {
        // What was counted before was paid for.
        failed = std::current_exception();
    }
    if (!failed || batch_.episodes() > 0) tell(batch_, found);
    if (failed) std::rethrow_exception(failed);
    if (contradicted && !despite) std::rethrow_exception(contradicted);
}

// The certificate at the end is reported but not remembered: a resumed run must not be able to tell
// that it was ever stopped. What is handed over is computed once more from its evidence, as anybody can
// later, and with more effort than there was on the way.
void Exploration::finish(bool despite) {
    const Watch watch(timings_.certify);
    final_ = scheduled_;
    if (enough_ || !final_->made) {
        // There is nothing to compare with.
        *final_ = {true, std::nullopt, explorer_.evidence(), std::numeric_limits<double>::infinity()};
    } else if (explorer_.episodes() != certified_at_) {
        judged(despite, [&] { take_if_better(*final_, explorer_.knowledge()); });
    }
    // Of one that was restored nothing is known that could be handed over instead.
    judged(despite && final_->knowledge.has_value(),
           [&] { final_->knowledge = explorer_.recompute(final_->evidence); });
}

Exploration::Iterate& Exploration::handed_over() {
    if (final_) return *final_;
    if (!scheduled_.made) certify(false, nullptr);
    return scheduled_;
}

const Knowledge& Exploration::best() {
    Iterate& iterate = handed_over();
    if (!iterate.knowledge) iterate.knowledge = explorer_.recompute(iterate.evidence);
    return *iterate.knowledge;
}

const Snapshot& Exploration::best_evidence() {
    return handed_over().evidence;
}

Snapshot Exploration::memory() {
    Snapshot record = explorer_.memory();
    if (!scheduled_.made) return record;
    record.add("best.", scheduled_.evidence);
    record.numbers["best_bound"] = {scheduled_.bound};
    record.integers["certified_at"] = {certified_at_};
    for (const TracePoint& point : trace_) {
        record.integers["trace.episodes"].push_back(point.episodes);
        record.integers["trace.replans"].push_back(point.replans);
        record.numbers["trace.bound"].push_back(point.bound);
        // Beside the rest, so that runs of before, which have none, are read as they are; -1: none.
        const ExperimentAim aim = point.aim.value_or(ExperimentAim{-1, -1, -1, 0});
        for (const Index part : {aim.step, aim.state, aim.action})
            record.integers["trace.aim"].push_back(part);
        record.numbers["trace.aim_share"].push_back(aim.share);
    }
    return record;
}

void Exploration::restore(const Snapshot& memory, Counts counts) {
    explorer_.restore(memory);
    expects(counts.shape() == counts_.shape() && counts.episodes() == explorer_.episodes(),
            "the stored counts are of {} episodes, the stored explorer of {}; the run is damaged",
            counts.episodes(), explorer_.episodes());
    counts_ = std::move(counts);
    scheduled_ = {};
    final_.reset();
    trace_.clear();
    contradiction_.reset();
    if (!memory.numbers.contains("best_bound")) return;
    scheduled_.made = true;
    // Its knowledge is computed from the evidence where it is asked for, so that no stored set is believed.
    // The bound is the one that the run had, since later ones are compared with it.
    scheduled_.evidence = memory.part("best.");
    scheduled_.bound = memory.numbers.at("best_bound").at(0);
    certified_at_ = memory.integers.at("certified_at").at(0);
    trace_ = trace_of(memory);
}

std::vector<TracePoint> trace_of(const Snapshot& memory) {
    std::vector<TracePoint> trace;
    if (!memory.numbers.contains("best_bound")) return trace;
    const auto& episodes = memory.integers.at("trace.episodes");
    const auto aims = memory.integers.find("trace.aim");
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        trace.push_back(
            {episodes[i], memory.numbers.at("trace.bound").at(i), memory.integers.at("trace.replans").at(i)});
        if (aims == memory.integers.end() || aims->second.at(3 * i) < 0) continue;
        trace.back().aim =
            ExperimentAim{aims->second[3 * i], aims->second.at(3 * i + 1), aims->second.at(3 * i + 2),
                          memory.numbers.at("trace.aim_share").at(i)};
    }
    return trace;
}

}  // namespace alidade
