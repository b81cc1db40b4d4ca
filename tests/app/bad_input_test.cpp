#include <sys/stat.h>

#include <limits>

#include "alidade/files/csr_file.hpp"
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
        BaseKernel kernel = detail::read_csr(first_base());
        spoil(kernel);
        detail::write_csr(first_base(), kernel);
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

// They were all taken for 2^64 - 1, so that seven such seeds gave one run seven times.
TEST_F(BadInput, SeedsOutOfRange) {
    for (const char* seed : {"-1", "18446744073709551616", "99999999999999999999", "1.5", "seven"}) {
        expect_refused({"explore", small_problem, "-o", "run", "--seed", seed}, "0 to 18446744073709551615");
        expect_refused({"demo", "--seed", seed}, "0 to 18446744073709551615");
        expect_refused({"audit", "run", "--seed", seed}, "0 to 18446744073709551615");
    }
    EXPECT_FALSE(std::filesystem::exists(path("run")));
    EXPECT_FALSE(std::filesystem::exists(path("alidade-demo")));
    expect_refused({"check", "builtin:garnet?seed=-1"}, "0 to 9007199254740991");
    expect_refused({"check", "builtin:garnet?seed=99999999999999999999"}, "0 to 9007199254740991");
    const json largest = explore("run", {"--seed", "18446744073709551615"}).object();
    EXPECT_EQ(largest["seed"], std::numeric_limits<std::uint64_t>::max());
}

// Counts of more episodes are not whole numbers any more; the run itself never came to an end.
TEST_F(BadInput, MoreEpisodesThanCanBeCounted) {
    for (const char* episodes : {"9223372036854775807", "8e18", "1e16", "9007199254740993"})
        expect_refused({"explore", small_problem, "-o", "run", "--episodes", episodes},
                       "at most 9007199254740992");
    EXPECT_FALSE(std::filesystem::exists(path("run")));
    const Outcome huge =
        run({"explore", small_problem, "-o", "run", "--episodes", "9007199254740992", "--target", "3.9"});
    EXPECT_EQ(huge.code, 0) << huge.err;
}

// What is advised must help against the fault at hand.
TEST_F(BadInput, IsAnsweredWithAdviceThatFits) {
    const auto advice = [&](const Words& words) {
        Words with_json = words;
        with_json.emplace_back("--json");
        return run(with_json).object()["error"]["fix"].get<std::string>();
    };
    const auto mentions = [](const std::string& text, const char* word) {
        return text.find(word) != std::string::npos;
    };
    make_folder();
    std::filesystem::create_directory(path("empty"));
    for (const char* missing : {"no/such/folder", "empty", "folder/problem.tom"})
        for (const char* command : {"check", "explore"}) {
            Words words{command, missing};
            if (command == std::string("explore")) words.insert(words.end(), {"-o", "run"});
            EXPECT_FALSE(mentions(advice(words), "--normalise")) << command << " " << missing;
            EXPECT_TRUE(mentions(advice(words), "problem make")) << command << " " << missing;
        }
    ASSERT_EQ(explore("run").code, 0);
    for (const Words& words :
         std::vector<Words>{{"plan", "run", "--reward", "missing.json"},
                            {"certify", "run", "--reward", "dense", "--policy", "missing.json"},
                            {"learn", small_problem, "--episodes", "missing.jsonl", "-o", "learned"}}) {
        EXPECT_TRUE(mentions(advice(words), "exists")) << words[0] << ": " << advice(words);
        EXPECT_FALSE(mentions(advice(words), "--rescale")) << words[0];
        EXPECT_FALSE(mentions(advice(words), "correct the file")) << words[0];
    }
    write_text(path("high.json"), R"({"default": 0, "entries": [{"state": 1, "reward": 1.5}]})");
    EXPECT_TRUE(mentions(advice({"plan", "run", "--reward", "high.json"}), "--rescale"));
    write_text(path("odd.json"), R"({"default": 0, "entries": [{"state": 99, "reward": 0.5}]})");
    EXPECT_FALSE(mentions(advice({"plan", "run", "--reward", "odd.json"}), "--rescale"));

    BaseKernel kernel = detail::read_csr(first_base());
    kernel.probabilities[0] *= 0.9;
    detail::write_csr(first_base(), kernel);
    EXPECT_TRUE(mentions(advice({"check", "folder"}), "add --normalise"));
    EXPECT_FALSE(mentions(advice({"reward", "list", "folder"}), "add --normalise"));
    replace_in_toml("horizon = 4", "horizon = 0");
    EXPECT_FALSE(mentions(advice({"check", "folder"}), "--normalise"));
}

// Opening a pipe waits for a writer, and /dev/zero does not end.
TEST_F(BadInput, BaseModelThatIsAPipeOrADevice) {
    make_folder();
    for (const char* name : {"pipe.drn", "zero.drn"}) {
        write_text(path("folder/problem.toml"),
                   "[problem]\nname = \"p\"\nhorizon = 2\ninitial_state = 0\n"
                   "[[base]]\nfile = \"" +
                       std::string(name) + "\"\n");
        if (name == std::string("pipe.drn"))
            ASSERT_EQ(mkfifo(path("folder/pipe.drn").c_str(), 0600), 0);
        else
            std::filesystem::create_symlink("/dev/zero", path("folder/zero.drn"));
        expect_refused({"check", "folder"}, name);
    }
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

TEST_F(BadInput, SystemWhoseCommandDoesNotExist) {
    make_folder();
    replace_in_toml("weights = \"truth.json\"", "command = [\"./plant\", \"--serve\"]");
    const Outcome checked = run({"check", "folder"});
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_NE(checked.out.find("'./plant --serve'"), std::string::npos) << checked.out;
    const Outcome failed = run({"explore", "folder", "-o", "never"});
    EXPECT_EQ(failed.code, 1) << failed.err;
    EXPECT_NE(failed.err.find("./plant --serve"), std::string::npos) << failed.err;
    EXPECT_NE(failed.err.find("docs/own-system.md"), std::string::npos) << failed.err;
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
    const auto refused_method = [&](const char* algorithm, const char* confidence, const char* what) {
        Words words{"explore", small_problem, "-o", "run"};
        if (*algorithm != '\0') words.insert(words.end(), {"--algorithm", algorithm});
        if (*confidence != '\0') words.insert(words.end(), {"--confidence", confidence});
        expect_refused(words, what);
    };
    refused_method("", "regression?without=warmth", "warmth");
    refused_method("", "regression?width=l2", "l2");
    refused_method("likelihood?ties=first", "", "ties");
    refused_method("likelihood", "likelihood?without=span", "without");
    refused_method("hoeffding?bonus=gain", "", "bonus");
    refused_method("hoeffding", "regression?prequential=true", "prequential");
    refused_method("hoeffding?ties=last", "", "last");
    refused_method("", "faith", "faith");
    refused_method("likelihood", "regression?constants=paper", "paper");
    refused_method("hoeffding", "regression?constants=paper,likelihood", "paper");
    refused_method("", "regression?constants=paper&without=span", "sharpenings");
    refused_method("", "likelihood,likelihood", "twice");
    expect_refused(
        {"explore", small_problem, "-o", "run", "--constants", "paper", "--confidence", "likelihood"},
        "paper");
    expect_refused({"explore", small_problem, "-o", "run", "--replan", "never"}, "never");
    expect_refused({"explore", small_problem, "-o", "run", "--threads", "-1"}, "--threads");
    expect_refused({"check", "no/such/folder"}, "no/such/folder");
}

}  // namespace
}  // namespace alidade::testing
