#include "alidade/explore/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "../confidence/intersection.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "behaviour.hpp"
#include "handed_over.hpp"
#include "likelihood_source.hpp"

namespace alidade {

using detail::SetSource;
using detail::SourceSetting;

namespace {

std::string prefix_of(const std::string& source) {
    return source + ".";
}

constexpr std::string_view behaviour_prefix = "behaviour.";

}  // namespace

ExplorerOptions canonical(ExplorerOptions options, const Task& task) {
    const Request algorithm = options.algorithm.empty() ? Request{default_behaviour(task).name, {}}
                                                        : canonical_behaviour(options.algorithm);
    const BehaviourEntry& entry = find_behaviour(algorithm.name);
    const std::vector<Request> sources =
        canonical_sources(options.confidence.empty() ? entry.source : options.confidence);
    options.algorithm = to_string(algorithm);
    options.confidence = to_string(sources);
    const std::string refusal = entry.refusal(task);
    expects(refusal.empty(), "{}", refusal);
    for (const Request& request : sources) {
        const SourceEntry& source = find_source(request.name);
        const std::string refused = source.refusal(task);
        expects(refused.empty(), "{}", refused);
        const std::string alone =
            source.alone(RequestArguments(request.name, source.parameters, request.given));
        expects(alone.empty() || request.name == entry.source, "confidence is '{}' with the algorithm {}; {}",
                options.confidence, entry.name, alone);
    }
    return options;
}

Explorer::Explorer(const Task& task, const ExplorerOptions& options)
    : task_(task), options_(canonical(options, task)) {
    const Request algorithm = parse_request(options_.algorithm, options_.algorithm);
    const BehaviourEntry& entry = find_behaviour(algorithm.name);
    const std::vector<Request> asked = parse_requests(options_.confidence);
    // All of them hold at once, by a union bound over as many as are asked for.
    const SourceSetting setting{task_, options_.delta / static_cast<double>(asked.size()), options_.schedule,
                                options_.threads};
    std::shared_ptr<SetSource> own;
    own_ = entry.source;
    for (const Request& request : asked) {
        sources_.push_back(detail::make_source(request, setting));
        names_.push_back(request.name);
        if (request.name == entry.source) own = sources_.back();
    }
    // Who acts may plan with sets from which nothing is claimed. These have no part in the union bound.
    if (!own) own = detail::make_source({entry.source, {}}, setting);
    behaviour_ = entry.make(
        {task_, options_.seed, options_.schedule, options_.threads}, own,
        RequestArguments(fmt::format("algorithm {}", entry.name), entry.parameters, algorithm.given));
}

Explorer::Explorer(Explorer&&) noexcept = default;
Explorer& Explorer::operator=(Explorer&&) noexcept = default;
Explorer::~Explorer() = default;

std::int64_t Explorer::episodes() const {
    return behaviour_->episodes();
}

std::int64_t Explorer::replans() const {
    return behaviour_->replans();
}

std::int64_t Explorer::replan_bound() const {
    return behaviour_->replan_bound();
}

Deployment Explorer::repeat() const {
    return behaviour_->repeat();
}

std::vector<std::pair<std::string, SetSource*>> Explorer::all_sources() const {
    std::vector<std::pair<std::string, SetSource*>> all;
    bool own = behaviour_->source() == nullptr;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        all.emplace_back(names_[i], sources_[i].get());
        own = own || sources_[i].get() == behaviour_->source();
    }
    if (!own) all.emplace_back(own_, behaviour_->source());
    return all;
}

// Sets hold for any behaviour, so long as what they rest on is fixed before each batch: they may look on
// while another acts [docs/algorithms/likelihood.md, Both kinds of sets at once].
Deployment Explorer::ask() {
    // What the others regress on must be fixed before the deployment is run, as it is by who acts.
    for (const auto& source : sources_)
        if (source.get() != behaviour_->source() && source->due()) source->refresh();
    return behaviour_->ask();
}

void Explorer::tell(const Counts& counts) {
    require_own(counts);
    behaviour_->tell(counts);
    for (const auto& [name, source] : all_sources()) source->absorb(counts);
}

std::string Explorer::unasked_refusal() const {
    for (const Request& request : parse_requests(options_.confidence))
        if (std::string refusal = find_source(request.name).unasked_refusal(task_, request); !refusal.empty())
            return refusal;
    return {};
}

