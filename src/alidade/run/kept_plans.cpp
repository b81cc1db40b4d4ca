#include "kept_plans.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "alidade/spec/printable_text.hpp"
#include "run_arrays.hpp"
#include "run_tables.hpp"

namespace alidade::detail {

namespace {

using run_tables::Values;
using sqlite::Database;

constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::size_t longest_name = 100;

/// What belongs to one plan, without its name.
struct StoredPlan {
    Values values;
    std::map<std::pair<std::int64_t, std::string>, double> methods;  ///< by position and name
};

template <class T>
T value_of(const StoredPlan& plan, const std::string& key) {
    const auto found = plan.values.find(key);
    const T* const value = found == plan.values.end() ? nullptr : std::get_if<T>(&found->second);
    if (value == nullptr) throw sqlite::Error(SQLITE_CORRUPT, fmt::format("table kept: no {}", key));
    return *value;
}

template <class Map>
const auto& array_of(const Map& arrays, const std::string& name) {
    const auto found = arrays.find(name);
    if (found == arrays.end())
        throw sqlite::Error(SQLITE_CORRUPT, fmt::format("table kept_arrays: no {}", printable(name)));
    return found->second;
}

void add_values(const KeptPlan& plan, Values& values) {
    const auto put = [&](const std::string& key, run_tables::Value value) {
        values[plan.name + "/" + key] = std::move(value);
    };
    const RewardCertificate& claim = plan.certificate;
    put("reward", plan.reward_name);
    put("scale", plan.reward.scale.scale);
    put("offset", plan.reward.scale.offset);
    put("planner", plan.planner);
    put("episodes", plan.episodes);
    put("value_lower", claim.value.lower);
    put("value_upper", claim.value.upper);
    put("optimal_upper", claim.optimal_upper);
    put("loss_bound", claim.loss_bound);
    put("vacuous", std::int64_t{claim.vacuous});
    put("delta", claim.failure_probability);
    for (std::size_t i = 0; i < claim.methods.size(); ++i)
        put(fmt::format("methods/{:03}/{}", i, claim.methods[i].first), claim.methods[i].second);
}

void add_arrays(const KeptPlan& plan, Snapshot& arrays) {
    arrays.numbers[plan.name + "/reward"] = plan.reward.reward.values();
    if (plan.policy.is_deterministic()) {
        const auto& actions = plan.policy.actions();
        arrays.integers[plan.name + "/policy"] = {actions.begin(), actions.end()};
    } else {
        arrays.numbers[plan.name + "/policy"] = plan.policy.probabilities();
    }
}

/// The rows by plan. Names have no slash.
std::map<std::string, StoredPlan> stored_plans(const Values& values) {
    std::map<std::string, StoredPlan> plans;
    for (const auto& [key, value] : values) {
        const std::size_t slash = key.find('/');
        const std::string what = slash == std::string::npos ? "" : key.substr(slash + 1);
        StoredPlan& plan = plans[key.substr(0, slash)];
        constexpr std::string_view methods = "methods/";
        if (!what.starts_with(methods)) {
            plan.values[what] = value;
            continue;
        }
        const std::string method = what.substr(methods.size());
        std::int64_t position = 0;
        const char* const end = method.data() + method.size();
        const char* const after = std::from_chars(method.data(), end, position).ptr;
        const auto* const bound = std::get_if<double>(&value);
        if (after == end || *after != '/' || bound == nullptr)
            throw sqlite::Error(SQLITE_CORRUPT, fmt::format("table kept: {} is no method", printable(key)));
        plan.methods[{position, std::string(after + 1, end)}] = *bound;
    }
    return plans;
}

Policy stored_policy(const Snapshot& arrays, const std::string& name, const Shape& shape) {
    if (const auto actions = arrays.integers.find(name); actions != arrays.integers.end()) {
        std::vector<std::int32_t> chosen;
        for (const std::int64_t action : actions->second)
            chosen.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(action, -1, 1 << 30)));
        return Policy::deterministic(shape, std::move(chosen));
    }
    return Policy::stochastic(shape, array_of(arrays.numbers, name));
}

KeptPlan plan_of(const std::string& name, const StoredPlan& stored, const Snapshot& arrays,
                 const Shape& shape) {
    RewardCertificate claim;
    claim.value = {value_of<double>(stored, "value_lower"), value_of<double>(stored, "value_upper")};
    claim.optimal_upper = value_of<double>(stored, "optimal_upper");
    claim.loss_bound = value_of<double>(stored, "loss_bound");
    claim.vacuous = value_of<std::int64_t>(stored, "vacuous") != 0;
    claim.failure_probability = value_of<double>(stored, "delta");
    for (const auto& [place, bound] : stored.methods) claim.methods.emplace_back(place.second, bound);
    return {name,
            value_of<std::string>(stored, "reward"),
            {Reward(shape, array_of(arrays.numbers, name + "/reward")),
             {value_of<double>(stored, "scale"), value_of<double>(stored, "offset")}},
            value_of<std::string>(stored, "planner"),
            stored_policy(arrays, name + "/policy", shape),
            std::move(claim),
            value_of<std::int64_t>(stored, "episodes")};
}

}  // namespace

}  // namespace alidade::detail

namespace alidade {

bool is_plan_name(std::string_view name) {
    return !name.empty() && name.size() <= detail::longest_name && name.front() != '.' &&
           name.find_first_not_of(detail::name_letters) == std::string_view::npos;
}

}  // namespace alidade

namespace alidade::detail {

void require_keepable(const KeptPlan& plan, const Shape& shape) {
    expects(
        is_plan_name(plan.name),
        "a plan cannot be kept as '{}'; a name has 1 to {} letters, digits, '.', '_' or '-', and does not "
        "begin with '.'",
        printable(plan.name), longest_name);
    expects(plan.reward.reward.shape() == shape && plan.policy.shape() == shape,
            "the plan '{}' is not of the run's problem: its shape must be {} states, {} actions, horizon {}",
            plan.name, shape.states, shape.actions, shape.horizon);
}

void write_kept_plans(Database& database, const std::vector<KeptPlan>& plans) {
    Values values;
    Snapshot arrays;
    for (const KeptPlan& plan : plans) {
        add_values(plan, values);
        add_arrays(plan, arrays);
    }
    if (!run_tables::has_table(database, "kept")) run_tables::add_values_table(database, "kept");
    if (!run_tables::has_table(database, "kept_arrays")) run_tables::add_array_table(database, "kept_arrays");
    run_tables::write_values(database, "kept", values);
    run_tables::Written nothing_known;
    run_tables::write_record(database, "kept_arrays", arrays, nothing_known);
}

std::vector<KeptPlan> read_kept_plans(const Database& database, const Shape& shape) {
    if (!run_tables::has_table(database, "kept")) return {};
    const Snapshot arrays = run_tables::read_record(database, "kept_arrays", false);
    std::vector<KeptPlan> plans;
    try {
        for (const auto& [name, stored] : stored_plans(run_tables::read_values(database, "kept")))
            plans.push_back(plan_of(name, stored, arrays, shape));
    } catch (const InvalidArgument& error) {
        throw sqlite::Error(SQLITE_CORRUPT, printable(error.what()));
    }
    return plans;
}

}  // namespace alidade::detail
