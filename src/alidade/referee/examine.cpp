#include <algorithm>
#include <map>
#include <optional>

#include "alidade/referee/referee.hpp"
#include "bounds.hpp"
#include "linear.hpp"
#include "records.hpp"

namespace alidade::referee {

namespace {

/// The least of several bounds, everywhere.
detail::Values least_of(detail::Values one, const detail::Values& other) {
    for (std::size_t h = 0; h < one.size(); ++h)
        for (std::size_t i = 0; i < one[h].size(); ++i) one[h][i] = std::min(one[h][i], other[h][i]);
    return one;
}

using Claims = std::vector<std::pair<std::string, double>>;

/// Whether candidates of greedy plans are claimed, and plain loops can do them. What is above a bound of all
/// plans is one by that.
bool asks_greedy(const Case& given, const Claims& candidates, std::map<std::string, detail::Real>& found) {
    constexpr Index most_work = 60'000;
    const Setting& s = given.setting;
    const Index pairs = s.states * s.actions, steps = std::max<Index>(1, s.horizon - 1);
    detail::Real least = detail::infinity;
    for (const auto& [name, value] : found) least = std::min(least, value);
    bool asked = false;
    for (const auto& [name, value] : candidates) {
        if (name != "optimal-span" && name != "two-chain") continue;
        asked = true;
        if (value >= least) found[name] = least;
    }
    const Index work = pairs * pairs <= 10'000 ? pairs * pairs : pairs * s.actions;
    return asked && work * steps <= most_work;
}

void add_greedy(const detail::Bounds& bounds, const detail::Values& cut,
                std::map<std::string, detail::Real>& found) {
    const detail::Values errors = bounds.optimal_span(cut);
    found["optimal-span"] = 2 * bounds.at_start(errors);
    found["two-chain"] = bounds.two_chain(errors);
}

/// The certificate of every method that the setting allows: twice its bound at the start.
/// `mixtures`: the same of the mixtures that truths are near, the same where they are mixtures.
std::map<std::string, detail::Real> certificates(const detail::Bounds& bounds, const detail::Bounds& mixtures,
                                                 const Case& given, const Claims& candidates) {
    std::map<std::string, detail::Real> found;
    found["model"] = 2 * bounds.at_start(bounds.model());
    found["coupling"] = 2 * bounds.at_start(bounds.coupling());
    found["span"] = 2 * bounds.at_start(bounds.span());
    // The paper's number has its own proof; it is a bound all the same if one that is proved here is below
    // it.
    found["printed"] = std::min({found["model"], found["coupling"], found["span"]});
    found["relaxation"] = found["printed"];
    const detail::Values hybrid = bounds.hybrid();
    found["trajectory-kl"] = 2 * bounds.at_start(bounds.trajectory());
    found["hybrid"] = 2 * bounds.at_start(hybrid);
    // Theorem 8 for large c is the bound that it is cut at: its search is needed for what is below that
    // alone.
    found["ltv"] = found["hybrid"];
    const detail::Values cap = mixtures.hybrid();
    std::optional<detail::Values> searched;
    for (const auto& [name, value] : candidates)
        if (name == "ltv" && value < found["hybrid"])
            found["ltv"] = 2 * (mixtures.total_variance(cap, &searched.emplace(cap)) + bounds.transfer(0));
    if (!asks_greedy(given, candidates, found)) return found;
    if (!searched) mixtures.total_variance(cap, &searched.emplace(cap));
    detail::Values& variances = *searched;
    for (std::size_t h = 0; h < variances.size(); ++h)
        for (detail::Real& value : variances[h]) value += bounds.transfer(static_cast<Index>(h));
    const detail::Values cut = least_of(least_of(hybrid, bounds.model()), bounds.coupling());
    add_greedy(bounds, least_of(least_of(cut, bounds.span()), variances), found);
    return found;
}

/// The same for a linear MDP. What Algorithm 3 claims of itself is proved for every planner: `printed` with
/// the exploration reward u, `wang` with u/H.
std::map<std::string, detail::Real> linear_certificates(const Case& given, const detail::Facts& facts) {
    const std::vector<detail::LinearSet> sets = detail::linear_sets(given, facts);
    std::vector<detail::Numbers> laws, deviations;
    for (const detail::LinearSet& set : sets) {
        laws.push_back(set.law);
        deviations.push_back(set.tau);
    }
    const detail::Bounds bounds(facts, laws, deviations);
    const auto horizon = static_cast<detail::Real>(given.setting.horizon);
    std::map<std::string, detail::Real> found{
        {"model", 2 * bounds.at_start(bounds.model())},
        {"coupling", 2 * bounds.at_start(bounds.coupling())},
        {"span", 2 * bounds.at_start(bounds.span())},
        {"printed", 2 * detail::exploration_value(facts, sets, 1)},
        {"wang", 2 * horizon * detail::exploration_value(facts, sets, horizon)}};
    if (asks_greedy(given, given.candidates, found))
        add_greedy(bounds, least_of(least_of(bounds.model(), bounds.coupling()), bounds.span()), found);
    return found;
}

/// `facts` are those that the sets rest on, `claimed` those of the truths that are bounded.
detail::Bounds bounds_of(const Case& given, const detail::Facts& facts, const detail::Facts& claimed) {
    std::vector<detail::Numbers> weights;
    std::vector<std::vector<detail::Ball>> balls;
    for (Index set = 0; set < facts.sets; ++set) {
        const auto first = given.weights.begin() + set * facts.d;
        weights.emplace_back(first, first + facts.d);
        balls.push_back(detail::balls_of(facts, given, set));
    }
    return detail::Bounds(claimed, std::move(weights), std::move(balls));
}

/// What the data prove, and whether all of it is as small as the formulas make it.
struct Proved {
    std::map<std::string, detail::Real> certificates, total;
    bool exact = true;
};

/// Of linear MDPs, for rewards with a total of at most 1.
std::map<std::string, detail::Real> linear_total(const Case& given, const detail::Facts& facts) {
    std::vector<detail::Numbers> laws, deviations;
    for (const detail::LinearSet& set : detail::linear_sets(given, facts)) {
        laws.push_back(set.law);
        deviations.push_back(set.tau);
    }
    detail::Bounds bounds(facts, laws, deviations);
    bounds.limit(1);
    return {{"model", 2 * bounds.at_start(bounds.model())},
            {"coupling", 2 * bounds.at_start(bounds.coupling())}};
}

Proved proved_by(const Case& given, const detail::Facts& facts) {
    if (given.setting.pair_features)
        return {linear_certificates(given, facts),
                given.total.empty() ? std::map<std::string, detail::Real>{} : linear_total(given, facts)};
    Setting near = given.setting;
    near.misspecification = 0;
    const detail::Facts mixtures(near);
    detail::Bounds bounds = bounds_of(given, facts, facts), near_bounds = bounds_of(given, facts, mixtures);
    Proved proved{certificates(bounds, near_bounds, given, given.candidates), {}, bounds.exact()};
    if (given.total.empty()) return proved;
    bounds.limit(1);
    near_bounds.limit(1);
    // No plain loops for claims about greedy plans: their proofs are of all rewards, that do not know the
    // past, and so is that of spans.
    Claims total = given.total;
    std::erase_if(total,
                  [](const auto& each) { return each.first == "optimal-span" || each.first == "two-chain"; });
    proved.total = certificates(bounds, near_bounds, given, total);
    proved.total.erase("span");
    return proved;
}

/// Whether a claim is at least what was found; if not, and something could not be computed, nobody knows.
Finding compared(std::string what, double reported, detail::Real found, Index horizon,
                 const std::string& doubt) {
    Finding finding{std::move(what), Verdict::confirmed, reported, static_cast<double>(found), {}};
    if (reported >= found * (1 - detail::Real{tolerance}) - 1e-9L * static_cast<detail::Real>(horizon))
        return finding;
    finding.verdict = doubt.empty() ? Verdict::not_confirmed : Verdict::not_checked;
    finding.note = doubt.empty() ? "the data give no bound as small as this" : doubt;
    return finding;
}

/// Of several kinds of sets at once, which have a set in common that is found by a search, here by another
/// one: claims that are this near are neither confirmed nor refuted.
std::string near_doubt(const Case& given, double reported, detail::Real found) {
    constexpr detail::Real near = 1e-3L;
    const Evidence& evidence = given.evidence;
    const int kinds =
        (evidence.regression ? 1 : 0) + (evidence.weighted ? 1 : 0) + (evidence.likelihood ? 1 : 0);
    return kinds > 1 && reported >= found * (1 - near)
               ? "sets of several kinds have in common what a search finds"
               : "";
}

}  // namespace

std::vector<Finding> examine(const Case& given) {
    detail::require_sizes(given);
    const detail::Facts facts(given.setting);
    std::vector<Finding> findings = detail::examine_records(given, facts);
    const bool sound = all_confirmed(findings);
    const auto fail = [&](Verdict verdict, const std::string& note) {
        for (const auto& [name, value] : given.candidates)
            findings.push_back({name, verdict, value, {}, note});
        for (const auto& [name, value] : given.total)
            findings.push_back({"total: " + name, verdict, value, {}, note});
        findings.push_back({"bound", verdict, given.bound, {}, note});
    };
    if (!(given.delta > 0 && given.delta < 1)) {
        fail(Verdict::not_confirmed, "no probability is claimed");
        return findings;
    }
    if (given.setting.misspecification > 0 && given.evidence.likelihood && !given.setting.pair_features) {
        fail(Verdict::not_checked,
             "sets by bets, for a truth that may be off its mixture, are not known here");
        return findings;
    }
    try {
        Proved proved = proved_by(given, facts);
        // There is one plan, and nothing to lose by it.
        if (given.setting.actions == 1) proved.certificates["one-action"] = proved.total["one-action"] = 0;
        const std::map<std::string, detail::Real>& found = proved.certificates;
        const Index horizon = given.setting.horizon;
        detail::Real least = static_cast<detail::Real>(horizon);
        std::string doubt = proved.exact ? "" : "too many successors for an exact maximum over values";
        for (const auto& [name, value] : given.candidates) {
            const auto own = found.find(name);
            if (own == found.end()) {
                findings.push_back({name, Verdict::not_checked, value, {}, "no proof of it is known here"});
                continue;
            }
            least = std::min(least, own->second);
            findings.push_back(compared(name, value, own->second, horizon, doubt));
        }
        for (const auto& [name, value] : given.total) {
            const auto own = proved.total.find(name);
            if (own == proved.total.end())
                findings.push_back(
                    {"total: " + name, Verdict::not_checked, value, {}, "no proof of it is known here"});
            else
                findings.push_back(compared("total: " + name, value, own->second, horizon,
                                            doubt.empty() ? near_doubt(given, value, own->second) : doubt));
        }
        const bool unknown = std::ranges::any_of(
            given.candidates, [&](const auto& each) { return !found.contains(each.first); });
        if (unknown) doubt = "a candidate is not known here";
        findings.push_back(compared("bound", given.bound, least, horizon, doubt));
    } catch (const detail::Contradicted&) {
        fail(Verdict::not_confirmed, "the data leave no model possible: the confidence event has failed");
    } catch (const detail::Unsolvable&) {
        fail(sound ? Verdict::not_checked : Verdict::not_confirmed,
             "a metric has too few digits to be inverted");
    }
    return findings;
}

bool all_confirmed(const std::vector<Finding>& findings) {
    return std::ranges::all_of(findings,
                               [](const Finding& each) { return each.verdict == Verdict::confirmed; });
}

}  // namespace alidade::referee
