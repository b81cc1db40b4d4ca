#include "records.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "linear.hpp"
#include "subject.hpp"

namespace alidade::referee::detail {

void require_start(Subject& subject, const Setting& setting) {
    Real sum = 0;
    for (const auto& [state, probability] : setting.start) {
        subject.require(probability >= 0, "the start law has a negative probability");
        sum += probability;
    }
    subject.require(near(sum, 1, 1e-9L), "the start law sums to {}", static_cast<double>(sum));
}

void require_flow(Subject& subject, const Facts& facts, const Transitions& seen, bool whole) {
    const Setting& s = facts.setting;
    const std::size_t entries = s.targets.size();
    std::vector<Real> arrived(at(s.states), 0);
    for (const auto& [state, probability] : s.start)
        if (probability > 0) arrived[at(state)] = static_cast<Real>(seen.episodes);
    for (Index h = 0; h + 1 < s.horizon; ++h) {
        std::vector<Real> left(at(s.states), 0), next(at(s.states), 0);
        Real total = 0;
        for (Index pair = 0; pair < facts.pairs; ++pair)
            for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) {
                const std::int64_t count = seen.counts[at(h) * entries + at(e)];
                subject.require(count >= 0, "a count at step {} is negative", h);
                left[at(pair / s.actions)] += static_cast<Real>(count);
                next[at(s.targets[at(e)])] += static_cast<Real>(count);
                total += static_cast<Real>(count);
            }
        for (Index state = 0; state < s.states; ++state) {
            const Real in = arrived[at(state)], out = left[at(state)];
            const bool holds = whole && h > 0 ? in == out : out <= in;
            subject.require(holds, "state {} was left {} times at step {} and reached {} times", state,
                            static_cast<double>(out), h, static_cast<double>(in));
        }
        const auto episodes = static_cast<Real>(seen.episodes);
        subject.require(whole ? total == episodes : total <= episodes,
                        "{} transitions at step {} of {} episodes", static_cast<double>(total), h,
                        seen.episodes);
        arrived = next;
    }
}

