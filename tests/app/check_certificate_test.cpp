#include <algorithm>
#include <functional>

#include "alidade/run/run_store.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

/// What the referee says of stored runs, sound and not.
class CheckCertificate : public Tool {
protected:
    /// Changes what a run has stored.
    void plant(const std::string& name, const std::function<void(RunResult&, RunCheckpoint&)>& fault) const {
        detail::RunStore store = detail::RunStore::open(path(name));
        RunResult result = *store.result();
        RunCheckpoint checkpoint = *store.checkpoint();
        fault(result, checkpoint);
        store.save(checkpoint, result);
    }

    /// What is not confirmed.
    json refused(const std::string& name) const {
        json wrong = json::array();
        const Outcome checked = run({"check-certificate", name, "--json"});
        const json object = checked.object();
        for (const json& each : object["findings"])
            if (each["verdict"] != "confirmed") wrong.push_back(each["what"]);
        EXPECT_EQ(checked.code, wrong.empty() ? 0 : 1) << checked.err;
        EXPECT_EQ(object["confirmed"], wrong.empty());
        return wrong;
    }
};

TEST_F(CheckCertificate, ConfirmsEveryNumberOfASoundRun) {
    ASSERT_EQ(explore("run").code, 0);
    const Outcome checked = run({"check-certificate", "run"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_NE(checked.out.find("trajectory-kl"), std::string::npos);
    EXPECT_EQ(checked.out.find("NOT CONFIRMED"), std::string::npos);
    const json object = run({"check-certificate", "run", "--json"}).object();
    expect_keys(object, {"confirmed", "delta", "tolerance", "findings"});
    for (const json& each : object["findings"])
        expect_keys(each, {"what", "verdict", "reported", "found", "note"});
    EXPECT_EQ(refused("run"), json::array());
}

TEST_F(CheckCertificate, FindsEachOfTenFaultsInWhatIsStored) {
    ASSERT_EQ(explore("likelihood").code, 0);
    ASSERT_EQ(explore("regression", {"--algorithm", "hoeffding"}).code, 0);
    struct Fault {
        std::string run, where;
        std::function<void(RunResult&, RunCheckpoint&)> plant;
    };
    const std::vector<Fault> faults{
        {"likelihood", "hybrid",
         [](RunResult& r, RunCheckpoint&) {
             for (auto& [name, value] : r.candidates) value *= name == "hybrid" ? 0.99 : 1;
         }},
        {"regression", "coupling",
         [](RunResult& r, RunCheckpoint&) {
             for (auto& [name, value] : r.candidates) value *= name == "coupling" ? 0.99 : 1;
         }},
        {"likelihood", "bound", [](RunResult& r, RunCheckpoint&) { r.reward_free *= 0.99; }},
        {"likelihood", "method", [](RunResult& r, RunCheckpoint&) { r.method = "model"; }},
        {"likelihood", "counts", [](RunResult&, RunCheckpoint& c) { c.counts.add(0, 0, 1); }},
        {"likelihood", "evidence",
         [](RunResult& r, RunCheckpoint&) { ++r.evidence.integers.at("counts").front(); }},
        {"regression", "bound",
         [](RunResult& r, RunCheckpoint&) {
             for (double& element : r.evidence.numbers.at("gram")) element *= 0.9;
         }},
        {"regression", "evidence",
         [](RunResult& r, RunCheckpoint&) {
             for (double& element : r.evidence.numbers.at("gram")) element *= 1.1;
         }},
        {"regression", "evidence",
         [](RunResult& r, RunCheckpoint&) { r.evidence.numbers.at("moment").front() += 0.5; }},
        {"regression", "episodes", [](RunResult& r, RunCheckpoint&) { ++r.episodes; }},
        {"regression", "episodes",
         [](RunResult& r, RunCheckpoint&) { --r.evidence.integers.at("episodes").front(); }},
    };
    for (std::size_t k = 0; k < faults.size(); ++k) {
        const std::string name = "fault-" + std::to_string(k);
        std::filesystem::copy(path(faults[k].run), path(name));
        plant(name, faults[k].plant);
        const json wrong = refused(name);
        EXPECT_NE(std::find(wrong.begin(), wrong.end(), faults[k].where), wrong.end()) << k << ": " << wrong;
    }
}

TEST_F(CheckCertificate, ConfirmsRunsOfLinearMdps) {
    int number = 0;
    for (const char* problem :
         {"builtin:linear-random", "builtin:linear-lock?states=6", "builtin:linear-grid?width=3&height=2"})
        for (const char* algorithm : {"lsvi", "lsvi?bonus=wang", "lsvi?bonus=none"}) {
            const std::string name = "run-" + std::to_string(++number);
            const Outcome explored = run(
                {"explore", problem, "-o", name, "--algorithm", algorithm, "--episodes", "2000", "--json"});
            ASSERT_TRUE(explored.code == 0 || explored.code == 3) << explored.err;
            EXPECT_EQ(refused(name), json::array()) << problem << " " << algorithm;
            const std::string said = run({"check-certificate", name}).out;
            for (const char* line : {"laws", "printed", "wang"})
                EXPECT_NE(said.find(line), std::string::npos) << line;
        }
}

TEST_F(CheckCertificate, FindsEachOfEightFaultsInWhatALinearRunStored) {
    const std::string problem = "builtin:linear-random?states=6&actions=2&features=3&horizon=4&seed=5";
    ASSERT_EQ(run({"explore", problem, "-o", "sound", "--episodes", "100000", "--json"}).code, 0);
    const auto scale = [](RunResult& result, const std::string& which, double factor) {
        for (auto& [name, value] : result.candidates)
            if (name == which) value *= factor;
    };
    const std::vector<std::pair<std::string, std::function<void(RunResult&, RunCheckpoint&)>>> faults{
        {"bound", [](RunResult& r, RunCheckpoint&) { r.reward_free *= 0.9; }},
        {"bound",
         [&](RunResult& r, RunCheckpoint&) {
             r.reward_free *= 0.9;
             scale(r, r.method, 0.9);
         }},
        {"printed", [&](RunResult& r, RunCheckpoint&) { scale(r, "printed", 0.99); }},
        {"wang", [&](RunResult& r, RunCheckpoint&) { scale(r, "wang", 0.99); }},
        {"method", [](RunResult& r, RunCheckpoint&) { r.method = "wang"; }},
        {"counts", [](RunResult&, RunCheckpoint& c) { c.counts.add(0, 0, 1); }},
        {"evidence", [](RunResult& r, RunCheckpoint&) { ++r.evidence.integers.at("counts").front(); }},
        {"episodes", [](RunResult& r, RunCheckpoint&) { ++r.episodes; }},
    };
    for (std::size_t k = 0; k < faults.size(); ++k) {
        const std::string name = "fault-" + std::to_string(k);
        std::filesystem::copy(path("sound"), path(name));
        plant(name, faults[k].second);
        const json wrong = refused(name);
        EXPECT_NE(std::find(wrong.begin(), wrong.end(), faults[k].first), wrong.end()) << k << ": " << wrong;
    }
}

// Counts and certificate of one system, stored as those of another with as many states and actions, or with
// half of delta.
TEST_F(CheckCertificate, FindsALinearRunUnderOtherFeaturesOrDelta) {
    const std::string sizes = "builtin:linear-random?states=6&actions=2&features=3&horizon=4&seed=";
    ASSERT_EQ(run({"explore", sizes + "5", "-o", "sound", "--episodes", "1000", "--json"}).code, 0);
    ASSERT_EQ(run({"explore", sizes + "6", "-o", "other", "--episodes", "10", "--json"}).code, 0);
    {
        const detail::RunStore sound = detail::RunStore::open(path("sound"), Access::read),
                               other = detail::RunStore::open(path("other"), Access::read);
        detail::RunStore claimed =
            detail::RunStore::create(path("claimed"), other.problem(), other.source(), sound.options());
        claimed.save(*sound.checkpoint(), *sound.result());
        RunOptions options = sound.options();
        options.delta /= 2;
        detail::RunStore surer =
            detail::RunStore::create(path("surer"), sound.problem(), sound.source(), options);
        surer.save(*sound.checkpoint(), *sound.result());
    }
    EXPECT_EQ(refused("sound"), json::array());
    EXPECT_NE(refused("claimed"), json::array());
    EXPECT_NE(refused("surer"), json::array());
}

// The same data and certificate under a smaller probability of failure: that was not earned.
TEST_F(CheckCertificate, FindsAClaimOfMoreProbabilityThanTheDataGive) {
    ASSERT_EQ(explore("run").code, 0);
    {
        const detail::RunStore sound = detail::RunStore::open(path("run"), Access::read);
        RunOptions options = sound.options();
        options.delta = 0.05;
        detail::RunStore claimed =
            detail::RunStore::create(path("claimed"), sound.problem(), sound.source(), options);
        claimed.save(*sound.checkpoint(), *sound.result());
    }
    EXPECT_NE(refused("claimed"), json::array());
    EXPECT_NE(run({"check-certificate", "claimed"}).out.find("NOT CONFIRMED"), std::string::npos);
}

TEST_F(CheckCertificate, OfARunThatHasNotEndedIsRefused) {
    ASSERT_EQ(explore("run").code, 0);
    {
        const detail::RunStore finished = detail::RunStore::open(path("run"), Access::read);
        detail::RunStore killed = detail::RunStore::create(path("killed"), finished.problem(),
                                                           finished.source(), finished.options());
        killed.save(*finished.checkpoint());
    }
    EXPECT_EQ(run({"check-certificate", "killed"}).code, 2);
    EXPECT_EQ(run({"check-certificate", "nothing"}).code, 2);
}

}  // namespace
}  // namespace alidade::testing
