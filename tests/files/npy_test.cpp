#include "alidade/files/npy.hpp"

#include <cmath>
#include <limits>

#include "support/files.hpp"

namespace alidade::testing::npy_test {
namespace {

/// A version 1 file with the given header text, padded as little as possible, and data.
std::string file_with(const std::string& header, const std::string& data = "") {
    std::string bytes("\x93NUMPY\1\0", 8);
    bytes += static_cast<char>(header.size() & 0xFF);
    bytes += static_cast<char>(header.size() >> 8);
    return bytes + header + data;
}

std::string refused(const std::string& bytes) {
    return refusal([&] { detail::parse_npy(bytes, "m.npz: array 'x'"); });
}

TEST(Npy, ReadsTheBytesThatNumpyDocuments) {
    // 1.0 and -2.0 as IEEE 754 little-endian bytes, by hand.
    const std::string data("\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\x00\xC0", 16);
    const detail::NpyArray a =
        detail::parse_npy(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", data), "f");
    EXPECT_EQ(a.reals, (std::vector<double>{1, -2}));
    EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2}));
    EXPECT_EQ(a.kind(), detail::NpyKind::real);
}

TEST(Npy, ReadsTheThreeFormatVersions) {
    const std::string header = "{\"shape\":(),'descr':'<i4','fortran_order':False}\n", value("\7\0\0\0", 4);
    EXPECT_EQ(detail::parse_npy(file_with(header, value), "f").integers, std::vector<std::int64_t>{7});
    for (const char version : {'\2', '\3'}) {
        std::string bytes = "\x93NUMPY";
        bytes += {version, '\0', static_cast<char>(header.size()), '\0', '\0', '\0'};
        EXPECT_EQ(detail::parse_npy(bytes + header + value, "f").integers, std::vector<std::int64_t>{7});
    }
    EXPECT_TRUE(says(refused("\x93NUMPY\4\0\0\0\0\0"), {"not a .npy array"}));
    EXPECT_TRUE(says(refused(std::string("\x93NUMPY\4\0\0\0\0\0", 12)), {"version 4"}));
}

TEST(Npy, FortranOrderBecomesCOrder) {
    // Columns first: element (i, j) is 10 i + j.
    const std::string data("\0\12\1\13\2\14", 6);
    const detail::NpyArray a =
        detail::parse_npy(file_with("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", data), "f");
    EXPECT_EQ(a.integers, (std::vector<std::int64_t>{0, 1, 2, 10, 11, 12}));
}

TEST(Npy, WritingThenReadingIsTheIdentity) {
    const double tiny = std::numeric_limits<double>::denorm_min();
    const std::vector<detail::NpyArray> arrays{
        detail::NpyArray::of_reals({2, 3}, {0.1, -0.0, tiny, 1e308, 1.0 / 3, HUGE_VAL}),
        detail::NpyArray::of_reals({}, {0.5}),
        detail::NpyArray::of_reals({0, 4}, {}),
        detail::NpyArray::of_integers({3}, {INT64_MIN, 0, INT64_MAX}),
        detail::NpyArray::of_integers({1, 1, 2}, {-2147483648, 2147483647}, "<i4"),
        detail::NpyArray::of_integers({2}, {0, 4294967295}, "<u4"),
        detail::NpyArray::of_integers({2}, {0, INT64_MAX}, "<u8"),
        detail::NpyArray::of_integers({2}, {1, 0}, "|b1"),
        detail::NpyArray::of_text("csr"),
        detail::NpyArray::of_text(""),
    };
    for (const detail::NpyArray& array : arrays) {
        const std::string bytes = detail::format_npy(array);
        EXPECT_EQ(detail::parse_npy(bytes, "f"), array) << array.dtype;
        EXPECT_EQ((bytes.size() - array.reals.size() * 8) % 64, array.reals.empty() ? bytes.size() % 64 : 0u);
    }
}

TEST(Npy, ArraysThatDoNotFitTheirTypeAreNotWritten) {
    EXPECT_TRUE(
        says(refusal([] { detail::format_npy(detail::NpyArray::of_integers({1}, {4294967296}, "<i4")); }),
             {"4294967296"}));
    EXPECT_TRUE(
        says(refusal([] { detail::format_npy(detail::NpyArray::of_integers({1}, {-1}, "<u8")); }), {"-1"}));
    EXPECT_TRUE(says(refusal([] {
                         detail::format_npy(detail::NpyArray::of_reals({3}, {1, 2}));
                     }),
                     {"2 elements, not 3"}));
    EXPECT_TRUE(says(refusal([] { detail::format_npy(detail::NpyArray::of_reals({-1}, {})); }), {"absurd"}));
}

