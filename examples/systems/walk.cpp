// A system in C++: a chain of states, where action 1 tries to go right and slips back to the start more often
// than anybody thinks. Speaks the protocol of docs/own-system.md on stdin and stdout, whole batches included.
//
//     walk [STATES [HORIZON [MICROSECONDS]]]     MICROSECONDS: how long an episode takes, at least
#include <chrono>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>

#include "walk.hpp"

namespace {

using nlohmann::json;

/// An answer to `run`, written by hand: in the time that this takes, thousands of episodes are walked.
std::string whole_episodes(const json& ask, int states, int horizon, std::chrono::microseconds pause) {
    const auto policy = ask["policy"].get<std::vector<std::vector<int>>>();
    std::string text =
        "{\"first_episode\":" + std::to_string(ask["first_episode"].get<std::int64_t>()) + ",\"episodes\":[";
    for (const auto& seed : ask["seeds"]) {
        std::this_thread::sleep_for(pause);
        walk::Walk walk(states, seed.get<std::uint64_t>());
        text += "{\"states\":[";
        for (int h = 0; h < horizon; ++h) {
            text += std::to_string(walk.state());
            text += h + 1 < horizon ? ',' : ']';
            walk.step(policy[static_cast<std::size_t>(h)][static_cast<std::size_t>(walk.state())]);
        }
        text += "},";
    }
    if (text.back() == ',') text.pop_back();
    return text + "]}";
}

}  // namespace

int main(int count, char** words) {
    const auto number = [&](int place, int otherwise) {
        return place < count ? std::stoi(words[place]) : otherwise;
    };
    const int states = number(1, 5), horizon = number(2, 8);
    const std::chrono::microseconds pause(number(3, 0));
    walk::Walk walk(states, 0);
    std::string line;
    std::ios::sync_with_stdio(false);
    while (std::getline(std::cin, line)) {
        const json ask = json::parse(line);
        if (ask["op"] == "info") {
            std::cout << json{{"protocol", 1},      {"states", states}, {"actions", 2},
                              {"horizon", horizon}, {"seeded", true},   {"batches", true}};
        } else if (ask["op"] == "reset") {
            std::this_thread::sleep_for(pause);
            walk = walk::Walk(states, ask["seed"].get<std::uint64_t>());
            std::cout << json{{"episode", ask["episode"]}, {"state", walk.state()}};
        } else if (ask["op"] == "step") {
            walk.step(ask["action"].get<int>());
            std::cout << json{{"step", ask["step"]}, {"state", walk.state()}};
        } else {
            std::cout << whole_episodes(ask, states, horizon, pause);
        }
        std::cout << std::endl;  // an answer that waits in a buffer is no answer
    }
    return 0;
}
