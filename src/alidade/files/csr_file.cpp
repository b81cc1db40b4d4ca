#include "csr_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "mapped_file.hpp"
#include "text_file.hpp"

namespace alidade::detail {
namespace {

constexpr double row_tolerance = 1e-9;

/// Moves the integers of a one-dimensional array out.
std::vector<std::int64_t> take_integers(NpzArrays& arrays, std::string_view name, std::string_view file) {
    const NpyArray& array = find_array(arrays, name, file);
    expects(array.kind() == NpyKind::integer && array.shape.size() == 1,
            "{}: array '{}' has type '{}' and {} dimension(s); it must be a list of integers: write the file "
            "with scipy.sparse.save_npz",
            file, name, array.dtype, array.shape.size());
    return std::move(arrays.find(name)->second.integers);
}

std::vector<double> take_list(NpzArrays& arrays, std::string_view name, std::string_view file) {
    const NpyArray& array = find_array(arrays, name, file);
    expects(array.kind() != NpyKind::text && array.shape.size() == 1,
            "{}: array '{}' has type '{}' and {} dimension(s); it must be a list of numbers: write the file "
            "with scipy.sparse.save_npz",
            file, name, array.dtype, array.shape.size());
    return std::move(arrays.find(name)->second).take_reals(fmt::format("{}: array '{}'", file, name));
}

void check_structure(const BaseKernelView& kernel, std::string_view file) {
    expects(kernel.targets.size() == kernel.probabilities.size(),
            "{}: 'indices' has {} elements and 'data' has {}; both must have one for each stored number",
            file, kernel.targets.size(), kernel.probabilities.size());
    expects(static_cast<Index>(kernel.offsets.size()) - 1 == kernel.rows,
            "{}: 'indptr' has {} elements; a matrix of {} rows needs one more than rows", file,
            kernel.offsets.size(), kernel.rows);
    expects(kernel.offsets[0] == 0, "{}: 'indptr' starts at {}; it must start at 0", file, kernel.offsets[0]);
    for (std::size_t r = 1; r < kernel.offsets.size(); ++r)
        expects(kernel.offsets[r] >= kernel.offsets[r - 1] && at(kernel.offsets[r]) <= kernel.targets.size(),
                "{}: 'indptr' element {} is {}; it must lie from {} (the one before) to {} (the length of "
                "'indices')",
                file, r, kernel.offsets[r], kernel.offsets[r - 1], kernel.targets.size());
    for (std::size_t i = 0; i < kernel.targets.size(); ++i)
        expects(kernel.targets[i] >= 0 && kernel.targets[i] < kernel.columns,
                "{}: 'indices' element {} is {}; it must be a next state from 0 to {}", file, i,
                kernel.targets[i], kernel.columns - 1);
}

void check_shape(const std::vector<std::int64_t>& shape, std::string_view file) {
    expects(shape.size() == 2 && shape[0] >= 1 && shape[1] >= 1,
            "{}: the matrix's shape is ({}); it must be (states*actions, states)", file,
            fmt::join(shape, ", "));
}

struct CsrFiles {
    MappedFile offsets, targets, numbers;