TEST(Npy, PicklesAreNeverLoaded) {
    EXPECT_TRUE(says(refused(file_with("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "\x80\4.")),
                     {"m.npz: array 'x'", "pickle"}));
}

TEST(Npy, BigEndianIsRefusedWithTheCure) {
    EXPECT_TRUE(says(refused(file_with("{'descr': '>f8', 'fortran_order': False, 'shape': ()}", "12345678")),
                     {"big-endian", "astype('<f8')"}));
}

TEST(Npy, OtherTypesAreRefusedWithTheCure) {
    for (const char* type :
         {"<c16", "<f2", "<f16", "<M8[ns]", "<i3", "|V8", "=f8", "<f", "<f8x", "<fx", "x8"})
        EXPECT_TRUE(says(
            refused(file_with(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ()}}", type))),
            {"m.npz: array 'x'", "astype('<f8')"}))
            << type;
    EXPECT_TRUE(says(refused(file_with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}")),
                     {"structured"}));
    EXPECT_TRUE(says(refused(file_with("{'descr': '|S1', 'fortran_order': False, 'shape': (2,)}", "ab")),
                     {"strings"}));
}

TEST(Npy, HeadersThatPromiseTooMuchAreRefused) {
    const auto shaped = [](const char* shape, const std::string& data) {
        return file_with(fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}}}", shape), data);
    };
    EXPECT_TRUE(says(refused(shaped("(3,)", "1234567812345678")), {"(3)", "16 bytes"}));
    EXPECT_TRUE(says(refused(shaped("(1,)", "1234567812345678")), {"16 bytes"}));
    EXPECT_TRUE(says(refused(shaped("(1000000000000,)", "")), {"0 bytes"}));
    for (const char* shape :
         {"(4294967296, 4294967296)", "(9223372036854775807, 2)", "(2305843009213693952,)"})
        EXPECT_TRUE(says(refused(shaped(shape, "")), {"absurd"})) << shape;
    for (const char* shape : {"(-1,)", "(9223372036854775808,)", "(1.5,)", "(x,)", "3", "[3]", "(3", "(3,,)"})
        EXPECT_TRUE(says(refused(shaped(shape, "")), {"damaged"})) << shape;
    std::string long_shape = "(";
    for (int i = 0; i < 33; ++i) long_shape += "1,";
    EXPECT_TRUE(says(refused(shaped((long_shape + ")").c_str(), "12345678")), {"32 dimensions"}));
}

TEST(Npy, DamagedHeadersAreRefused) {
    for (const char* header :
         {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}",
          "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (), 'more': 1}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': ()} x", "{'descr': '<f8",
          "{'de\\x73cr': '<f8'}"})
        EXPECT_TRUE(says(refused(file_with(header, "12345678")), {"m.npz: array 'x'", "header is damaged"}))
            << header;
    EXPECT_TRUE(says(refused(file_with("{}").substr(0, 11)), {"promises 2 bytes"}));
    EXPECT_TRUE(says(refused("PNG"), {"NUMPY"}));
}

TEST(Npy, TextIsReadAsUtf8) {
    const std::string gruen("g\0\0\0r\0\0\0\xFC\0\0\0n\0\0\0\0\0\0\0", 20);
    EXPECT_EQ(
        detail::parse_npy(file_with("{'descr': '<U5', 'fortran_order': False, 'shape': ()}", gruen), "f")
            .text,
        "gr\xC3\xBCn");
    EXPECT_TRUE(
        says(refused(file_with("{'descr': '<U1', 'fortran_order': False, 'shape': ()}", "\xFF\xFF\xFF\x7F")),
             {"0x7fffffff"}));
}

TEST(Npy, IntegersTooLargeAreRefused) {
    const std::string largest(8, '\xFF');
    EXPECT_TRUE(says(refused(file_with("{'descr': '<u8', 'fortran_order': False, 'shape': ()}", largest)),
                     {"18446744073709551615"}));
    EXPECT_TRUE(
        says(refusal([] { detail::NpyArray::of_integers({}, {INT64_MAX}).take_reals("f"); }), {"double"}));
    EXPECT_TRUE(says(refusal([] { detail::NpyArray::of_text("x").take_reals("f"); }), {"text"}));
}

}  // namespace
}  // namespace alidade::testing::npy_test
