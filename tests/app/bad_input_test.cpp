#include <limits>

#include "alidade/io/csr_file.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

/// Bad input of every kind ends with exit code 2 and a message in four parts.
class BadInput : public Tool {
protected:
    void expect_refused(const Words& words, const std::string& what) const {
        const Outcome refused = run(words);
        EXPECT_EQ(refused.code, 2) << refused.err;
        EXPECT_EQ(refused.out, "");
        for (const char* part : {"error: ", "\nwhere: ", "\nwhy:   ", "\nfix:   "})
            EXPECT_NE(refused.err.find(part), std::string::npos) << part << "\n" << refused.err;
        EXPECT_NE(refused.err.find(what), std::string::npos) << what << "\n" << refused.err;

        Words with_json = words;
        with_json.emplace_back("--json");
        const Outcome again = run(with_json);
        EXPECT_EQ(again.code, 2);
        const json error = again.object()["error"];
        for (const char* part : {"what", "where", "why", "fix"})
            EXPECT_FALSE(error[part].get<std::string>().empty()) << part;
    }

    void make_folder() const { ASSERT_EQ(run({"problem", "make", small_problem, "-o", "folder"}).code, 0); }
    std::filesystem::path first_base() const {
        std::filesystem::path first;
        for (const auto& file : std::filesystem::directory_iterator(path("folder/base")))
            if (first.empty() || file.path() < first) first = file.path();
        return first;
    }
    /// Writes a folder whose first base model was spoilt by `spoil`, and expects it to be refused.
    template <class Spoil>
    void expect_kernel_refused(Spoil spoil, const std::string& what) const {
        make_folder();
        BaseKernel kernel = read_csr(first_base());
        spoil(kernel);
        write_csr(first_base(), kernel);
        expect_refused({"check", "folder"}, what);
        expect_refused({"explore", "folder", "-o", "run"}, what);
        EXPECT_FALSE(std::filesystem::exists(path("run")));
    }
    void replace_in_toml(const std::string& from, const std::string& to) const {
        std::string toml = text_of(path("folder/problem.toml"));
        const std::size_t place = toml.find(from);
        ASSERT_NE(place, std::string::npos) << toml;
        write_text(path("folder/problem.toml"), toml.replace(place, from.size(), to));
    }
};

TEST_F(BadInput, RowSummingToNineTenthsUnlessNormalised) {
    expect_kernel_refused(
        [](BaseKernel& kernel) {
            for (std::int64_t i = kernel.offsets[4]; i < kernel.offsets[5]; ++i)
                kernel.probabilities[static_cast<std::size_t>(i)] *= 0.9;
        },
        "state 2, action 0");
    EXPECT_EQ(run({"check", "folder", "--normalise"}).code, 0);
}

TEST_F(BadInput, NotANumber) {
    expect_kernel_refused(
        [](BaseKernel& kernel) { kernel.probabilities[1] = std::numeric_limits<double>::quiet_NaN(); },
        "state 0, action 0");
}

TEST_F(BadInput, NegativeProbability) {
    expect_kernel_refused(
        [](BaseKernel& kernel) {
            kernel.probabilities[0] += 0.1 + kernel.probabilities[1];
            kernel.probabilities[1] = -0.1;
        },
        "-0.1");
}

TEST_F(BadInput, BaseModelsOfDifferentShapes) {
    expect_kernel_refused(
        [](BaseKernel& kernel) {
            kernel.offsets.resize(kernel.offsets.size() - 2);
            kernel.rows -= 2;
            kernel.targets.resize(static_cast<std::size_t>(kernel.offsets.back()));
            kernel.probabilities.resize(kernel.targets.size());
        },
        "10");
}

TEST_F(BadInput, TruncatedFile) {
    make_folder();
    std::filesystem::resize_file(first_base(), std::filesystem::file_size(first_base()) / 2);
    expect_refused({"check", "folder"}, ".npz");
}

TEST_F(BadInput, HorizonZero) {
    make_folder();
    replace_in_toml("horizon = 4", "horizon = 0");
    expect_refused({"check", "folder"}, "horizon");
    expect_refused({"check", "builtin:garnet?horizon=0"}, "horizon");
}

