#include "alidade/certify/reward_free.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "alidade/error.hpp"
#include "catalogue.hpp"
#include "coupling.hpp"
#include "error_recursion.hpp"
#include "mixture_recursions.hpp"

namespace alidade {

namespace {

/// Where the bound comes from: the recursion's value at the start is a sum over (step, state) of the
/// mass that its worst policy brings there times what is added there. `move` moves the mass on.
template <class Added, class Move>
std::vector<Contribution> decompose(const LearnedModel& learned, const ErrorRecursion& recursion, Added added,
                                    Move move) {
    const Shape& shape = learned.shape();
    std::vector<Contribution> all;
    std::vector<double> mass(at(shape.states), 0.0), next(at(shape.states), 0.0);
    for (const auto& [state, probability] : learned.model().start().atoms()) mass[at(state)] = probability;
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        std::ranges::fill(next, 0.0);
        for (State s = 0; s < shape.states; ++s) {
            if (mass[at(s)] <= 0) continue;
            const Action a = recursion.actions[at(h * shape.states + s)];
            const double amount = 2 * mass[at(s)] * added(h, s, a);
            if (amount > 0) all.push_back({h, s, a, amount});
            move(h, s, a, mass[at(s)], next);
        }
        std::swap(mass, next);
    }
    return all;
}

std::vector<Contribution> model_contributions(const LearnedModel& learned, const DeviationTable& deviations,
                                              const ErrorRecursion& recursion,
                                              const detail::RewardCaps& caps) {
    const Shape& shape = learned.shape();
    // Where the recursion is clipped, the clip is what is added and nothing later counts.
    const auto clipped = [&](Step h, State s, Action a) {
        return recursion.values(h, s) >= caps.at(h, shape.pair(s, a));
    };
    const auto added = [&](Step h, State s, Action a) {
        const Index pair = shape.pair(s, a);
        return clipped(h, s, a) ? recursion.values(h, s) : caps.at(h, pair) * deviations.at(h, pair);
    };
    const auto move = [&](Step h, State s, Action a, double mass, std::vector<double>& next) {
        if (clipped(h, s, a)) return;
        const auto targets = learned.model().successors().targets(shape.pair(s, a));
        const auto law = learned.model().probabilities(h, shape.pair(s, a));
        for (std::size_t j = 0; j < law.size(); ++j) next[at(targets[j])] += mass * law[j];
    };
    return decompose(learned, recursion, added, move);
}

std::vector<Contribution> coupling_contributions(const LearnedModel& learned,
                                                 const DeviationTable& deviations,
                                                 const ErrorRecursion& recursion,
                                                 const detail::RewardCaps& caps) {
    const Shape& shape = learned.shape();
    detail::CouplingBackup backup(learned);
    std::vector<double> values(at(shape.states));
    Step copied = -1;  // the step whose next values are in `values`: once a step, not once a state
    const auto added = [&](Step h, State s, Action a) {
        const Index pair = shape.pair(s, a);
        return caps.at(h, pair) * deviations.at(h, pair);
    };
    const auto move = [&](Step h, State s, Action a, double mass, std::vector<double>& next) {
        const Index pair = shape.pair(s, a);
        if (copied != h)
            for (State t = 0; t < shape.states; ++t) values[at(t)] = recursion.values(h + 1, t);
        copied = h;
        backup(h, pair, deviations.at(h, pair), caps.at(h, pair), values);
        const auto targets = learned.model().successors().targets(pair);
        const auto kept = backup.keep();
        for (std::size_t j = 0; j < targets.size(); ++j) next[at(targets[j])] += mass * kept[j];
    };
    return decompose(learned, recursion, added, move);
}

void keep_largest(std::vector<Contribution>& contributions, std::size_t most) {
    const std::size_t kept = std::min(most, contributions.size());
    std::ranges::partial_sort(contributions, contributions.begin() + static_cast<std::ptrdiff_t>(kept),
                              [](const Contribution& a, const Contribution& b) {
                                  if (a.amount != b.amount) return a.amount > b.amount;
                                  return std::tie(a.step, a.state, a.action) <
                                         std::tie(b.step, b.state, b.action);
                              });
    contributions.resize(kept);
}

constexpr const char* coupling_name = "coupling";

}  // namespace

ErrorRecursion detail::model_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                       const RewardCaps& caps, Threads threads) {
    deviations.require_fit(learned);
    if (by_operator(learned)) return run_by_operator(learned, threads, model_step(deviations, caps));
    const auto backup = [&](Step h, Index pair, const std::vector<double>& next) {
        // As ErrorStep::Kind::model has it, at rows that are no mixtures.
        const double range = caps.at(h, pair);
        return std::min(range, range * deviations.at(h, pair) + learned.model().expect(h, pair, next));
    };
    return run_backwards(
        learned.shape(), threads, [&] { return backup; }, uncapped);
}

ErrorRecursion detail::coupling_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                          const RewardCaps& caps, Threads threads) {
    deviations.require_fit(learned);
    if (by_operator(learned)) return run_by_operator(learned, threads, coupling_step(deviations, caps));
    const auto make = [&] {
        return [&, backup = CouplingBackup(learned)](Step h, Index pair,
                                                     const std::vector<double>& next) mutable {
            return backup(h, pair, deviations.at(h, pair), caps.at(h, pair), next);
        };
    };
    return run_backwards(learned.shape(), threads, make, uncapped);
}

