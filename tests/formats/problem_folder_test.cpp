#include "alidade/formats/problem_folder.hpp"

#include "alidade/files/csr_file.hpp"
#include "alidade/files/npy.hpp"
#include "alidade/files/npz.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run_record.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::problem_folder_test {
namespace {

constexpr const char* minimal = R"([problem]
name = "p"
horizon = 3
initial_state = 0
[[base]]
file = "k.npz"
[environment]
weights = "truth.json"
)";

/// A folder with one base model, `k.npz`, and its truth.
class Folder : public TemporaryFolder {
public:
    explicit Folder(std::string_view text = minimal) {
        write("problem.toml", text);
        write("k.npz", bytes_of(data("scipy_stored.npz")));
        write("truth.json", R"({"weights": [[1], [1], [1]]})");
    }
    Problem load(const LoadOptions& options = {}) const { return load_problem(path().string(), options); }
    std::string refused() const {
        return refusal([&] { load(); });
    }
};

/// `minimal` with `what` replaced.
std::string with(std::string_view what, std::string_view by) {
    std::string text = minimal;
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
}

std::string refused(std::string_view what, std::string_view by) {
    return Folder(with(what, by)).refused();
}

TEST(ProblemFolder, SavingThenLoadingIsTheIdentity) {
    for (const ProblemDescription& parts : {small_description(), signed_description()}) {
        const TemporaryFolder folder;
        const Problem problem(parts);
        save_problem(problem, folder / "new/p");
        EXPECT_TRUE(same(load_problem((folder / "new/p").string()), problem));
        EXPECT_TRUE(same(load_problem((folder / "new/p/problem.toml").string()), problem));
        save_problem(problem, folder / "new/p");
        EXPECT_TRUE(same(load_problem((folder / "new/p").string()), problem));
    }
}

TEST(ProblemFolder, ProblemsWithoutOptionalPartsSurviveToo) {
    const TemporaryFolder folder;
    ProblemDescription parts = small_description();
    parts.truth.reset();
    parts.rewards.clear();
    parts.target = {};
    parts.state_names.clear();
    parts.action_names.clear();
    parts.start = StartLaw(1);
    save_problem(Problem(parts), folder / "p");
    EXPECT_TRUE(same(load_problem((folder / "p").string()), Problem(parts)));
    EXPECT_FALSE(std::filesystem::exists(folder / "p/truth.json"));
}

TEST(ProblemFolder, AMisspecificationSurvivesAndNoneMeansZero) {
    const TemporaryFolder folder;
    ProblemDescription parts = small_description();
    for (const double zeta : {0.0, 0.02, 1.0 / 3, 1e-300}) {
        parts.misspecification = zeta;
        save_problem(Problem(parts), folder / "p");
        EXPECT_EQ(load_problem((folder / "p").string()).misspecification(), zeta);
    }
    EXPECT_EQ(Folder().load().misspecification(), 0);
    EXPECT_EQ(Folder(with("horizon = 3", "horizon = 3\nmisspecification = 0")).load().misspecification(), 0);
    EXPECT_EQ(Folder(with("horizon = 3", "horizon = 3\nmisspecification = 0.02")).load().misspecification(),
              0.02);
    for (const char* zeta : {"1", "-0.1", "1.5"})
        EXPECT_TRUE(says(refused("horizon = 3", fmt::format("horizon = 3\nmisspecification = {}", zeta)),
                         {"problem.toml:4: [problem] misspecification is", "less than 1"}));
}

TEST(ProblemFolder, EveryFamilySurvives) {
    for (const Family& family : families()) {
        const TemporaryFolder folder;
        const Problem problem = load_problem("builtin:" + family.name);
        save_problem(problem, folder / "p");
        EXPECT_TRUE(same(load_problem((folder / "p").string()), problem)) << family.name;
        if (problem.is_linear()) continue;
        save_problem(problem, folder / "mapped", {.mapped = true});
        EXPECT_TRUE(same(load_problem((folder / "mapped").string()), problem)) << family.name;
    }
}

