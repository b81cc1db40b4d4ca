#include "problem_features.hpp"

#include <cmath>
#include <memory>

#include "../files/csr_file.hpp"
#include "../files/features_file.hpp"
#include "../files/features_folder.hpp"
#include "../files/npy.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "alidade/formats/model_formats.hpp"
#include "alidade/formats/model_npz.hpp"
#include "at_place.hpp"
#include "explicit_kernel.hpp"
#include "explicit_npz.hpp"
#include "tabular_arrays.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;

/// A base model in NumPy arrays: a sparse matrix, dense transitions, or an explicit model.
BaseKernel kernel_of_arrays(NpzArrays arrays, const std::string& file, const LoadOptions& options) {
    if (arrays.contains("state_to_choices"))
        return base_kernel_of(explicit_from_arrays(std::move(arrays), file, {options.normalise}), file);
    if (arrays.contains("transitions")) {
        TabularModel model = tabular_from_arrays(std::move(arrays), file);
        expects(model.steps.size() == 1,
                "{}: has the transitions of {} steps; a base model is one law for all steps", file,
                model.steps.size());
        return std::move(model.steps[0]);
    }
    const bool counted = arrays.contains("actions");
    const std::vector<std::int64_t> given =
        counted ? find_array(arrays, "actions", file).integers : std::vector<std::int64_t>{};
    expects(!counted || given.size() == 1, "{}: array 'actions' must be one integer", file);
    const Index actions = counted ? given[0] : 0;
    BaseKernel kernel = csr_from_arrays(std::move(arrays), file);
    expects(kernel.rows % kernel.columns == 0,
            "{}: shape is ({}, {}); rows must be a multiple of columns, (states*actions, states)", file,
            kernel.rows, kernel.columns);
    expects(!counted || kernel.rows / kernel.columns == actions,
            "{}: has {} rows for {} states and {} actions: the transitions of several steps; a base model is "
            "one law for all steps",
            file, kernel.rows, kernel.columns, actions);
    if (options.normalise) normalise_rows(kernel);
    return kernel;
}

/// Where a section's `file` or `folder` lies.
fs::path place_of(const TomlSection& section, const fs::path& beside) {
    expects(!(section.has("file") && section.has("folder")),
            "{} has both 'file' and 'folder'; keep one of them", section.where());
    const std::string relative = section.text(section.has("folder") ? "folder" : "file");
    return (beside.parent_path() / relative).lexically_normal();
}

BaseKernel read_kernel(const fs::path& path, const std::string& where, const LoadOptions& options) {
    const std::string file = path.string();
    expects(path.extension() == ".npz" || model_format_of(path) != nullptr,
            "{} is {}; base models are read from .npz files (SciPy CSR), and from .drn, .drn.gz, .drn.xz, "
            ".tra, .umb "
            "and .json files: convert it",
            where, file);
    return path.extension() == ".npz" ? kernel_of_arrays(read_npz(path), file, options)
                                      : base_kernel_of(read_model(path, {options.normalise}), file);
}

/// An array alone, as numpy.save writes it.
BaseKernel kernel_of_array(const fs::path& path) {
    const std::string file = path.string();
    NpzArrays arrays;
    arrays.emplace("transitions", parse_npy(read_text(path), file));
    TabularModel model = tabular_from_arrays(std::move(arrays), file);
    expects(model.steps.size() == 1, "{}: has the transitions of {} steps; must be one law for all steps",
            file, model.steps.size());
    return std::move(model.steps[0]);
}

BaseKernelView view_of(BaseKernel kernel) {
    const auto owner = std::make_shared<const BaseKernel>(std::move(kernel));
    BaseKernelView view(*owner);
    view.owner = owner;
    return view;
}

bool rows_are_distributions(const BaseKernelView& kernel, const std::string& file) {
    try {
        validate_rows(kernel, kernel.rows / kernel.columns, file);
        return true;
    } catch (const InvalidArgument&) {
        return false;
    }
}

/// A kernel that is mapped, and copied only if its rows must be changed and may be.
BaseKernelView map_kernel(const fs::path& folder, const LoadOptions& options) {
    BaseKernelView mapped = map_csr(folder);
    expects(mapped.rows % mapped.columns == 0,
            "{}: shape is ({}, {}); rows must be a multiple of columns, (states*actions, states)",
            folder.string(), mapped.rows, mapped.columns);
    if (!options.normalise || rows_are_distributions(mapped, folder.string())) return mapped;
    BaseKernel kernel = copy_of(mapped);
    normalise_rows(kernel);
    return view_of(std::move(kernel));
}

BaseKernelView load_kernel(const TomlSection& section, const fs::path& beside, const LoadOptions& options) {
    section.allow_only({"name", "file", "folder"});
    const fs::path path = place_of(section, beside);
    BaseKernelView kernel = section.has("folder")
                                ? map_kernel(path, options)
                                : view_of(read_kernel(path, section.where("file"), options));
    validate_rows(kernel, kernel.rows / kernel.columns, path.string());
    const bool packed = path.extension() == ".gz" || path.extension() == ".xz";
    kernel.name = section.has("name") ? section.text("name") : (packed ? path.stem() : path).stem().string();
    return kernel;
}

