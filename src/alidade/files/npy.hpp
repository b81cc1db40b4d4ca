#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alidade::detail {

/// Which of an NpyArray's fields holds its elements.
enum class NpyKind {
    real,     ///< `reals`
    integer,  ///< `integers`; booleans too, as 0 and 1
    text,     ///< `text`; one string, no dimensions
};

/// An array as NumPy stores it in a .npy file, widened to double or 64-bit integers. Elements are in C
/// order (last index fastest), whatever the order in the file.
struct NpyArray {
    std::string dtype = "<f8";           ///< <f8 <f4, i and u of 1, 2, 4, 8 bytes, |b1, |Sn, <Un
    std::vector<std::int64_t> shape;     ///< empty for a single element
    std::vector<double> reals;           ///< elements of <f8 and <f4
    std::vector<std::int64_t> integers;  ///< elements of integers and booleans
    std::string text;                    ///< the string of |S and <U, as UTF-8, without trailing zeros

    static NpyArray of_reals(std::vector<std::int64_t> shape, std::vector<double> values);
    /// `dtype` is "<i8", "<i4", "|b1", ...
    static NpyArray of_integers(std::vector<std::int64_t> shape, std::vector<std::int64_t> values,
                                std::string dtype = "<i8");
    /// A byte string without dimensions, like numpy.array(b"csr").
    static NpyArray of_text(std::string text);

    NpyKind kind() const;
    /// The elements as doubles, moved out where possible. Throws InvalidArgument, starting with `where`,
    /// for text and for integers beyond 2^53, which a double cannot hold.
    std::vector<double> take_reals(std::string_view where) &&;

    bool operator==(const NpyArray&) const = default;
};

/// A .npy file (format 1, 2 or 3) where it lies in memory.
struct NpyView {
    std::string dtype;
    std::vector<std::int64_t> shape;
    bool fortran_order = false;  ///< and that matters: two dimensions or more, and elements
    std::size_t count = 0;       ///< elements
    std::string_view data;       ///< exactly theirs

    /// The elements as they lie, if they are of the type ("<f8", "<i4" or "<i8"), in C order, and where such
    /// a number may lie. Throws InvalidArgument, starting with `where`, that says how to write such a file.
    std::span<const double> reals(std::string_view where) const;
    std::span<const std::int32_t> narrow_integers(std::string_view where) const;
    std::span<const std::int64_t> wide_integers(std::string_view where) const;
};

/// Throws InvalidArgument, starting with `where`, as parse_npy does.
NpyView view_npy(std::string_view bytes, std::string_view where);

/// Reads a .npy file (format 1, 2 or 3) held in memory. Pickled objects and big-endian data are refused;
/// strings must have no dimensions. Throws InvalidArgument, starting with `where`, if the bytes are not
/// exactly one array: the memory used is bounded by the bytes given, whatever the header promises.
NpyArray parse_npy(std::string_view bytes, std::string_view where);

/// The bytes of a .npy file (format 1, C order) that NumPy loads. Throws InvalidArgument if the elements
/// do not fit shape and dtype.
std::string format_npy(const NpyArray& array);

}  // namespace alidade::detail