TEST(ProblemFolder, ForeignPartsOfTruthsSurvive) {
    for (const Family& family : families())
        for (const char* law : {"random", "lowest"}) {
            const Problem plain = load_problem("builtin:" + family.name);
            const TemporaryFolder folder;
            const Problem problem =
                load_problem(fmt::format("builtin:{}?foreign=0.05&foreign_law={}", family.name, law));
            save_problem(problem, folder / "p");
            const Problem read = load_problem((folder / "p").string());
            // Rows that sum to one up to rounding only are as they were written.
            EXPECT_TRUE(same(read, problem)) << family.name;
            EXPECT_EQ(problem_hash(read), problem_hash(plain)) << "the hash is of what may be known";
        }
}

TEST(ProblemFolder, RefusesForeignPartsThatDoNotFit) {
    const TemporaryFolder folder;
    save_problem(load_problem("builtin:riverswim?foreign=0.05"), folder / "p");
    const auto refusal_of = [&](const std::string& truth) {
        std::ifstream file(folder / "p/truth.json");
        std::string text((std::istreambuf_iterator<char>(file)), {});
        text.replace(text.find("{\"share\""), std::string::npos, truth);
        std::ofstream(folder / "p/truth2.json") << text;
        std::ifstream toml(folder / "p/problem.toml");
        std::string all((std::istreambuf_iterator<char>(toml)), {});
        all.replace(all.find("truth.json"), 10, "truth2.json");
        std::filesystem::copy(folder / "p", folder / "q", std::filesystem::copy_options::recursive);
        std::ofstream(folder / "q/problem.toml") << all;
        std::string said;
        try {
            load_problem((folder / "q").string());
        } catch (const InvalidArgument& error) {
            said = error.what();
        }
        std::filesystem::remove_all(folder / "q");
        return said;
    };
    EXPECT_EQ(refusal_of(R"({"share": 0.05, "file": "foreign.npz"}})"), "");
    EXPECT_TRUE(
        says(refusal_of(R"({"share": 0, "file": "foreign.npz"}})"), {"\"share\": is 0", "at most 1"}));
    EXPECT_TRUE(says(refusal_of(R"({"share": 1.5, "file": "foreign.npz"}})"), {"\"share\": is 1.5"}));
    EXPECT_TRUE(says(refusal_of(R"({"share": 0.05}})"), {"truth2.json", "file"}));
    EXPECT_TRUE(says(refusal_of(R"({"share": 0.05, "file": "none.npz"}})"), {"none.npz"}));
    EXPECT_TRUE(says(refusal_of(R"({"share": 0.05, "file": "foreign.npz", "law": 1}})"), {"law"}));
}

TEST(ProblemFolder, MappedFeaturesAreTheSameProblem) {
    for (const ProblemDescription& parts : {small_description(), signed_description()}) {
        const TemporaryFolder folder;
        const Problem problem(parts);
        save_problem(problem, folder / "p", {.mapped = true});
        EXPECT_FALSE(std::filesystem::exists(folder / "p/base"));
        const Problem mapped = load_problem((folder / "p").string());
        EXPECT_TRUE(same(mapped, problem));
        EXPECT_EQ(problem_hash(mapped), problem_hash(problem));
        // Over itself, while it is mapped.
        save_problem(mapped, folder / "p", {.mapped = true});
        EXPECT_TRUE(same(load_problem((folder / "p").string()), problem));
        EXPECT_TRUE(same(mapped, problem));
    }
    const TemporaryFolder folder;
    EXPECT_THROW(save_problem(Problem(linear_description()), folder / "p", {.mapped = true}),
                 InvalidArgument);
}

TEST(ProblemFolder, RowsOfMappedFeaturesAreScaledInACopy) {
    const TemporaryFolder folder;
    const Problem problem(small_description());
    save_problem(problem, folder / "p", {.mapped = true});
    const FeatureMap& map = problem.features();
    std::vector<double> values(map.values().begin(), map.values().end());
    for (double& value : values) value *= 0.5;
    folder.write("p/features/values.npy", detail::format_npy(detail::NpyArray::of_reals(
                                              {map.entries(), map.features()}, std::move(values))));
    const std::string path = (folder / "p").string();
    EXPECT_TRUE(says(refusal([&] { load_problem(path); }), {"p/features", "state 0, action 0 sums to 0.5"}));
    EXPECT_TRUE(same(load_problem(path, {.normalise = true}), problem));
}

