#include <filesystem>

#include "tool.hpp"

namespace alidade::testing {
namespace {

/// What is shown of names and paths that somebody else chose, and the commands that are printed with them.
class Terminal : public Tool {
protected:
    /// A problem all of whose names would act on a terminal.
    void make_hostile() const {
        ASSERT_EQ(run({"problem", "make", small_problem, "-o", "folder"}).code, 0);
        std::string toml = text_of(path("folder/problem.toml"));
        const std::size_t name = toml.find("name = ");
        ASSERT_NE(name, std::string::npos);
        toml.replace(name, toml.find('\n', name) - name,
                     "name = \"evil\\u001b]0;title\\u0007\\nerror: all is lost\"\n"
                     "state_names = [\"\\u001b[2J\", \"a\\nb\", \"\\u202e\", \"d\", \"\\u009b2J\", \"f\"]\n"
                     "action_names = [\"\\u001b[31m\", \"go\"]");
        const std::size_t base = toml.find("name = ", toml.find("[[base]]"));
        toml.replace(base, toml.find('\n', base) - base, "name = \"\\u001b[5mbase\"");
        toml.insert(toml.find("[[reward]]"),
                    "[[reward]]\nname = \"-it's\\u001b[1m $(touch owned)\\nx\"\nmeaning = \"\\u001b[7m\"\n"
                    "file = \"r.json\"\n");
        write_text(path("folder/r.json"), R"({"default": 0, "entries": [{"state": 1, "reward": 1}]})");
        write_text(path("folder/problem.toml"), toml);
    }
    static void expect_harmless(const Outcome& outcome) {
        for (const std::string& text : {outcome.out, outcome.err}) {
            EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
            EXPECT_EQ(text.find('\a'), std::string::npos) << text;
            EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
            EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << text;
            EXPECT_EQ(("\n" + text).find("\nerror: all is lost"), std::string::npos) << text;
        }
    }
    /// The words of the last line with a command in a text, as /bin/sh reads them.
    Words words_after(const std::string& text, const std::string& label) const {
        const std::size_t begin = text.rfind(label);
        EXPECT_NE(begin, std::string::npos) << text;
        const std::size_t from = begin + label.size();
        const std::string line = text.substr(from, text.find('\n', from) - from);
        write_text(path("words.sh"),
                   "set -- " + line + "\nfor w; do printf '%s\\0' \"$w\"; done > words.out\n");
        EXPECT_EQ(std::system(("cd '" + path("").string() + "' && sh words.sh").c_str()), 0) << line;
        Words words;
        const std::string out = text_of(path("words.out"));
        for (std::size_t word = 0; word < out.size(); word = out.find('\0', word) + 1)
            words.push_back(out.substr(word, out.find('\0', word) - word));
        return words;
    }
};

TEST_F(Terminal, NamesAndPathsDoNotReachItRaw) {
    make_hostile();
    for (const Words& words : std::vector<Words>{
             {"problem", "show", "folder"},
             {"check", "folder"},
             {"reward", "list", "folder"},
             {"explore", "folder", "-o", "r\x1b[31m\nun", "--episodes", "50"},
             {"certify", "r\x1b[31m\nun"},
             {"plan", "r\x1b[31m\nun", "--reward", "folder/r.json"},
             {"plan", "r\x1b[31m\nun", "--reward", "dense", "--reward", "folder/r.json", "-o", "pl\x1b[3m"},
             {"export", "r\x1b[31m\nun", "--as", "gym", "-o", "m\x1b[31m.json"}}) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << words[0] << "\n" << outcome.err;
        expect_harmless(outcome);
    }
    for (const Words& words : std::vector<Words>{{"check", "\x1b]0;title\a"},
                                                 {"\x1b[2J"},
                                                 {"explore", "folder", "--\x1b[2J"},
                                                 {"explore", "folder", "-o", "x", "--seed", "\x1b[2J"},
                                                 {"plan", "r\x1b[31m\nun", "--reward", "\xff\x1b[2J"}}) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << words[0];
        expect_harmless(outcome);
    }
}

TEST_F(Terminal, JsonIsUtf8WhateverTheNames) {
    const Outcome outcome = run({"explore", small_problem, "-o", "r\xff\x1b", "--episodes", "50", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NO_THROW(outcome.object());
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

// As typed in a shell: paths with blanks, quotes and dollars, and the ? and & of what is built in.
TEST_F(Terminal, PrintedCommandsAreWhatAShellUnderstands) {
    make_hostile();
    for (const std::string folder :
         {"a b", "it's", "$HOME", "x;y", "q\"q", "back\\slash", "two\nlines", "é t"}) {
        const Outcome explored = run({"explore", "folder", "-o", folder, "--episodes", "50", "--quiet"});
        ASSERT_EQ(explored.code, 0) << folder << explored.err;
        const Words next = words_after(explored.out, "Next  ");
        EXPECT_EQ(next, (Words{"alidade", "plan", folder, "--reward=-it's\x1b[1m $(touch owned)\nx"}));
        const Outcome planned = run(Words(next.begin() + 1, next.end()));
        EXPECT_EQ(planned.code, 0) << planned.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("owned")));
    const Outcome made = run({"problem", "make", small_problem, "-o", "./-a b"});
    EXPECT_EQ(words_after(made.out, "Next: "), (Words{"alidade", "check", "./-a b"}));
    ASSERT_EQ(explore("run").code, 0);
    const Outcome usage = run({"export", "run", "-o", "it's $x.drn", "--reward", "dense"});
    ASSERT_EQ(usage.code, 0) << usage.err;
    EXPECT_EQ(words_after(usage.out, "To read it:\n  ")[2], "it's $x.drn");
}

}  // namespace
}  // namespace alidade::testing
