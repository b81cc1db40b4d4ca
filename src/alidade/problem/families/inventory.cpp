#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "alidade/error.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// The chance of each demand 0 .. capacity, normalised.
using DemandLaw = std::vector<double>;

DemandLaw normalised(DemandLaw law) {
    const double total = std::accumulate(law.begin(), law.end(), 0.0);
    for (double& chance : law) chance /= total;
    return law;
}

/// Each demand's chance from the one before: p(k) = ratio(k) p(k-1), p(0) = 1 before normalising.
template <class Ratio>
DemandLaw law_by_ratio(Index capacity, Ratio ratio) {
    DemandLaw law{1.0};
    for (Index k = 1; k <= capacity; ++k) law.push_back(law.back() * ratio(static_cast<double>(k)));
    return normalised(std::move(law));
}

DemandLaw bursty_law(Index capacity) {
    DemandLaw law;
    for (Index k = 0; k <= capacity; ++k) {
        const double burst = (static_cast<double>(k) - 14) / 2, calm = static_cast<double>(k) - 2;
        law.push_back(std::exp(-burst * burst / 2) + 0.6 * std::exp(-calm * calm / 2));
    }
    return normalised(std::move(law));
}

/// In the order of the base models: steady, busy, geometric, bursty.
std::vector<DemandLaw> demand_laws(Index capacity) {
    return {law_by_ratio(capacity, [](double k) { return 3 / k; }),
            law_by_ratio(capacity, [](double k) { return 9 / k; }),
            law_by_ratio(capacity, [](double) { return 0.8; }), bursty_law(capacity)};
}

struct Warehouse {
    Index capacity;
    std::vector<Index> orders;

    Index states() const { return capacity + 1; }
    Index actions() const { return static_cast<Index>(orders.size()); }
    /// Units on the shelf before demand comes; what does not fit is not delivered.
    Index shelf(State stock, Action a) const {
        return std::min(capacity, stock + orders[static_cast<std::size_t>(a)]);
    }
};

SharedFeatures warehouse_features(const Warehouse& house, const std::vector<DemandLaw>& laws) {
    KernelSet kernels(house.states(), house.actions(), {"steady", "busy", "geometric", "bursty"},
                      house.states());
    for (State stock = 0; stock < house.states(); ++stock) {
        for (Action a = 0; a < house.actions(); ++a) {
            const Index shelf = house.shelf(stock, a);
            for (std::size_t i = 0; i < laws.size(); ++i) {
                double sold_out = 0;
                for (Index k = house.capacity; k >= shelf; --k)
                    sold_out += laws[i][static_cast<std::size_t>(k)];
                kernels.add(static_cast<Index>(i), 0, sold_out);
                for (Index left = 1; left <= shelf; ++left)
                    kernels.add(static_cast<Index>(i), left, laws[i][static_cast<std::size_t>(shelf - left)]);
            }
            kernels.end_pair();
        }
    }
    return kernels.features();
}

std::vector<NamedReward> warehouse_rewards(const Warehouse& house, const std::vector<DemandLaw>& laws,
                                           const Shape& shape) {
    std::vector<double> service, room, balanced;
    for (State stock = 0; stock < house.states(); ++stock) {
        for (Action a = 0; a < house.actions(); ++a) {
            const Index shelf = house.shelf(stock, a);
            double met = 0;
            for (const DemandLaw& law : laws)
                met += std::accumulate(law.begin(), law.begin() + shelf + 1, 0.0);
            service.push_back(std::min(1.0, met / static_cast<double>(laws.size())));
            room.push_back(1 - static_cast<double>(shelf) / static_cast<double>(house.capacity));
            const double rest = house.orders[static_cast<std::size_t>(a)] == 0 ? 1.0 : 0.0;
            balanced.push_back((2 * service.back() + room.back() + rest) / 4);
        }
    }
    return {
        {"service-level",
         "The chance that all demand can be met from y = min(capacity, stock + order), averaged over the "
         "four demand laws.",
         Reward(shape, std::move(service))},
        {"holding-cost", "One minus the share of the shelf that is full after ordering: 1 - y / capacity.",
         Reward(shape, std::move(room))},
        {"balanced",
         "Half for service-level, a quarter for holding-cost, a quarter for a day without an order: worth "
         "planning ahead for.",
         Reward(shape, std::move(balanced))}};
}

Problem make_inventory(const FamilyArguments& arguments) {
    const Warehouse house{arguments.integer("capacity"), arguments.integers("orders")};
    const auto disorder =
        std::adjacent_find(house.orders.begin(), house.orders.end(), std::greater_equal<>());
    expects(disorder == house.orders.end(),
            "builtin:inventory: parameter 'orders' is '{}'; the orders must be ascending and distinct",
            arguments.text("orders"));
    const State start = arguments.integer_or("start", house.capacity / 2);
    expects(start <= house.capacity,
            "builtin:inventory: parameter 'start' is {}; it must be at most the capacity, {}", start,
            house.capacity);
    const std::vector<DemandLaw> laws = demand_laws(house.capacity);

    ProblemDescription parts;
    parts.name = "inventory";
    parts.features = warehouse_features(house, laws);
    parts.horizon = arguments.integer("horizon");
    parts.start = StartLaw(start);
    parts.truth = draw_weights(arguments, parts.horizon, static_cast<Index>(laws.size()));
    for (State stock = 0; stock < house.states(); ++stock)
        parts.state_names.push_back(fmt::format("stock {}", stock));
    for (Index order : house.orders) parts.action_names.push_back(fmt::format("order {}", order));
    parts.rewards = warehouse_rewards(house, laws, {house.states(), house.actions(), parts.horizon});
    return Problem(std::move(parts));
}

FamilyParameter orders_parameter() {
    FamilyParameter parameter = integer_parameter(
        "orders", 0, 0, 1000, "Order sizes to choose from, in units, ascending; one action each.");
    parameter.kind = ParameterKind::integer_list;
    parameter.default_value = "0,4,8,12,16";
    return parameter;
}

}  // namespace

Family inventory_family() {
    return {"inventory",
            "A warehouse that orders stock before an unknown demand: a mixture of four demand laws.",
            {
                integer_parameter("capacity", 20, 1, 1000, "Units that fit on the shelf."),
                orders_parameter(),
                horizon_parameter(7),
                derived_parameter("start", "capacity / 2, rounded down", 0, 1000,
                                  "Units in stock at the start, at most the capacity."),
                seed_parameter(),
            },
            make_inventory};
}

}  // namespace alidade::detail
