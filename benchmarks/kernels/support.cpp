// Answers support-function questions that arrive as JSON lines, for reference/support_compare.py. A line is
//   {"features": d, "ellipsoids": [{"centre": [..], "factor": [[..], ..], "radius": r}, ..],
//    "direction": [..], "repeats": n}
// about convex weights, ellipsoids in tangent coordinates. The answer has both ends and the median time.
#include "alidade/convex/support.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace alidade {
namespace {

using Json = nlohmann::json;

Vector vector_of(const Json& values) {
    const auto numbers = values.get<std::vector<double>>();
    return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

Ellipsoid ellipsoid_of(const Json& given) {
    Ellipsoid result;
    result.centre = vector_of(given.at("centre"));
    const Index p = result.centre.size();
    result.factor.resize(p, p);
    for (Index i = 0; i < p; ++i)
        result.factor.row(i) = vector_of(given.at("factor")[static_cast<std::size_t>(i)]).transpose();
    result.radius = given.at("radius").get<double>();
    return result;
}

Json answer(const Json& question) {
    std::vector<Ellipsoid> ellipsoids;
    for (const Json& given : question.at("ellipsoids")) ellipsoids.push_back(ellipsoid_of(given));
    const SupportFunction support(ParameterSet::simplex(question.at("features").get<Index>()), ellipsoids);
    const auto direction = question.at("direction").get<std::vector<double>>();
    SupportBracket bracket;
    std::vector<double> times(question.value("repeats", std::size_t{11}));
    for (double& time : times) {
        const auto start = std::chrono::steady_clock::now();
        bracket = support.bracket(direction);
        time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return {
        {"microseconds", times[times.size() / 2]},
        {"lower", bracket.lower},
        {"upper", bracket.upper},
        {"exact", bracket.status == SupportStatus::exact},
        {"converged", bracket.status == SupportStatus::exact || bracket.status == SupportStatus::converged}};
}

}  // namespace
}  // namespace alidade

int main() {
    try {
        for (std::string line; std::getline(std::cin, line);)
            std::cout << alidade::answer(nlohmann::json::parse(line)).dump() << std::endl;
    } catch (const std::exception& error) {
        fmt::print(stderr, "support: {}\n", error.what());
        return 1;
    }
}
