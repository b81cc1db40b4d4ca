#include "alidade/formats/stored_rows.hpp"

#include "support/files.hpp"

namespace alidade::testing::stored_rows_test {
namespace {

/// Two base models that stay, or go on by one to three states; every third state is left at once.
RowSource walk(Index states) {
    RowSource rows{states, 2, {"slow", "fast"}, 3, {}};
    rows.make = [states]() -> RowSource::Row {
        return [states](Index pair, BaseRow& row) {
            const State state = pair / 2, next = (state + 1 + pair % 2) % states;
            if (state % 3 == 0)
                row = {{next}, {1, 1}};
            else
                row = {{next, state, (state + 3) % states}, {0.2, 0.5, 0.8, 0.25, 0, 0.25}};
        };
    };
    return rows;
}

TEST(StoredRows, AreTheMapThatTheRowsMakeInMemory) {
    const TemporaryFolder folder;
    // One block, some, and more than are made side by side.
    for (const Index states : {5, 1500, 20'000}) {
        const FeatureMap expected = FeatureMap::from_rows(walk(states));
        std::string bytes;
        for (const int threads : {1, 2, 4}) {
            EXPECT_EQ(*store_rows(walk(states), folder / "rows", threads), expected);
            const std::string now =
                bytes_of(folder / "rows/values.npy") + bytes_of(folder / "rows/offsets.npy");
            EXPECT_TRUE(bytes.empty() || now == bytes);
            bytes = now;
        }
    }
}

TEST(StoredRows, AreKeptByTheirMapWhenTheyAreReplaced) {
    const TemporaryFolder folder;
    const SharedFeatures first = store_rows(walk(50), folder / "rows");
    const SharedFeatures second = store_rows(walk(60), folder / "rows");
    EXPECT_EQ(*first, FeatureMap::from_rows(walk(50)));
    EXPECT_EQ(*second, FeatureMap::from_rows(walk(60)));
    EXPECT_NO_THROW(first->check_unchanged());
}

TEST(StoredRows, ThatAreRefusedReplaceNothing) {
    const TemporaryFolder folder;
    store_rows(walk(30'000), folder / "rows");
    RowSource bad = walk(30'000);
    bad.make = [good = bad.make]() -> RowSource::Row {
        return [row_of = good()](Index pair, BaseRow& row) {
            row_of(pair, row);
            if (pair == 50'001) row.probabilities[0] += 0.5;
        };
    };
    EXPECT_TRUE(says(refusal([&] { store_rows(bad, folder / "rows", 2); }),
                     {"slow: row of state 25000, action 1 sums to 1.5"}));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder / "rows")) ++files;
    EXPECT_EQ(files, 5U);
    RowSource none = walk(5);
    none.most_successors = 6;
    EXPECT_THROW(store_rows(none, folder / "none"), InvalidArgument);
    EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

}  // namespace
}  // namespace alidade::testing::stored_rows_test
