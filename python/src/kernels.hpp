#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"
#include "arrays.hpp"

namespace alidade::python {

/// One kernel that is read where Python keeps it: a dense array or compressed sparse rows, row s*A+a.
class KernelRows {
public:
    /// Takes an array (S, A, S) or (S*A, S), a SciPy sparse matrix (S*A, S), or the tuple (data, indices,
    /// indptr) of one, whose number of states is then needed. `normalise`: rows are divided by their sums.
    /// Those of single precision are where that is what rounding explains.
    KernelRows(nb::handle object, const std::string& name, Index states, bool normalise);

    const std::string& name() const noexcept { return name_; }
    Index rows() const noexcept { return rows_; }
    Index columns() const noexcept { return columns_; }
    /// Numbers that are stored, zeros among them.
    Index size() const noexcept { return size_; }

    /// Calls `each` with every target and probability of a row that is not zero, in their order.
    template <class Each>
    void visit(Index row, const Each& each) const {
        const Index first = indices_ ? offset(row) : row * columns_;
        const Index last = indices_ ? offset(row + 1) : first + columns_;
        double scale = 1;
        if (rescale_ > 0) {
            double sum = 0;
            for (Index k = first; k < last; ++k) sum += data_[k];
            if (sum > 0 && std::abs(sum - 1) <= rescale_) scale = 1 / sum;
        }
        for (Index k = first; k < last; ++k)
            if (data_[k] != 0) each(indices_ ? index(k) : k - first, data_[k] * scale);
    }

    /// Whether its arrays are what the library reads: sparse, and no row is to be scaled.
    bool is_as_it_lies() const noexcept { return indices_ != nullptr && rescale_ == 0; }
    /// The arrays where they lie, of one that is.
    BaseKernelView view() const;
    /// A copy.
    BaseKernel kernel() const;

private:
    Index offset(Index row) const noexcept {
        return wide_offsets_ ? static_cast<const std::int64_t*>(offsets_)[row]
                             : static_cast<const std::int32_t*>(offsets_)[row];
    }
    Index index(Index k) const noexcept {
        return wide_indices_ ? static_cast<const std::int64_t*>(indices_)[k]
                             : static_cast<const std::int32_t*>(indices_)[k];
    }
    void take_dense(nb::handle object, Index states);
    void take_sparse(nb::handle data, nb::handle indices, nb::handle offsets);
    const void* take_index(nb::handle object, const char* what, bool& wide, Index& size);

    std::string name_;
    Index rows_ = 0, columns_ = 0, size_ = 0;
    const double* data_ = nullptr;
    const void* indices_ = nullptr;  // of 32 or 64 bits; none of a dense array
    const void* offsets_ = nullptr;
    bool wide_indices_ = false, wide_offsets_ = false;
    double rescale_ = 0;            // rows whose sums are off by no more than this are divided by them
    std::vector<nb::object> kept_;  // what the pointers are into
};

/// The features that base models make. Sparse ones are read in place, without tables beside them.
FeatureMap features_of(const std::vector<KernelRows>& kernels);

/// Kernels from a list of whatever KernelRows takes; names may be None.
std::vector<KernelRows> kernels_of(nb::handle objects, nb::handle names, nb::handle states, bool normalise);

}  // namespace alidade::python
