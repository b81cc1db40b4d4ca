#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace alidade::detail {

/// constant + sum of coefficient * parameter; only the parameters that occur.
struct Affine {
    double constant = 0;
    std::map<std::int32_t, double> slopes;  ///< by position of the parameter

    bool is_constant() const noexcept { return slopes.empty(); }
};

/// Names that may occur in an expression.
struct AffineNames {
    std::unordered_map<std::string, std::int32_t> parameters;  ///< to their positions
    std::unordered_map<std::string, Affine> placeholders;      ///< `$name`, without the dollar
};

/// Parses numbers, fractions, parameters and placeholders joined by + - * / and brackets. Throws
/// InvalidArgument, starting with `place`, for anything else, for a product of parameters or a quotient by
/// one, for numbers that are not finite, and for brackets nested more than 100 deep.
Affine parse_affine(std::string_view text, const AffineNames& names, std::string_view place);

/// The shortest text that reads back as the same doubles: `0.2+0.5*w`. `coefficients`: constant first.
void append_affine(std::string& out, const double* coefficients, const std::vector<std::string>& parameters);

/// A finite number that fills all of `text`; false otherwise.
bool parse_number(std::string_view text, double& value);

}  // namespace alidade::detail