TEST(ProblemFolder, AFolderOfFeaturesSaysWhatTheyAre) {
    const TemporaryFolder folder;
    save_problem(Problem(small_description()), folder / "p", {.mapped = true});
    const std::string text = bytes_of(folder / "p/problem.toml");
    const auto refused_with = [&](std::string_view what, std::string_view by) {
        std::string changed = text;
        const auto place = changed.find(what);
        EXPECT_NE(place, std::string::npos) << what;
        folder.write("p/problem.toml", changed.replace(place, what.size(), by));
        return refusal([&] { load_problem((folder / "p").string()); });
    };
    EXPECT_TRUE(
        says(refused_with("base_models = [", "base_models = [\"third\", "), {"3 names", "2 base models"}));
    EXPECT_TRUE(says(refused_with("base_models", "norm_bound = 2\nbase_models"), {"both", "'norm_bound'"}));
    EXPECT_TRUE(says(refused_with("folder = ", "file = \"x.npz\"\nfolder = "), {"both 'file' and 'folder'"}));
    EXPECT_TRUE(says(refused_with("folder = \"features\"\n", ""), {"[features]", "'file' is missing"}));
    EXPECT_TRUE(says(refused_with("folder = ", "file = "), {"'folder'", "[[base]]"}));
    EXPECT_TRUE(says(refused_with("\"features\"", "\"elsewhere\""), {"elsewhere", "no such folder"}));
}

TEST(ProblemFolder, KernelsInFoldersAreTheSameProblem) {
    const Folder folder(with("file = \"k.npz\"", "folder = \"k\""));
    const detail::NpzArrays arrays = detail::read_npz(folder / "k.npz");
    for (const char* name : {"indices", "indptr", "data", "shape"})
        folder.write(fmt::format("k/{}.npy", name), detail::format_npy(arrays.at(name)));
    EXPECT_TRUE(same(folder.load(), Folder().load()));
    EXPECT_TRUE(same(folder.load({.normalise = true}), Folder().load()));
    std::vector<double> halves = arrays.at("data").reals;
    for (double& value : halves) value *= 0.5;
    const auto count = static_cast<std::int64_t>(halves.size());
    folder.write("k/data.npy", detail::format_npy(detail::NpyArray::of_reals({count}, std::move(halves))));
    EXPECT_TRUE(says(folder.refused(), {"/k: row of state 0, action 0 sums to 0.5"}));
    EXPECT_TRUE(same(folder.load({.normalise = true}), Folder().load()));
}

TEST(ProblemFolder, ReadsTheDocumentedGrammar) {
    const Folder folder(R"([problem]
name = "warehouse"
horizon = 2
initial = [[0, 0.5], [1, 0.5]]
homogeneous = true
state_names = ["a", "b"]
[[base]]
name = "steady demand"
file = "k.npz"
[[base]]
file = "k.npz"
[environment]
weights = "truth.json"
[target]
epsilon = 1
delta = 0.1
episodes = 1_000_000
)");
    folder.write("truth.json", R"({"weights": [[0.25, 0.75]]})");
    const Problem problem = folder.load();
    EXPECT_EQ(problem.name(), "warehouse");
    EXPECT_EQ(problem.shape(), (Shape{2, 2, 2}));
    EXPECT_EQ(problem.start(), StartLaw({{0, 0.5}, {1, 0.5}}));
    EXPECT_EQ(problem.features().names(), (std::vector<std::string>{"steady demand", "k"}));
    EXPECT_EQ(problem.state_name(1), "b");
    EXPECT_EQ(problem.target().epsilon, 1.0);
    EXPECT_EQ(problem.target().episodes, 1'000'000);
    EXPECT_TRUE(problem.homogeneous());
    EXPECT_EQ((*problem.truth())(0, 1), 0.75);
}

