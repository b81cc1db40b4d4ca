#include "problem_record.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../model/kept_size.hpp"
#include "alidade/error.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"

namespace alidade::detail {
namespace {

using Texts = std::vector<std::string>;

void put_texts(Snapshot& record, const std::string& name, const Texts& texts) {
    if (texts.empty()) return;
    auto& lengths = record.integers[name];
    auto& bytes = record.bytes[name];
    for (const std::string& text : texts) {
        lengths.push_back(static_cast<std::int64_t>(text.size()));
        bytes.insert(bytes.end(), text.begin(), text.end());
    }
}

template <class T>
const std::vector<T>& find(const std::map<std::string, std::vector<T>>& arrays, const std::string& name) {
    const auto place = arrays.find(name);
    expects(place != arrays.end(), "the stored problem has no array \"{}\"", name);
    return place->second;
}

template <class T>
T find_one(const std::map<std::string, std::vector<T>>& arrays, const std::string& name) {
    const std::vector<T>& values = find(arrays, name);
    expects(values.size() == 1, "array \"{}\" of the stored problem has {} elements; must be one", name,
            values.size());
    return values.front();
}

template <class T>
std::optional<T> find_optional(const std::map<std::string, std::vector<T>>& arrays, const std::string& name) {
    if (!arrays.contains(name)) return std::nullopt;
    return find_one(arrays, name);
}

Texts find_texts(const Snapshot& record, const std::string& name) {
    Texts texts;
    if (!record.integers.contains(name)) return texts;
    const auto& bytes = find(record.bytes, name);
    std::size_t begin = 0;
    for (const std::int64_t length : record.integers.at(name)) {
        expects(length >= 0 && at(length) <= bytes.size() - begin,
                "texts \"{}\" of the stored problem are cut short", name);
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
        texts.emplace_back(first, first + length);
        begin += at(length);
    }
    return texts;
}

std::string find_text(const Snapshot& record, const std::string& name) {
    const Texts texts = find_texts(record, name);
    expects(texts.size() == 1, "the stored problem has {} texts \"{}\"; must be one", texts.size(), name);
    return texts.front();
}

void put_successors(Snapshot& record, const SuccessorMap& map) {
    auto& offsets = record.integers["offsets"];
    for (Index pair = 0; pair <= map.pairs(); ++pair) offsets.push_back(map.first_entry(pair));
    record.integers["targets"].assign(map.targets().begin(), map.targets().end());
}

void put_linear(Snapshot& record, const PairFeatures& features) {
    put_successors(record, features);
    record.numbers["pair_features"].assign(features.values().begin(), features.values().end());
    record.numbers["norm_bound"] = {features.norm_bound()};
}

PairFeatures linear_from_record(const Snapshot& record, const Shape& shape, Index features) {
    const auto& targets = find(record.integers, "targets");
    for (const std::int64_t target : targets)
        expects(target >= 0 && target < shape.states, "the stored problem leads to state {}; must be 0 to {}",
                target, shape.states - 1);
    return PairFeatures(SuccessorMap(shape.states, shape.actions, find(record.integers, "offsets"),
                                     {targets.begin(), targets.end()}),
                        features, find(record.numbers, "pair_features"),
                        find_one(record.numbers, "norm_bound"));
}

void put_measures(Snapshot& record, const std::vector<Matrix>& measures) {
    auto& values = record.numbers["measures"];
    for (const Matrix& step : measures) values.insert(values.end(), step.data(), step.data() + step.size());
}

std::vector<Matrix> measures_from_record(const Snapshot& record, Index features, Index states) {
    std::vector<Matrix> measures;
    if (!record.numbers.contains("measures")) return measures;
    const auto& values = record.numbers.at("measures");
    const Index size = features * states;
    expects(!values.empty() && static_cast<Index>(values.size()) % size == 0,
            "the stored true measures are {} numbers; must be a multiple of {}", values.size(), size);
    for (std::size_t first = 0; first < values.size(); first += at(size))
        measures.emplace_back(Eigen::Map<const Matrix>(values.data() + first, features, states));
    return measures;
}

void put_features(Snapshot& record, const FeatureMap& features) {
    record.integers["general"] = {features.kind() == FeatureKind::general};
    put_successors(record, features);
    record.numbers["values"].assign(features.values().begin(), features.values().end());
    record.numbers["norm_bound"] = {features.norm_bound()};
    put_texts(record, "feature_names", features.names());
}

/// Where features are that are too many to be stored.
void put_place(Snapshot& record, const FeatureMap& features, const std::string& source) {
    record.integers["elsewhere"] = {features.entries()};
    put_texts(record, "features_at",
              {is_builtin(source) ? source : std::filesystem::absolute(source).string()});
}

SharedFeatures features_elsewhere(const Snapshot& record, const Shape& shape, Index features,
                                  const SharedFeatures& at_hand) {
    const auto fit = [&](const FeatureMap& map) {
        return map.states() == shape.states && map.actions() == shape.actions && map.features() == features &&
               map.entries() == find_one(record.integers, "elsewhere");
    };
    if (at_hand != nullptr && fit(*at_hand)) return at_hand;
    const std::string place = find_text(record, "features_at");
    const auto missing = [&](const std::string& why) {
        throw FeaturesMissing(
            fmt::format("the run does not hold its problem's features, which are large; they "
                        "were at {}, and now {}",
                        place, why));
    };
    SharedFeatures found;
    try {
        // Rows that sum to one are left alone, so that this is right whether or not it was asked for.
        found = load_problem(place, {.normalise = true}).shared_features();
    } catch (const InvalidArgument& error) {
        missing(error.what());
    }
    if (!fit(*found)) missing("there is another problem");
    return found;
}

/// The base model `feature`, without the zeros, as FeatureMap::base_kernel gives it.
BaseKernel kernel_of(const SignedFeatures& data, Index feature, const std::string& name) {
    BaseKernel kernel{.name = name, .rows = data.states * data.actions, .columns = data.states};
    kernel.offsets.push_back(0);
    for (std::size_t pair = 0; pair + 1 < data.offsets.size(); ++pair) {
        for (std::int64_t e = data.offsets[pair]; e < data.offsets[pair + 1]; ++e) {
            const double p = data.values[at(e * data.features + feature)];
            if (p == 0) continue;
            kernel.targets.push_back(data.targets[at(e)]);
            kernel.probabilities.push_back(p);
        }
        kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
    }
    return kernel;
}

FeatureMap features_from_record(const Snapshot& record, const Shape& shape, Index features) {
    const SignedFeatures data{.states = shape.states,
                              .actions = shape.actions,
                              .features = features,
                              .offsets = find(record.integers, "offsets"),
                              .targets = find(record.integers, "targets"),
                              .values = find(record.numbers, "values"),
                              .norm_bound = find_one(record.numbers, "norm_bound")};
    // Checks offsets, targets and sizes for both kinds.
    FeatureMap map = FeatureMap::from_features(data);
    if (find_one(record.integers, "general") != 0) return map;
    const Texts names = find_texts(record, "feature_names");
    expects(static_cast<Index>(names.size()) == features,
            "the stored problem has {} names for {} base models", names.size(), features);
    std::vector<BaseKernel> kernels;
    for (Index i = 0; i < features; ++i) kernels.push_back(kernel_of(data, i, names[at(i)]));
    return FeatureMap::from_base_kernels(shape.states, shape.actions, kernels);
}

void put_start(Snapshot& record, const StartLaw& start) {
    for (const auto& [state, probability] : start.atoms()) {
        record.integers["start_states"].push_back(state);
        record.numbers["start_probabilities"].push_back(probability);
    }
}

StartLaw start_from_record(const Snapshot& record) {
    const auto& states = find(record.integers, "start_states");
    const auto& probabilities = find(record.numbers, "start_probabilities");
    expects(states.size() == probabilities.size(),
            "the stored start law has {} states and {} probabilities; must be as many", states.size(),
            probabilities.size());
    std::vector<std::pair<State, double>> law;
    for (std::size_t i = 0; i < states.size(); ++i) law.emplace_back(states[i], probabilities[i]);
    return StartLaw(std::move(law));
}

void put_rewards(Snapshot& record, const std::vector<NamedReward>& rewards) {
    Texts names, meanings;
    for (const auto& [name, meaning, reward] : rewards) {
        names.push_back(name);
        meanings.push_back(meaning);
        auto& values = record.numbers["reward_values"];
        values.insert(values.end(), reward.values().begin(), reward.values().end());
        record.integers["reward_sizes"].push_back(static_cast<std::int64_t>(reward.values().size()));
    }
    put_texts(record, "reward_names", names);
    put_texts(record, "reward_meanings", meanings);
}

std::vector<NamedReward> rewards_from_record(const Snapshot& record, const Shape& shape) {
    std::vector<NamedReward> rewards;
    const Texts names = find_texts(record, "reward_names"), meanings = find_texts(record, "reward_meanings");
    if (names.empty()) return rewards;
    const auto& sizes = find(record.integers, "reward_sizes");
    std::span<const double> values = find(record.numbers, "reward_values");
    expects(names.size() == sizes.size() && meanings.size() == sizes.size(),
            "the stored problem has {} reward names for {} rewards", names.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        expects(sizes[i] >= 0 && at(sizes[i]) <= values.size(),
                "reward \"{}\" of the stored problem is cut short", names[i]);
        const auto own = values.first(at(sizes[i]));
        rewards.push_back({names[i], meanings[i], Reward(shape, {own.begin(), own.end()})});
        values = values.subspan(own.size());
    }
    return rewards;
}

void put_truth(Snapshot& record, const Matrix& truth) {
    auto& values = record.numbers["truth"];
    for (Index row = 0; row < truth.rows(); ++row)
        for (Index column = 0; column < truth.cols(); ++column) values.push_back(truth(row, column));
}

Matrix truth_from_record(const Snapshot& record, Index features) {
    const auto& values = find(record.numbers, "truth");
    expects(static_cast<Index>(values.size()) % features == 0,
            "the stored true weights are {} numbers; must be a multiple of {}", values.size(), features);
    Matrix truth(static_cast<Index>(values.size()) / features, features);
    for (Index row = 0; row < truth.rows(); ++row)
        for (Index column = 0; column < features; ++column)
            truth(row, column) = values[at(row * features + column)];
    return truth;
}

}  // namespace

bool has_many_features(const Problem& problem) {
    return !problem.is_linear() && !is_kept(static_cast<double>(problem.features().values().size()));
}

Snapshot record_of(const Problem& problem, const std::string& source) {
    const ProblemDescription& parts = problem.description();
    const Shape& shape = problem.shape();
    Snapshot record;
    const Index features = parts.linear ? parts.linear->features() : parts.features->features();
    record.integers["sizes"] = {shape.states, shape.actions, features, shape.horizon};
    record.integers["homogeneous"] = {parts.homogeneous};
    if (parts.misspecification > 0) record.numbers["misspecification"] = {parts.misspecification};
    if (parts.reach != Reach::anywhere) record.integers["support_only"] = {1};
    if (parts.linear)
        put_linear(record, *parts.linear);
    else if (has_many_features(problem))
        put_place(record, *parts.features, source);
    else
        put_features(record, *parts.features);
    put_start(record, parts.start);
    if (parts.truth) put_truth(record, *parts.truth);
    if (parts.foreign) {
        record.numbers["foreign_share"] = {parts.foreign->share};
        record.numbers["foreign_law"] = parts.foreign->law;
    }
    if (!parts.measures.empty()) put_measures(record, parts.measures);
    put_texts(record, "name", {parts.name});
    put_texts(record, "state_names", parts.state_names);
    put_texts(record, "action_names", parts.action_names);
    put_rewards(record, parts.rewards);
    if (parts.target.epsilon) record.numbers["target_epsilon"] = {*parts.target.epsilon};
    if (parts.target.delta) record.numbers["target_delta"] = {*parts.target.delta};
    if (parts.target.episodes) record.integers["target_episodes"] = {*parts.target.episodes};
    return record;
}

Problem problem_from_record(const Snapshot& record, const SharedFeatures& at_hand) {
    const auto& sizes = find(record.integers, "sizes");
    expects(sizes.size() == 4, "the stored problem has {} sizes; must be 4", sizes.size());
    const Shape shape{sizes[0], sizes[1], sizes[3]};
    validate(shape);
    const Index features = sizes[2];
    ProblemDescription parts;
    parts.name = find_text(record, "name");
    if (record.numbers.contains("pair_features")) {
        parts.linear = std::make_shared<const PairFeatures>(linear_from_record(record, shape, features));
        parts.measures = measures_from_record(record, features, shape.states);
    } else if (record.integers.contains("elsewhere")) {
        parts.features = features_elsewhere(record, shape, features, at_hand);
    } else {
        parts.features = std::make_shared<const FeatureMap>(features_from_record(record, shape, features));
    }
    parts.horizon = shape.horizon;
    parts.start = start_from_record(record);
    parts.homogeneous = find_one(record.integers, "homogeneous") != 0;
    parts.misspecification = find_optional(record.numbers, "misspecification").value_or(0);
    if (record.integers.contains("support_only")) parts.reach = Reach::support;
    if (record.numbers.contains("truth")) parts.truth = truth_from_record(record, features);
    if (record.numbers.contains("foreign_law"))
        parts.foreign =
            ForeignPart{find_one(record.numbers, "foreign_share"), find(record.numbers, "foreign_law")};
    parts.state_names = find_texts(record, "state_names");
    parts.action_names = find_texts(record, "action_names");
    parts.rewards = rewards_from_record(record, shape);
    parts.target = {find_optional(record.numbers, "target_epsilon"),
                    find_optional(record.numbers, "target_delta"),
                    find_optional(record.integers, "target_episodes")};
    return Problem(std::move(parts));
}

}  // namespace alidade::detail
