#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "eigenvalue_kernel.hpp"
#include "spectrum.hpp"

namespace alidade::detail {

double largest_eigenvalue_from_above(Matrix& matrix) {
    const Index p = matrix.rows();
    if (p == 0) return 0;
    if (!matrix.allFinite()) return std::numeric_limits<double>::infinity();
    // To the scale of one, exactly, so that no square leaves the range of numbers. The diagonal has the
    // largest elements, as there is no negative eigenvalue.
    const double most = matrix.diagonal().maxCoeff();
    if (!(most > 0)) return matrix.cwiseAbs().maxCoeff() > 0 ? std::numeric_limits<double>::infinity() : 0;
    const int exponent = std::ilogb(most);
    matrix *= std::ldexp(1.0, -exponent / 2);
    matrix *= std::ldexp(1.0, -exponent + exponent / 2);
    std::vector<double> room(at(3 * p));
    return std::ldexp(largest_eigenvalue_above(matrix.data(), p, room.data()), exponent);
}

}  // namespace alidade::detail
