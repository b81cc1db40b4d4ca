#include "pair_features_file.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

constexpr std::int64_t largest_state = 0x7fffffff;

struct PairSizes {
    Index states, actions, features;
};

PairSizes sizes_of(const NpzArrays& arrays, std::string_view file) {
    const NpyArray& array = find_array(arrays, "features", file);
    const auto& shape = array.shape;
    expects(
        array.kind() != NpyKind::text && (shape.size() == 2 || shape.size() == 3),
        "{}: array 'features' has type '{}' and shape ({}); it must be numbers of shape (states, actions, "
        "features), or (states*actions, features) beside 'states'",
        file, array.dtype, fmt::join(shape, ", "));
    for (const std::int64_t size : shape)
        expects(size >= 1 && size <= largest_state, "{}: array 'features' has shape ({}); no size may be 0",
                file, fmt::join(shape, ", "));
    if (shape.size() == 3) return {shape[0], shape[1], shape[2]};
    const NpyArray& states = find_array(arrays, "states", file);
    expects(states.kind() == NpyKind::integer && states.integers.size() == 1 && states.integers[0] >= 1 &&
                shape[0] % states.integers[0] == 0,
            "{}: array 'states' must be one integer that divides the {} rows of 'features'", file, shape[0]);
    return {states.integers[0], shape[0] / states.integers[0], shape[1]};
}

const std::vector<std::int64_t>& integers_of(const NpzArrays& arrays, std::string_view name,
                                             std::string_view file) {
    const NpyArray& array = find_array(arrays, name, file);
    expects(array.kind() == NpyKind::integer && array.shape.size() == 1,
            "{}: array '{}' has type '{}' and {} dimension(s); it must be a list of integers", file, name,
            array.dtype, array.shape.size());
    return array.integers;
}

SuccessorMap successors_of(const NpzArrays& arrays, const PairSizes& sizes, std::string_view file) {
    if (!arrays.contains("offsets") && !arrays.contains("targets")) {
        // A few bytes must not ask for all of the memory.
        constexpr double most_entries = 2e8;
        expects(static_cast<double>(sizes.states) * static_cast<double>(sizes.states) *
                        static_cast<double>(sizes.actions) <=
                    most_entries,
                "{}: every one of {} states may follow every one of {} pairs; list the successors in "
                "'offsets' and 'targets'",
                file, sizes.states, sizes.states * sizes.actions);
        return all_successors(sizes.states, sizes.actions);
    }
    const auto& targets = integers_of(arrays, "targets", file);
    for (const std::int64_t target : targets)
        expects(target >= 0 && target < sizes.states, "{}: 'targets' names state {}; must be 0 to {}", file,
                target, sizes.states - 1);
    return SuccessorMap(sizes.states, sizes.actions, integers_of(arrays, "offsets", file),
                        {targets.begin(), targets.end()});
}

bool leads_everywhere(const SuccessorMap& map) {
    return map.entries() == map.pairs() * map.states();
}

}  // namespace

PairFeatures read_pair_features(const std::filesystem::path& path, std::optional<double> norm_bound) {
    return pair_features_from_arrays(read_npz(path), norm_bound, path.string());
}

PairFeatures pair_features_from_arrays(NpzArrays arrays, std::optional<double> norm_bound,
                                       std::string_view file) {
    const PairSizes sizes = sizes_of(arrays, file);
    try {
        SuccessorMap successors = successors_of(arrays, sizes, file);
        std::vector<double> values =
            std::move(arrays.find("features")->second).take_reals(fmt::format("{}: 'features'", file));
        return PairFeatures(std::move(successors), sizes.features, std::move(values),
                            norm_bound.value_or(std::sqrt(static_cast<double>(sizes.features))));
    } catch (const InvalidArgument& problem) {
        if (std::string_view(problem.what()).starts_with(file)) throw;
        throw InvalidArgument(fmt::format("{}: {}", file, problem.what()));
    }
}

void write_pair_features(const std::filesystem::path& path, const PairFeatures& features) {
    NpzArrays arrays;
    const auto values = features.values();
    arrays.emplace("features",
                   NpyArray::of_reals({features.states(), features.actions(), features.features()},
                                      {values.begin(), values.end()}));
    if (!leads_everywhere(features)) {
        std::vector<std::int64_t> offsets;
        for (Index pair = 0; pair <= features.pairs(); ++pair) offsets.push_back(features.first_entry(pair));
        const auto targets = features.targets();
        arrays.emplace("offsets", NpyArray::of_integers({features.pairs() + 1}, std::move(offsets)));
        arrays.emplace("targets",
                       NpyArray::of_integers({features.entries()}, {targets.begin(), targets.end()}, "<i4"));
    }
    write_npz(path, arrays);
}

std::vector<Matrix> read_measures(const std::filesystem::path& path) {
    return measures_from_arrays(read_npz(path), path.string());
}

std::vector<Matrix> measures_from_arrays(NpzArrays arrays, std::string_view file) {
    const NpyArray& array = find_array(arrays, "measures", file);
    std::vector<std::int64_t> shape = array.shape;
    expects(
        array.kind() != NpyKind::text && (shape.size() == 2 || shape.size() == 3),
        "{}: array 'measures' has type '{}' and shape ({}); it must be numbers of shape (steps, features, "
        "states), or (features, states) for one law at all steps",
        file, array.dtype, fmt::join(shape, ", "));
    if (shape.size() == 2) shape.insert(shape.begin(), 1);
    const std::vector<double> values =
        std::move(arrays.find("measures")->second).take_reals(fmt::format("{}: 'measures'", file));
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::vector<Matrix> measures;
    for (std::int64_t h = 0; h < shape[0]; ++h)
        measures.emplace_back(
            Eigen::Map<const Rows>(values.data() + h * shape[1] * shape[2], shape[1], shape[2]));
    return measures;
}

void write_measures(const std::filesystem::path& path, const std::vector<Matrix>& measures) {
    expects(!measures.empty(), "{}: no measures to write", path.string());
    std::vector<double> values;
    for (const Matrix& step : measures)
        for (Index i = 0; i < step.rows(); ++i)
            for (Index s = 0; s < step.cols(); ++s) values.push_back(step(i, s));
    NpzArrays arrays;
    arrays.emplace("measures", NpyArray::of_reals({static_cast<std::int64_t>(measures.size()),
                                                   measures.front().rows(), measures.front().cols()},
                                                  std::move(values)));
    write_npz(path, arrays);
}

}  // namespace alidade::detail
