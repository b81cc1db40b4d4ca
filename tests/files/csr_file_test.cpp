#include "alidade/files/csr_file.hpp"

#include <cmath>

#include "support/files.hpp"

namespace alidade::testing::csr_file_test {
namespace {

/// The matrix in tests/io/data: [[1/4, 3/4], [1, 0], [0, 1], [1/3, 2/3]].
BaseKernel sample() {
    return {"k", 4, 2, {0, 2, 3, 4, 6}, {0, 1, 0, 1, 0, 1}, {0.25, 0.75, 1, 1, 1.0 / 3, 2.0 / 3}};
}

/// The sample with one array replaced.
detail::NpzArrays with(const std::string& name, detail::NpyArray array) {
    detail::NpzArrays arrays = detail::csr_to_arrays(sample());
    arrays[name] = std::move(array);
    return arrays;
}

std::string refused(detail::NpzArrays arrays) {
    return refusal([&] { detail::csr_from_arrays(std::move(arrays), "base/k.npz"); });
}

detail::NpyArray integers(std::vector<std::int64_t> values) {
    return detail::NpyArray::of_integers({static_cast<std::int64_t>(values.size())}, values);
}

TEST(CsrFile, ReadsWhatScipyWrites) {
    for (const char* name : {"scipy_compressed.npz", "scipy_stored.npz", "scipy_array_int64.npz"}) {
        BaseKernel kernel = detail::read_csr(data(name));
        EXPECT_EQ(kernel.name, data(name).string());
        kernel.name = "k";
        EXPECT_EQ(kernel, sample()) << name;
    }
}

TEST(CsrFile, OtherSparseFormatsAreRefusedWithTheCure) {
    EXPECT_TRUE(says(refusal([] { detail::read_csr(data("scipy_coo.npz")); }),
                     {"scipy_coo.npz", "'coo'", "tocsr()"}));
}

TEST(CsrFile, WritingThenReadingIsTheIdentity) {
    const TemporaryFolder folder;
    for (const auto compression : {detail::NpzCompression::stored, detail::NpzCompression::deflated}) {
        detail::write_csr(folder / "k.npz", sample(), compression);
        BaseKernel kernel = detail::read_csr(folder / "k.npz");
        kernel.name = "k";
        EXPECT_EQ(kernel, sample());
    }
}

TEST(CsrFile, IndicesTake64BitsOnlyIfTheyMust) {
    EXPECT_EQ(detail::csr_to_arrays(sample()).at("indices").dtype, "<i4");
    BaseKernel wide = sample();
    wide.columns = Index{1} << 31;
    EXPECT_EQ(detail::csr_to_arrays(wide).at("indices").dtype, "<i8");
    EXPECT_EQ(detail::csr_to_arrays(wide).at("indptr").dtype, "<i8");
}

TEST(CsrFile, SpareRoomBehindTheLastRowIsIgnored) {
    detail::NpzArrays arrays = with("indices", integers({0, 1, 0, 1, 0, 1, 1}));
    arrays["data"] = detail::NpyArray::of_reals({7}, {0.25, 0.75, 1, 1, 1.0 / 3, 2.0 / 3, 9});
    EXPECT_EQ(detail::csr_from_arrays(arrays, "k"), sample());
}

TEST(CsrFile, ArraysThatAreNoMatrixAreRefused) {
    for (const char* name : {"indices", "indptr", "data", "shape", "format"}) {
        detail::NpzArrays arrays = detail::csr_to_arrays(sample());
        arrays.erase(name);
        EXPECT_TRUE(says(refused(arrays), {"base/k.npz", name, "missing"}));
    }
    EXPECT_TRUE(says(refused(with("format", integers({1}))), {"format", "'csr'"}));
    EXPECT_TRUE(says(refused(with("shape", integers({4}))), {"(4)", "(states*actions, states)"}));
    EXPECT_TRUE(says(refused(with("shape", integers({4, 0}))), {"(4, 0)"}));
    EXPECT_TRUE(says(refused(with("shape", integers({-4, 2}))), {"(-4, 2)"}));
    EXPECT_TRUE(says(refused(with("shape", integers({INT64_MAX, 2}))), {"indptr"}));
    EXPECT_TRUE(
        says(refused(with("shape", detail::NpyArray::of_reals({2}, {4, 2}))), {"'shape'", "integers"}));
    EXPECT_TRUE(says(refused(with("indptr", integers({0, 2, 3, 4}))), {"'indptr' has 4"}));
    EXPECT_TRUE(says(refused(with("indptr", integers({}))), {"'indptr' has 0"}));
    EXPECT_TRUE(says(refused(with("indptr", integers({1, 2, 3, 4, 6}))), {"starts at 1"}));
    EXPECT_TRUE(says(refused(with("indptr", integers({0, 3, 2, 4, 6}))), {"element 2 is 2", "from 3"}));
    EXPECT_TRUE(says(refused(with("indptr", integers({0, 2, 3, 4, 7}))), {"element 4 is 7"}));
    EXPECT_TRUE(says(refused(with("indptr", integers({0, -1, 3, 4, 6}))), {"element 1 is -1"}));
    EXPECT_TRUE(says(refused(with("indices", integers({0, 1, 0, 2, 0, 1}))), {"element 3 is 2", "0 to 1"}));
    EXPECT_TRUE(says(refused(with("indices", integers({0, -1, 0, 1, 0, 1}))), {"element 1 is -1"}));
    EXPECT_TRUE(says(refused(with("data", detail::NpyArray::of_reals({5}, {1, 1, 1, 1, 1}))),
                     {"6 elements", "has 5"}));
    EXPECT_TRUE(says(refused(with("data", detail::NpyArray::of_text("x"))), {"'data'", "numbers"}));
    EXPECT_TRUE(
        says(refused(with("data", detail::NpyArray::of_reals({2, 3}, {1, 1, 1, 1, 1, 1}))), {"2 dimension"}));
}

TEST(CsrFile, ARowThatDoesNotSumToOneIsNamedWithTheThreeWorst) {
    BaseKernel kernel = sample();
    detail::validate_rows(kernel, 2, "base/k.npz");
    kernel.probabilities[5] = 2.0 / 3 + 9e-10;
    detail::validate_rows(kernel, 2, "base/k.npz");
    kernel.probabilities = {0.247, 0.75, 1, 0.5, 1.0 / 3, 2.0 / 3};
    kernel.probabilities[2] = 1.125;
    kernel.probabilities[5] = 5.0 / 3;
    EXPECT_EQ(
        refusal([&] { detail::validate_rows(kernel, 2, "base/k.npz"); }),
        "base/k.npz: row of state 0, action 0 sums to 0.997 (must be 1 within 1e-9); the three worst rows "
        "are state 1, action 1: 2; state 1, action 0: 0.5; state 0, action 1: 1.125; fix the file or pass "
        "--normalise");
    kernel = sample();
    kernel.probabilities[3] = 0.5;
    EXPECT_TRUE(says(refusal([&] { detail::validate_rows(kernel, 2, "f"); }),
                     {"state 1, action 0 sums to 0.5", "only"}));
}

TEST(CsrFile, NumbersThatAreNoProbabilitiesAreNamed) {
    for (const double p : {-0.25, std::nan(""), HUGE_VAL}) {
        BaseKernel kernel = sample();
        kernel.probabilities[3] = p;
        EXPECT_TRUE(
            says(refusal([&] { detail::validate_rows(kernel, 2, "base/k.npz"); }),
                 {"base/k.npz", "probability of state 1, action 0 to state 1 is", fmt::format("{}", p)}));
        detail::normalise_rows(kernel);
        EXPECT_THROW(detail::validate_rows(kernel, 2, "f"), InvalidArgument);
    }
}

TEST(CsrFile, NormalisingScalesPositiveRowsAndOnlyThoseThatAreOff) {
    BaseKernel kernel = sample();
    kernel.probabilities = {1, 3, 1, 1, 1.0 / 3, 2.0 / 3};
    detail::normalise_rows(kernel);
    EXPECT_EQ(kernel, sample());
    kernel.probabilities[3] = 0;
    detail::normalise_rows(kernel);
    EXPECT_TRUE(
        says(refusal([&] { detail::validate_rows(kernel, 2, "f"); }), {"state 1, action 0 sums to 0 "}));
}

TEST(CsrFolder, IsTheKernelOfTheFile) {
    const TemporaryFolder folder;
    const BaseKernel kernel{"k", 4, 2, {0, 2, 3, 4, 6}, {0, 1, 0, 1, 0, 1}, {0.25, 0.75, 1, 1, 0.5, 0.5}};
    for (const char* const width : {"<i4", "<i8"}) {
        const auto put = [&](const char* name, const detail::NpyArray& array) {
            folder.write(fmt::format("k/{}.npy", name), detail::format_npy(array));
        };
        detail::NpzArrays arrays = detail::csr_to_arrays(kernel);
        arrays.at("indices").dtype = arrays.at("indptr").dtype = width;
        for (const char* name : {"indices", "indptr", "data", "shape"}) put(name, arrays.at(name));
        BaseKernel mapped = detail::copy_of(detail::map_csr(folder / "k"));
        mapped.name = "k";
        EXPECT_EQ(mapped, kernel);
        // Room behind the last row is not read.
        put("indices", detail::NpyArray::of_integers({7}, {0, 1, 0, 1, 0, 1, 0}, width));
        put("data", detail::NpyArray::of_reals({7}, {0.25, 0.75, 1, 1, 0.5, 0.5, 7}));
        mapped = detail::copy_of(detail::map_csr(folder / "k"));
        mapped.name = "k";
        EXPECT_EQ(mapped, kernel);
        const auto refused = [&](const char* name, const detail::NpyArray& array) {
            put(name, array);
            const std::string said = refusal([&] { detail::map_csr(folder / "k"); });
            put(name, arrays.at(name));
            return said;
        };
        put("indices", arrays.at("indices"));
        put("data", arrays.at("data"));
        EXPECT_TRUE(says(refused("indices", detail::NpyArray::of_integers({6}, {0, 1, 2, 1, 0, 1}, width)),
                         {"'indices' element 2 is 2", "0 to 1"}));
        EXPECT_TRUE(says(refused("indices", detail::NpyArray::of_integers({5}, {0, 1, 0, 1, 0}, width)),
                         {"5 elements and 'data' has 6"}));
        EXPECT_TRUE(says(refused("indptr", detail::NpyArray::of_integers({5}, {0, 2, 1, 4, 6}, width)),
                         {"'indptr' element 2 is 1"}));
        EXPECT_TRUE(says(refused("indptr", detail::NpyArray::of_integers({5}, {0, 2, 3, 4, 9}, width)),
                         {"'indptr' element 4 is 9"}));
        EXPECT_TRUE(says(refused("shape", detail::NpyArray::of_integers({1}, {4})), {"shape is (4)"}));
        EXPECT_TRUE(says(refused("data", detail::NpyArray::of_integers({6}, {1, 1, 1, 1, 1, 1})),
                         {"data.npy", "'<i8'", "astype('<f8')"}));
    }
    EXPECT_TRUE(says(refusal([&] { detail::map_csr(folder / "none"); }), {"no such folder", "indptr.npy"}));
}

}  // namespace
}  // namespace alidade::testing::csr_file_test
