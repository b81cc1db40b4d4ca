#include "relaxation.hpp"

#include <algorithm>
#include <limits>

#include "../confidence/pair_widths.hpp"
#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "error_recursion.hpp"

namespace alidade::detail {

namespace {

void require_joint_problem(const JointProblem& problem, const RelaxationOptions& options) {
    const Shape shape = problem.task.shape();
    const Index parts =
        problem.task.homogeneous ? std::min<Index>(1, shape.learned_steps()) : shape.learned_steps();
    expects(problem.coordinates != nullptr && static_cast<Index>(problem.parts.size()) == parts &&
                static_cast<Index>(problem.clips.size()) == shape.learned_steps(),
            "a joint problem with {} parts and {} clips; must have {} and {}, and coordinates",
            problem.parts.size(), problem.clips.size(), parts, shape.learned_steps());
    expects(options.spans.empty() || static_cast<Index>(options.spans.size()) == shape.horizon + 1,
            "{} spans for {} steps; must be one more", options.spans.size(), shape.horizon);
}

/// max over 0 <= V <= most of the least of several norms of phi_V: no more than the least of their maxima.
class SecondBonus {
public:
    SecondBonus(const JointProblem& problem, const WidthOptions& widths)
        : widths_(*problem.task.features, *problem.coordinates, widths) {}

    double operator()(const JointPart& part, Index pair, const std::vector<double>& most) {
        if (part.second.empty()) return 0;
        double least = std::numeric_limits<double>::infinity();
        for (const Matrix& metric : part.second) least = std::min(least, widths_.within(pair, metric, most));
        return part.second_radius * least;
    }

private:
    PairWidths widths_;
};

/// The largest expectation of a value over a set, and over laws that are the misspecification off it.
class LargestExpectation {
public:
    explicit LargestExpectation(const Task& task) : task_(task) {}

    double operator()(const ConfidenceSet& set, Index pair, const std::vector<double>& value) const {
        const Vector direction = task_.features->phi_value(pair, value);
        const double most = *std::ranges::max_element(value);
        // Values are not negative, so a law that is off by so much in total variation adds no more than that
        // share of the largest.
        const double upper =
            set.range({direction.data(), at(direction.size())}).upper + task_.misspecification * most;
        return std::clamp(upper, 0.0, most);
    }

private:
    const Task& task_;
};

}  // namespace

ErrorRecursion relaxation(const JointProblem& problem, const RelaxationOptions& options) {
    require_joint_problem(problem, options);
    const Task& task = problem.task;
    const Shape shape = task.shape();
    std::vector<Matrix> firsts;
    for (const JointPart& part : problem.parts) firsts.push_back(part.first);
    WidthTable computed(static_cast<Index>(firsts.size()), *task.features);
    if (!options.first)
        bracket_widths(*task.features, *problem.coordinates, firsts, options.widths, options.threads,
                       computed);
    const WidthTable& widths = options.first ? *options.first : computed;
    const LargestExpectation largest(task);
    const auto make = [&] {
        return [&, second = SecondBonus(problem, options.widths)](Step h, Index pair,
                                                                  const std::vector<double>& next) mutable {
            const JointPart& part = problem.part(h);
            const auto after = static_cast<double>(shape.steps_after(h));
            const double span = options.spans.empty() ? after : std::min(after, options.spans[at(h + 1)]);
            // V^ varies by `span` at most. In coordinates of the hull a constant does not count; in those of
            // R^d it does, and there V^ may be anything in [0, H-1-h].
            const double range = problem.coordinates->centred() ? span : after;
            const double width = widths.upper_of(problem.part_index(h))[at(pair)];
            const double first = range * part.first_radius * width + task.misspecification * span;
            return std::min(problem.clips[at(h)],
                            first + second(part, pair, next) + largest(part.set, pair, next));
        };
    };
    return run_backwards(shape, options.threads, make, uncapped);
}

double relaxed_value(const JointProblem& problem, const ErrorRecursion& relaxed) {
    const Vector first = relaxed.values.row(0).transpose();
    return problem.task.start.expect({first.data(), at(first.size())});
}

double relaxation_certificate(const JointProblem& problem, const ErrorRecursion& relaxed) {
    const double value = relaxed_value(problem, relaxed);
    return value > 0 ? 2 * value + rounding_slack(problem.task.horizon) : 0.0;
}

void add_candidate(RewardFreeCertificate& certificate, const std::string& name, double bound, Index horizon) {
    const bool least = std::ranges::all_of(certificate.candidates,
                                           [&](const auto& candidate) { return bound < candidate.second; });
    certificate.candidates.emplace_back(name, bound);
    const double clipped = std::min(bound, static_cast<double>(horizon));
    certificate.any_plan = std::min(certificate.any_plan, clipped);
    if (!least) return;
    certificate.method = name;
    certificate.vacuous = bound >= static_cast<double>(horizon);
    certificate.bound = std::min(bound, static_cast<double>(horizon));
}

}  // namespace alidade::detail
