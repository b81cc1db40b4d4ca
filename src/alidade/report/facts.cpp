#include "facts.hpp"

#include <algorithm>
#include <limits>

#include "alidade/certify/deviation.hpp"
#include "alidade/error.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/printable_text.hpp"

namespace alidade::report::detail {
namespace {

/// So many (step, state, action) at most are asked how sensitive they are.
constexpr double many_places = 2e4;

double places(const Shape& shape) {
    return static_cast<double>(shape.pairs()) * static_cast<double>(shape.learned_steps());
}

std::optional<double> target_of(const Run& run, const ReportOptions& options) {
    if (options.target) return options.target;
    if (run.keeps_episodes())
        if (const auto target = AskTell(run).goal().target) return target;
    return run.problem().target().epsilon;
}

/// The check of the model, at the same moment as the knowledge or a later one.
void check_fit(RunFacts& facts, double level) {
    const Problem& problem = facts.problem();
    if (!facts.checkpoint) return;
    facts.contradiction = facts.checkpoint->contradiction;
    if (level == 0 || problem.is_linear() || problem.features().kind() != FeatureKind::base_models) return;
    const Counts& counts = facts.checkpoint->counts;
    facts.fit = check_model(problem.features(), counts, problem.homogeneous(), level);
    if (!facts.fit->contradicted) return;
    facts.off = misspecification_lower(problem.features(), counts, problem.homogeneous(), level);
    if (facts.contradiction) return;
    facts.contradiction = facts.assumed > 0 ? contradiction_of(*facts.off, facts.assumed, counts.episodes())
                                            : contradiction_of(*facts.fit, counts.episodes());
}

void measure_sensitivity(RunFacts& facts, const ReportOptions& options) {
    const Task task = task_of(facts.problem(), facts.run->options());
    if (!facts.checkpoint || !Sensitivity::applies(task, *facts.knowledge->learned) ||
        facts.shape().learned_steps() == 0 || places(facts.shape()) > many_places)
        return;
    const Sensitivity sensitivity(
        task, facts.checkpoint->counts, *facts.mixture(),
        {.delta = facts.run->options().delta, .threads = options.threads, .reward_free = true});
    facts.sensitivity = sensitivity.curve(usual_misspecifications());
    if (facts.target) facts.breakdown = sensitivity.breakdown(*facts.target);
}

/// All parts of the certificate, not the largest ten alone: a picture of where it comes from.
std::vector<Contribution> all_contributions(const Knowledge& knowledge, Threads threads) {
    if (knowledge.learned->shape().learned_steps() == 0) return {};
    RewardFreeOptions wanted{.certificates = {"coupling"}, .without = {}, .threads = threads};
    wanted.contributions = std::numeric_limits<std::size_t>::max();
    return certify_reward_free(*knowledge.learned, DeviationTable::of(*knowledge.learned), wanted)
        .contributions;
}

std::optional<bool> truth_inside(const Problem& problem, const LearnedModel& learned) {
    if (!problem.truth_known()) return std::nullopt;
    try {
        if (problem.is_linear() || problem.foreign()) return learned.contains(problem.true_system());
        return learned.contains(problem.true_model());
    } catch (const InvalidArgument&) {
        return std::nullopt;  // of sets of weights, a truth without any
    }
}

}  // namespace

std::int64_t RunFacts::episodes() const {
    if (result) return result->episodes;
    return checkpoint ? checkpoint->counts.episodes() : 0;
}

RunFacts facts_of(const Run& run, const ReportOptions& options, bool whole) {
    RunFacts facts;
    facts.run = &run;
    facts.label = printable(run.folder().filename().string());
    if (facts.label.empty()) facts.label = printable(run.folder().string());
    facts.names = names_of(run.problem());
    facts.target = target_of(run, options);
    facts.assumed = task_of(run.problem(), run.options()).misspecification;
    try {
        if (auto loaded = run.load(options.threads)) {
            facts.knowledge = std::move(loaded->knowledge);
            facts.result = std::move(loaded->result);
        }
    } catch (const ModelContradiction&) {
        // What the run has stored of it is said below.
    }
    facts.checkpoint = run.checkpoint();
    if (facts.checkpoint) facts.trace = trace_of(facts.checkpoint->memory);
    check_fit(facts, options.fit_level);
    if (!facts.knowledge) return facts;
    facts.truth_inside = truth_inside(run.problem(), *facts.knowledge->learned);
    facts.plans = plan_facts(run, *facts.knowledge, options.threads);
    if (!whole) return facts;
    facts.contributions = all_contributions(*facts.knowledge, options.threads);
    measure_sensitivity(facts, options);
    return facts;
}

}  // namespace alidade::report::detail
