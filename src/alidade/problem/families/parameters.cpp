#include "parameters.hpp"

#include <utility>

namespace alidade::detail {

FamilyParameter integer_parameter(std::string name, Index default_value, Index minimum, Index maximum,
                                  std::string meaning) {
    FamilyParameter parameter;
    parameter.name = std::move(name);
    parameter.default_value = std::to_string(default_value);
    parameter.meaning = std::move(meaning);
    parameter.minimum = static_cast<double>(minimum);
    parameter.maximum = static_cast<double>(maximum);
    return parameter;
}

FamilyParameter real_parameter(std::string name, std::string default_value, double minimum, double maximum,
                               std::string meaning) {
    FamilyParameter parameter;
    parameter.name = std::move(name);
    parameter.kind = ParameterKind::real;
    parameter.default_value = std::move(default_value);
    parameter.meaning = std::move(meaning);
    parameter.minimum = minimum;
    parameter.maximum = maximum;
    return parameter;
}

FamilyParameter derived_parameter(std::string name, std::string formula, Index minimum, Index maximum,
                                  std::string meaning) {
    FamilyParameter parameter = integer_parameter(std::move(name), 0, minimum, maximum, std::move(meaning));
    parameter.default_value = std::move(formula);
    parameter.derived = true;
    return parameter;
}

FamilyParameter variant_parameter(std::vector<std::string> choices, std::string meaning) {
    FamilyParameter parameter;
    parameter.name = "variant";
    parameter.kind = ParameterKind::text;
    parameter.default_value = choices.front();
    parameter.meaning = std::move(meaning);
    parameter.choices = std::move(choices);
    return parameter;
}

FamilyParameter seed_parameter() {
    // Below 2^53 every integer is also a double, so the range is checked exactly.
    return integer_parameter("seed", 1, 0, (Index{1} << 53) - 1, "Seed of everything random in the problem.");
}

FamilyParameter horizon_parameter(Index default_value) {
    return integer_parameter("horizon", default_value, 1, max_horizon, "Steps of an episode.");
}

FamilyParameter only(std::vector<std::string> variants, FamilyParameter parameter) {
    parameter.variants = std::move(variants);
    return parameter;
}

}  // namespace alidade::detail
