#include "kernels.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade::python {

namespace {

constexpr double single_precision = 1e-5;  // rows of so many float32 may be off by this

bool is_single(nb::handle array) {
    const auto dtype = nb::object(array.attr("dtype"));
    return nb::cast<std::string>(nb::object(dtype.attr("kind"))) == "f" &&
           nb::cast<int>(nb::object(dtype.attr("itemsize"))) < 8;
}

FeatureMap by_tables(const std::vector<KernelRows>& kernels, Index states, Index actions) {
    std::vector<BaseKernel> tables;
    for (const KernelRows& kernel : kernels) tables.push_back(kernel.kernel());
    return FeatureMap::from_base_kernels(states, actions, tables);
}

/// Numbers may be anything but what makes a position: those are checked before they are followed.
void require_sound(const KernelRows& kernel, Index pairs, Index states) {
    expects(kernel.rows() == pairs && kernel.columns() == states,
            "{}: shape is ({}, {}); must be ({}, {}) = (states*actions, states)", kernel.name(),
            kernel.rows(), kernel.columns(), pairs, states);
}

}  // namespace

KernelRows::KernelRows(nb::handle object, const std::string& name, Index states, bool normalise)
    : name_(name) {
    if (nb::isinstance<nb::tuple>(object)) {
        expects(nb::len(object) == 3, "{}: a tuple of {}; must be (data, indices, indptr)", name_,
                nb::len(object));
        take_sparse(nb::object(object[0]), nb::object(object[1]), nb::object(object[2]));
        columns_ = states;
    } else if (nb::hasattr(object, "tocsr")) {
        const nb::object rows = object.attr("tocsr")();
        const nb::object shape = rows.attr("shape");
        take_sparse(rows.attr("data"), rows.attr("indices"), rows.attr("indptr"));
        columns_ = integer_of(nb::object(shape[1]));
    } else {
        take_dense(object, states);
    }
    if (normalise) rescale_ = std::numeric_limits<double>::infinity();
}

void KernelRows::take_dense(nb::handle object, Index) {
    const nb::object given = nb::module_::import_("numpy").attr("asarray")(object);
    if (is_single(given)) rescale_ = single_precision;
    auto array = doubles(given, name_.c_str());
    expects(array.ndim() == 2 || array.ndim() == 3,
            "{}: shape is {}; must be (states, actions, states) or (states*actions, states)", name_,
            shape_text(array));
    columns_ = static_cast<Index>(array.shape(array.ndim() - 1));
    expects(array.ndim() == 2 || static_cast<Index>(array.shape(0)) == columns_,
            "{}: shape is {}; must be (states, actions, states)", name_, shape_text(array));
    rows_ = static_cast<Index>(array.ndim() == 2 ? array.shape(0) : array.shape(0) * array.shape(1));
    size_ = static_cast<Index>(array.size());
    data_ = array.data();
    kept_.push_back(nb::cast(array));
}

const void* KernelRows::take_index(nb::handle object, const char* what, bool& wide, Index& size) {
    nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(object);
    expects(holds_integers(array), "{}: {} are not whole numbers", name_, what);
    const auto dtype = nb::object(array.attr("dtype"));
    const bool is_signed = nb::cast<std::string>(nb::object(dtype.attr("kind"))) == "i";
    const int bytes = nb::cast<int>(nb::object(dtype.attr("itemsize")));
    if (!is_signed || (bytes != 4 && bytes != 8)) array = array.attr("astype")("int64");
    wide = !(is_signed && bytes == 4);
    kept_.push_back(array);
    if (wide) {
        const auto numbers = nb::cast<Contiguous<std::int64_t>>(array);
        size = static_cast<Index>(numbers.size());
        return numbers.data();
    }
    const auto numbers = nb::cast<Contiguous<std::int32_t>>(array);
    size = static_cast<Index>(numbers.size());
    return numbers.data();
}

