// A system for tests: examples/systems/walk.hpp behind the protocol, with any fault that a system can have.
//
//     plant KEY=VALUE ...
//
// states=5 horizon=4 seeded=1 batches=0 shuffle=0 (milliseconds by which episodes come out of order)
// do=FAULT            what goes wrong, see Plant::fault
// at=N                at the N-th request of this process, from 1; or
// episode=K step=H    at that step of that episode (step=-1: reset)
// once=FILE           only where FILE can be made: one process, one time
// journal=FILE        gets one line for every answer: episode, step, state
// pids=FILE           gets the process's number
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "walk.hpp"

namespace {

using nlohmann::json;

class Plant {
public:
    explicit Plant(std::map<std::string, std::string> options) : options_(std::move(options)) {
        if (!text("pids").empty())
            std::ofstream(text("pids"), std::ios::app) << getpid() << "\n" << std::flush;
        if (!text("talk").empty()) std::cerr << text("talk") << std::endl;
    }

    void serve() {
        std::string line;
        for (int number = 1; std::getline(std::cin, line); ++number) {
            const json ask = json::parse(line);
            const std::string op = ask["op"];
            if (op == "reset") {
                episode_ = ask["episode"];
                next_ = -1;
            }
            if (op == "run") episode_ = ask["first_episode"];
            const bool here = options_.contains("at")
                                  ? number == integer("at", 0)
                                  : options_.contains("episode") && op != "info" && within(ask, op) &&
                                        (op == "run" || next_ == integer("step", -1));
            const std::string fault = here && allowed() ? text("do") : "";
            if (fault == "die") _exit(3);
            if (fault == "kill") raise(SIGKILL);
            if (fault == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
            json answer = answer_to(ask, op);
            if (fault == "negative") answer["state"] = -1;
            if (fault == "large") answer["state"] = 1000;
            if (fault == "fraction") answer["state"] = 0.5;
            if (fault == "stateless") answer.erase("state");
            if (fault == "unknown") answer["sate"] = 1;
            if (fault == "end") answer["end"] = "maybe";
            if (fault == "echo") answer[op == "reset" ? "episode" : "step"] = 77;
            if (fault == "decline") answer = {{"error", "the valve is stuck"}};
            if (fault == "terminated" || fault == "truncated") answer["end"] = fault;
            if (fault == "counts") answer["counts"] = json::array();
            if (fault == "fewer") answer["episodes"] = json::array();
            std::string out = answer.dump();
            if (fault == "garbage") out = "Loading licence ...";
            if (fault == "list") out = "[1]";
            if (fault == "half") {
                std::cout << out.substr(0, out.size() / 2) << std::flush;
                _exit(4);
            }
            if (fault == "endless")
                for (;;) std::cout << std::string(1 << 16, 'x') << std::flush;
            write_journal(op, answer);
            std::cout << out << std::endl;
            if (fault == "twice") std::cout << out << std::endl;
            if (fault == "after") _exit(5);
            if (fault == "close") {
                close(1);
                std::this_thread::sleep_for(std::chrono::hours(1));
            }
        }
    }

private:
    std::string text(const std::string& key) const {
        const auto found = options_.find(key);
        return found == options_.end() ? "" : found->second;
    }
    std::int64_t integer(const std::string& key, std::int64_t otherwise) const {
        return options_.contains(key) ? std::stoll(text(key)) : otherwise;
    }
    bool within(const json& ask, const std::string& op) const {
        const std::int64_t episode = integer("episode", 0);
        return op == "run" ? episode_ <= episode && episode < episode_ + ask["episodes"].get<std::int64_t>()
                           : episode_ == episode;
    }
    bool allowed() const {
        if (text("once").empty()) return true;
        return open(text("once").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0;
    }
    std::uint64_t seed_of(const json& seed) const {
        // A system that ignores its seed.
        return seed.get<std::uint64_t>() +
               (integer("lies", 0) != 0 ? static_cast<std::uint64_t>(++lies_) : 0);
    }

    json answer_to(const json& ask, const std::string& op) {
        const auto states = static_cast<int>(integer("states", 5)),
                   horizon = static_cast<int>(integer("horizon", 4));
        if (op == "info") {
            json info{{"protocol", integer("protocol", 1)},
                      {"states", states},
                      {"actions", 2},
                      {"seeded", integer("seeded", 1) != 0},
                      {"batches", integer("batches", 0) != 0}};
            if (horizon > 0) info["horizon"] = horizon;
            if (!text("first_name").empty()) info["action_names"] = {text("first_name"), "b"};
            return info;
        }
        if (op == "reset") {
            next_ = 0;
            pause();
            walk_ = walk::Walk(states, seed_of(ask["seed"]));
            return {{"episode", episode_}, {"state", walk_.state()}};
        }
        if (op == "step") {
            walk_.step(ask["action"]);
            next_ = ask["step"].get<std::int64_t>() + 1;
            return {{"step", ask["step"]}, {"state", walk_.state()}};
        }
        json answer{{"first_episode", ask["first_episode"]}, {"episodes", json::array()}};
        pause();
        for (const json& seed : ask["seeds"]) {
            walk::Walk walk(states, seed_of(seed));
            json visited = json::array(), actions = json::array();
            for (const json& row : ask["policy"]) {
                visited.push_back(walk.state());
                actions.push_back(row[static_cast<std::size_t>(walk.state())]);
                walk.step(actions.back());
            }
            answer["episodes"].push_back({{"states", visited}, {"actions", actions}});
        }
        return answer;
    }

    void pause() const {
        if (const auto most = integer("shuffle", 0); most > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(episode_ * 7919 % (most + 1)));
    }

    void write_journal(const std::string& op, const json& answer) const {
        if (text("journal").empty() || (op != "reset" && op != "step")) return;
        std::ofstream(text("journal"), std::ios::app)
            << episode_ << " " << next_ << " " << answer.value("state", -1) << "\n";
    }

    std::map<std::string, std::string> options_;
    walk::Walk walk_{1, 0};
    std::int64_t episode_ = -1, next_ = -1;  // the step of the state that was answered last
    mutable int lies_ = 0;
};

}  // namespace

int main(int count, char** words) {
    std::map<std::string, std::string> options;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        options[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    }
    Plant(std::move(options)).serve();
    return 0;
}
