#include <gtest/gtest.h>

#include "alidade/files/archive_file.hpp"
#include "alidade/files/csr_file.hpp"
#include "alidade/formats/drn_file.hpp"
#include "alidade/formats/explicit_npz.hpp"
#include "alidade/formats/gym_file.hpp"
#include "alidade/formats/model_npz.hpp"
#include "alidade/formats/prism_file.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/formats/umb_file.hpp"
#include "support/files.hpp"

namespace alidade::testing::base_files_test {
namespace {

/// Two states and two actions.
const BaseKernel kernel{"k", 4, 2, {0, 2, 3, 4, 6}, {0, 1, 0, 1, 0, 1}, {0.25, 0.75, 1, 1, 0.625, 0.375}};

/// The same as an explicit model.
ExplicitModel model_of_kernel() {
    ExplicitModel model;
    model.header.states = 2;
    model.header.choices = 4;
    model.header.branches = 6;
    model.header.initial_states = {0};
    model.states.resize(2);
    model.states[0] = {{}, {-1, -1}, {0, 2, 3}, {0, 1, 0}, {0.25, 0.75, 1}, {}, {}, {}, {}};
    model.states[1] = {{}, {-1, -1}, {0, 1, 3}, {1, 0, 1}, {1, 0.625, 0.375}, {}, {}, {}, {}};
    return model;
}

std::string problem_with(const std::string& file) {
    return fmt::format(
        "[problem]\nname = \"p\"\nhorizon = 3\ninitial_state = 0\n[[base]]\nfile = \"{}\"\n[[base]]\nfile = "
        "\"k.npz\"\n",
        file);
}

TEST(BaseFiles, GiveTheSameKernelInEveryFormat) {
    const TemporaryFolder folder;
    const ExplicitModel model = model_of_kernel();
    const RowsOfModel rows(model);
    detail::write_csr(folder / "k.npz", kernel);
    detail::write_drn(folder / "k.drn", rows);
    detail::write_gym(folder / "k.json", rows);
    detail::write_umb(folder / "k.umb", rows);
    detail::write_prism(folder / "k.tra", rows);
    detail::write_prism(folder / "storm.tra", rows, detail::PrismDialect::storm);
    detail::write_explicit_npz(folder / "explicit.npz", rows);
    detail::ArchiveWriter packed(folder / "packed.drn.gz", detail::Packing::tar_gzip);
    packed.add("model.drn", bytes_of(folder / "k.drn"));
    packed.close();
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, {&kernel, 1}));
    const MixtureModel homogeneous(features, 3, StartLaw(0), Matrix::Ones(1, 1));
    write_dense_npz(folder / "dense.npz", homogeneous);
    write_csr_npz(folder / "csr.npz", homogeneous);
    for (const char* const file : {"k.drn", "packed.drn.gz", "k.json", "k.umb", "k.tra", "storm.tra",
                                   "explicit.npz", "dense.npz", "csr.npz"}) {
        const auto path = folder.write("problem.toml", problem_with(file));
        const Problem problem = load_problem(path.string());
        ASSERT_EQ(problem.features().features(), 2);
        const BaseKernel first = problem.features().base_kernel(0),
                         second = problem.features().base_kernel(1);
        EXPECT_EQ(first.name, std::string_view(file).substr(0, std::string_view(file).find('.')));
        EXPECT_EQ(first.offsets, second.offsets) << file;
        EXPECT_EQ(first.targets, second.targets) << file;
        EXPECT_EQ(first.probabilities, second.probabilities) << file;
    }
}

std::string refused(const TemporaryFolder& folder, const char* file) {
    detail::write_csr(folder / "k.npz", kernel);
    const auto path = folder.write("problem.toml", problem_with(file));
    return refusal([&] { load_problem(path.string()); });
}

TEST(BaseFiles, AreRefusedWhereStatesHaveDifferentActions) {
    const TemporaryFolder folder;
    folder.write("m.tra", "2 3 3\n0 0 0 1\n0 1 1 1\n1 0 1 1\n");
    EXPECT_TRUE(says(refused(folder, "m.tra"), {"m.tra", "state 1", "1 choices", "state 0 has 2"}));
}

TEST(BaseFiles, AreRefusedWhereTheyAreNotOneLaw) {
    const TemporaryFolder folder;
    folder.write("m.tra", "2 2 2\n0 0 0 [0.5,1]\n1 0 1 1\n");
    EXPECT_TRUE(says(refused(folder, "m.tra"), {"m.tra", "intervals"}));
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, {&kernel, 1}));
    const MixtureModel steps(features, 3, StartLaw(0), Matrix::Ones(3, 1));
    write_dense_npz(folder / "dense.npz", steps);
    EXPECT_TRUE(says(refused(folder, "dense.npz"), {"dense.npz", "3 steps"}));
    write_csr_npz(folder / "csr.npz", steps);
    EXPECT_TRUE(says(refused(folder, "csr.npz"), {"csr.npz", "several steps"}));
    EXPECT_TRUE(says(refused(folder, "m.pickle"), {"problem.toml:6", "m.pickle", ".drn"}));
    EXPECT_TRUE(says(refused(folder, "none.umb"), {"none.umb", "no such file"}));
}

TEST(BaseFiles, AreNormalisedOnDemand) {
    const TemporaryFolder folder;
    detail::write_csr(folder / "k.npz", kernel);
    folder.write("m.tra", "2 4 4\n0 0 0 0.5\n0 1 0 1\n1 0 0 1\n1 1 1 1\n");
    const auto path = folder.write("problem.toml", problem_with("m.tra"));
    EXPECT_TRUE(says(refusal([&] { load_problem(path.string()); }), {"m.tra", "0.5"}));
    EXPECT_EQ(load_problem(path.string(), {.normalise = true}).features().base_kernel(0).probabilities[0], 1);
}

}  // namespace
}  // namespace alidade::testing::base_files_test