    explicit CsrFiles(const std::filesystem::path& folder)
        : offsets(folder / "indptr.npy"), targets(folder / "indices.npy"), numbers(folder / "data.npy") {}
};

IntegerView integers_of(const NpyView& array, std::string_view where) {
    if (array.dtype == "<i4") return array.narrow_integers(where);
    return array.wide_integers(where);
}

struct RowSum {
    Index row = 0;
    double sum = 0;
};

double sum_row(const BaseKernelView& kernel, Index row) {
    double sum = 0;
    for (auto e = kernel.offsets[at(row)]; e < kernel.offsets[at(row + 1)]; ++e)
        sum += kernel.probabilities[at(e)];
    return sum;
}

/// Whether the sum is one within the tolerance; false for NaN.
bool is_one(double sum) {
    return std::abs(sum - 1) <= row_tolerance;
}

[[noreturn]] void refuse_rows(std::vector<RowSum> bad, Index actions, std::string_view file) {
    const RowSum first = bad.front();
    const std::size_t shown = std::min<std::size_t>(3, bad.size());
    std::partial_sort(bad.begin(), bad.begin() + static_cast<std::ptrdiff_t>(shown), bad.end(),
                      [](const RowSum& a, const RowSum& b) {
                          return std::abs(a.sum - 1) != std::abs(b.sum - 1)
                                     ? std::abs(a.sum - 1) > std::abs(b.sum - 1)
                                     : a.row < b.row;
                      });
    std::vector<std::string> worst;
    for (std::size_t i = 0; i < shown; ++i)
        worst.push_back(fmt::format("state {}, action {}: {:.12g}", bad[i].row / actions,
                                    bad[i].row % actions, bad[i].sum));
    const std::string which = shown == 1 ? "it is the only such row"
                              : shown == 2
                                  ? fmt::format("both such rows are {}", fmt::join(worst, "; "))
                                  : fmt::format("the three worst rows are {}", fmt::join(worst, "; "));
    throw InvalidArgument(fmt::format(
        "{}: row of state {}, action {} sums to {:.12g} (must be 1 within 1e-9); {}; fix the file "
        "or pass --normalise",
        file, first.row / actions, first.row % actions, first.sum, which));
}

}  // namespace

BaseKernel read_csr(const std::filesystem::path& path) {
    return csr_from_arrays(read_npz(path), path.string());
}

BaseKernelView map_csr(const std::filesystem::path& folder) {
    std::error_code ignored;
    expects(std::filesystem::is_directory(folder, ignored),
            "{}: there is no such folder; it must have indices.npy, indptr.npy, data.npy and shape.npy",
            folder.string());
    const auto files = std::make_shared<const CsrFiles>(folder);
    const std::filesystem::path size = folder / "shape.npy";
    const NpyArray shape = parse_npy(read_text(size), size.string());
    expects(shape.kind() == NpyKind::integer, "{}: holds '{}'; it must hold two integers", size.string(),
            shape.dtype);
    check_shape(shape.integers, size.string());
    const auto view = [&](const char* name, const MappedFile& file) {
        const std::string where = (folder / name).string();
        NpyView array = view_npy(file.bytes(), where);
        expects(array.shape.size() == 1, "{}: has {} dimensions; it must be a list", where,
                array.shape.size());
        return std::pair(std::move(array), where);
    };
    const auto [offsets, offsets_at] = view("indptr.npy", files->offsets);
    const auto [targets, targets_at] = view("indices.npy", files->targets);
    const auto [numbers, numbers_at] = view("data.npy", files->numbers);
    BaseKernelView kernel;
    kernel.name = folder.string();
    kernel.rows = shape.integers[0];
    kernel.columns = shape.integers[1];
    kernel.offsets = integers_of(offsets, offsets_at);
    kernel.targets = integers_of(targets, targets_at);
    kernel.probabilities = numbers.reals(numbers_at);
    kernel.owner = files;
    check_structure(kernel, folder.string());
    const std::size_t used = at(kernel.offsets[at(kernel.rows)]);
    kernel.targets = kernel.targets.first(used);
    kernel.probabilities = kernel.probabilities.first(used);
    return kernel;
}

BaseKernel csr_from_arrays(NpzArrays arrays, std::string_view file) {
    const NpyArray& format = find_array(arrays, "format", file);
    expects(format.kind() == NpyKind::text && format.text == "csr",
            "{}: the matrix's format is '{}'; it must be 'csr': write it with "
            "scipy.sparse.save_npz(path, matrix.tocsr())",
            file, format.kind() == NpyKind::text ? format.text : format.dtype);
    const std::vector<std::int64_t> shape = take_integers(arrays, "shape", file);
    check_shape(shape, file);
    BaseKernel kernel;
    kernel.name = file;
    kernel.rows = shape[0];
    kernel.columns = shape[1];
    kernel.offsets = take_integers(arrays, "indptr", file);
    kernel.targets = take_integers(arrays, "indices", file);
    kernel.probabilities = take_list(arrays, "data", file);
    check_structure(BaseKernelView(kernel), file);
    // SciPy keeps spare room behind the last row when a matrix was edited in place.
    kernel.targets.resize(at(kernel.offsets.back()));
    kernel.probabilities.resize(at(kernel.offsets.back()));
    return kernel;
}

NpzArrays csr_to_arrays(const BaseKernel& kernel) {
    constexpr Index narrow = std::numeric_limits<std::int32_t>::max();
    const auto stored = static_cast<std::int64_t>(kernel.targets.size());
    const char* const width = stored <= narrow && kernel.columns <= narrow ? "<i4" : "<i8";
    const auto list_of = [&](const std::vector<std::int64_t>& values) {
        return NpyArray::of_integers({static_cast<std::int64_t>(values.size())}, values, width);
    };
    NpzArrays arrays;
    arrays.emplace("indices", list_of(kernel.targets));
    arrays.emplace("indptr", list_of(kernel.offsets));
    arrays.emplace("data", NpyArray::of_reals({stored}, kernel.probabilities));
    arrays.emplace("shape", NpyArray::of_integers({2}, {kernel.rows, kernel.columns}));
    arrays.emplace("format", NpyArray::of_text("csr"));
    return arrays;
}

void write_csr(const std::filesystem::path& path, const BaseKernel& kernel, NpzCompression compression) {
    write_npz(path, csr_to_arrays(kernel), compression);
}

void validate_rows(const BaseKernelView& kernel, Index actions, std::string_view file) {
    std::vector<RowSum> bad;
    for (Index row = 0; row < kernel.rows; ++row) {
        for (auto e = kernel.offsets[at(row)]; e < kernel.offsets[at(row + 1)]; ++e) {
            const double p = kernel.probabilities[at(e)];
            // In the words of FeatureMap, whose users have arrays and no file.
            expects(std::isfinite(p) && p >= 0,
                    "{}: probability of state {}, action {} to state {} is {}; must {}: fix the file", file,
                    row / actions, row % actions, kernel.targets[at(e)], p,
                    std::isfinite(p) ? "not be negative" : "be finite");
        }
        const double sum = sum_row(kernel, row);
        if (!is_one(sum)) bad.push_back({row, sum});
    }
    if (!bad.empty()) refuse_rows(std::move(bad), actions, file);
}

BaseKernel copy_of(const BaseKernelView& kernel) {
    BaseKernel copy{.name = kernel.name, .rows = kernel.rows, .columns = kernel.columns};
    for (std::size_t r = 0; r < kernel.offsets.size(); ++r) copy.offsets.push_back(kernel.offsets[r]);
    for (std::size_t i = 0; i < kernel.targets.size(); ++i) copy.targets.push_back(kernel.targets[i]);
    copy.probabilities.assign(kernel.probabilities.begin(), kernel.probabilities.end());
    return copy;
}

void normalise_rows(BaseKernel& kernel) {
    const BaseKernelView view(kernel);
    for (Index row = 0; row < kernel.rows; ++row) {
        const auto first = kernel.probabilities.begin() + kernel.offsets[at(row)];
        const auto last = kernel.probabilities.begin() + kernel.offsets[at(row + 1)];
        if (std::any_of(first, last, [](double p) { return p < 0; })) continue;
        const double sum = sum_row(view, row);
        if (!std::isfinite(sum) || sum <= 0 || is_one(sum)) continue;
        std::for_each(first, last, [sum](double& p) { p /= sum; });
    }
}

}  // namespace alidade::detail
