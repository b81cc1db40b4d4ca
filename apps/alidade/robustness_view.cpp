#include "caution_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "certificate_view.hpp"
#include "numbers.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

ordered_json to_json(const Caution& caution, const Shape& shape, const RewardScale& scale) {
    ordered_json object;
    object["model_value"] = value_in_unit(caution.model_value, shape, scale);
    object["optimal_model_value"] = value_in_unit(caution.optimal_model_value, shape, scale);
    object["cost"] = scale.scale * std::max(0.0, caution.cost());
    object["guaranteed"] = value_in_unit(caution.guaranteed, shape, scale);
    object["optimal_guaranteed"] = value_in_unit(caution.optimal_guaranteed, shape, scale);
    object["gain"] = scale.scale * caution.gain();
    return object;
}

std::string describe(const Caution& caution, const Shape& shape, const RewardScale& scale) {
    const auto value = [&](double v) { return value_in_unit(v, shape, scale); };
    return fmt::format(
        "  caution        costs {} if the model is right: it gives this plan {}, the optimal one {}\n"
        "                 gains {} of guarantee: {} against {} for the plan that is optimal in the model\n",
        rounded(scale.scale * std::max(0.0, caution.cost())), rounded(value(caution.model_value)),
        rounded(value(caution.optimal_model_value)), rounded(scale.scale * caution.gain()),
        lower_bound(value(caution.guaranteed)), lower_bound(value(caution.optimal_guaranteed)));
}

}  // namespace alidade::app
