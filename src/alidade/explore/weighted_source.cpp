#include "weighted_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alidade/error.hpp"
#include "handed_over.hpp"
#include "record_field.hpp"
#include "value_rows.hpp"
#include "weighted_record.hpp"

namespace alidade::detail {

namespace {

constexpr std::string_view coarse_prefix = "coarse.";

/// The plain sets, which bound the variances, and the radius of the weighted regression are two events: each
/// has half of delta [docs/algorithms/bernstein.md, Variances].
SourceSetting with_half_of_delta(SourceSetting setting) {
    setting.delta /= 2;
    return setting;
}

}  // namespace

WeightedSource::WeightedSource(SourceSetting setting, WidthMethod width)
    : setting_(std::move(setting)),
      width_(width),
      regression_(regression_setting(setting_.task, setting_.delta)),
      coarse_(with_half_of_delta(setting_), {.width = width}),
      statistics_(at(regression_.coarse().sets()),
                  WeightedStatistics(regression_.coarse().dimension(), setting_.task.features->pairs())),
      witness_(at(regression_.coarse().sets() * setting_.task.features->entries()), 0) {}

// phi_V of the frozen V, so that p = theta . phi_V is the chance of V(s') = 1 whose p(1-p) is wanted.
std::vector<double> WeightedSource::phi_of_value(Index set, Index pair) const {
    const FeatureMap& features = *setting_.task.features;
    std::vector<double> sum(at(features.features()), 0.0);
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
        if (!witness_[at(set * features.entries() + e)]) continue;
        const auto phi = features.phi(e);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += phi[i];
    }
    return sum;
}

void WeightedSource::refresh() {
    // The plain regression has V of its own, as the widths in its metric are attained elsewhere.
    coarse_.refresh();
    // V near the argmax of |psi_V| in the weighted metric: rows that say most where least is known.
    // As often as the plain regression looks for its own.
    if (coarse_.thorough())
        visit_widths(
            *setting_.task.features, regression_.coarse().features(), regression_.metrics(statistics_),
            {.method = width_}, setting_.threads,
            {[&](Index set, std::span<std::uint8_t> to) { std::ranges::copy(witness_of(set), to.begin()); },
             [&](const SetWidths& found) {
                 std::ranges::copy(found.witness, witness_of(found.set).begin());
             }});
    // sigma^2: the largest p(1-p) for any p that the plain sets leave possible, which bounds the noise's
    // variance on their event. Fixed before the data that they weigh, as V is [docs/algorithms/bernstein.md,
    // Theorem 1].
    variances_.clear();
    for (Index set = 0; set < regression_.coarse().sets(); ++set)
        for (Index pair = 0; pair < setting_.task.features->pairs(); ++pair)
            variances_.push_back(
                regression_.variance(coarse_.solved()[at(set)].set, phi_of_value(set, pair)));
}

void WeightedSource::absorb(const Counts& batch) {
    coarse_.absorb(batch);
    const FeatureMap& features = *setting_.task.features;
    visit_value_rows(
        setting_.task, regression_.coarse().features(), batch,
        [&](const RowPlace& place, Index successor) -> double {
            return witness_[at(place.set * features.entries() + features.first_entry(place.pair) +
                               successor)];
        },
        [&](const ValueRow& row) {
            // x = psi_V / sigma, and the target divided likewise: noise of variance 1 at most, and of modulus
            // 1/sigma at most, which the leverage accounts for [docs/algorithms/bernstein.md, Rows;
            // docs/algorithms/bernstein.md, Leverage].
            statistics_[at(row.set)].add(row.pair, row.feature, row.visits, row.residuals,
                                         variances_[at(row.set * features.pairs() + row.pair)]);
        });
}

Knowledge WeightedSource::knowledge_of(std::span<const RidgeStatistics> coarse,
                                       std::span<const WeightedStatistics> weighted, std::int64_t episodes,
                                       const WidthOptions& effort) const {
    const std::vector<RegressionSet> plain = regression_.coarse().solve(coarse);
    return certify(
        // What both regressions have in common: where the weighted one says nothing yet, the plain one does.
        setting_.task, regression_.solve(plain, weighted, effort, setting_.threads),
        {.delta = setting_.delta, .widths = effort, .threads = setting_.threads, .episodes = episodes});
}

Knowledge WeightedSource::knowledge() const {
    return knowledge_of(coarse_.statistics(), statistics_, episodes(), {.method = width_});
}

Knowledge WeightedSource::recompute(const Snapshot& evidence) const {
    const std::int64_t episodes = field(evidence.integers, "episodes", 1)[0];
    expects(episodes >= 0, "the stored number of episodes is {}; must not be negative", episodes);
    const auto coarse = read_ridge_statistics(evidence.part(coarse_prefix), regression_.coarse().sets(),
                                              regression_.coarse().dimension());
    return knowledge_of(coarse, read_weighted(evidence), episodes, thorough_widths(setting_.task, width_));
}

std::vector<WeightedStatistics> WeightedSource::read_weighted(const Snapshot& record) const {
    return read_weighted_statistics(record, regression_.coarse().sets(), regression_.coarse().dimension(),
                                    setting_.task.features->pairs());
}

Snapshot WeightedSource::evidence() const {
    Snapshot record;
    write_weighted_statistics(statistics_, record);
    record.integers["episodes"] = {episodes()};
    record.add(coarse_prefix, coarse_.evidence());
    return record;
}

Snapshot WeightedSource::memory() const {
    Snapshot record;
    write_weighted_statistics(statistics_, record);
    record.integers["episodes"] = {episodes()};
    record.numbers["variances"] = variances_;
    record.bytes["witness"] = witness_;
    record.add(coarse_prefix, coarse_.memory());
    return record;
}

void WeightedSource::restore(const Snapshot& memory) {
    statistics_ = read_weighted(memory);
    coarse_.restore(memory.part(coarse_prefix));
    witness_ = field(memory.bytes, "witness", witness_.size());
    const auto place = memory.numbers.find("variances");
    const bool fixed = place != memory.numbers.end() && !place->second.empty();
    variances_ = fixed ? field(memory.numbers, "variances",
                               at(regression_.coarse().sets() * setting_.task.features->pairs()))
                       : std::vector<double>{};
    require_variances(variances_);
}

SourceEntry weighted_entry() {
    return {.name = "weighted",
            .summary =
                "Regression weighted by variances, cut with the plain one: for rare transitions, any "
                "features.",
            .parameters = {word_parameter("width", {"exact", "sdp", "l1"},
                                          "the inner maximum over values: exact, or by a relaxation")},
            .refusal = [](const Task&) { return std::string(); },
            .make = [](const SourceSetting& setting,
                       const RequestArguments& arguments) -> std::unique_ptr<SetSource> {
                return std::make_unique<WeightedSource>(setting, parse_width_method(arguments.text("width")));
            },
            .alone = [](const RequestArguments&) { return std::string(); }};
}

}  // namespace alidade::detail
