#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/model/base_kernel.hpp"
#include "alidade/types.hpp"
#include "npz.hpp"

namespace alidade::detail {

/// Reads a sparse matrix as scipy.sparse.save_npz writes it, compressed or not: arrays `indices`,
/// `indptr` (32 or 64 bits), `data`, `shape` and `format` = b'csr'; other arrays are ignored. The shape is
/// (S*A, S) and row s*A+a is the law of the next state. The kernel is named after the file. Throws
/// InvalidArgument if it is not a well-formed CSR matrix; rows are checked by validate_rows.
BaseKernel read_csr(const std::filesystem::path& path);
/// The same from a folder of .npy files, which are mapped instead of read: `indices.npy` and `indptr.npy`
/// ('<i4' or '<i8'), `data.npy` ('<f8') and `shape.npy`.
BaseKernelView map_csr(const std::filesystem::path& folder);
/// The same from arrays; `file` is what messages call them.
BaseKernel csr_from_arrays(NpzArrays arrays, std::string_view file);

/// Writes a kernel so that scipy.sparse.load_npz reads it; indices take 32 bits if they fit.
void write_csr(const std::filesystem::path& path, const BaseKernel& kernel,
               NpzCompression compression = NpzCompression::deflated);
/// The same as arrays.
NpzArrays csr_to_arrays(const BaseKernel& kernel);

/// Throws InvalidArgument, starting with `file`, unless every row of the kernel is a distribution
/// (no negative number, sum 1 within 1e-9): names the state, action and sum of the first bad row and the
/// three worst rows. `actions` is A.
void validate_rows(const BaseKernelView& kernel, Index actions, std::string_view file);

/// A kernel of one's own, to be changed.
BaseKernel copy_of(const BaseKernelView& kernel);

/// Divides every row that has a positive sum, and none that is already right within 1e-9, by its sum.
/// Rows with a negative number are left alone, for validate_rows to refuse.
void normalise_rows(BaseKernel& kernel);

}  // namespace alidade::detail
