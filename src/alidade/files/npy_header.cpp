#include "npy_header.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

constexpr std::size_t max_dimensions = 32;
// Longer strings than this are no `format` of a sparse matrix; 4 bytes a code point cannot overflow.
constexpr std::size_t max_text = std::size_t{1} << 24;

/// Reads the literal of a Python dictionary that NumPy writes; nothing is evaluated.
class LiteralReader {
public:
    LiteralReader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

    bool accept(char c) {
        skip_blanks();
        if (position_ >= text_.size() || text_[position_] != c) return false;
        ++position_;
        return true;
    }

    void demand(char c) { check(accept(c), "a character is missing or misplaced"); }

    std::string text() {
        skip_blanks();
        check(position_ < text_.size() && (text_[position_] == '\'' || text_[position_] == '"'),
              "a quoted string is missing; structured types are not read");
        const char quote = text_[position_++];
        const auto end = text_.find(quote, position_);
        check(end != std::string_view::npos, "a string does not end");
        const auto value = text_.substr(position_, end - position_);
        check(value.find('\\') == std::string_view::npos, "a string has an escape sequence");
        position_ = end + 1;
        return std::string(value);
    }

    bool boolean() {
        skip_blanks();
        for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
            if (text_.substr(position_).starts_with(word)) {
                position_ += word.size();
                return value;
            }
        check(false, "'fortran_order' is neither True nor False");
        return false;
    }

    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> values;
        demand('(');
        while (!accept(')')) {
            check(values.size() < max_dimensions, "the shape has more than 32 dimensions");
            values.push_back(size());
            if (accept(',')) continue;
            demand(')');
            break;
        }
        return values;
    }

    void end() {
        skip_blanks();
        check(position_ == text_.size(), "something follows the dictionary");
    }

    void check(bool ok, std::string_view why) const {
        expects(ok, "{}: the .npy header is damaged: {} (position {}); write the file again with NumPy",
                where_, why, position_);
    }

private:
    void skip_blanks() {
        constexpr std::string_view blanks = " \t\n\r";
        while (position_ < text_.size() && blanks.find(text_[position_]) != std::string_view::npos)
            ++position_;
    }

    std::int64_t size() {
        skip_blanks();
        std::int64_t value = -1;
        const char* const first = text_.data() + position_;
        const auto [next, problem] = std::from_chars(first, text_.data() + text_.size(), value);
        check(problem == std::errc() && value >= 0, "the shape is not a tuple of sizes from 0 to 2^63-1");
        position_ += static_cast<std::size_t>(next - first);
        return value;
    }

    std::string_view text_;
    std::string_view where_;
    std::size_t position_ = 0;
};

bool is_supported(const NpyDtype& type) {
    switch (type.kind) {
        case 'f':
            return type.size == 4 || type.size == 8;
        case 'i':
        case 'u':
            return type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
        case 'b':
            return type.size == 1;
        case 'S':
        case 'U':
            return true;
        default:
            return false;
    }
}

}  // namespace

NpyDtype parse_dtype(std::string_view descr, std::string_view where) {
    expects(descr.size() >= 2, "{}: the array's type '{}' is not a type; write the file again", where, descr);
    expects(descr[1] != 'O',
            "{}: the array holds pickled Python objects ('{}'), which are never loaded because a pickle can "
            "run code; save an array of numbers",
            where, descr);
    NpyDtype type{descr[1], 0};
    const char* const end = descr.data() + descr.size();
    const auto [next, problem] = std::from_chars(descr.data() + 2, end, type.size);
    const bool readable = problem == std::errc() && next == end && type.size <= max_text;
    if (type.kind == 'U' && readable) type.size *= 4;
    expects(!(descr[0] == '>' && readable && is_supported(type) && type.size > 1),
            "{}: the array is big-endian ('{}') and only little-endian data are read; convert it with "
            "array.astype('<{}') before saving",
            where, descr, descr.substr(1));
    const bool ordered = descr[0] == '<' || descr[0] == '|';
    expects(ordered && readable && is_supported(type),
            "{}: the array's type '{}' is not read; convert it with array.astype('<f8') or "
            "array.astype('<i8') before saving",
            where, descr);
    return type;
}

std::string format_npy_prefix(std::string_view dtype, const std::vector<std::int64_t>& shape) {
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype,
                                     fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    // NumPy aligns the data to 64 bytes, so that they can be mapped.
    header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
    header.push_back('\n');
    std::string bytes("\x93NUMPY");
    bytes.append(
        {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)});
    return bytes + header;
}

NpyHeader parse_npy_header(std::string_view text, std::string_view where) {
    LiteralReader reader(text, where);
    NpyHeader header;
    std::array<bool, 3> seen{};
    const auto once = [&](std::size_t key) {
        reader.check(!seen[key], "a key occurs twice");
        seen[key] = true;
    };
    reader.demand('{');
    while (!reader.accept('}')) {
        const std::string key = reader.text();
        reader.demand(':');
        if (key == "descr") {
            once(0);
            header.descr = reader.text();
        } else if (key == "fortran_order") {
            once(1);
            header.fortran_order = reader.boolean();
        } else if (key == "shape") {
            once(2);
            header.shape = reader.tuple();
        } else {
            reader.check(false, "an unknown key");
        }
        if (reader.accept(',')) continue;
        reader.demand('}');
        break;
    }
    reader.end();
    reader.check(std::all_of(seen.begin(), seen.end(), [](bool b) { return b; }),
                 "one of the keys 'descr', 'fortran_order', 'shape' is missing");
    return header;
}

}  // namespace alidade::detail
