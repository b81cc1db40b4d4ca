#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/certify/knowledge.hpp"
#include "alidade/error.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/formats/layered_view.hpp"
#include "alidade/formats/model_formats.hpp"
#include "alidade/formats/model_npz.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

BranchKind view_of(const std::string& view) {
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric})
        if (name_of(kind) == view) return kind;
    throw InvalidArgument(fmt::format("view is '{}'; must be point, interval or parametric", view));
}

/// The format asked for, or that of the path.
const ModelFormat& format_of(const std::string& name, const std::filesystem::path& path) {
    if (!name.empty()) return find_model_format(name);
    const ModelFormat* format = model_format_of(path);
    expects(format != nullptr, "{}: no format has the extension '{}'; say which with as_=", path.string(),
            path.extension().string());
    return *format;
}

LayeredOptions layered(const std::string& view, bool unroll, nb::handle rewards, const Shape& shape,
                       nb::handle problem, int threads) {
    LayeredOptions options;
    options.view = view_of(view);
    options.unroll = unroll;
    options.threads = threads_of(threads);
    if (!rewards.is_none())
        for (const auto& [name, reward] : nb::cast<nb::dict>(rewards))
            options.rewards.emplace_back(nb::cast<std::string>(name), reward_of(reward, shape));
    if (!problem.is_none()) {
        const auto& parts = nb::cast<const Problem&>(problem).description();
        options.action_names = parts.action_names;
        options.state_names = parts.state_names;
    }
    return options;
}

std::vector<std::string> export_model(nb::handle model, const std::filesystem::path& path,
                                      const std::string& as, const std::string& view, nb::handle rewards,
                                      bool unroll, nb::handle problem, int threads) {
    const ModelFormat& format = format_of(as, path);
    std::vector<std::filesystem::path> files;
    if (nb::isinstance<Knowledge>(model)) {
        const SharedLearned learned = nb::cast<const Knowledge&>(model).learned;
        const LayeredOptions options = layered(view, unroll, rewards, learned->shape(), problem, threads);
        files = patiently([=, &format] { return write_model(format, path, LayeredView(*learned, options)); });
    } else {
        const auto known = nb::cast<std::shared_ptr<TransitionModel>>(model);
        const LayeredOptions options = layered(view, unroll, rewards, known->shape(), problem, threads);
        files = patiently([=, &format] { return write_model(format, path, LayeredView(*known, options)); });
    }
    std::vector<std::string> names;
    for (const auto& file : files) names.push_back(file.string());
    return names;
}

std::vector<LoggedEpisode> read_log(const std::filesystem::path& path, const SharedProblem& problem,
                                    const std::string& columns) {
    return patiently([=] {
        EpisodeFileOptions options;
        options.shape = problem->shape();
        options.state_names = problem->description().state_names;
        options.action_names = problem->description().action_names;
        options.columns = columns;
        std::vector<LoggedEpisode> episodes;
        visit_episodes(path, options, [&](const LoggedEpisode& episode) {
            validate(episode, problem->shape(), problem->start());
            episodes.push_back(episode);
        });
        return episodes;
    });
}

TransitionModel known_of(const TabularModel& file) {
    std::vector<std::pair<State, double>> start;
    for (std::size_t s = 0; s < file.start.size(); ++s)
        if (file.start[s] > 0) start.emplace_back(static_cast<State>(s), file.start[s]);
    if (file.steps.size() == 1)
        return TransitionModel::from_kernel(file.steps.front(), file.shape.actions, file.shape.horizon,
                                            StartLaw(std::move(start)));
    const FeatureMap united =
        FeatureMap::from_base_kernels(file.shape.states, file.shape.actions, file.steps);
    const std::size_t entries = at(united.entries()), steps = file.steps.size();
    std::vector<double> probabilities(entries * steps);
    for (std::size_t e = 0; e < entries; ++e)
        for (std::size_t h = 0; h < steps; ++h)
            probabilities[h * entries + e] = united.values()[e * steps + h];
    return {std::make_shared<const SuccessorMap>(static_cast<const SuccessorMap&>(united)),
            file.shape.horizon, StartLaw(std::move(start)), std::move(probabilities)};
}

