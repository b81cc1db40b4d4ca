#include "alidade/explore/task.hpp"

namespace alidade {

Task task_of(const Problem& problem) {
    return {problem.shared_features(), problem.shape().horizon, problem.start(), problem.homogeneous(),
            problem.misspecification()};
}

}  // namespace alidade
