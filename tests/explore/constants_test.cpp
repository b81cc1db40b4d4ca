#include "alidade/explore/constants.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"

namespace alidade::constants_test {
namespace {

TEST(Constants, ReadBackWhatTheyWrite) {
    std::vector<Constants> all(1);
    for (const SharpeningEntry& entry : sharpenings()) {
        Constants without;
        without.regression.sharpenings.*entry.element = false;
        all.push_back(without);
    }
    Constants none;
    for (const SharpeningEntry& entry : sharpenings()) none.regression.sharpenings.*entry.element = false;
    all.push_back(none);
    Constants paper;
    paper.regression.paper = true;
    paper.regression.episodes = 123'456'789'012;
    all.push_back(paper);
    for (const Constants& constants : std::vector(all))
        for (const WidthMethod width : {WidthMethod::semidefinite, WidthMethod::l1}) {
            Constants more = constants;
            more.width = width;
            all.push_back(more);
            more.ties = Ties::first;
            all.push_back(more);
        }
    for (const ConfidenceChoice choice :
         {ConfidenceChoice::regression, ConfidenceChoice::likelihood, ConfidenceChoice::both}) {
        Constants chosen;
        chosen.confidence = choice;
        all.push_back(chosen);
        chosen.bonus = FisherBonus::gain;
        chosen.prequential = true;
        all.push_back(chosen);
    }
    for (const Constants& constants : all)
        EXPECT_EQ(parse_constants(to_string(constants)), constants) << to_string(constants);
    EXPECT_EQ(to_string(Constants{}), "sharp");
    EXPECT_EQ(to_string(all[5]), "sharp without hull");
    EXPECT_EQ(to_string(paper), "paper of 123456789012 episodes");
}

TEST(Constants, RefuseWhatTheyDoNotKnow) {
    for (const char* text :
         {"", "soft", "sharp ", "sharp without", "sharp without warmth", "paper", "paper of 0 episodes",
          "paper of x episodes", "sharp, width l2", "sharp, ties last", "sharp, speed 3", "sharp,width l1",
          "sharp, confidence both"})
        EXPECT_THROW(parse_constants(text), InvalidArgument) << text;
}

}  // namespace
}  // namespace alidade::constants_test
