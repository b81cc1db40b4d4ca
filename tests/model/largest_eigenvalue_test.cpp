#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/model/spectrum.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::largest_eigenvalue_test {
namespace {

Matrix random_gram(Stream& random, Index p, Index rank, double spread) {
    Matrix sum = Matrix::Zero(p, p);
    for (Index j = 0; j < rank; ++j) {
        Vector x(p);
        for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
        sum += std::pow(spread, static_cast<double>(j)) * x * x.transpose();
    }
    return sum;
}

// Against the whole spectrum: never below it by more than rounding, and no farther above.
TEST(LargestEigenvalue, FromAboveIsThatOfTheSpectrum) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Stream random = support::test_stream(seed, 6);
        const Index p = 1 + sample_index(random, 12), rank = 1 + sample_index(random, 14);
        const double spread = seed % 4 == 0 ? 1.0 : (seed % 4 == 1 ? 0.1 : (seed % 4 == 2 ? 1e-6 : 3.0));
        Matrix gram = random_gram(random, p, rank, spread);
        if (seed % 5 == 0) gram *= 1e-130;
        if (seed % 5 == 1) gram *= 1e130;
        const double exact = detail::spectrum_of(gram).values.maxCoeff();
        Matrix scratch = gram;
        const double found = detail::largest_eigenvalue_from_above(scratch);
        EXPECT_GE(found, exact * (1 - 1e-13)) << seed;
        EXPECT_LE(found, exact * (1 + 1e-13)) << seed;
    }
}

TEST(LargestEigenvalue, IsFoundWhereManyAreEqual) {
    for (const Index p : {1, 2, 5, 9, 20}) {
        Matrix same = 3 * Matrix::Identity(p, p);
        EXPECT_NEAR(detail::largest_eigenvalue_from_above(same), 3, 1e-13);
        Matrix ones = Matrix::Ones(p, p);
        EXPECT_NEAR(detail::largest_eigenvalue_from_above(ones), static_cast<double>(p), 1e-12);
        Matrix nothing = Matrix::Zero(p, p);
        EXPECT_EQ(detail::largest_eigenvalue_from_above(nothing), 0);
        // Two that nearly agree.
        Matrix near = Matrix::Identity(p, p);
        near(0, 0) += 1e-9;
        EXPECT_NEAR(detail::largest_eigenvalue_from_above(near), 1 + 1e-9, 1e-13);
    }
}

TEST(LargestEigenvalue, OfWhatIsNotFiniteIsInfinite) {
    Matrix bad = Matrix::Identity(3, 3);
    bad(1, 2) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isinf(detail::largest_eigenvalue_from_above(bad)));
}

}  // namespace
}  // namespace alidade::largest_eigenvalue_test