TEST(ProblemFolder, BuiltinProblemsComeFromTheCatalogue) {
    EXPECT_TRUE(
        same(load_problem("builtin:garnet?states=4&seed=3"), make_builtin("builtin:garnet?states=4&seed=3")));
    EXPECT_TRUE(environment_command("builtin:garnet").empty());
}

TEST(ProblemFolder, TheCommandOfTheEnvironmentIsRead) {
    const Folder folder(with("weights = \"truth.json\"", "command = [\"./plant\", \"--serve\"]"));
    EXPECT_EQ(environment_command(folder.path().string()), (std::vector<std::string>{"./plant", "--serve"}));
    EXPECT_FALSE(folder.load().truth().has_value());
    EXPECT_TRUE(environment_command(Folder().path().string()).empty());
    const Folder empty(with("weights = \"truth.json\"", "command = []"));
    EXPECT_TRUE(
        says(refusal([&] { environment_command(empty.path().string()); }), {"problem.toml:8", "empty"}));
    EXPECT_TRUE(
        says(refused("[environment]", "[environment]\ncommand = [\"x\"]"), {"problem.toml:8", "both"}));
}

TEST(ProblemFolder, WhoRunsTheSystemIsRead) {
    const Folder folder(
        with("weights = \"truth.json\"",
             "weights = \"truth.json\"\nsystem = \"cmd:./plant\"\nworkers = 3\ntimeout = 0.5"));
    const ProblemSystem said = problem_system(folder.path().string());
    EXPECT_EQ(said.system, "cmd:./plant");
    EXPECT_EQ(said.workers, 3);
    EXPECT_EQ(said.timeout, 0.5);
    EXPECT_EQ(said.folder, std::filesystem::absolute(folder.path()));
    EXPECT_TRUE(folder.load().truth().has_value())
        << "it may be known, and run by somebody else all the same";
    EXPECT_TRUE(problem_system(Folder().path().string()).system.empty());
    EXPECT_TRUE(problem_system("builtin:garnet").system.empty());
    const auto refused_system = [](const char* line) {
        const Folder wrong(with("weights = \"truth.json\"", line));
        return refusal([&] { problem_system(wrong.path().string()); });
    };
    EXPECT_TRUE(says(refused_system("workers = 0"), {"workers", "1 to 1024"}));
    EXPECT_TRUE(says(refused_system("timeout = -1"), {"timeout", "greater than 0"}));
    EXPECT_TRUE(says(refused_system("system = \"cmd:x\"\ncommand = [\"x\"]"), {"both"}));
}

TEST(ProblemFolder, WhatIsNotThereIsNamed) {
    const TemporaryFolder folder;
    EXPECT_TRUE(says(refusal([&] { load_problem((folder / "no").string()); }),
                     {"/no", "no such problem", "builtin:"}));
    EXPECT_TRUE(says(refusal([&] { load_problem(folder.path().string()); }), {"no problem.toml"}));
    EXPECT_TRUE(says(refused("\"k.npz\"", "\"none.npz\""), {"none.npz", "no such file"}));
    EXPECT_TRUE(says(refused("\"truth.json\"", "\"none.json\""), {"none.json", "no such file"}));
}

TEST(ProblemFolder, UnknownKeysAreRefusedWithTheirLine) {
    EXPECT_TRUE(
        says(refused("horizon", "horizont"), {"problem.toml:3: unknown key 'horizont' in [problem]"}));
    EXPECT_TRUE(says(refused("[[base]]", "[[base]]\nweight = 1"),
                     {"problem.toml:6: unknown key 'weight'", "name, file"}));
    EXPECT_TRUE(says(refused("[environment]", "[enviroment]"), {"problem.toml:7: unknown key 'enviroment'"}));
    EXPECT_TRUE(
        says(refused("weights", "weight"), {"problem.toml:8: unknown key 'weight' in [environment]"}));
    EXPECT_TRUE(says(refused("[environment]", "[target]\neps = 1\n[environment]"),
                     {"problem.toml:8: unknown key 'eps'"}));
    EXPECT_TRUE(says(refused("[environment]", "[[reward]]\nid = 1\n[environment]"),
                     {"problem.toml:8: unknown key 'id'"}));
}