void Explorer::tell_unasked(const Counts& counts) {
    const std::string refusal = unasked_refusal();
    expects(refusal.empty(), "{}", refusal);
    // Who acts may plan with sets that need something fixed before they count; nothing is claimed of them.
    if (replans() == 0) ask();
    require_own(counts);
    behaviour_->tell_unasked(counts);
    for (const auto& [name, source] : all_sources()) source->absorb(counts);
}

void Explorer::require_own(const Counts& counts) const {
    expects(counts.shape() == task_.shape(), "counts have another shape than the problem");
    expects(counts.over(*task_.successors()), "counts are of other successors than the problem's");
}

bool Explorer::keeps_best() const {
    return std::ranges::all_of(sources_, [](const auto& source) { return source->keeps_best(); });
}

Knowledge Explorer::knowledge() const {
    if (sources_.size() == 1) return sources_.front()->knowledge();
    std::vector<Knowledge> parts;
    for (const auto& source : sources_) parts.push_back(source->knowledge());
    return combine({.method = sources_.front()->width()}, std::move(parts));
}

SharedLearned Explorer::learned() const {
    return sources_.size() == 1 ? sources_.front()->learned() : knowledge().learned;
}

Knowledge Explorer::recompute(const Snapshot& evidence) const {
    if (sources_.size() == 1) return sources_.front()->recompute(evidence);
    std::vector<Knowledge> parts;
    for (std::size_t i = 0; i < sources_.size(); ++i)
        parts.push_back(sources_[i]->recompute(evidence.part(prefix_of(names_[i]))));
    return combine(detail::thorough_widths(task_, sources_.front()->width()), std::move(parts));
}

// All parts hold at once with probability 1 - delta, and so does what follows from the sets of any and from
// what they have in common: the least certificate is the one to hand over.
Knowledge Explorer::combine(const WidthOptions& effort, std::vector<Knowledge> parts) const {
    std::vector<ConfidenceSet> common = parts.front().mixture().sets();
    for (std::size_t i = 1; i < parts.size(); ++i)
        for (std::size_t k = 0; k < common.size(); ++k)
            // One ellipsoid about what two have in common; a proof that there is nothing means that an event
            // has failed [docs/algorithms/likelihood.md, Lemma 5].
            common[k] = detail::intersection(common[k], parts[i].mixture().sets()[k]);
    const std::int64_t episodes = parts.front().episodes;
    Knowledge best = certify(
        task_, std::move(common),
        {.delta = options_.delta, .widths = effort, .threads = options_.threads, .episodes = episodes});
    std::ranges::reverse(parts);
    for (Knowledge& part : parts) {
        if (part.certificate.bound >= best.certificate.bound) continue;
        // It fails with its share of delta alone, but which part is best is seen after the data: what is
        // claimed is that all hold at once.
        part.certificate.failure_probability = options_.delta;
        best = {std::make_shared<const LearnedMixture>(task_, part.mixture().sets(), options_.delta),
                std::move(part.certificate), episodes};
    }
    return best;
}

Snapshot Explorer::evidence() const {
    if (sources_.size() == 1) return sources_.front()->evidence();
    Snapshot record;
    for (std::size_t i = 0; i < sources_.size(); ++i)
        record.add(prefix_of(names_[i]), sources_[i]->evidence());
    return record;
}

Snapshot Explorer::memory() const {
    Snapshot record;
    record.add(behaviour_prefix, behaviour_->memory());
    for (const auto& [name, source] : all_sources()) record.add(prefix_of(name), source->memory());
    return record;
}

void Explorer::restore(const Snapshot& memory) {
    behaviour_->restore(memory.part(behaviour_prefix));
    for (const auto& [name, source] : all_sources()) {
        source->restore(memory.part(prefix_of(name)));
        expects(source->episodes() == behaviour_->episodes(),
                "stored parts are of {} and {} episodes; the run is damaged", behaviour_->episodes(),
                source->episodes());
    }
}

Knowledge recompute(const Task& task, const Snapshot& evidence, const ExplorerOptions& options) {
    return Explorer(task, options).recompute(evidence);
}

std::string offline_algorithm(const Task& task) {
    return task.linear ? "lsvi" : "likelihood";
}

Knowledge learn(const Task& task, const Counts& counts, double delta) {
    // Both sources keep counts and nothing else.
    // Nothing was predicted or fixed on the way, so only sets that need neither can be had [likelihood §7].
    return recompute(task, detail::likelihood_evidence(counts),
                     {.algorithm = offline_algorithm(task), .confidence = {}, .delta = delta});
}

}  // namespace alidade
