#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {

std::string about(double share) {
    return fmt::format("{:.1g} %", 100 * share);
}

std::string percent(double share) {
    return fmt::format("{:.3g} %", 100 * share);
}

namespace {

/// Of a bound: rounded up, to a tenth.
std::string percent_above(double share) {
    return fmt::format("{:.1f} %", std::ceil(1000 * share) / 10);
}

using enum Checklist::Standing;

bool vacuous(const RunFacts& facts) {
    return facts.knowledge && facts.knowledge->certificate.vacuous;
}

bool met(const RunFacts& facts) {
    return facts.knowledge && facts.target && facts.knowledge->certificate.bound <= *facts.target;
}

Checklist::Item target_item(const RunFacts& facts) {
    const double bound = facts.knowledge->certificate.bound;
    if (met(facts))
        return {holds, fmt::format("No loss above {:.4g}, as was asked for.", *facts.target),
                fmt::format("The bound is {}.", upper_bound(bound))};
    const auto needed = episodes_at_target(facts);
    return {fails, fmt::format("No loss above {:.4g}, as was asked for.", *facts.target),
            needed
                ? fmt::format(
                      "The bound is {}. If it goes on falling as the root of the episodes does, some {:.2g} "
                      "episodes in all would do.",
                      upper_bound(bound), *needed)
                : fmt::format("The bound is {}; how many episodes it takes cannot be told yet.",
                              upper_bound(bound))};
}

Checklist::Item model_item(const RunFacts& facts) {
    const Problem& problem = facts.problem();
    std::string claim = problem.is_linear()
                            ? "The real system is a linear MDP with these features."
                            : fmt::format(
                                  "The real system is a mixture of the {} base models, with weights "
                                  "of its own at each step.",
                                  problem.features().features());
    if (facts.assumed > 0)
        claim = fmt::format("No true transition law is farther than {} from a mixture of the {} base models.",
                            percent(facts.assumed), problem.features().features());
    if (facts.contradiction)
        return {fails, claim,
                fmt::format(
                    "The data contradict it, as was found after {} episodes: {}. No bound is to be relied "
                    "on, and more data do not undo this.",
                    with_commas(facts.contradiction->episodes), facts.contradiction->what)};
    if (!facts.fit) return {unknown, claim, "Nothing was found against it, but there is no test of it here."};
    return {holds, claim,
            fmt::format("Nothing in {} transitions speaks against it (log evidence {:.1f}, alarm at {:.1f}). "
                        "Errors below about {} could not be seen in these data.",
                        with_commas(facts.checkpoint->counts.transitions()), facts.fit->log_evidence,
                        facts.fit->threshold, about(facts.fit->unseen))};
}

Checklist checklist_of(const RunFacts& facts) {
    Checklist list;
    if (facts.knowledge && facts.target) list.items.push_back(target_item(facts));
    list.items.push_back(model_item(facts));
    if (facts.truth_inside)
        list.items.push_back(
            {*facts.truth_inside ? holds : fails, "The truth is among what the data leave possible.",
             *facts.truth_inside
                 ? "Known only because this system is simulated."
                 : "It is not: this is one of the rare runs whose bounds may be wrong. Known only because "
                   "this system is simulated."});
    if (facts.run->keeps_episodes()) {
        const LedgerStatus status = AskTell(*facts.run).status();
        if (status.broken_off + status.missing > 0)
            list.items.push_back(
                {unknown,
                 "Episodes that broke off or are missing are not so because of what would have happened.",
                 fmt::format("{} broke off, {} are missing. The data cannot tell why.",
                             with_commas(status.broken_off), with_commas(status.missing))});
    }
    list.items.push_back({unknown, "The system stayed the same while it was tried, and stays so.",
                          "The data cannot tell what will change."});
    list.items.push_back({unknown, "This run was not picked as the best of several.",
                          "The probability is that of one run; nothing is promised of the best of many."});
    return list;
}

/// For those who have never heard of any of this.
std::string what_was_done(const RunFacts& facts) {
    const Shape& shape = facts.shape();
    const bool logs = facts.result && facts.result->stopped == stopped_at_logs;
    std::string text = fmt::format("The system has {} states and {} actions, and an episode has {} steps. ",
                                   with_commas(shape.states), with_commas(shape.actions), shape.horizon);
    text +=
        logs ? fmt::format("{} episodes that somebody had recorded were read", with_commas(facts.episodes()))
             : fmt::format("It was tried in {} {}episodes, without being told what is worth having",
                           with_commas(facts.episodes()),
                           facts.run->options().system == "simulated" ? "simulated " : "");
    if (facts.mixture() != nullptr)
        text += fmt::format(
            ", to learn which mixture of {} candidate models it is. Plans for any reward can be "
            "computed from that mixture, without trying the system again.",
            facts.names.bases.size());
    else
        text +=
            ", to learn how it moves. Plans for any reward can be computed from that, without trying it "
            "again.";
    return text;
}

DataTable summary_table(const RunFacts& facts) {
    const RunOptions& options = facts.run->options();
    const Shape& shape = facts.shape();
    DataTable table{{{"what"}, {"value"}}, {}, {}};
    const auto add = [&](const std::string& what, const std::string& value) {
        table.rows.push_back({what, value});
    };
    add("Problem", facts.run->source());
    add("Size", fmt::format("{} states, {} actions, {} steps an episode", with_commas(shape.states),
                            with_commas(shape.actions), shape.horizon));
    if (!facts.names.bases.empty()) {
        std::string bases;
        for (std::size_t i = 0; i < std::min<std::size_t>(12, facts.names.bases.size()); ++i)
            bases += (i > 0 ? ", " : "") + facts.names.bases[i];
        add(fmt::format("{} base models", facts.names.bases.size()),
            bases + (facts.names.bases.size() > 12 ? ", ..." : ""));
    }
    add("Experiments",
        fmt::format("{} episodes", with_commas(facts.episodes())) +
            (facts.result ? fmt::format(", {} policies", with_commas(facts.result->replans)) : ""));
    add("Chosen by", fmt::format("{}; confidence sets: {}", options.algorithm, options.confidence));
    add("Probability of error", fmt::format("{:.6g} at most (delta)", options.delta));
    add("Seed", fmt::format("{}", options.seed));
    add("Problem hash", facts.run->problem_hash());
    return table;
}

}  // namespace

