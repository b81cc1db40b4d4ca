#include "features_file.hpp"

#include <fmt/format.h>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

Index size_of(const NpzArrays& arrays, std::string_view name, std::string_view file) {
    const NpyArray& array = find_array(arrays, name, file);
    expects(array.kind() == NpyKind::integer && array.integers.size() == 1,
            "{}: array '{}' has type '{}' and shape ({}); it must be one integer", file, name, array.dtype,
            fmt::join(array.shape, ", "));
    constexpr std::int64_t largest = 0x7fffffff;
    expects(array.integers[0] >= 1 && array.integers[0] <= largest, "{}: '{}' is {}; it must be from 1 to {}",
            file, name, array.integers[0], largest);
    return array.integers[0];
}

std::vector<std::int64_t> take_positions(NpzArrays& arrays, std::string_view name, std::string_view file) {
    const NpyArray& array = find_array(arrays, name, file);
    expects(array.kind() == NpyKind::integer && array.shape.size() == 1,
            "{}: array '{}' has type '{}' and {} dimension(s); it must be a list of integers", file, name,
            array.dtype, array.shape.size());
    return std::move(arrays.find(name)->second.integers);
}

}  // namespace

SignedFeatures read_features(const std::filesystem::path& path, double norm_bound) {
    return features_from_arrays(read_npz(path), norm_bound, path.string());
}

SignedFeatures features_from_arrays(NpzArrays arrays, double norm_bound, std::string_view file) {
    SignedFeatures features;
    features.states = size_of(arrays, "states", file);
    features.actions = size_of(arrays, "actions", file);
    features.norm_bound = norm_bound;
    features.offsets = take_positions(arrays, "offsets", file);
    features.targets = take_positions(arrays, "targets", file);
    const NpyArray& values = find_array(arrays, "values", file);
    expects(
        values.kind() != NpyKind::text && values.shape.size() == 2 && values.shape[1] >= 1,
        "{}: array 'values' has type '{}' and shape ({}); it must be numbers of shape (entries, features)",
        file, values.dtype, fmt::join(values.shape, ", "));
    expects(values.shape[0] == static_cast<std::int64_t>(features.targets.size()),
            "{}: 'values' has {} rows and 'targets' has {} elements; both must have one for each entry", file,
            values.shape[0], features.targets.size());
    expects(static_cast<Index>(features.offsets.size()) == features.states * features.actions + 1,
            "{}: 'offsets' has {} elements; {} states and {} actions need {}", file, features.offsets.size(),
            features.states, features.actions, features.states * features.actions + 1);
    features.features = values.shape[1];
    features.values = std::move(arrays.find("values")->second).take_reals(fmt::format("{}: 'values'", file));
    return features;
}

NpzArrays features_to_arrays(const FeatureMap& features) {
    std::vector<std::int64_t> offsets;
    for (Index pair = 0; pair <= features.pairs(); ++pair) offsets.push_back(features.first_entry(pair));
    const auto targets = features.targets();
    const auto values = features.values();
    const std::int64_t entries = features.entries();
    NpzArrays arrays;
    arrays.emplace("states", NpyArray::of_integers({}, {features.states()}));
    arrays.emplace("actions", NpyArray::of_integers({}, {features.actions()}));
    arrays.emplace("offsets", NpyArray::of_integers({features.pairs() + 1}, std::move(offsets)));
    arrays.emplace("targets", NpyArray::of_integers({entries}, {targets.begin(), targets.end()}, "<i4"));
    arrays.emplace("values",
                   NpyArray::of_reals({entries, features.features()}, {values.begin(), values.end()}));
    return arrays;
}

void write_features(const std::filesystem::path& path, const FeatureMap& features,
                    NpzCompression compression) {
    write_npz(path, features_to_arrays(features), compression);
}

}  // namespace alidade::detail