void KernelRows::take_sparse(nb::handle data, nb::handle indices, nb::handle offsets) {
    const nb::object given = nb::module_::import_("numpy").attr("asarray")(data);
    if (is_single(given)) rescale_ = single_precision;
    auto numbers = doubles(given, name_.c_str());
    Index indices_size = 0, offsets_size = 0;
    indices_ = take_index(indices, "indices", wide_indices_, indices_size);
    offsets_ = take_index(offsets, "indptr", wide_offsets_, offsets_size);
    size_ = static_cast<Index>(numbers.size());
    expects(indices_size == size_, "{}: {} column indices and {} probabilities; must be as many", name_,
            indices_size, size_);
    rows_ = offsets_size - 1;
    expects(rows_ >= 1, "{}: no rows", name_);
    expects(offset(0) == 0 && offset(rows_) == size_,
            "{}: row offsets run from {} to {}; must run from 0 to {} (the number of entries)", name_,
            offset(0), offset(rows_), size_);
    for (Index row = 0; row < rows_; ++row)
        expects(offset(row) <= offset(row + 1) && offset(row + 1) <= size_,
                "{}: row offsets decrease at row {}", name_, row);
    data_ = numbers.data();
    kept_.push_back(nb::cast(numbers));
}

BaseKernelView KernelRows::view() const {
    const auto integers = [](const void* numbers, bool wide, Index size) -> IntegerView {
        if (wide) return std::span(static_cast<const std::int64_t*>(numbers), at(size));
        return std::span(static_cast<const std::int32_t*>(numbers), at(size));
    };
    BaseKernelView view;
    view.name = name_;
    view.rows = rows_;
    view.columns = columns_;
    view.offsets = integers(offsets_, wide_offsets_, rows_ + 1);
    view.targets = integers(indices_, wide_indices_, size_);
    view.probabilities = {data_, at(size_)};
    return view;
}

BaseKernel KernelRows::kernel() const {
    BaseKernel kernel{name_, rows_, columns_, {0}, {}, {}};
    for (Index row = 0; row < rows_; ++row) {
        visit(row, [&](State target, double probability) {
            kernel.targets.push_back(target);
            kernel.probabilities.push_back(probability);
        });
        kernel.offsets.push_back(std::ssize(kernel.targets));
    }
    return kernel;
}

FeatureMap features_of(const std::vector<KernelRows>& kernels) {
    expects(!kernels.empty(), "no base models given; at least one is needed");
    const Index states = kernels.front().columns(), pairs = kernels.front().rows();
    expects(states >= 1 && pairs % states == 0, "{}: shape is ({}, {}); must be (states*actions, states)",
            kernels.front().name(), pairs, states);
    const Index actions = pairs / states;
    for (const KernelRows& kernel : kernels) require_sound(kernel, pairs, states);
    const nb::gil_scoped_release unlocked;
    if (std::ranges::all_of(kernels, &KernelRows::is_as_it_lies)) {
        std::vector<BaseKernelView> views;
        for (const KernelRows& kernel : kernels) views.push_back(kernel.view());
        return FeatureMap::from_kernel_views(states, actions, views);
    }
    return by_tables(kernels, states, actions);
}

std::vector<KernelRows> kernels_of(nb::handle objects, nb::handle names, nb::handle states, bool normalise) {
    std::vector<std::string> said;
    if (!names.is_none())
        for (const nb::handle name : names) said.push_back(nb::cast<std::string>(name));
    const Index columns = states.is_none() ? 0 : integer_of(states);
    std::vector<KernelRows> kernels;
    for (const nb::handle object : objects) {
        const std::size_t number = kernels.size();
        kernels.emplace_back(object,
                             number < said.size() ? said[number] : "base model " + std::to_string(number),
                             columns, normalise);
    }
    expects(said.empty() || said.size() == kernels.size(), "{} names for {} base models; must be as many",
            said.size(), kernels.size());
    return kernels;
}

}  // namespace alidade::python