namespace {

Numbers sum_of_phi(const Facts& facts, Index pair) {
    Numbers sum(at(facts.d), 0);
    for (Index e = facts.setting.offsets[at(pair)]; e < facts.setting.offsets[at(pair + 1)]; ++e)
        for (Index i = 0; i < facts.d; ++i) sum[at(i)] += facts.phi[at(e)][at(i)];
    return sum;
}

/// The dimension of the span of all sums of a pair's features, by orthogonalising one after the other.
Index rank_of_sums(const Facts& facts) {
    std::vector<Numbers> found;
    for (Index pair = 0; pair < facts.pairs; ++pair) {
        Numbers rest = sum_of_phi(facts, pair);
        const Real size = norm(rest);
        for (const Numbers& other : found) {
            const Real along = dot(rest, other);
            for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= along * other[i];
        }
        const Real left = norm(rest);
        if (left <= 1e-7L * size) continue;
        for (Real& element : rest) element /= left;
        found.push_back(rest);
    }
    return static_cast<Index>(found.size());
}

/// Base models are laws; theta_0 makes rows sum to one, N keeps them so, and nothing else does.
Finding examine_setting(const Facts& facts) {
    const Setting& s = facts.setting;
    Subject subject("problem");
    require_start(subject, s);
    const Numbers centre(s.centre.begin(), s.centre.end());
    for (Index pair = 0; pair < facts.pairs; ++pair) {
        const Numbers sum = sum_of_phi(facts, pair);
        subject.require(near(dot(centre, sum), 1, 1e-6L), "the centre makes no law of pair {}", pair);
        subject.require(norm(facts.reduced(sum)) <= 1e-6L * (1 + norm(sum)),
                        "the basis does not keep the sum of pair {}", pair);
        for (Index i = 0; i < facts.d && s.base_models; ++i)
            subject.require(near(sum[at(i)], 1, 1e-9L), "row {} of base model {} does not sum to 1", pair, i);
    }
    for (const double value : s.phi)
        subject.require(!s.base_models || value >= 0, "a base model has a negative probability");
    for (Index k = 0; k < facts.p; ++k) {
        Numbers unit(at(facts.p), 0);
        unit[at(k)] = 1;
        Numbers column = facts.weights(unit);
        for (Index i = 0; i < facts.d; ++i) column[at(i)] -= s.centre[at(i)];
        const Numbers products = facts.reduced(column);
        for (Index l = 0; l < facts.p; ++l)
            subject.require(near(products[at(l)], unit[at(l)], 1e-9L), "the basis is not orthonormal");
        subject.require(near(dot(column, centre), 0, 1e-9L * (1 + norm(centre))),
                        "the centre is not orthogonal to the basis");
    }
    subject.require(rank_of_sums(facts) == facts.d - facts.p, "the basis leaves directions out");
    return subject.finding();
}

Finding examine_counts(const Case& given, const Facts& facts) {
    Subject subject("counts");
    require_flow(subject, facts, given.counted, given.whole_episodes);
    return subject.finding();
}

Finding examine_episodes(const Case& given, const Facts& facts) {
    Subject subject("episodes");
    const auto learned = static_cast<std::int64_t>(facts.setting.horizon - 1);
    subject.require(given.episodes <= given.counted.episodes,
                    "the result is of {} episodes, but {} were counted", given.episodes,
                    given.counted.episodes);
    const auto within = [&](std::int64_t episodes) {
        subject.require(episodes >= 0 && episodes <= given.episodes,
                        "the evidence is of {} episodes, the result of {}", episodes, given.episodes);
    };
    if (given.evidence.likelihood) within(given.evidence.likelihood->episodes);
    if (!given.evidence.regression && !given.evidence.weighted) return subject.finding();
    const Regression& regression =
        given.evidence.regression ? *given.evidence.regression : given.evidence.weighted->coarse;
    within(regression.episodes);
    if (given.evidence.weighted)
        subject.require(given.evidence.weighted->coarse.episodes == regression.episodes,
                        "the kinds of evidence are of different episodes");
    if (given.evidence.likelihood)
        subject.require(given.evidence.likelihood->episodes == regression.episodes,
                        "the two kinds of evidence are of different episodes");
    const std::int64_t most = regression.episodes * (facts.setting.homogeneous ? learned : 1);
    for (const std::int64_t rows : regression.observations)
        subject.require(given.whole_episodes ? rows == most : rows >= 0 && rows <= most,
                        "a regression has {} rows; {} episodes have {}", rows, regression.episodes, most);
    return subject.finding();
}

/// theta~ may be any weights that make a model.
Finding examine_weights(const Case& given, const Facts& facts) {
    Subject subject("weights");
    for (Index set = 0; set < facts.sets; ++set) {
        const auto first = given.weights.begin() + set * facts.d;
        const Numbers theta(first, first + facts.d);
        Real sum = 0;
        for (const Real weight : theta) {
            subject.require(std::isfinite(weight) && (weight >= -1e-9L || !facts.setting.base_models),
                            "a weight of set {} is {}", set, static_cast<double>(weight));
            sum += weight;
        }
        subject.require(!facts.setting.base_models || near(sum, 1, 1e-9L), "the weights of set {} sum to {}",
                        set, static_cast<double>(sum));
        subject.require(facts.setting.base_models || norm(theta) <= facts.setting.norm_bound * (1 + 1e-9L),
                        "the weights of set {} are longer than the norm bound", set);
        for (Index pair = 0; pair < facts.pairs; ++pair)
            subject.require(near(dot(theta, sum_of_phi(facts, pair)), 1, 1e-7L),
                            "row {} of set {} does not sum to 1", pair, set);
        for (const Numbers& phi : facts.phi)
            subject.require(dot(theta, phi) >= -1e-9L, "the model of set {} has a negative probability", set);
    }
    return subject.finding();
}

/// The bound is the least candidate, or H, and the method its name.
Finding examine_choice(const Case& given) {
    Subject subject("method");
    subject.require(given.delta > 0 && given.delta < 1, "delta is {}", given.delta);
    Real least = infinity, named = least;
    for (const auto& [name, value] : given.candidates) {
        least = std::min<Real>(least, value);
        if (name == given.method) named = value;
    }
    const Real horizon = static_cast<Real>(given.setting.horizon), stated = std::min(least, horizon);
    subject.require(near(given.bound, stated, 1e-12L * stated), "the least candidate is {}, the bound {}",
                    static_cast<double>(least), given.bound);
    subject.require(near(named, least, 1e-12L * least), "the least candidate is not {}", given.method);
    return subject.finding();
}

}  // namespace

