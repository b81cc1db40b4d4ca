#include "alidade/model/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/error.hpp"

namespace alidade::grid_test {
namespace {

const Grid plane({{-1, 1, 4}, {0, 3, 3}});

TEST(Grid, NumbersItsCellsWithTheLastAxisFastest) {
    EXPECT_EQ(plane.cells(), 12);
    EXPECT_EQ(plane.dimensions(), 2);
    EXPECT_EQ(plane.cell_of(std::vector{-0.9, 0.5}), 0);
    EXPECT_EQ(plane.cell_of(std::vector{-0.9, 2.5}), 2);
    EXPECT_EQ(plane.cell_of(std::vector{-0.4, 0.5}), 3);
    EXPECT_EQ(plane.position(7), (std::vector<Index>{2, 1}));
    EXPECT_EQ(plane.centre(7), (std::vector{0.25, 1.5}));
    EXPECT_EQ(plane.bounds(7)[0].lower, 0);
    EXPECT_EQ(plane.bounds(7)[0].upper, 0.5);
    EXPECT_EQ(plane.bounds(7)[1].lower, 1);
    EXPECT_EQ(plane.bounds(7)[1].upper, 2);
}

TEST(Grid, PointsBeyondTheBoxBelongToTheNearestCell) {
    const double far = std::numeric_limits<double>::infinity();
    EXPECT_EQ(plane.cell_of(std::vector{-7.0, -7.0}), 0);
    EXPECT_EQ(plane.cell_of(std::vector{1.0, 3.0}), 11);
    EXPECT_EQ(plane.cell_of(std::vector{1e300, -far}), 9);
    EXPECT_EQ(plane.cell_of(std::vector{far, far}), 11);
}

TEST(Grid, ABorderBelongsToTheUpperCell) {
    const Grid line({{0, 1, 4}});
    EXPECT_EQ(line.cell_of(std::vector{0.25}), 1);
    EXPECT_EQ(line.cell_of(std::vector{std::nextafter(0.25, 0)}), 0);
}

TEST(Grid, EveryCentreLiesInItsCell) {
    for (const Grid& grid : {plane, Grid({{0, 1, 999}}), Grid({{0.1, 0.7, 7}, {-3, -2, 11}, {5, 6, 3}})})
        for (State cell = 0; cell < grid.cells(); ++cell) EXPECT_EQ(grid.cell_of(grid.centre(cell)), cell);
}

TEST(Grid, PointsOfACellAreSymmetricAndIncludeItsCorners) {
    const auto centre = plane.points(7, 1);
    ASSERT_EQ(centre.size(), 1u);
    EXPECT_EQ(centre[0], plane.centre(7));
    const auto corners = plane.points(7, 2);
    EXPECT_EQ(corners, (std::vector<std::vector<double>>{{0, 1}, {0, 2}, {0.5, 1}, {0.5, 2}}));
    for (const Index count : {3, 4}) {
        const auto points = plane.points(7, count);
        ASSERT_EQ(static_cast<Index>(points.size()), count * count);
        for (std::size_t axis = 0; axis < 2; ++axis) {
            double mean = 0;
            for (const auto& point : points) mean += point[axis] / static_cast<double>(points.size());
            EXPECT_NEAR(mean, plane.centre(7)[axis], 1e-15);
        }
    }
}

TEST(Grid, RefusesWhatIsNoGridOrNoPoint) {
    EXPECT_THROW(Grid({}), InvalidArgument);
    EXPECT_THROW(Grid({{1, 1, 2}}), InvalidArgument);
    EXPECT_THROW(Grid({{0, 1, 0}}), InvalidArgument);
    EXPECT_THROW(Grid({{0, std::numeric_limits<double>::infinity(), 2}}), InvalidArgument);
    EXPECT_THROW(Grid({{0, 1, 1 << 16}, {0, 1, 1 << 16}}), InvalidArgument);
    EXPECT_THROW(plane.cell_of(std::vector{0.0}), InvalidArgument);
    EXPECT_THROW(plane.cell_of(std::vector{0.0, std::nan("")}), InvalidArgument);
    EXPECT_THROW(plane.centre(12), InvalidArgument);
    EXPECT_THROW(plane.points(0, 0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::grid_test