SharedFeatures load_base(const TomlSection& root, const fs::path& beside, const LoadOptions& options) {
    std::vector<BaseKernelView> kernels;
    std::string first;
    for (const TomlSection& section : root.sections("base")) {
        kernels.push_back(load_kernel(section, beside, options));
        const std::string file = place_of(section, beside).string();
        if (first.empty()) first = file;
        expects(
            kernels.back().rows == kernels.front().rows && kernels.back().columns == kernels.front().columns,
            "{}: shape is ({}, {}) but {} has ({}, {}); base models must have the same states and actions",
            file, kernels.back().rows, kernels.back().columns, first, kernels.front().rows,
            kernels.front().columns);
    }
    expects(!kernels.empty(), "{}: [[base]] lists no base model; add one", root.where("base"));
    const Index states = kernels.front().columns, actions = kernels.front().rows / states;
    return at_place(beside.string(), [&] {
        return std::make_shared<const FeatureMap>(FeatureMap::from_kernel_views(states, actions, kernels));
    });
}

/// The rows of a table, divided by their sums where those are positive and not one: a copy, which can be
/// scaled.
RowSource scaled_rows(const FeatureTable& table) {
    const auto map = std::make_shared<const SuccessorMap>(table.states, table.actions, table.offsets,
                                                          table.targets, table.owner);
    RowSource rows{table.states, table.actions, table.names, map->max_successors(), {}};
    for (Index i = std::ssize(rows.names); i < table.features; ++i)
        rows.names.push_back(fmt::format("base model {}", i));
    rows.make = [map, values = table.values, d = at(table.features)] {
        return [map, values, d](Index pair, BaseRow& row) {
            const auto targets = map->targets(pair);
            const auto own = values.subspan(at(map->first_entry(pair)) * d, targets.size() * d);
            row.targets.assign(targets.begin(), targets.end());
            row.probabilities.assign(own.begin(), own.end());
            for (std::size_t i = 0; i < d; ++i) {
                double sum = 0;
                for (std::size_t j = i; j < own.size(); j += d) sum += own[j];
                if (!std::isfinite(sum) || sum <= 0) continue;
                for (std::size_t j = i; j < own.size(); j += d) row.probabilities[j] /= sum;
            }
        };
    };
    return rows;
}

/// Where the table lies, unless it does not do as it is and may be changed.
SharedFeatures map_table(const FeatureTable& table, const fs::path& folder, const LoadOptions& options) {
    return at_place(folder.string(), [&] {
        try {
            return std::make_shared<const FeatureMap>(FeatureMap::from_table(table));
        } catch (const InvalidArgument&) {
            if (!options.normalise || table.kind == FeatureKind::general) throw;
            return std::make_shared<const FeatureMap>(FeatureMap::from_rows(scaled_rows(table)));
        }
    });
}

SharedFeatures load_general(const TomlSection& section, const fs::path& path, const LoadOptions& options) {
    const double bound = section.real("norm_bound");
    expects(bound >= 1, "{} is {}; must be at least 1, since rows that sum to one need it",
            section.where("norm_bound"), bound);
    if (section.has("folder")) {
        FeatureTable table = map_features(path);
        table.kind = FeatureKind::general;
        table.norm_bound = bound;
        return map_table(table, path, options);
    }
    const SignedFeatures data = read_features(path, bound);
    return at_place(path.string(),
                    [&] { return std::make_shared<const FeatureMap>(FeatureMap::from_features(data)); });
}

SharedFeatures load_base_models(const TomlSection& section, const fs::path& path,
                                const LoadOptions& options) {
    expects(section.has("folder"),
            "{}: base models lie in a 'folder', or each in a file of its own, in [[base]]",
            section.where("file"));
    FeatureTable table = map_features(path);
    table.names = section.texts("base_models");
    expects(std::ssize(table.names) == table.features, "{} has {} names; {} has {} base models",
            section.where("base_models"), table.names.size(), path.string(), table.features);
    return map_table(table, path, options);
}

}  // namespace

SharedFeatures load_features(const TomlSection& root, const fs::path& file, const LoadOptions& options) {
    if (root.has("base")) return load_base(root, file, options);
    const TomlSection section = root.section("features");
    section.allow_only({"file", "folder", "norm_bound", "base_models"});
    expects(
        !(section.has("norm_bound") && section.has("base_models")),
        "{} has both 'norm_bound' and 'base_models'; general features have the first, base models the second",
        section.where());
    const fs::path path = place_of(section, file);
    return section.has("base_models") ? load_base_models(section, path, options)
                                      : load_general(section, path, options);
}

}  // namespace alidade::detail

namespace alidade {

BaseKernel read_base_kernel(const std::filesystem::path& path) {
    BaseKernel kernel = path.extension() == ".npy" ? detail::kernel_of_array(path)
                                                   : detail::read_kernel(path, "the kernel", {});
    detail::validate_rows(kernel, kernel.rows / kernel.columns, path.string());
    kernel.name = path.stem().string();
    return kernel;
}

}  // namespace alidade
