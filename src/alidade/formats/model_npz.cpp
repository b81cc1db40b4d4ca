#include "alidade/formats/model_npz.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "../files/csr_file.hpp"
#include "../files/npz_writer.hpp"
#include "../files/pending_file.hpp"
#include "alidade/error.hpp"
#include "tabular_arrays.hpp"

namespace alidade {
namespace {

constexpr std::string_view reward_prefix = "rewards_";

detail::NpzCompression compression_of(const ModelNpzOptions& options) {
    return options.compressed ? detail::NpzCompression::deflated : detail::NpzCompression::stored;
}

Index stored_steps(const TransitionModel& model) {
    return model.homogeneous() ? 1 : model.shape().horizon;
}

void write_surroundings(detail::NpzWriter& out, const TransitionModel& model,
                        std::span<const NamedReward> rewards, const std::string& path) {
    const Shape& shape = model.shape();
    out.add("horizon", detail::NpyArray::of_integers({}, {shape.horizon}));
    std::vector<double> start(at(shape.states), 0.0);
    for (const auto& [state, probability] : model.start().atoms()) start[at(state)] += probability;
    out.add("start", detail::NpyArray::of_reals({shape.states}, std::move(start)));
    for (const NamedReward& named : rewards) {
        expects(named.reward.shape() == shape, "{}: reward '{}' is for {} states, {} actions and {} steps",
                path, named.name, named.reward.shape().states, named.reward.shape().actions,
                named.reward.shape().horizon);
        out.begin(std::string(reward_prefix) + named.name, "<f8",
                  {shape.horizon, shape.states, shape.actions});
        for (Step h = 0; h < shape.horizon; ++h) out.push(named.reward.at(h));
        out.end();
    }
}

Index one_integer(const detail::NpzArrays& arrays, std::string_view name, std::string_view file) {
    const detail::NpyArray& array = detail::find_array(arrays, name, file);
    constexpr std::int64_t most = 0x7fffffff;
    expects(array.kind() == detail::NpyKind::integer && array.integers.size() == 1 &&
                array.integers[0] >= 1 && array.integers[0] <= most,
            "{}: array '{}' has type '{}' and shape ({}); it must be one integer from 1 to {}", file, name,
            array.dtype, fmt::join(array.shape, ", "), most);
    return array.integers[0];
}

/// Rows `first` .. `first + count - 1` of a matrix as a kernel of its own.
BaseKernel slice(const BaseKernel& all, Index first, Index count) {
    BaseKernel part{all.name, count, all.columns, {}, {}, {}};
    const auto from = all.offsets[at(first)], to = all.offsets[at(first + count)];
    for (Index row = 0; row <= count; ++row) part.offsets.push_back(all.offsets[at(first + row)] - from);
    part.targets.assign(all.targets.begin() + from, all.targets.begin() + to);
    part.probabilities.assign(all.probabilities.begin() + from, all.probabilities.begin() + to);
    return part;
}

BaseKernel kernel_of_dense(detail::NpzArrays& arrays, std::string_view file) {
    const detail::NpyArray& array = detail::find_array(arrays, "transitions", file);
    const std::vector<std::int64_t> shape = array.shape;
    expects(array.kind() == detail::NpyKind::real && (shape.size() == 3 || shape.size() == 4) &&
                shape[shape.size() - 3] == shape.back() && !array.reals.empty(),
            "{}: array 'transitions' has type '{}' and shape ({}); it must be doubles of shape (states, "
            "actions, states) or (steps, states, actions, states)",
            file, array.dtype, fmt::join(shape, ", "));
    BaseKernel kernel;
    kernel.name = file;
    kernel.columns = shape.back();
    kernel.rows = static_cast<Index>(array.reals.size()) / kernel.columns;
    kernel.offsets.push_back(0);
    for (std::size_t i = 0; i < array.reals.size(); ++i) {
        // A NaN is kept for validate_rows to refuse.
        if (array.reals[i] != 0) {
            kernel.targets.push_back(static_cast<std::int64_t>(i) % kernel.columns);
            kernel.probabilities.push_back(array.reals[i]);
        }
        if (static_cast<Index>(i + 1) % kernel.columns == 0)
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
    }
    return kernel;
}

/// Sizes of a model whose transitions of all steps are in `kernel`; `steps` says how many they are.
Shape shape_of(const detail::NpzArrays& arrays, const BaseKernel& kernel, Index& steps,
               std::string_view file) {
    Shape shape{kernel.columns, 0, 0};
    if (arrays.contains("transitions")) {
        const auto& sizes = detail::find_array(arrays, "transitions", file).shape;
        shape.actions = sizes[sizes.size() - 2];
        steps = sizes.size() == 4 ? sizes[0] : 1;
    } else {
        expects(kernel.rows % kernel.columns == 0,
                "{}: shape is ({}, {}); rows must be a multiple of columns", file, kernel.rows,
                kernel.columns);
        const Index blocks = kernel.rows / kernel.columns;
        shape.actions = arrays.contains("actions") ? one_integer(arrays, "actions", file) : blocks;
        expects(blocks % shape.actions == 0, "{}: {} rows of {} states are no multiple of {} actions", file,
                kernel.rows, kernel.columns, shape.actions);
        steps = blocks / shape.actions;
    }
    const bool given = arrays.contains("horizon");
    shape.horizon = given ? one_integer(arrays, "horizon", file) : steps;
    expects(steps == 1 || steps == shape.horizon,
            "{}: there are transitions of {} steps; there must be one, or {} as 'horizon' says", file, steps,
            shape.horizon);
    validate(shape);
    return shape;
}

std::vector<double> start_of(detail::NpzArrays& arrays, Index states, std::string_view file) {
    if (!arrays.contains("start")) {
        std::vector<double> start(at(states), 0.0);
        start[0] = 1;
        return start;
    }
    expects(detail::find_array(arrays, "start", file).shape == std::vector<std::int64_t>{states},
            "{}: array 'start' has shape ({}); it must be ({}), one probability for each state", file,
            fmt::join(detail::find_array(arrays, "start", file).shape, ", "), states);
    std::vector<double> start =
        std::move(arrays.find("start")->second).take_reals(fmt::format("{}: array 'start'", file));
    double sum = 0;
    for (std::size_t s = 0; s < start.size(); ++s) {
        expects(start[s] >= 0 && start[s] <= 1, "{}: array 'start': state {} has {}; it must be from 0 to 1",
                file, s, start[s]);
        sum += start[s];
    }
    expects(std::abs(sum - 1) <= 1e-9, "{}: array 'start' sums to {:.12g}; it must sum to 1 within 1e-9",
            file, sum);
    return start;
}

std::vector<NamedReward> rewards_of(detail::NpzArrays& arrays, const Shape& shape, std::string_view file) {
    const std::vector<std::int64_t> all_steps{shape.states, shape.actions},
        by_step{shape.horizon, shape.states, shape.actions};
    std::vector<NamedReward> rewards;
    for (auto& [name, array] : arrays) {
        if (!name.starts_with(reward_prefix)) continue;
        const std::string where = fmt::format("{}: array '{}'", file, name);
        expects(array.shape == all_steps || array.shape == by_step,
                "{} has shape ({}); it must be ({}) or ({})", where, fmt::join(array.shape, ", "),
                fmt::join(by_step, ", "), fmt::join(all_steps, ", "));
        std::vector<double> values = std::move(array).take_reals(where);
        try {
            rewards.push_back({name.substr(reward_prefix.size()), "", Reward(shape, std::move(values))});
        } catch (const InvalidArgument& problem) {
            throw InvalidArgument(fmt::format("{}: {}", where, problem.what()));
        }
    }
    return rewards;
}

}  // namespace

void write_dense_npz(const std::filesystem::path& path, const TransitionModel& model,
                     std::span<const NamedReward> rewards, const ModelNpzOptions& options) {
    const Shape& shape = model.shape();
    const Index steps = stored_steps(model);
    const double bytes = 8.0 * static_cast<double>(steps) * static_cast<double>(shape.pairs()) *
                         static_cast<double>(shape.states);
    expects(bytes <= static_cast<double>(options.largest_dense),
            "{}: a dense array of {} x {} x {} x {} numbers takes {:.1f} GiB, above the limit of {:.1f} GiB; "
            "write the sparse layout",
            path.string(), steps, shape.states, shape.actions, shape.states, bytes / (1 << 30),
            static_cast<double>(options.largest_dense) / (1 << 30));
    detail::PendingFile file(path);
    detail::NpzWriter out(file.path(), compression_of(options));
    std::vector<std::int64_t> sizes{shape.states, shape.actions, shape.states};
    if (!model.homogeneous()) sizes.insert(sizes.begin(), shape.horizon);
    out.begin("transitions", "<f8", sizes);
    std::vector<double> row(at(shape.states));
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            std::fill(row.begin(), row.end(), 0.0);
            const auto targets = model.successors().targets(pair);
            const auto probabilities = model.probabilities(h, pair);
            for (std::size_t i = 0; i < targets.size(); ++i) row[at(targets[i])] = probabilities[i];
            out.push(row);
        }
    out.end();
    write_surroundings(out, model, rewards, path.string());
    out.close();
    file.commit();
}

