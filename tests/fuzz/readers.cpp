#include "fuzz/readers.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "alidade/error.hpp"
#include "alidade/files/atlas_file.hpp"
#include "alidade/files/csr_file.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/files/features_file.hpp"
#include "alidade/files/npz.hpp"
#include "alidade/files/pair_features_file.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/formats/drn_file.hpp"
#include "alidade/formats/explicit_npz.hpp"
#include "alidade/formats/gym_file.hpp"
#include "alidade/formats/model_npz.hpp"
#include "alidade/formats/prism_file.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/formats/tabular_arrays.hpp"
#include "alidade/formats/umb_file.hpp"
#include "alidade/formats/umb_members.hpp"
#include "alidade/process/plan_file.hpp"
#include "alidade/process/system_protocol.hpp"

namespace alidade::fuzz {
namespace {

constexpr Shape shape{3, 2, 4};

void demand(bool ok, const char* what) {
    if (!ok) throw std::logic_error(what);
}

/// Sums of every choice, added up here and not by the library.
void check_model(const ExplicitModel& model) {
    try {
        validate(model, "again");
    } catch (const InvalidArgument& problem) {
        throw std::logic_error(problem.what());
    }
    if (model.header.kind == BranchKind::parametric) return;
    for (const ExplicitState& row : model.states)
        for (Index c = 0; c < row.choices(); ++c) {
            double low = 0, high = 0;
            for (auto b = row.offsets[static_cast<std::size_t>(c)];
                 b < row.offsets[static_cast<std::size_t>(c + 1)]; ++b) {
                const auto i = static_cast<std::size_t>(b);
                demand(row.targets[i] >= 0 && row.targets[i] < model.header.states, "a target is no state");
                low += row.lower[i];
                high += model.header.kind == BranchKind::interval ? row.upper[i] : row.lower[i];
            }
            demand(low <= 1 + 1e-9 && high >= 1 - 1e-9, "a choice is no distribution");
        }
}

void check_kernel(const BaseKernel& kernel, Index actions) {
    try {
        detail::validate_rows(kernel, actions, "again");
    } catch (const InvalidArgument& problem) {
        throw std::logic_error(problem.what());
    }
    for (Index row = 0; row < kernel.rows; ++row) {
        double sum = 0;
        for (auto e = kernel.offsets[static_cast<std::size_t>(row)];
             e < kernel.offsets[static_cast<std::size_t>(row + 1)]; ++e) {
            const auto i = static_cast<std::size_t>(e);
            demand(kernel.targets[i] >= 0 && kernel.targets[i] < kernel.columns, "a target is no state");
            demand(kernel.probabilities[i] >= 0, "a probability is negative");
            sum += kernel.probabilities[i];
        }
        demand(std::abs(sum - 1) <= 1e-9, "a row is no distribution");
    }
}

/// Several files in one input: each begins after a line "%%name". Mutations keep more of it alive than of an
/// archive with its checksums.
std::map<std::string, std::string, std::less<>> split(std::string_view bytes) {
    std::map<std::string, std::string, std::less<>> parts;
    while (bytes.starts_with("%%")) {
        const auto name_end = std::min(bytes.find('\n'), bytes.size());
        const auto next = std::min(bytes.find("\n%%", name_end), bytes.size());
        const auto body = std::min(name_end + 1, next);
        parts.emplace(bytes.substr(2, name_end - 2), bytes.substr(body, next - body));
        bytes.remove_prefix(std::min(next + 1, bytes.size()));
    }
    return parts;
}

detail::NpzArrays split_arrays(std::string_view bytes) {
    detail::NpzArrays arrays;
    for (const auto& [name, part] : split(bytes)) arrays.emplace(name, detail::parse_npy(part, name));
    return arrays;
}

void read_drn_text(std::string_view bytes) {
    check_model(detail::parse_drn(bytes, "x.drn"));
}
void read_gym_text(std::string_view bytes) {
    check_model(detail::parse_gym(bytes, "x.json"));
}
void read_umb_archive(std::string_view bytes) {
    check_model(detail::parse_umb(bytes, "x.umb"));
}
void read_umb_parts(std::string_view bytes) {
    check_model(detail::model_of_members(split(bytes), "x.umb"));
}

void read_prism_parts(std::string_view bytes) {
    const auto parts = split(bytes);
    const auto part = [&](std::string_view name) {
        const auto found = parts.find(name);
        return found == parts.end() ? std::nullopt : std::optional(found->second);
    };
    detail::PrismTexts texts;
    texts.transitions = part("tra").value_or("");
    texts.states = part("sta");
    texts.labels = part("lab");
    if (parts.contains("srew") || parts.contains("trew")) {
        texts.state_rewards.push_back(part("srew"));
        texts.transition_rewards.push_back(part("trew"));
    }
    check_model(detail::parse_prism(texts, "x"));
}

void read_npy_bytes(std::string_view bytes) {
    const detail::NpyArray array = detail::parse_npy(bytes, "x");
    // Strings may be stored in ways that are read and not written.
    if (array.kind() == detail::NpyKind::text) return;
    const detail::NpyArray again = detail::parse_npy(detail::format_npy(array), "x");
    demand(again.shape == array.shape && again.integers == array.integers, "an array changes when written");
}
void read_npz_bytes(std::string_view bytes) {
    detail::parse_npz(bytes, "x.npz");
}

void read_csr_arrays(std::string_view bytes) {
    BaseKernel kernel = detail::csr_from_arrays(split_arrays(bytes), "x.npz");
    if (kernel.rows % kernel.columns != 0) return;
    detail::normalise_rows(kernel);
    detail::validate_rows(kernel, kernel.rows / kernel.columns, "x.npz");
    check_kernel(kernel, kernel.rows / kernel.columns);
    FeatureMap::from_base_kernels(kernel.columns, kernel.rows / kernel.columns, {&kernel, 1});
}
void read_explicit_arrays(std::string_view bytes) {
    check_model(detail::explicit_from_arrays(split_arrays(bytes), "x.npz"));
}
void read_tabular_arrays(std::string_view bytes) {
    const TabularModel model = detail::tabular_from_arrays(split_arrays(bytes), "x.npz");
    for (const BaseKernel& kernel : model.steps) check_kernel(kernel, model.shape.actions);
}
void read_pair_feature_arrays(std::string_view bytes) {
    detail::NpzArrays arrays = split_arrays(bytes);
    if (arrays.contains("measures")) {
        for (const Matrix& step : detail::measures_from_arrays(arrays, "x.npz"))
            demand(step.rows() >= 0 && step.cols() >= 0, "measures without a size");
        return;
    }
    const PairFeatures features = detail::pair_features_from_arrays(std::move(arrays), 2.0, "x.npz");
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const double norm = features.phi(pair).norm();
        demand(norm <= 1 + 1e-8 && 2 * norm >= 1 - 1e-8, "features that no law can have");
    }
}

void read_feature_arrays(std::string_view bytes) {
    FeatureMap::from_features(detail::features_from_arrays(split_arrays(bytes), 2, "x.npz"));
}

/// The same arrays where they lie, as files that are mapped do: at a page, each.
void read_feature_views(std::string_view bytes) {
    std::map<std::string, std::vector<double>> pages;
    const auto view = [&](const std::string& name, const std::string& part) {
        std::vector<double>& page = pages[name];
        page.resize(part.size() / sizeof(double) + 1);
        std::memcpy(page.data(), part.data(), part.size());
        return detail::view_npy({reinterpret_cast<const char*>(page.data()), part.size()}, name);
    };
    auto parts = split(bytes);
    FeatureTable table{.states = 2, .actions = 1};
    table.offsets = view("offsets", parts["offsets"]).wide_integers("offsets");
    table.targets = view("targets", parts["targets"]).narrow_integers("targets");
    const detail::NpyView values = view("values", parts["values"]);
    table.features = values.shape.size() == 2 ? values.shape[1] : 1;
    table.values = values.reals("values");
    if (parts.contains("general")) table.kind = FeatureKind::general;
    const FeatureMap map = FeatureMap::from_table(table);
    if (map.kind() == FeatureKind::general) return;
    for (Index i = 0; i < map.features(); ++i) check_kernel(map.base_kernel(i), 1);
}

void check_reward(const ScaledReward& reward) {
    for (const double r : reward.reward.values()) demand(r >= 0 && r <= 1, "a reward is not in [0, 1]");
    demand(reward.scale.scale > 0, "a scale is not positive");
}
void read_reward_json(std::string_view bytes) {
    check_reward(parse_reward(bytes, "x.json", shape, {.rescale = true}));
}
void read_reward_npz(std::string_view bytes) {
    check_reward(parse_reward(bytes, "x.npz", shape, {.rescale = true}));
}

void check_policy(const Policy& policy) {
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            double sum = 0;
            for (Action a = 0; a < shape.actions; ++a) {
                demand(policy.probability(h, s, a) >= 0, "a probability is negative");
                sum += policy.probability(h, s, a);
            }
            demand(std::abs(sum - 1) <= 1e-9, "a policy is no distribution");
        }
}
void read_policy_json(std::string_view bytes) {
    check_policy(parse_policy(bytes, "x.json", shape));
}
void read_plan_json(std::string_view bytes) {
    const Plan plan = detail::parse_plan(bytes, "x.json", shape);
    check_policy(plan.policy);
    demand(plan.claimed_accuracy >= 0, "an accuracy is negative");
}