std::vector<Point> best_so_far(const RunFacts& facts) {
    std::vector<Point> points;
    double best = std::numeric_limits<double>::infinity();
    const auto add = [&](std::int64_t episodes, double bound) {
        best = std::min(best, bound);
        if (episodes < 1 || !(best > 0)) return;
        points.push_back({.x = static_cast<double>(episodes), .y = best});
    };
    for (const TracePoint& point : facts.trace) add(point.episodes, point.bound);
    if (facts.result && (facts.trace.empty() || facts.result->episodes > facts.trace.back().episodes))
        add(facts.result->episodes, facts.result->reward_free);
    return points;
}

std::optional<double> episodes_at_target(const RunFacts& facts) {
    const std::vector<Point> points = best_so_far(facts);
    if (points.empty() || !facts.target || vacuous(facts) || !(*facts.target > 0)) return std::nullopt;
    const double ratio = std::max(1.0, points.back().y / *facts.target);
    return points.back().x * ratio * ratio;
}

std::string verdict_in_brief(const RunFacts& facts) {
    if (facts.contradiction) return "The data contradict the model";
    if (!facts.knowledge) return "Nothing certified yet";
    if (vacuous(facts)) return "No statement yet";
    if (!facts.target) return "Certified";
    return met(facts) ? "Target met" : "Target not met yet";
}

std::string quotable_sentence(const RunFacts& facts) {
    if (facts.contradiction)
        return "Do not rely on any bound of this run: its data contradict the model that all of them assume.";
    if (!facts.knowledge) return "Nothing is certified yet: the run has stored no certificate.";
    const RewardFreeCertificate& certificate = facts.knowledge->certificate;
    if (certificate.vacuous)
        return fmt::format(
            "After {} episodes nothing can be promised yet: the bound is not below {}, and more than that "
            "cannot be lost anyway.",
            with_commas(facts.episodes()), facts.shape().horizon);
    return fmt::format(
        "With probability at least {}, and whatever reward between 0 and 1 a step is chosen afterwards: the "
        "plan that is best in the learned model, from every state, earns at most {} less on the real system "
        "than the best plan there is. In an episode {} can be earned at most, so this is {} of it.",
        percent(1 - certificate.failure_probability), upper_bound(certificate.bound), facts.shape().horizon,
        percent_above(certificate.bound / facts.horizon()));
}

Section verdict_section(const RunFacts& facts) {
    Section section{"verdict", "Verdict"};
    section.blocks.push_back(Paragraph{what_was_done(facts)});
    section.blocks.push_back(Quotation{quotable_sentence(facts)});
    section.blocks.push_back(Paragraph{facts.contradiction
                                           ? "What follows shows what the run believes, so that you can find "
                                             "out what is wrong. It is not a guarantee."
                                           : "This is a guarantee for the worst reward that anybody could "
                                             "think of. For a reward that you know, the "
                                             "section on rewards has a bound of its own, which is usually "
                                             "far smaller. It rests on what is listed here:"});
    section.blocks.push_back(checklist_of(facts));
    section.blocks.push_back(TitledTable{"The run: sizes, options, seed", summary_table(facts), true});
    return section;
}

}  // namespace alidade::report::detail
