#include "robustness_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "certificate_view.hpp"
#include "numbers.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

ordered_json to_json(const PriceOfRobustness& price, const Shape& shape, const RewardScale& scale) {
    ordered_json object;
    object["model_value"] = value_in_unit(price.model_value, shape, scale);
    object["optimal_model_value"] = value_in_unit(price.optimal_model_value, shape, scale);
    object["cost"] = scale.scale * std::max(0.0, price.cost());
    object["guaranteed"] = value_in_unit(price.guaranteed, shape, scale);
    object["optimal_guaranteed"] = value_in_unit(price.optimal_guaranteed, shape, scale);
    object["gain"] = scale.scale * price.gain();
    return object;
}

std::string describe(const PriceOfRobustness& price, const Shape& shape, const RewardScale& scale) {
    const auto value = [&](double v) { return value_in_unit(v, shape, scale); };
    return fmt::format(
        "  robustness     costs {} if the model is right: it gives this plan {}, the optimal one {}\n"
        "                 gains {} of guarantee: {} against {} for the plan that is optimal in the model\n",
        rounded(scale.scale * std::max(0.0, price.cost())), rounded(value(price.model_value)),
        rounded(value(price.optimal_model_value)), rounded(scale.scale * price.gain()),
        lower_bound(value(price.guaranteed)), lower_bound(value(price.optimal_guaranteed)));
}

}  // namespace alidade::app
