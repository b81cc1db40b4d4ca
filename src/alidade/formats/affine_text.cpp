#include "affine_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

class Parser {
public:
    Parser(std::string_view text, const AffineNames& names, std::string_view place)
        : text_(text), names_(names), place_(place) {}

    Affine parse() {
        Affine result = sum();
        skip_blanks();
        refuse_unless(position_ == text_.size(), "something is left over");
        bool finite = std::isfinite(result.constant);
        for (const auto& slope : result.slopes) finite = finite && std::isfinite(slope.second);
        refuse_unless(finite, "its numbers are not finite");
        return result;
    }

private:
    void refuse_unless(bool ok, std::string_view why) const {
        if (!ok)
            throw InvalidArgument(fmt::format(
                "{}: '{}' cannot be read as a sum of numbers times parameters: {} at character {}", place_,
                text_.size() > 60 ? std::string(text_.substr(0, 57)) + "..." : std::string(text_), why,
                position_ + 1));
    }

    void skip_blanks() {
        while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
    }

    char next() {
        skip_blanks();
        return position_ < text_.size() ? text_[position_] : '\0';
    }

    bool take(char wanted) {
        if (next() != wanted) return false;
        ++position_;
        return true;
    }

    Affine sum() {
        refuse_unless(++depth_ <= 100, "brackets are nested too deep");
        Affine result = product();
        while (true) {
            if (take('+'))
                add(result, product(), 1);
            else if (take('-'))
                add(result, product(), -1);
            else
                break;
        }
        --depth_;
        return result;
    }

    Affine product() {
        Affine result = factor();
        while (true) {
            if (take('*')) {
                Affine right = factor();
                refuse_unless(result.is_constant() || right.is_constant(), "parameters are multiplied");
                if (result.is_constant()) std::swap(result, right);
                scale(result, right.constant);
            } else if (take('/')) {
                const Affine right = factor();
                refuse_unless(right.is_constant() && right.constant != 0, "the divisor is no number but 0");
                result.constant /= right.constant;
                for (auto& slope : result.slopes) slope.second /= right.constant;
            } else {
                return result;
            }
        }
    }

    Affine factor() {
        bool negative = false;
        while (true) {
            if (take('-'))
                negative = !negative;
            else if (!take('+'))
                break;
        }
        Affine result = atom();
        if (negative) scale(result, -1);
        return result;
    }

    Affine atom() {
        if (take('(')) {
            Affine inner = sum();
            refuse_unless(take(')'), "a bracket is not closed");
            return inner;
        }
        const char first = next();
        if ((first >= '0' && first <= '9') || first == '.') return number();
        const bool placeholder = take('$');
        const std::size_t begin = position_;
        while (position_ < text_.size() &&
               std::string_view("+-*/() \t$").find(text_[position_]) == std::string_view::npos)
            ++position_;
        const std::string name(text_.substr(begin, position_ - begin));
        refuse_unless(!name.empty(), "a number or a name is missing");
        if (placeholder) {
            const auto found = names_.placeholders.find(name);
            refuse_unless(found != names_.placeholders.end(), "there is no such placeholder before");
            return found->second;
        }
        const auto found = names_.parameters.find(name);
        refuse_unless(found != names_.parameters.end(), "there is no such parameter before");
        return {0, {{found->second, 1.0}}};
    }

    Affine number() {
        double value = 0;
        const char* const begin = text_.data() + position_;
        const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
        refuse_unless(problem == std::errc{} && std::isfinite(value), "a number cannot be read");
        position_ += static_cast<std::size_t>(end - begin);
        return {value, {}};
    }

    static void scale(Affine& value, double by) {
        value.constant *= by;
        for (auto& slope : value.slopes) slope.second *= by;
    }

    static void add(Affine& value, const Affine& more, double sign) {
        value.constant += sign * more.constant;
        for (const auto& [parameter, slope] : more.slopes) value.slopes[parameter] += sign * slope;
    }

    std::string_view text_;
    const AffineNames& names_;
    std::string_view place_;
    std::size_t position_ = 0;
    int depth_ = 0;
};

}  // namespace

Affine parse_affine(std::string_view text, const AffineNames& names, std::string_view place) {
    return Parser(text, names, place).parse();
}

void append_affine(std::string& out, const double* coefficients, const std::vector<std::string>& parameters) {
    const std::size_t start = out.size();
    auto to = std::back_inserter(out);
    if (coefficients[0] != 0) fmt::format_to(to, "{}", coefficients[0]);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const double slope = coefficients[i + 1];
        if (slope == 0) continue;
        // Signs join the terms, so that the first of them needs none: -0.5*w is a term of its own.
        if (slope > 0 && out.size() > start) out += '+';
        fmt::format_to(to, "{}*{}", slope, parameters[i]);
    }
    if (out.size() == start) out += '0';
}

bool parse_number(std::string_view text, double& value) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace alidade::detail
