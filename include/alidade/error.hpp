#pragma once

#include <fmt/core.h>
#include <stdexcept>
#include <utility>

namespace alidade {

/// A caller's mistake: the message names the value, where it is, and what is allowed.
class InvalidArgument : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The data contradict the model: an observation that no base model can produce, or a confidence set
/// that the parameter set does not meet. A fact about the world, not a mistake of the caller.
class ModelContradiction : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A promise of this library that does not hold (lower > upper, say). Thrown in release builds too:
/// a wrong number must not leave the library.
class BrokenInvariant : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// Throws InvalidArgument unless `ok`; the message says what was given and what is allowed.
template <class... Args>
void expects(bool ok, fmt::format_string<Args...> message, Args&&... args) {
    if (!ok) throw InvalidArgument(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws BrokenInvariant unless `ok`.
template <class... Args>
void ensures(bool ok, fmt::format_string<Args...> message, Args&&... args) {
    if (!ok) throw BrokenInvariant(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace alidade
