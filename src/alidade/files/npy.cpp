#include "npy.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "alidade/error.hpp"
#include "npy_header.hpp"

namespace alidade::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as little-endian bytes");

constexpr std::string_view magic = "\x93NUMPY";

template <class T>
T load(const char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template <class T>
void store(std::string& bytes, T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
}

/// Calls `use` with a value of the C++ type of an integer dtype.
template <class Use>
void with_integer_type(const NpyDtype& type, const Use& use) {
    const bool is_signed = type.kind == 'i';
    switch (type.size) {
        case 1:
            return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
        case 2:
            return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
        case 4:
            return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
        default:
            return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
    }
}

/// Elements of a shape; throws if it does not fit 62 bits.
std::size_t element_count(const std::vector<std::int64_t>& shape, std::string_view where) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        expects(size >= 0 && !__builtin_mul_overflow(count, size, &count) && count <= (std::int64_t{1} << 60),
                "{}: the shape ({}) is absurd; write the file again", where, fmt::join(shape, ", "));
    return static_cast<std::size_t>(count);
}

/// Header and data of a .npy file.
struct Sections {
    std::string_view header;
    std::string_view data;
};

Sections split(std::string_view bytes, std::string_view where) {
    expects(bytes.size() >= 10 && bytes.starts_with(magic),
            "{}: not a .npy array (it does not start with \\x93NUMPY); write it with NumPy", where);
    const int version = static_cast<unsigned char>(bytes[6]);
    expects(version >= 1 && version <= 3, "{}: .npy format version {} is not known (1, 2 and 3 are)", where,
            version);
    const std::size_t prefix = version == 1 ? 10 : 12;
    expects(bytes.size() >= prefix, "{}: the .npy header is cut off; write the file again", where);
    const std::size_t length =
        version == 1 ? load<std::uint16_t>(bytes.data() + 8) : load<std::uint32_t>(bytes.data() + 8);
    expects(length <= bytes.size() - prefix,
            "{}: the .npy header promises {} bytes of header but {} are left; write the file again", where,
            length, bytes.size() - prefix);
    return {bytes.substr(prefix, length), bytes.substr(prefix + length)};
}

void append_code_point(std::string& text, std::uint32_t c) {
    const auto push = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        push(c);
    } else if (c < 0x800) {
        push(0xC0 | (c >> 6));
        push(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        push(0xE0 | (c >> 12));
        push(0x80 | ((c >> 6) & 0x3F));
        push(0x80 | (c & 0x3F));
    } else {
        push(0xF0 | (c >> 18));
        push(0x80 | ((c >> 12) & 0x3F));
        push(0x80 | ((c >> 6) & 0x3F));
        push(0x80 | (c & 0x3F));
    }
}

std::string decode_text(const NpyDtype& type, std::string_view data, std::string_view where) {
    std::string text;
    if (type.kind == 'S') {
        text = data;
    } else {
        for (std::size_t i = 0; i < data.size(); i += 4) {
            const auto c = load<std::uint32_t>(data.data() + i);
            expects(c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF),
                    "{}: the text holds {:#x}, which is no Unicode character; write the file again", where,
                    c);
            append_code_point(text, c);
        }
    }
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

void decode(NpyArray& array, const NpyDtype& type, std::size_t count, std::string_view data,
            std::string_view where) {
    if (type.kind == 'S' || type.kind == 'U') {
        array.text = decode_text(type, data, where);
    } else if (type.kind == 'f') {
        array.reals.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            array.reals[i] = type.size == 8 ? load<double>(data.data() + 8 * i)
                                            : static_cast<double>(load<float>(data.data() + 4 * i));
    } else {
        array.integers.resize(count);
        with_integer_type(type, [&]<class T>(T) {
            for (std::size_t i = 0; i < count; ++i) {
                const T value = load<T>(data.data() + sizeof(T) * i);
                expects(std::in_range<std::int64_t>(value),
                        "{}: element {} is {}, which 64 signed bits cannot hold", where, i, value);
                // Eight bits are a number here. NOLINTNEXTLINE(bugprone-signed-char-misuse)
                array.integers[i] = static_cast<std::int64_t>(value);
            }
        });
        if (type.kind == 'b')
            for (auto& value : array.integers) value = value != 0;
    }
}

/// From Fortran order (first index fastest) to C order.
template <class T>
void transpose(std::vector<T>& values, const std::vector<std::int64_t>& shape) {
    std::vector<std::size_t> strides(shape.size(), 1);
    for (std::size_t k = 1; k < shape.size(); ++k)
        strides[k] = strides[k - 1] * static_cast<std::size_t>(shape[k - 1]);
    std::vector<T> result(values.size());
    std::vector<std::int64_t> index(shape.size(), 0);
    std::size_t source = 0;
    for (T& value : result) {
        value = values[source];
        for (std::size_t k = shape.size(); k-- > 0;) {
            source += strides[k];
            if (++index[k] < shape[k]) break;
            source -= strides[k] * static_cast<std::size_t>(shape[k]);
            index[k] = 0;
        }
    }
    values = std::move(result);
}

