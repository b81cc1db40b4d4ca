#pragma once

#include <cstdint>
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

/// Reads a .npy file (format 1, 2 or 3) held in memory. Pickled objects and big-endian data are refused;
/// strings must have no dimensions. Throws InvalidArgument, starting with `where`, if the bytes are not
/// exactly one array: the memory used is bounded by the bytes given, whatever the header promises.
NpyArray parse_npy(std::string_view bytes, std::string_view where);

/// The bytes of a .npy file (format 1, C order) that NumPy loads. Throws InvalidArgument if the elements
/// do not fit shape and dtype.
std::string format_npy(const NpyArray& array);

}  // namespace alidade::detail