TEST(ProblemFolder, MissingKeysAreNamed) {
    EXPECT_TRUE(says(Folder("").refused(), {"problem.toml", "'problem' is missing"}));
    EXPECT_TRUE(says(refused("name = \"p\"\n", ""), {"problem.toml:1: [problem]", "'name' is missing"}));
    EXPECT_TRUE(says(refused("horizon = 3\n", ""), {"problem.toml:1: [problem]", "'horizon' is missing"}));
    EXPECT_TRUE(says(refused("initial_state = 0\n", ""), {"problem.toml:1: [problem] has neither"}));
    EXPECT_TRUE(says(refused("initial_state = 0\n", "initial_state = 0\ninitial = [[0, 1.0]]\n"), {"both"}));
    EXPECT_TRUE(says(refused("file = \"k.npz\"\n", ""), {"problem.toml:5: [[base]]", "'file' is missing"}));
    EXPECT_TRUE(says(refused("[[base]]\nfile = \"k.npz\"\n", ""),
                     {"problem.toml", "none of [[base]], [features] and [linear]"}));
    EXPECT_TRUE(
        says(refused("[environment]", "[features]\nfile = \"f.npz\"\nnorm_bound = 1.0\n[environment]"),
             {"more than one of"}));
}

TEST(ProblemFolder, ValuesOfTheWrongTypeAreNamedWithTheirLine) {
    EXPECT_TRUE(says(refused("\"p\"", "3"), {"problem.toml:2: [problem] name is 3", "string"}));
    EXPECT_TRUE(
        says(refused("horizon = 3", "horizon = \"3\""), {"problem.toml:3: [problem] horizon is", "integer"}));
    EXPECT_TRUE(says(refused("horizon = 3", "horizon = 3.5"), {"problem.toml:3", "3.5", "integer"}));
    EXPECT_TRUE(
        says(refused("horizon = 3", "horizon = 3\nhomogeneous = 1"), {"problem.toml:4", "true or false"}));
    EXPECT_TRUE(says(refused("[[base]]", "[base]"), {"problem.toml:5", "[[base]]"}));
    EXPECT_TRUE(says(refused("[problem]", "[[problem]]"), {"problem.toml", "[problem]"}));
    EXPECT_TRUE(says(refused("horizon = 3", "horizon = 3\nstate_names = [1, 2]"),
                     {"problem.toml:4", "element 0 is 1"}));
    EXPECT_TRUE(says(refused("horizon = 3", "horizon = 3\nstate_names = \"x\""), {"problem.toml:4", "list"}));
    EXPECT_TRUE(says(refused("[[base]]\nfile = \"k.npz\"", "[features]\nfile = \"f\"\nnorm_bound = \"1\""),
                     {"problem.toml:7", "number"}));
    EXPECT_TRUE(says(refused("horizon", "horizon ="), {"problem.toml:3:", "not valid TOML"}));
}

