#include "alidade/files/spool.hpp"

#include <gtest/gtest.h>

#include "support/files.hpp"

namespace alidade::testing::spool_test {
namespace {

TEST(Spool, GivesBackWhatWasAppendedAsOftenAsAsked) {
    const TemporaryFolder folder;
    // Nothing, a little, exactly what fits memory, and several times that.
    for (const std::int64_t count : {0, 5, 1 << 17, 500'000}) {
        detail::Spool spool(folder / "out");
        for (std::int64_t i = 0; i < count; ++i) spool.append_value(i * i);
        EXPECT_EQ(spool.size(), 8 * count);
        for (int time = 0; time < 3; ++time) {
            spool.rewind();
            // The second time only a part.
            for (std::int64_t i = 0; i < (time == 1 ? count / 2 : count); ++i)
                ASSERT_EQ(spool.read_value<std::int64_t>(), i * i);
            char byte = 0;
            EXPECT_EQ(spool.read(&byte, 1) == 0, time != 1 || count == 0);
        }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Spool, NamesTheOutputThatCannotBeWritten) {
    detail::Spool spool("/no/such/folder/out");
    const std::string block(1 << 20, 'x');
    EXPECT_TRUE(says(refusal([&] { spool.append(block.data(), block.size()); }), {"/no/such/folder/out"}));
}

}  // namespace
}  // namespace alidade::testing::spool_test
