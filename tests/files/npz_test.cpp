#include "alidade/files/npz.hpp"

#include "support/files.hpp"

namespace alidade::testing::npz_test {
namespace {

detail::NpzArrays sample() {
    detail::NpzArrays arrays;
    arrays.emplace("a", detail::NpyArray::of_reals({2, 2}, {0.1, 0.2, 0.3, 0.4}));
    arrays.emplace("long name_1", detail::NpyArray::of_integers({3}, {1, 2, 3}, "<i4"));
    arrays.emplace("t", detail::NpyArray::of_text("csr"));
    return arrays;
}

TEST(Npz, WritingThenReadingIsTheIdentity) {
    const TemporaryFolder folder;
    for (const auto compression : {detail::NpzCompression::stored, detail::NpzCompression::deflated}) {
        detail::write_npz(folder / "x.npz", sample(), compression);
        EXPECT_EQ(detail::read_npz(folder / "x.npz"), sample());
        EXPECT_EQ(bytes_of(folder / "x.npz"), detail::format_npz(sample(), compression));
        EXPECT_EQ(detail::parse_npz(detail::format_npz(sample(), compression), "x"), sample());
    }
}

TEST(Npz, CompressionCompresses) {
    detail::NpzArrays arrays;
    arrays.emplace("zeros", detail::NpyArray::of_reals({100000}, std::vector<double>(100000)));
    EXPECT_GT(detail::format_npz(arrays, detail::NpzCompression::stored).size(), 800000u);
    const std::string small = detail::format_npz(arrays);
    EXPECT_LT(small.size(), 8000u);
    EXPECT_EQ(detail::parse_npz(small, "x"), arrays);
}

TEST(Npz, ReadsWhatNumpyWrites) {
    const detail::NpzArrays arrays = detail::read_npz(data("numpy_kinds.npz"));
    EXPECT_EQ(arrays.size(), 8u);
    EXPECT_EQ(arrays.at("f4").reals, (std::vector<double>{0.5, -1.25}));
    EXPECT_EQ(arrays.at("fortran").reals, (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(arrays.at("fortran").shape, (std::vector<std::int64_t>{2, 3}));
    ASSERT_EQ(arrays.at("fortran3").integers.size(), 24u);
    for (std::size_t i = 0; i < 24; ++i)
        EXPECT_EQ(arrays.at("fortran3").integers[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(arrays.at("u4").integers, std::vector<std::int64_t>{4294967295});
    EXPECT_EQ(arrays.at("u8").integers, std::vector<std::int64_t>{7});
    EXPECT_TRUE(arrays.at("u8").shape.empty());
    EXPECT_EQ(arrays.at("b1").integers, (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(arrays.at("u").text, "gr\xC3\xBCn");
    EXPECT_EQ(arrays.at("empty").shape, (std::vector<std::int64_t>{0, 3}));
}

TEST(Npz, PicklesAndBigEndianAreRefusedWithFileAndArray) {
    EXPECT_TRUE(says(refusal([] { detail::read_npz(data("numpy_pickled.npz")); }),
                     {"numpy_pickled.npz: array 'x'", "pickle"}));
    EXPECT_TRUE(says(refusal([] { detail::read_npz(data("numpy_big_endian.npz")); }),
                     {"numpy_big_endian.npz: array 'x'", "big-endian", "astype"}));
}

TEST(Npz, ArraysOfOneNameAreRefused) {
    // Two stored members of equal length; the second is renamed to the first, in both places that name it.
    detail::NpzArrays arrays;
    arrays.emplace("aa", detail::NpyArray::of_reals({}, {1}));
    arrays.emplace("bb", detail::NpyArray::of_reals({}, {1}));
    std::string bytes = detail::format_npz(arrays, detail::NpzCompression::stored);
    for (std::size_t at = bytes.find("bb.npy"); at != std::string::npos; at = bytes.find("bb.npy"))
        bytes.replace(at, 2, "aa");
    EXPECT_TRUE(says(refusal([&] { detail::parse_npz(bytes, "x.npz"); }), {"x.npz", "'aa'", "twice"}));
}

TEST(Npz, DataThatFailTheirChecksumAreRefused) {
    std::string bytes = detail::format_npz(sample(), detail::NpzCompression::stored);
    const std::size_t header = bytes.find("{'descr': '<f8'");
    ASSERT_NE(header, std::string::npos);
    const std::size_t first = header - 10 + 128;  // the header is padded to 128 bytes
    bytes[first] = static_cast<char>(bytes[first] ^ 1);
    EXPECT_TRUE(says(refusal([&] { detail::parse_npz(bytes, "x.npz"); }), {"x.npz: array 'a'", "damaged"}));
}

TEST(Npz, FilesThatAreNotZipAreRefused) {
    const TemporaryFolder folder;
    EXPECT_TRUE(says(refusal([&] { detail::read_npz(folder / "none.npz"); }), {"none.npz", "no such file"}));
    EXPECT_TRUE(says(refusal([&] { detail::read_npz(folder.path()); }), {"is a folder"}));
    for (const char* text : {"", "P", "hello", "PK\3\4 but nothing else"})
        EXPECT_TRUE(says(refusal([&] { detail::read_npz(folder.write("x.npz", text)); }),
                         {"x.npz", "not a complete .npz file", "numpy.savez"}))
            << text;
}

TEST(Npz, AMissingArrayIsNamedWithThoseThatExist) {
    const detail::NpzArrays arrays = sample();
    EXPECT_EQ(detail::find_array(arrays, "t", "x.npz").text, "csr");
    EXPECT_TRUE(says(refusal([&] { detail::find_array(arrays, "data", "x.npz"); }),
                     {"x.npz", "'data' is missing", "a, long name_1, t"}));
}

TEST(Npz, AFileThatCannotBeWrittenIsNamed) {
    EXPECT_TRUE(says(refusal([] { detail::write_npz("/nowhere/at/all.npz", sample()); }),
                     {"/nowhere/at/all.npz", "cannot be written"}));
}

}  // namespace
}  // namespace alidade::testing::npz_test