TEST(ProblemFolder, ValuesOutOfRangeAreNamedWithTheirLine) {
    EXPECT_TRUE(
        says(refused("horizon = 3", "horizon = 0"), {"problem.toml:3: [problem] horizon is 0", "from 1"}));
    EXPECT_TRUE(
        says(refused("initial_state = 0", "initial_state = 2"), {"problem.toml:4", "is 2", "0 to 1"}));
    EXPECT_TRUE(says(refused("initial_state = 0", "initial_state = -1"), {"problem.toml:4", "is -1"}));
    EXPECT_TRUE(says(refused("initial_state = 0", "initial = [[0, 0.5], [2, 0.5]]"),
                     {"problem.toml:4", "state 2", "0 to 1"}));
    EXPECT_TRUE(says(refused("initial_state = 0", "initial = [[0, 0.5], [1, 0.4]]"),
                     {"problem.toml:4", "sums to 0.9"}));
    EXPECT_TRUE(says(refused("initial_state = 0", "initial = []"), {"problem.toml:4", "empty"}));
    EXPECT_TRUE(
        says(refused("initial_state = 0", "initial = [0, 1]"), {"problem.toml:4", "[state, probability]"}));
    EXPECT_TRUE(says(refused("initial_state = 0", "initial = [[0, \"x\"]]"), {"problem.toml:4", "number"}));
    EXPECT_TRUE(says(refused("initial_state = 0", "initial = [[0, nan]]"), {"problem.toml:4", "finite"}));
    for (const char* delta : {"0", "1", "-0.5", "1.5", "0.0"})
        EXPECT_TRUE(says(refused("[environment]", fmt::format("[target]\ndelta = {}\n[environment]", delta)),
                         {"problem.toml:8: [target] delta is", "between 0 and 1"}));
    for (const char* epsilon : {"0", "3.5", "-1"})
        EXPECT_TRUE(
            says(refused("[environment]", fmt::format("[target]\nepsilon = {}\n[environment]", epsilon)),
                 {"problem.toml:8: [target] epsilon is", "at most the horizon, 3"}));
    EXPECT_TRUE(
        says(refused("[environment]", "[target]\nepisodes = 0\n[environment]"), {"problem.toml:8", "is 0"}));
    EXPECT_TRUE(says(refused("horizon = 3", "horizon = 3\nstate_names = [\"a\"]"),
                     {"problem.toml:4", "1 names", "2"}));
    EXPECT_TRUE(says(refused("horizon = 3", "horizon = 3\naction_names = [\"a\", \"a\"]"),
                     {"problem.toml", "\"a\""}));
    EXPECT_TRUE(says(refused("[[base]]\nfile = \"k.npz\"", "[features]\nfile = \"f\"\nnorm_bound = 0.5"),
                     {"problem.toml:7", "0.5", "at least 1"}));
}

TEST(ProblemFolder, BaseFilesThatDoNotFitTogetherAreNamed) {
    const Folder folder(with("[environment]", "[[base]]\nfile = \"other.npz\"\n[environment]"));
    detail::write_csr(folder / "other.npz", {"", 2, 2, {0, 1, 2}, {0, 1}, {1, 1}});
    EXPECT_TRUE(says(folder.refused(), {"other.npz: shape is (2, 2)", "k.npz has (4, 2)"}));
    detail::write_csr(folder / "other.npz", {"", 3, 2, {0, 1, 2, 3}, {0, 1, 1}, {1, 1, 1}});
    EXPECT_TRUE(says(folder.refused(), {"other.npz: shape is (3, 2)", "multiple"}));
    EXPECT_TRUE(says(refused("\"k.npz\"", "\"k.txt\""), {"problem.toml:6", "k.txt", ".npz"}));
}

TEST(ProblemFolder, ARowThatDoesNotSumToOneIsNamedAndCanBeNormalised) {
    const Folder folder;
    detail::write_csr(folder / "k.npz",
                      {"", 4, 2, {0, 2, 3, 4, 6}, {0, 1, 0, 1, 0, 1}, {1, 3, 1, 1, 0.5, 0.497}});
    EXPECT_TRUE(says(folder.refused(), {"k.npz: row of state 0, action 0 sums to 4 (must be 1 within 1e-9)",
                                        "state 1, action 1: 0.997", "--normalise"}));
    const Problem problem = folder.load({.normalise = true});
    EXPECT_EQ(problem.features().base_kernel(0).probabilities,
              (std::vector<double>{0.25, 0.75, 1, 1, 0.5 / 0.997, 0.497 / 0.997}));
    detail::write_csr(folder / "k.npz",
                      {"", 4, 2, {0, 2, 3, 4, 6}, {0, 1, 0, 1, 0, 1}, {1, 3, 1, 1, -0.5, 1.5}});
    EXPECT_TRUE(
        says(refusal([&] { folder.load({.normalise = true}); }), {"k.npz", "state 1, action 1", "-0.5"}));
}

