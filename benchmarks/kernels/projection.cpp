// Times projections that arrive as JSON lines, for reference/qp_compare.py. A line is
//   {"factor": [[..], ..], "estimate": [..], "normals": [[..], ..], "constants": [..], "repeats": n}
// and asks for the point nearest to `estimate` of {x : normals x + constants >= 0} in the metric
// factor factor'; with "simplex": true for the simplex of d = |estimate| + 1 weights. The answer has the
// point in tangent coordinates, the median time and the residuals.
#include "alidade/convex/projection.hpp"

#include <fmt/core.h>

#include <Eigen/Cholesky>
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

/// Weights (1, x): for each constraint one state whose first successor has probability normal . x + constant
/// and whose second has the rest; the rest is not negative wherever |normal . x + constant| <= 1.
ParameterSet set_of(const Json& question, Index p) {
    if (question.value("simplex", false)) return ParameterSet::simplex(p + 1);
    const Json& normals = question.at("normals");
    const Vector constants = vector_of(question.at("constants"));
    SignedFeatures data{constants.size(), 1, p + 1, {0}, {}, {}, 1e3};
    for (Index i = 0; i < constants.size(); ++i) {
        const Vector normal = vector_of(normals[static_cast<std::size_t>(i)]);
        for (const double sign : {1.0, -1.0}) {
            data.targets.push_back(sign > 0 ? 0 : 1);
            data.values.push_back(sign > 0 ? constants[i] : 1 - constants[i]);
            for (const double value : normal) data.values.push_back(sign * value);
        }
        data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
    }
    return ParameterSet::polytope(FeatureMap::from_features(data));
}

Json answer(const Json& question) {
    const Vector given = vector_of(question.at("estimate"));
    const Index p = given.size();
    const ParameterSet parameters = set_of(question, p);
    // A polytope's own basis is a rotation of the question's coordinates.
    Matrix rotation = Matrix::Identity(p, p);
    if (parameters.kind() == ParameterSetKind::polytope) rotation = parameters.space().basis.bottomRows(p);
    Matrix factor(p, p);
    for (Index i = 0; i < p; ++i)
        factor.row(i) = vector_of(question.at("factor")[static_cast<std::size_t>(i)]).transpose();
    if (parameters.kind() == ParameterSetKind::polytope) {
        const Matrix turned = rotation.transpose() * factor;
        factor = (turned * turned.transpose()).llt().matrixL();
    }
    const Vector estimate = rotation.transpose() * given;
    Projection projection;
    std::vector<double> times(question.value("repeats", std::size_t{21}));
    for (double& time : times) {
        // Reading the clock takes a tenth of the shortest: read it once for several.
        constexpr int several = 8;
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < several; ++i) projection = project(parameters, estimate, factor);
        time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
               several;
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    const Vector point = rotation * projection.coordinates;
    return {{"microseconds", times[times.size() / 2]},
            {"residual", projection.residual},
            {"kkt_residual", projection.kkt_residual},
            {"violation", projection.violation},
            {"active", projection.active},
            {"point", std::vector<double>(point.begin(), point.end())}};
}

}  // namespace
}  // namespace alidade

int main() {
    try {
        for (std::string line; std::getline(std::cin, line);)
            std::cout << alidade::answer(nlohmann::json::parse(line)).dump() << std::endl;
    } catch (const std::exception& error) {
        fmt::print(stderr, "projection: {}\n", error.what());
        return 1;
    }
}