void require_sizes(const Case& given) {
    const Setting& s = given.setting;
    expects(s.states >= 1 && s.actions >= 1 && s.horizon >= 1 && s.features >= 1, "a problem without states");
    const std::size_t entries = s.targets.size(), d = at(s.features);
    expects(s.offsets.size() == at(s.states * s.actions + 1) && s.offsets.front() == 0 &&
                s.offsets.back() == static_cast<Index>(entries) && std::ranges::is_sorted(s.offsets),
            "offsets are not positions of {} entries", entries);
    const auto state = [&](Index target) { return target >= 0 && target < s.states; };
    expects(std::ranges::all_of(s.targets, state), "an entry leads to no state");
    for (const auto& [first, probability] : s.start) expects(state(first), "a start is no state");
    const bool pairs = s.pair_features;
    expects(s.phi.size() == (pairs ? at(s.states * s.actions) : entries) * d &&
                s.centre.size() == (pairs ? 0 : d) && s.basis.size() % d == 0 &&
                s.basis.size() <= (pairs ? 0 : d * d),
            "features of other sizes");
    const Facts facts(s);
    const std::size_t sets = at(facts.sets), steps = at(s.horizon - 1);
    expects(given.weights.size() == (pairs ? 0 : sets * d), "{} weights; must be {}", given.weights.size(),
            pairs ? 0 : sets * d);
    expects(given.laws.size() == (pairs ? sets * entries : 0), "{} probabilities; must be {}",
            given.laws.size(), pairs ? sets * entries : 0);
    const auto require_counts = [&](const Transitions& seen) {
        expects(seen.counts.size() == steps * entries, "{} counts; must be {}", seen.counts.size(),
                steps * entries);
    };
    require_counts(given.counted);
    const auto require_evidence = [&](const Evidence& evidence) {
        if (evidence.likelihood) require_counts(*evidence.likelihood);
        expects(evidence.predicted.empty() || evidence.predicted.size() == sets, "sums of other predictions");
        const auto require_sums = [&](const Regression& regression, bool tangent) {
            const auto q = at(regression.dimension);
            expects((sets == 0 || regression.dimension == facts.p || (q == d && !tangent)) &&
                        regression.gram.size() == sets * q * q && regression.moment.size() == sets * q &&
                        regression.observations.size() == sets,
                    "sums of another regression");
        };
        if (evidence.regression) require_sums(*evidence.regression, false);
        if (!evidence.weighted) return;
        require_sums(evidence.weighted->coarse, true);
        require_sums(evidence.weighted->rows, true);
        expects(evidence.weighted->inverse_variances.size() == sets &&
                    evidence.weighted->least_variances.size() == sets * at(facts.pairs),
                "variances of other rows");
    };
    expects(!pairs || (given.evidence.likelihood && !given.evidence.regression && !given.evidence.weighted),
            "features of pairs are regressed on by counts, and by nothing else");
    require_evidence(given.evidence);
    if (given.latest) require_evidence(*given.latest);
}

std::vector<Finding> examine_records(const Case& given, const Facts& facts) {
    const bool pairs = given.setting.pair_features;
    return {pairs ? examine_features(facts) : examine_setting(facts),
            examine_counts(given, facts),
            examine_episodes(given, facts),
            examine_evidence(given, facts),
            pairs ? examine_laws(given, facts) : examine_weights(given, facts),
            examine_choice(given)};
}

}  // namespace alidade::referee::detail