template <class T>
std::span<const T> elements(const NpyView& view, std::string_view dtype, std::string_view where) {
    expects(view.dtype == dtype,
            "{}: holds '{}'; an array that is used where it lies must hold '{}': save array.astype('{}')",
            where, view.dtype, dtype, dtype);
    expects(!view.fortran_order,
            "{}: is in Fortran order; an array that is used where it lies must be in C order: save "
            "numpy.ascontiguousarray(array)",
            where);
    expects(reinterpret_cast<std::uintptr_t>(view.data.data()) % alignof(T) == 0,
            "{}: its numbers do not begin at a multiple of {} bytes; write the file again with numpy.save",
            where, alignof(T));
    // Bytes of a file, which nothing else looks at as another type.
    return {reinterpret_cast<const T*>(view.data.data()), view.count};
}

std::string encode_data(const NpyArray& array, const NpyDtype& type, std::size_t count) {
    std::string data;
    data.reserve(count * type.size);
    if (type.kind == 'f') {
        expects(array.reals.size() == count, "array of shape ({}) has {} elements, not {}",
                fmt::join(array.shape, ", "), array.reals.size(), count);
        for (const double value : array.reals)
            type.size == 8 ? store(data, value) : store(data, static_cast<float>(value));
    } else if (type.kind == 'S') {
        expects(array.shape.empty() && array.text.size() <= type.size,
                "text of {} bytes does not fit type '{}' without dimensions", array.text.size(), array.dtype);
        data = array.text;
        data.resize(type.size, '\0');
    } else {
        expects(type.kind != 'U', "text is written as bytes ('|Sn'), not as '{}'", array.dtype);
        expects(array.integers.size() == count, "array of shape ({}) has {} elements, not {}",
                fmt::join(array.shape, ", "), array.integers.size(), count);
        with_integer_type(type, [&]<class T>(T) {
            for (const std::int64_t value : array.integers) {
                expects(std::in_range<T>(value), "{} does not fit type '{}'", value, array.dtype);
                store(data, static_cast<T>(value));
            }
        });
    }
    return data;
}

}  // namespace

NpyArray NpyArray::of_reals(std::vector<std::int64_t> shape, std::vector<double> values) {
    NpyArray array;
    array.shape = std::move(shape);
    array.reals = std::move(values);
    return array;
}

NpyArray NpyArray::of_integers(std::vector<std::int64_t> shape, std::vector<std::int64_t> values,
                               std::string dtype) {
    NpyArray array;
    array.dtype = std::move(dtype);
    array.shape = std::move(shape);
    array.integers = std::move(values);
    return array;
}

NpyArray NpyArray::of_text(std::string text) {
    NpyArray array;
    array.dtype = fmt::format("|S{}", std::max<std::size_t>(1, text.size()));
    array.text = std::move(text);
    return array;
}

NpyKind NpyArray::kind() const {
    switch (parse_dtype(dtype, "array").kind) {
        case 'f':
            return NpyKind::real;
        case 'S':
        case 'U':
            return NpyKind::text;
        default:
            return NpyKind::integer;
    }
}

std::vector<double> NpyArray::take_reals(std::string_view where) && {
    const NpyKind held = kind();
    expects(held != NpyKind::text, "{}: holds text where numbers are needed; save it as '<f8'", where);
    if (held == NpyKind::real) return std::move(reals);
    constexpr std::int64_t largest = std::int64_t{1} << 53;
    std::vector<double> result;
    result.reserve(integers.size());
    for (const std::int64_t value : integers) {
        expects(value >= -largest && value <= largest, "{}: holds {}, which a double cannot hold exactly",
                where, value);
        result.push_back(static_cast<double>(value));
    }
    return result;
}

NpyView view_npy(std::string_view bytes, std::string_view where) {
    const Sections sections = split(bytes, where);
    NpyHeader header = parse_npy_header(sections.header, where);
    const NpyDtype type = parse_dtype(header.descr, where);
    const std::size_t count = element_count(header.shape, where);
    expects((type.kind != 'S' && type.kind != 'U') || header.shape.empty(),
            "{}: the array holds strings ('{}') with dimensions ({}); only numbers can have dimensions",
            where, header.descr, fmt::join(header.shape, ", "));
    std::size_t needed = 0;
    expects(!__builtin_mul_overflow(count, type.size, &needed) && needed == sections.data.size(),
            "{}: shape ({}) of '{}' does not match the {} bytes of data; write the file again", where,
            fmt::join(header.shape, ", "), header.descr, sections.data.size());
    const bool transposed = header.fortran_order && header.shape.size() > 1 && count > 0;
    return {std::move(header.descr), std::move(header.shape), transposed, count, sections.data};
}

std::span<const double> NpyView::reals(std::string_view where) const {
    return elements<double>(*this, "<f8", where);
}

std::span<const std::int32_t> NpyView::narrow_integers(std::string_view where) const {
    return elements<std::int32_t>(*this, "<i4", where);
}

std::span<const std::int64_t> NpyView::wide_integers(std::string_view where) const {
    return elements<std::int64_t>(*this, "<i8", where);
}

NpyArray parse_npy(std::string_view bytes, std::string_view where) {
    NpyView view = view_npy(bytes, where);
    NpyArray array;
    array.dtype = std::move(view.dtype);
    array.shape = std::move(view.shape);
    decode(array, parse_dtype(array.dtype, where), view.count, view.data, where);
    if (view.fortran_order) {
        transpose(array.reals, array.shape);
        transpose(array.integers, array.shape);
    }
    return array;
}

std::string format_npy(const NpyArray& array) {
    const NpyDtype type = parse_dtype(array.dtype, "array");
    const std::string data = encode_data(array, type, element_count(array.shape, "array"));
    return format_npy_prefix(array.dtype, array.shape) + data;
}

}  // namespace alidade::detail
