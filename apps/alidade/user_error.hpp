#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/explore/run_contradiction.hpp"

namespace alidade::app {

/// Where an input is, why a fault in it matters, and what to type instead.
struct Context {
    std::string where;
    std::string why;
    std::string fix;
};

/// A mistake of the user in four parts: what, where, why it matters, what to type. Exit code 2.
class UserError : public std::runtime_error {
public:
    UserError(const std::string& what, Context context)
        : std::runtime_error(what), context_(std::move(context)) {}
    const Context& context() const noexcept { return context_; }

private:
    Context context_;
};

/// An error that is nobody's mistake: the data contradict the model. Exit code 4.
class Contradiction : public UserError {
public:
    Contradiction(const std::string& what, Context context, std::optional<RunContradiction> found = {})
        : UserError(what, std::move(context)), found_(std::move(found)) {}
    /// What a run has stored of it, if it has.
    const std::optional<RunContradiction>& found() const noexcept { return found_; }

private:
    std::optional<RunContradiction> found_;
};

/// An error that is no mistake of the user's words: something failed while running. Exit code 1.
class Failure : public UserError {
public:
    using UserError::UserError;
};

/// Runs `action`; a complaint of the library in it becomes a UserError with this context.
template <class Action>
auto explaining(const Context& context, Action&& action) {
    try {
        return std::forward<Action>(action)();
    } catch (const InvalidArgument& error) {
        throw UserError(error.what(), context);
    }
}

/// The same where `action` reads the file `path`: if there is no such file, that is what the words are about.
template <class Action>
auto explaining_file(const std::string& path, Context context, Action&& action) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        context.why = "nothing can be read from there";
        context.fix = "name a file that exists; a path is taken from the folder that the command is typed in";
    }
    return explaining(context, std::forward<Action>(action));
}

/// Runs `action`, which writes files; a complaint of the library in it is a failure (exit code 1), not bad
/// input.
template <class Action>
void writing(Action&& action) {
    try {
        std::forward<Action>(action)();
    } catch (const InvalidArgument& error) {
        throw std::runtime_error(error.what());
    }
}

/// The four parts as text, one a line.
std::string to_text(const UserError& error, bool colour);
/// The four parts as the JSON object {"error": {what, where, why, fix}}, on one line.
std::string to_json_text(const UserError& error);

}  // namespace alidade::app