TEST(ProblemFolder, WeightsThatDoNotFitAreNamed) {
    const Folder folder;
    const auto told = [&](std::string_view text) {
        folder.write("truth.json", text);
        return folder.refused();
    };
    EXPECT_TRUE(says(told("{}"), {"truth.json", "\"weights\" is missing"}));
    EXPECT_TRUE(says(told(R"({"weights": [[1]]})"), {"truth.json", "1 rows; must have 3"}));
    EXPECT_TRUE(says(told(R"({"weights": [[1], [1], 1]})"), {"truth.json: weights of step 2", "list"}));
    EXPECT_TRUE(says(told(R"({"weights": [[1], [1, 0], [1]]})"), {"step 1", "2 numbers; must have 1"}));
    EXPECT_TRUE(says(told(R"({"weights": [[1], ["a"], [1]]})"), {"step 1, number 0: is \"a\""}));
    EXPECT_TRUE(says(told(R"({"weights": [[1], [1], [0.5]]})"), {"truth.json", "step 2"}));
    EXPECT_TRUE(says(told(R"({"weight": []})"), {"truth.json", "unknown key \"weight\""}));
}

TEST(ProblemFolder, RewardsThatDoNotFitAreNamed) {
    const Folder folder(with("[environment]", "[[reward]]\nname = \"r\"\nfile = \"r.json\"\n[environment]"));
    EXPECT_TRUE(says(folder.refused(), {"r.json", "no such file"}));
    folder.write("r.json", R"({"default": 1.5})");
    EXPECT_TRUE(says(folder.refused(), {"r.json", "1.5"}));
    folder.write("r.json", R"({"default": 0.5})");
    EXPECT_EQ(folder.load().rewards().at(0).reward, Reward::constant({2, 2, 3}, 0.5));
}

TEST(ProblemFolder, FeaturesThatDoNotFitAreNamed) {
    const TemporaryFolder folder;
    save_problem(Problem(signed_description()), folder.path());
    folder.write("features.npz", bytes_of(data("scipy_stored.npz")));
    EXPECT_TRUE(says(refusal([&] { load_problem(folder.path().string()); }),
                     {"features.npz", "'states' is missing"}));
}

TEST(ProblemFolder, NamesThatAreNotUtf8AreNotWritten) {
    const TemporaryFolder folder;
    ProblemDescription parts = small_description();
    parts.name = "\xFF";
    EXPECT_TRUE(says(refusal([&] { save_problem(Problem(parts), folder / "p"); }), {"UTF-8"}));
    const auto file = folder.write("taken", "");
    EXPECT_TRUE(says(refusal([&] { save_problem(Problem(small_description()), file); }),
                     {"taken", "cannot be made"}));
}

TEST(ProblemFolder, SurvivesTomlThatItsParserDoesNot) {
    const TemporaryFolder folder;
    const auto refused = [&](const char* text) {
        const auto path = folder.write("problem.toml", text);
        return refusal([&] { load_problem(path.string()); });
    };
    EXPECT_TRUE(says(refused("[\nname = 1\n"), {"problem.toml", "not valid TOML"}));
    EXPECT_TRUE(says(refused("[problem]\nname = gr\xC3\xBCn\n"), {"problem.toml:2", "not valid TOML"}));
    EXPECT_TRUE(says(refused("[problem]\nx = 1ee=\"f\xD2\x93\n"), {"problem.toml:2", "not valid TOML"}));
    EXPECT_TRUE(
        says(refused("a = \"\"\"\\\xC3\xBC\"\"\"\n"), {"problem.toml:1", "not valid TOML", "\xC3\xBC"}));
    EXPECT_TRUE(says(refused("\"\xC3\xBC\" = 1\n"), {"problem.toml:1", "unknown key '\xC3\xBC'"}));
    EXPECT_TRUE(says(refused("a = \"\xF3\xB0\x83\xBC\"\n"), {"problem.toml:1", "private use"}));
    EXPECT_TRUE(says(refused("a = \"\xC3\"\n"), {"problem.toml", "not valid TOML"}));
}

}  // namespace
}  // namespace alidade::testing::problem_folder_test
