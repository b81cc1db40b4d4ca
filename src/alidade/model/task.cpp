#include "alidade/model/task.hpp"

#include <utility>

#include "alidade/error.hpp"

namespace alidade {

std::string to_string(Reach reach) {
    return reach == Reach::support ? "support" : "anywhere";
}

Reach parse_reach(std::string_view name) {
    if (name == to_string(Reach::support)) return Reach::support;
    expects(name == to_string(Reach::anywhere), "reach is '{}'; must be anywhere or support", name);
    return Reach::anywhere;
}

Task assuming(Task task, const AssumedError& assumed) {
    task.misspecification = assumed.misspecification.value_or(task.misspecification);
    task.reach = assumed.reach.value_or(task.reach);
    expects(task.misspecification >= 0 && task.misspecification < 1,
            "misspecification is {}; must be at least 0 and less than 1", task.misspecification);
    expects(task.linear == nullptr || task.misspecification == 0,
            "misspecification is {}; it must be 0 for a linear MDP, whose regressions do not allow for any",
            task.misspecification);
    return task;
}

}  // namespace alidade