/// From every pair to every state but the last.
const SharedFeatures& small_features() {
    static const SharedFeatures features = [] {
        BaseKernel kernel{"base", 6, 3, {0}, {}, {}};
        for (int row = 0; row < 6; ++row) {
            kernel.targets.insert(kernel.targets.end(), {0, 1});
            kernel.probabilities.insert(kernel.probabilities.end(), {0.5, 0.5});
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
        return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, {&kernel, 1}));
    }();
    return features;
}

void read_episode_bytes(std::string_view bytes, const char* name) {
    Counts counts(small_features(), shape.horizon);
    const std::int64_t read = parse_episodes(bytes, name, StartLaw({{0, 0.5}, {1, 0.5}}), counts);
    demand(read >= 1 && counts.episodes() == read, "episodes are miscounted");
}
void read_episode_lines(std::string_view bytes) {
    read_episode_bytes(bytes, "x.jsonl");
}
void read_episode_table(std::string_view bytes) {
    read_episode_bytes(bytes, "x.csv");
}
void read_episode_arrays(std::string_view bytes) {
    read_episode_bytes(bytes, "x.npz");
}

/// A folder with files that problems may name.
const std::filesystem::path& problem_folder() {
    static const std::filesystem::path folder = [] {
        std::string name = (std::filesystem::temp_directory_path() / "alidade-fuzz-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        BaseKernel kernel{"base", 4, 2, {0, 1, 2, 3, 4}, {0, 1, 1, 0}, {1, 1, 1, 1}};
        detail::write_csr(std::filesystem::path(name) / "b.npz", kernel);
        std::ofstream(std::filesystem::path(name) / "t.json") << R"({"weights": [[1], [1]]})";
        std::ofstream(std::filesystem::path(name) / "r.json") << R"({"default": 1})";
        return std::filesystem::path(name);
    }();
    return folder;
}

void read_problem_toml(std::string_view bytes) {
    const auto path = problem_folder() / "problem.toml";
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const Problem problem = load_problem(path.string());
    if (problem.is_linear()) return;
    for (Index i = 0; i < problem.features().features(); ++i)
        if (problem.features().kind() == FeatureKind::base_models)
            check_kernel(problem.features().base_kernel(i), problem.features().actions());
}

/// A system's answer that declines is one that is understood.
template <class Read>
void understood(const Read& read) {
    try {
        read();
    } catch (const detail::SystemDeclined&) {
    }
}

void check_visited(const std::vector<State>& states) {
    demand(!states.empty() && std::ssize(states) <= shape.horizon, "an episode of no length that there is");
    for (const State state : states) demand(state >= 0 && state < shape.states, "a state that is none");
}

void read_system_info(std::string_view bytes) {
    understood([&] {
        const detail::SystemInfo info = detail::parse_info(bytes);
        demand(info.states >= 1 && info.actions >= 1 && info.horizon.value_or(1) >= 1, "a system of no size");
        demand(info.state_names.empty() || std::ssize(info.state_names) == info.states,
               "names of other states");
        demand(info.action_names.empty() || std::ssize(info.action_names) == info.actions,
               "names of other actions");
    });
}

/// The answers to `reset` of episode 3 and to `step` 2: no line is both.
void read_system_state(std::string_view bytes) {
    bool both = true;
    const auto noted = [&](const auto& read) {
        try {
            understood(read);
        } catch (const InvalidArgument&) {
            both = false;
        }
    };
    bool declined = true;
    noted([&] {
        check_visited({detail::parse_reset(bytes, shape, 3)});
        declined = false;
    });
    noted([&] {
        check_visited({detail::parse_step(bytes, shape, 2).state});
        declined = false;
    });
    demand(!both || declined, "one line answers two requests");
    understood([&] {
        if (bytes.find("step") != std::string_view::npos)
            detail::parse_step(bytes, shape, 2);
        else
            detail::parse_reset(bytes, shape, 3);
    });
}

void read_system_batch(std::string_view bytes) {
    static const Policy policy = Policy::deterministic(
        shape, std::vector<std::int32_t>(static_cast<std::size_t>(shape.horizon * shape.states), 1));
    understood([&] {
        const auto episodes = detail::parse_run(bytes, policy, 7, 2);
        demand(episodes.size() == 2, "more or fewer episodes than were asked for");
        for (const detail::BatchEpisode& episode : episodes) {
            check_visited(episode.states);
            demand(std::ssize(episode.states) == shape.horizon || episode.end != detail::EpisodeEnd::none,
                   "an episode without an end");
        }
    });
}

/// What is accepted has a cell for all weights of its region, and promises no more than H there.
void read_atlas_json(std::string_view bytes) {
    const Atlas atlas = parse_atlas(bytes, "atlas.json");
    std::vector<double> least = atlas.at_least;
    double rest = 1;
    for (const double weight : least) rest -= weight;
    for (std::size_t i = 0; i < least.size() && rest > 0; ++i) {
        const double more = std::min(rest, atlas.at_most[i] - least[i]);
        least[i] += more;
        rest -= more;
    }
    const AtlasAnswer answer = atlas.at(least);
    demand(answer.policy >= 0 && answer.policy < static_cast<Index>(atlas.policies.size()), "no such policy");
    demand(answer.loss_bound >= 0 && answer.loss_bound <= static_cast<double>(atlas.horizon), "no loss");
}

}  // namespace