TEST_F(BadInput, DeltaOfZeroAndOne) {
    for (const char* delta : {"0", "1", "nan", "-0.5"})
        expect_refused({"explore", small_problem, "-o", "run", "--delta", delta}, "--delta");
    EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(BadInput, UnknownFamilyAndParameter) {
    expect_refused({"check", "builtin:nowhere"}, "nowhere");
    expect_refused({"check", "builtin:garnet?colour=3"}, "colour");
    expect_refused({"check", "builtin:garnet?states=many"}, "states");
}

TEST_F(BadInput, RewardAboveOneAndUnknownReward) {
    ASSERT_EQ(explore("run").code, 0);
    write_text(path("high.json"), R"({"default": 0, "entries": [{"state": 1, "reward": 1.5}]})");
    expect_refused({"plan", "run", "--reward", "high.json"}, "1.5");
    expect_refused({"plan", "run", "--reward", "happiness"}, "happiness");
    expect_refused({"plan", "run", "--reward", "missing.json"}, "missing.json");
    expect_refused({"plan", "run", "--reward", "high.json", "--rescale", "--planner", "oracle"}, "oracle");
}

TEST_F(BadInput, PolicyThatDoesNotFit) {
    ASSERT_EQ(explore("run").code, 0);
    write_text(path("reward.json"), R"({"default": 0.5, "entries": []})");
    write_text(path("policy.json"), R"({"policy": [[0, 1]]})");
    expect_refused({"certify", "run", "--reward", "reward.json", "--policy", "policy.json"}, "policy.json");
}

TEST_F(BadInput, RunFolderOfAnotherProblem) {
    ASSERT_EQ(explore("run").code, 0);
    expect_refused({"explore", "builtin:inventory", "-o", "run"}, "another problem");
    // The same features with another truth are another system, whose data must not be mixed in.
    ASSERT_EQ(run({"explore", "builtin:inventory?seed=1", "-o", "house", "--episodes", "10"}).code, 0);
    expect_refused({"explore", "builtin:inventory?seed=2", "-o", "house"}, "another problem");
}

TEST_F(BadInput, NoRunInTheFolder) {
    for (const char* command : {"certify", "audit"}) expect_refused({command, "nothing"}, "nothing");
    expect_refused({"plan", "nothing", "--reward", "x.json"}, "nothing");
}

TEST_F(BadInput, ProblemWithoutATruthCannotBeSimulated) {
    make_folder();
    replace_in_toml("[environment]", "[target]");
    replace_in_toml("weights = \"truth.json\"", "");
    ASSERT_EQ(run({"check", "folder"}).code, 0);
    expect_refused({"explore", "folder", "-o", "run"}, "how to run its system");
}

TEST_F(BadInput, SystemThatIsRunByACommandCannotBeExploredYet) {
    make_folder();
    replace_in_toml("weights = \"truth.json\"", "command = [\"./plant\", \"--serve\"]");
    const Outcome checked = run({"check", "folder"});
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_NE(checked.out.find("'./plant --serve'"), std::string::npos) << checked.out;
    expect_refused({"explore", "folder", "-o", "run"}, "'./plant --serve'");
    const Outcome refused = run({"explore", "folder", "-o", "run"});
    EXPECT_NE(refused.err.find("yet"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("alidade learn"), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(path("run")));
    // Episodes that somebody else ran can be learned from.
    write_text(path("log.jsonl"), "{\"states\": [0], \"actions\": [0]}\n");
    EXPECT_EQ(run({"learn", "folder", "--episodes", "log.jsonl", "-o", "run"}).code, 0);
    write_text(path("reward.json"), R"({"default": 0.5})");
    EXPECT_EQ(run({"plan", "run", "--reward", "reward.json"}).code, 0);
}

TEST_F(BadInput, CommandLinesThatMeanNothing) {
    expect_refused({"explor", small_problem}, "explor");
    expect_refused({}, "no command");
    expect_refused({"explore", small_problem}, "--output");
    expect_refused({"explore", small_problem, "-o", "run", "--speed", "9"}, "--speed");
    expect_refused({"explore", small_problem, "-o", "run", "--episodes", "0"}, "--episodes");
    expect_refused({"explore", small_problem, "-o", "run", "--episodes", "many"}, "many");
    expect_refused({"explore", small_problem, "-o", "run", "--target", "0"}, "--target");
    expect_refused({"explore", small_problem, "-o", "run", "--algorithm", "luck"}, "luck");
    expect_refused({"explore", small_problem, "-o", "run", "--constants", "soft"}, "soft");
    expect_refused({"explore", small_problem, "-o", "run", "--without", "warmth"}, "warmth");
    expect_refused({"explore", small_problem, "-o", "run", "--width", "l2"}, "l2");
    for (const char* flag : {"--without", "--ties"})
        expect_refused({"explore", small_problem, "-o", "run", "--algorithm", "likelihood", flag,
                        std::string(flag) == "--ties" ? "first" : "span"},
                       "likelihood");
    for (const char* flag : {"--bonus", "--prequential"}) {
        Words words{"explore", small_problem, "-o", "run", "--algorithm", "hoeffding", flag};
        if (flag == std::string("--bonus")) words.push_back("gain");
        expect_refused(words, "hoeffding");
    }
    expect_refused({"explore", small_problem, "-o", "run", "--confidence", "faith"}, "faith");
    expect_refused(
        {"explore", small_problem, "-o", "run", "--constants", "paper", "--confidence", "likelihood"},
        "paper");
    expect_refused({"explore", small_problem, "-o", "run", "--ties", "last"}, "last");
    expect_refused({"explore", small_problem, "-o", "run", "--constants", "paper", "--without", "span"},
                   "span");
    expect_refused({"explore", small_problem, "-o", "run", "--replan", "never"}, "never");
    expect_refused({"explore", small_problem, "-o", "run", "--threads", "-1"}, "--threads");
    expect_refused({"check", "no/such/folder"}, "no/such/folder");
}

}  // namespace
}  // namespace alidade::testing
