#include "alidade/explore/combined.hpp"

#include <string_view>
#include <utility>

#include "alidade/confidence/intersection.hpp"
#include "alidade/error.hpp"
#include "record_field.hpp"

namespace alidade {

namespace {

constexpr std::string_view regression_prefix = "regression.", likelihood_prefix = "likelihood.",
                           actor_prefix = "actor.", witness_prefix = "witness.";

/// Those of one part: its own certificate if it is alone, and half of delta if there are two.
ExplorerOptions part_options(ExplorerOptions options) {
    if (options.constants.confidence == ConfidenceChoice::both) options.delta /= 2;
    options.constants.confidence = ConfidenceChoice::own;
    return options;
}

void refuse_paper(const ExplorerOptions& options) {
    expects(!options.constants.regression.paper,
            "confidence is chosen with the paper's constants; they have a certificate of their own");
}

bool uses(ConfidenceChoice choice, ConfidenceChoice kind) {
    return choice == kind || choice == ConfidenceChoice::both;
}

template <class T>
void add_fields(std::string_view prefix, const std::map<std::string, T>& from, std::map<std::string, T>& to) {
    for (const auto& [name, values] : from) to[std::string(prefix) + name] = values;
}

void add_part(std::string_view prefix, const Snapshot& part, Snapshot& record) {
    add_fields(prefix, part.numbers, record.numbers);
    add_fields(prefix, part.integers, record.integers);
    add_fields(prefix, part.bytes, record.bytes);
}

template <class T>
void take_fields(std::string_view prefix, const std::map<std::string, T>& from,
                 std::map<std::string, T>& to) {
    for (const auto& [name, values] : from)
        if (name.starts_with(prefix)) to[name.substr(prefix.size())] = values;
}

Snapshot part_of(std::string_view prefix, const Snapshot& record) {
    Snapshot part;
    take_fields(prefix, record.numbers, part.numbers);
    take_fields(prefix, record.integers, part.integers);
    take_fields(prefix, record.bytes, part.bytes);
    return part;
}

/// Both parts hold at once with probability 1 - delta, and so does what follows from the sets of either and
/// from what they have in common: the least certificate is the one to hand over.
Knowledge combine(const Task& task, const ExplorerOptions& options, const WidthOptions& effort,
                  Knowledge regression, Knowledge likelihood) {
    std::vector<ConfidenceSet> common;
    for (std::size_t k = 0; k < regression.mixture().sets().size(); ++k)
        common.push_back(intersection(regression.mixture().sets()[k], likelihood.mixture().sets()[k]));
    const std::int64_t episodes = likelihood.episodes;
    Knowledge best =
        certify(task, std::move(common),
                {.delta = options.delta, .widths = effort, .threads = options.threads, .episodes = episodes});
    for (Knowledge* part : {&likelihood, &regression}) {
        if (part->certificate.bound >= best.certificate.bound) continue;
        part->certificate.failure_probability = options.delta;
        best = {std::make_shared<const LearnedMixture>(task, part->mixture().sets(), options.delta),
                std::move(part->certificate), episodes};
    }
    return best;
}

}  // namespace

CombinedExplorer::CombinedExplorer(
    const Task& task, const ExplorerOptions& options, ConfidenceChoice own,
    const std::function<std::unique_ptr<Explorer>(const Task&, const ExplorerOptions&)>& actor)
    : task_(task), options_(options), own_(own), actor_(actor(task, part_options(options))) {
    refuse_paper(options);
    const ConfidenceChoice wanted = options.constants.confidence;
    if (own != ConfidenceChoice::regression && uses(wanted, ConfidenceChoice::regression))
        witness_ = std::make_unique<HoeffdingExplorer>(task, part_options(options));
    if (own != ConfidenceChoice::likelihood && uses(wanted, ConfidenceChoice::likelihood)) {
        ExplorerOptions looking_on = part_options(options);
        looking_on.constants.bonus = FisherBonus::none;
        witness_ = std::make_unique<LikelihoodExplorer>(task, looking_on);
    }
}

Deployment CombinedExplorer::ask() {
    // What the other regresses on must be fixed before the deployment is run, as its own policy would be.
    if (witness_) witness_->ask();
    return actor_->ask();
}

Deployment CombinedExplorer::repeat() const {
    return actor_->repeat();
}

void CombinedExplorer::tell(const Counts& counts) {
    actor_->tell(counts);
    if (witness_) witness_->tell(counts);
}

Knowledge CombinedExplorer::knowledge() {
    switch (options_.constants.confidence) {
        case ConfidenceChoice::regression:
            return regression().knowledge();
        case ConfidenceChoice::likelihood:
            return likelihood().knowledge();
        case ConfidenceChoice::both:
            return combine(task_, options_, {.method = options_.constants.width}, regression().knowledge(),
                           likelihood().knowledge());
        case ConfidenceChoice::own:
            break;
    }
    return actor_->knowledge();
}

Snapshot CombinedExplorer::evidence() const {
    Snapshot record;
    const ConfidenceChoice wanted = options_.constants.confidence;
    if (uses(wanted, ConfidenceChoice::regression))
        add_part(regression_prefix, regression().evidence(), record);
    if (uses(wanted, ConfidenceChoice::likelihood))
        add_part(likelihood_prefix, likelihood().evidence(), record);
    return record;
}

Snapshot CombinedExplorer::memory() const {
    Snapshot record;
    add_part(actor_prefix, actor_->memory(), record);
    if (witness_) add_part(witness_prefix, witness_->memory(), record);
    return record;
}

void CombinedExplorer::restore(const Snapshot& memory) {
    actor_->restore(part_of(actor_prefix, memory));
    if (!witness_) return;
    witness_->restore(part_of(witness_prefix, memory));
    expects(witness_->episodes() == actor_->episodes(),
            "stored parts are of {} and {} episodes; the run is damaged", actor_->episodes(),
            witness_->episodes());
}

Knowledge recompute_combined(const Task& task, const Snapshot& evidence, const ExplorerOptions& options) {
    refuse_paper(options);
    const ExplorerOptions part = part_options(options);
    const auto by_regression = [&] {
        return recompute_hoeffding(task, part_of(regression_prefix, evidence), part);
    };
    const auto by_likelihood = [&] {
        return recompute_likelihood(task, part_of(likelihood_prefix, evidence), part);
    };
    if (options.constants.confidence == ConfidenceChoice::regression) return by_regression();
    if (options.constants.confidence == ConfidenceChoice::likelihood) return by_likelihood();
    WidthOptions effort =
        detail::thorough(WidthTable(confidence_sets(task.horizon, task.homogeneous), *task.features));
    effort.method = options.constants.width;
    return combine(task, options, effort, by_regression(), by_likelihood());
}

}  // namespace alidade