const std::vector<Reader>& readers() {
    static const std::vector<Reader> all = {
        {"drn", read_drn_text},
        {"gym", read_gym_text},
        {"umb", read_umb_archive},
        {"umb-members", read_umb_parts},
        {"prism", read_prism_parts},
        {"npy", read_npy_bytes},
        {"npz", read_npz_bytes},
        {"csr", read_csr_arrays},
        {"explicit-npz", read_explicit_arrays},
        {"tabular-npz", read_tabular_arrays},
        {"features", read_feature_arrays},
        {"feature-views", read_feature_views},
        {"pair-features", read_pair_feature_arrays},
        {"reward-json", read_reward_json},
        {"reward-npz", read_reward_npz},
        {"policy", read_policy_json},
        {"plan", read_plan_json},
        {"atlas", read_atlas_json},
        {"episodes", read_episode_lines},
        {"episodes-csv", read_episode_table},
        {"episodes-npz", read_episode_arrays},
        {"problem", read_problem_toml},
        {"system-info", read_system_info},
        {"system-state", read_system_state},
        {"system-batch", read_system_batch},
    };
    return all;
}

const Reader& find_reader(std::string_view name) {
    for (const Reader& reader : readers())
        if (reader.name == name) return reader;
    throw std::out_of_range(std::string(name));
}

void run(const Reader& reader, std::string_view bytes) {
    try {
        reader.read(bytes);
    } catch (const InvalidArgument&) {
    } catch (const ModelContradiction&) {
    }
}

}  // namespace alidade::fuzz