void write_csr_npz(const std::filesystem::path& path, const TransitionModel& model,
                   std::span<const NamedReward> rewards, const ModelNpzOptions& options) {
    const Shape& shape = model.shape();
    const Index steps = stored_steps(model), rows = steps * shape.pairs();
    std::int64_t stored = 0;
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair)
            for (const double p : model.probabilities(h, pair)) stored += p != 0 ? 1 : 0;
    constexpr std::int64_t narrow = std::numeric_limits<std::int32_t>::max();
    const char* const width = stored <= narrow && rows < narrow ? "<i4" : "<i8";
    detail::PendingFile file(path);
    detail::NpzWriter out(file.path(), compression_of(options));
    out.add("format", detail::NpyArray::of_text("csr"));
    out.add("shape", detail::NpyArray::of_integers({2}, {rows, shape.states}));
    out.begin("data", "<f8", {stored});
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair)
            for (const double p : model.probabilities(h, pair))
                if (p != 0) out.push(p);
    out.end();
    out.begin("indices", width, {stored});
    for (Step h = 0; h < steps; ++h) {
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const Law law = model.probabilities(h, pair);
            const auto targets = model.successors().targets(pair);
            for (std::size_t j = 0; j < law.size(); ++j)
                if (law[j] != 0) out.push_integer(targets[j]);
        }
    }
    out.end();
    out.begin("indptr", width, {rows + 1});
    std::int64_t position = 0;
    out.push_integer(0);
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            for (const double p : model.probabilities(h, pair)) position += p != 0 ? 1 : 0;
            out.push_integer(position);
        }
    out.end();
    out.add("actions", detail::NpyArray::of_integers({}, {shape.actions}));
    write_surroundings(out, model, rewards, path.string());
    out.close();
    file.commit();
}

TabularModel read_tabular_npz(const std::filesystem::path& path) {
    return detail::tabular_from_arrays(detail::read_npz(path), path.string());
}

TabularModel detail::tabular_from_arrays(detail::NpzArrays arrays, std::string_view file) {
    const bool dense = arrays.contains("transitions");
    expects(dense || arrays.contains("format"),
            "{}: has neither an array 'transitions' nor a sparse matrix ('format', 'data', ...)", file);
    const BaseKernel all = dense ? kernel_of_dense(arrays, file) : detail::csr_from_arrays(arrays, file);
    TabularModel model;
    Index steps = 1;
    model.shape = shape_of(arrays, all, steps, file);
    for (Index h = 0; h < steps; ++h) {
        model.steps.push_back(slice(all, h * model.shape.pairs(), model.shape.pairs()));
        detail::validate_rows(model.steps.back(), model.shape.actions,
                              steps == 1 ? std::string(file) : fmt::format("{}: step {}", file, h));
    }
    model.start = start_of(arrays, model.shape.states, file);
    model.rewards = rewards_of(arrays, model.shape, file);
    return model;
}

}  // namespace alidade