void bind_small_files(nb::module_& m) {
    m.def(
        "read_reward",
        [](const std::filesystem::path& path, const Shape& shape, bool rescale) {
            const ScaledReward read = read_reward(path, shape, {rescale});
            return nb::make_tuple(read.reward, read.scale.scale, read.scale.offset);
        },
        "path"_a, "shape"_a, "rescale"_a = false,
        nb::sig("def read_reward(path: str | os.PathLike[str], shape: Shape, rescale: bool = False) -> "
                "tuple[Reward, "
                "float, float]"),
        "A reward from .json or .npz, with scale and offset: value in the file = offset + scale * reward.");
    m.def(
        "write_reward",
        [](const std::filesystem::path& path, const Reward& reward) { write_reward(path, reward); }, "path"_a,
        "reward"_a, nb::sig("def write_reward(path: str | os.PathLike[str], reward: Reward) -> None"),
        "As .json or .npz, by the extension.");
    m.def(
        "read_policy",
        [](const std::filesystem::path& path, const Shape& shape) { return read_policy(path, shape); },
        "path"_a, "shape"_a,
        nb::sig("def read_policy(path: str | os.PathLike[str], shape: Shape) -> Policy"));
    m.def(
        "write_policy",
        [](const std::filesystem::path& path, const Policy& policy) { write_policy(path, policy); }, "path"_a,
        "policy"_a, nb::sig("def write_policy(path: str | os.PathLike[str], policy: Policy) -> None"));
    m.def(
        "read_episodes",
        [](const std::filesystem::path& path, nb::handle problem, const std::string& columns) {
            return read_log(path, problem_of(problem), columns);
        },
        "path"_a, "problem"_a, "columns"_a = "",
        nb::sig(
            "def read_episodes(path: str | os.PathLike[str], problem: Problem | str, columns: str = '') -> "
            "list[Episode]"),
        "Episodes of a .jsonl, .npz or .csv, checked against the problem. ``columns`` of a .csv: "
        "'episode=run,step=t,state=s,action=a,next_state=s2'.");
}

}  // namespace

void bind_io(nb::module_& m) {
    bind_small_files(m);
    m.def("export_model", export_model, "model"_a, "path"_a, nb::kw_only(), "as_"_a = "", "view"_a = "point",
          "rewards"_a = nb::none(), "unroll"_a = true, "problem"_a = nb::none(), "threads"_a = 0,
          nb::sig("def export_model(model: Knowledge | TransitionModel, path: str | os.PathLike[str], *, "
                  "as_: str = '', "
                  "view: str = 'point', rewards: collections.abc.Mapping[str, typing.Any] | None = None, "
                  "unroll: bool = "
                  "True, problem: Problem | None = None, threads: int = 0) -> list[str]"),
          "Writes a model for another tool: 'drn', 'prism', 'umb', 'npz', ... (``model_formats()``), by the "
          "extension or "
          "``as_``. The view is 'point', 'interval' (boxes that contain every possible probability) or "
          "'parametric'.");
    m.def(
        "model_formats",
        [] {
            nb::dict all;
            for (const ModelFormat& format : model_formats())
                all[nb::str(format.name.c_str())] = format.summary;
            return all;
        },
        nb::sig("def model_formats() -> dict[str, str]"), "The formats, and a sentence about each.");
    m.def(
        "read_tabular",
        [](const std::filesystem::path& path) {
            const TabularModel file = read_tabular_npz(path);
            nb::dict rewards;
            for (const NamedReward& named : file.rewards)
                rewards[nb::str(named.name.c_str())] = nb::cast(named.reward);
            return nb::make_tuple(known_of(file), rewards);
        },
        "path"_a,
        nb::sig(
            "def read_tabular(path: str | os.PathLike[str]) -> tuple[TransitionModel, dict[str, Reward]]"),
        "A finite-horizon model and its rewards from an .npz, dense or SciPy CSR.");
    m.def(
        "write_tabular",
        [](const std::filesystem::path& path, const TransitionModel& model, nb::handle rewards, bool sparse) {
            std::vector<NamedReward> named;
            if (!rewards.is_none())
                for (const auto& [name, reward] : nb::cast<nb::dict>(rewards))
                    named.push_back({nb::cast<std::string>(name), "", reward_of(reward, model.shape())});
            sparse ? write_csr_npz(path, model, named) : write_dense_npz(path, model, named);
        },
        "path"_a, "model"_a, "rewards"_a = nb::none(), "sparse"_a = true,
        nb::sig("def write_tabular(path: str | os.PathLike[str], model: TransitionModel, rewards: "
                "collections.abc.Mapping[str, typing.Any] | None = None, sparse: bool = True) -> None"),
        "A finite-horizon model as .npz: scipy.sparse.load_npz reads the sparse one, numpy.load either.");
}

}  // namespace alidade::python