ErrorRecursion model_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardFreeOptions& options) {
    return detail::model_recursion(
        learned, deviations, detail::RewardCaps({learned.shape().horizon, options.ranges}), options.threads);
}

ErrorRecursion coupling_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                  const RewardFreeOptions& options) {
    return detail::coupling_recursion(
        learned, deviations, detail::RewardCaps({learned.shape().horizon, options.ranges}), options.threads);
}

namespace {

/// The candidates of a certificate, and the least of them.
class Candidates {
public:
    explicit Candidates(RewardFreeCertificate& certificate) : certificate_(certificate) {}

    void offer(const std::string& name, double bound, bool greedy) {
        if (!greedy) any_plan_ = std::min(any_plan_, bound);
        // The simpler argument wins ties, but coupling, which is never worse than model, wins over it.
        if (certificate_.candidates.empty() || bound < least_ || (name == coupling_name && bound == least_)) {
            least_ = bound;
            certificate_.method = name;
        }
        certificate_.candidates.emplace_back(name, bound);
    }
    double least() const noexcept { return least_; }
    double any_plan() const noexcept { return any_plan_; }

private:
    RewardFreeCertificate& certificate_;
    double least_ = 0, any_plan_ = std::numeric_limits<double>::infinity();
};

/// Those that were named, in the order of the catalogue, or all that apply; less those that are left out.
std::vector<const detail::RewardFreeEntry*> chosen(const detail::RewardFreeWork& work) {
    const RewardFreeOptions& options = work.options();
    const std::vector<std::string>& names = options.certificates;
    for (const std::string& name : options.without) detail::find_reward_free(name);
    for (const std::string& name : names) {
        const std::string refusal = detail::find_reward_free(name).refusal(work);
        expects(refusal.empty(), "the certificate '{}' cannot be had: {}", name, refusal);
    }
    std::vector<const detail::RewardFreeEntry*> entries;
    for (const detail::RewardFreeEntry& entry : detail::reward_free_certificates()) {
        if (std::ranges::count(options.without, entry.name) > 0) continue;
        if (names.empty() ? entry.refusal(work).empty() : std::ranges::count(names, entry.name) > 0)
            entries.push_back(&entry);
    }
    expects(!entries.empty(), "all certificates are left out; must be one at least");
    return entries;
}

}  // namespace

RewardFreeCertificate detail::certify_by(RewardFreeWork& work, double most) {
    const LearnedModel& learned = work.learned();
    const DeviationTable& deviations = work.deviations();
    const RewardFreeOptions& options = work.options();
    RewardFreeCertificate certificate;
    certificate.failure_probability = learned.delta();
    certificate.vacuous = false;
    // H = 1, one base model, or base models that agree; or nothing that can be earned later: any plan that is
    // optimal in the model is optimal.
    const bool known = deviations.zero() || work.caps().nothing_follows(learned.model().start());
    Candidates candidates(certificate);
    const std::vector<const detail::RewardFreeEntry*> entries = chosen(work);
    if (!known) work.expect(entries);
    for (const detail::RewardFreeEntry* entry : entries) {
        candidates.offer(entry->name, known ? 0 : work.bound(entry->error(work)), entry->greedy);
        if (!known && entry->form) certificate.forms.emplace_back(entry->name, entry->form(work));
    }
    // There is one plan, and nothing to lose by it.
    if (options.certificates.empty() && learned.shape().actions == 1)
        candidates.offer("one-action", 0, false);
    // What there is no time for is said.
    for (const detail::RewardFreeEntry& entry : detail::reward_free_certificates())
        if (const std::string refusal = entry.refusal(work);
            !known && options.certificates.empty() && entry.form && !refusal.empty())
            certificate.forms.emplace_back(entry.name, "left out: " + refusal);
    if (known) {
        certificate.any_plan = 0;
        certificate.method = certificate.candidates.front().first;
        return certificate;
    }
    // No loss exceeds the most that can be earned, so a bound of that or more says nothing [design decision
    // 5].
    certificate.vacuous = candidates.least() >= most;
    certificate.bound = std::min(candidates.least(), most);
    certificate.any_plan = std::min(candidates.any_plan(), most);
    if (options.contributions > 0) {
        certificate.contributions =
            certificate.method == "two-chain"
                ? detail::two_chain_contributions(learned, work.two_chain(), work.optimal_span(), work.cut())
            : certificate.method == "optimal-span"
                ? detail::optimal_span_contributions(learned, work.optimal_span(), work.cut())
            : work.coupled() ? coupling_contributions(learned, deviations, work.coupling(), work.caps())
                             : model_contributions(learned, deviations, work.model(), work.caps());
        keep_largest(certificate.contributions, options.contributions);
    }
    return certificate;
}

RewardFreeCertificate certify_reward_free(const LearnedModel& learned, const DeviationTable& deviations,
                                          const RewardFreeOptions& options) {
    detail::RewardFreeWork work(learned, deviations, options);
    return detail::certify_by(work, static_cast<double>(learned.shape().horizon));
}

}  // namespace alidade
