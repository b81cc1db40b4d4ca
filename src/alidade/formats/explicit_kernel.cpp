#include "explicit_kernel.hpp"

#include <algorithm>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

bool has_start_state(const ExplicitModel& model) {
    if (model.states.size() < 2) return false;
    const auto last = static_cast<std::int64_t>(model.states.size()) - 1;
    const bool labelled = std::ranges::any_of(model.states.back().labels, [&](std::int32_t label) {
        return model.header.labels[static_cast<std::size_t>(label)] == "start";
    });
    return labelled && std::ranges::none_of(model.states, [&](const ExplicitState& row) {
               return std::ranges::find(row.targets, last) != row.targets.end();
           });
}

}  // namespace

BaseKernel base_kernel_of(const ExplicitModel& model, std::string_view where) {
    expects(model.header.kind == BranchKind::point,
            "{}: its transitions are {}; a base model must have one probability for each", where,
            model.header.kind == BranchKind::interval ? "intervals" : "functions of parameters");
    expects(!model.states.empty(), "{}: has no states", where);
    const std::size_t states = model.states.size() - (has_start_state(model) ? 1 : 0);
    const Index actions = model.states[0].choices();
    BaseKernel kernel;
    kernel.rows = static_cast<Index>(states) * actions;
    kernel.columns = static_cast<Index>(states);
    kernel.offsets.push_back(0);
    for (std::size_t s = 0; s < states; ++s) {
        const ExplicitState& row = model.states[s];
        expects(row.choices() == actions,
                "{}: state {} has {} choices and state 0 has {}; in a base model every state must have the "
                "same actions",
                where, s, row.choices(), actions);
        const auto before = static_cast<std::int64_t>(kernel.targets.size());
        kernel.targets.insert(kernel.targets.end(), row.targets.begin(), row.targets.end());
        kernel.probabilities.insert(kernel.probabilities.end(), row.lower.begin(), row.lower.end());
        for (std::size_t k = 1; k < row.offsets.size(); ++k)
            kernel.offsets.push_back(before + row.offsets[k]);
    }
    return kernel;
}

}  // namespace alidade::detail
