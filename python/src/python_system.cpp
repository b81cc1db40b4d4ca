#include "python_system.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

#include "alidade/environment/simulated.hpp"
#include "alidade/environment/system_deployer.hpp"
#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/run/experiment.hpp"
#include "arrays.hpp"
#include "decisions.hpp"

namespace alidade::python {

namespace {

using Accept = std::function<void(std::span<const SystemEpisode>)>;
constexpr std::size_t together = 512;  // episodes that are handed over at once

bool seeded_of(nb::handle object) {
    return nb::hasattr(object, "seeded") && nb::cast<bool>(nb::bool_(nb::object(object.attr("seeded"))));
}

void require_shape(nb::handle object, const Shape& shape) {
    const auto compare = [&](const char* name, Index wanted) {
        if (!nb::hasattr(object, name)) return;
        const nb::object said = object.attr(name);
        if (said.is_none() || !PyIndex_Check(said.ptr())) return;
        const std::int64_t is = integer_of(said);
        expects(is == wanted, "the system has {} {}, the problem {}", is, name, wanted);
    };
    compare("states", shape.states);
    compare("actions", shape.actions);
    compare("horizon", shape.horizon);
}

/// Shared by both kinds: every call of Python goes to the calling thread.
class PythonSystem : public System {
public:
    PythonSystem(nb::handle object, const Shape& shape, std::uint64_t seed,
                 std::shared_ptr<CallingThread> caller)
        : object_(keep(nb::borrow(object))),
          caller_(std::move(caller)),
          shape_(shape),
          seed_(seed),
          seeded_(seeded_of(object)) {
        require_shape(object, shape);
    }
    const Shape& shape() const final { return shape_; }
    bool seeded() const final { return seeded_; }

    std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count, const Accept& accept,
                     const std::function<bool()>& stop) final {
        expects(first >= 0 && count >= 0, "{} episodes from episode {}; neither may be negative", count,
                first);
        std::int64_t accepted = 0;
        const auto count_accepted = [&](std::span<const SystemEpisode> episodes) {
            {
                const nb::gil_scoped_release unlocked;  // it may write to disk
                accept(episodes);
            }
            accepted += std::ssize(episodes);
        };
        caller_->run([&] { run_here(policy, first, count, count_accepted, stop); });
        return accepted;
    }

protected:
    const nb::object& object() const { return *object_; }
    std::uint64_t seed() const noexcept { return seed_; }
    /// Between episodes, with the GIL.
    bool is_to_stop(const std::function<bool()>& stop) const {
        return caller_->interrupted() || (stop && stop());
    }
    void require_state(State state, Step h, std::int64_t episode) const {
        expects(state >= 0 && state < shape_.states,
                "the environment returned state {} for step {} of episode {}; must be 0 to {}", state, h,
                episode, shape_.states - 1);
    }

private:
    /// On the calling thread, with the GIL. What Python raises is thrown as it is.
    virtual void run_here(const Policy& policy, std::int64_t first, std::int64_t count, const Accept& accept,
                          const std::function<bool()>& stop) = 0;

    Kept object_;
    std::shared_ptr<CallingThread> caller_;
    Shape shape_;
    std::uint64_t seed_;
    bool seeded_;
};

/// An object with reset(seed) -> state and step(action) -> state, or (state, "terminated" or "truncated" or
/// None).
class SteppedSystem final : public PythonSystem {
public:
    using PythonSystem::PythonSystem;

private:
    enum class End { none, terminated, truncated };
    struct Seen {
        State state;
        End end;
    };

    static Seen seen_of(nb::handle answer) {
        if (PyLong_CheckExact(answer.ptr())) return {integer_of(answer), End::none};
        if (!nb::isinstance<nb::tuple>(answer)) return {integer_of(answer), End::none};
        expects(nb::len(answer) == 2, "step returned a tuple of {}; must be a state, or (state, end)",
                nb::len(answer));
        const nb::object end = answer[1];
        if (end.is_none()) return {integer_of(nb::object(answer[0])), End::none};
        const std::string word = nb::cast<std::string>(nb::str(end));
        expects(word == "terminated" || word == "truncated",
                "step returned the end '{}'; must be 'terminated', 'truncated' or None", word);
        return {integer_of(nb::object(answer[0])), word == "terminated" ? End::terminated : End::truncated};
    }

    /// Fills in an episode as far as it comes; what breaks it off is thrown, and `episode` has what was seen.
    void walk(const Policy& policy, const nb::object& reset, const nb::object& step, SystemEpisode& episode) {
        const auto number = static_cast<std::uint64_t>(episode.episode);
        episode.complete = false;
        State state = integer_of(reset(seed_of_episode(seed(), episode.episode)));
        require_state(state, 0, episode.episode);
        episode.states.push_back(state);
        bool over = false;
        for (Step h = 0; h < shape().horizon; ++h) {
            Stream random(seed(), Purpose::simulation, number, static_cast<std::uint64_t>(h));
            const Action action = action_at(policy, h, state, random);
            episode.actions.push_back(action);
            if (h + 1 == shape().horizon) break;  // no reward depends on what would follow
            if (!over) {
                const Seen seen = seen_of(step(action));
                require_state(seen.state, h + 1, episode.episode);
                state = seen.state;
                episode.states.push_back(state);
                if (seen.end == End::truncated) return;  // the rest is missing
                over = seen.end == End::terminated;      // it stays where it is
            } else {
                episode.states.push_back(state);
            }
        }
        episode.complete = true;
    }

    static Action action_at(const Policy& policy, Step h, State state, Stream& random) {
        if (policy.is_deterministic()) return policy.action(h, state);
        const auto actions = static_cast<std::size_t>(policy.shape().actions);
        const auto row = static_cast<std::size_t>(h * policy.shape().states + state);
        return sample_categorical(random, std::span(policy.probabilities()).subspan(row * actions, actions));
    }

    void run_here(const Policy& policy, std::int64_t first, std::int64_t count, const Accept& accept,
                  const std::function<bool()>& stop) override {
        const nb::object reset = object().attr("reset"), step = object().attr("step");
        std::vector<SystemEpisode> ready;
        const auto hand_over = [&] {
            if (!ready.empty()) accept(ready);
            ready.clear();
        };
        const std::size_t held = seeded() ? together : 1;  // what cannot be had again is handed over at once
        for (std::int64_t k = first; k < first + count && !is_to_stop(stop); ++k) {
            SystemEpisode episode{k, {}, {}, false};
            try {
                walk(policy, reset, step, episode);
            } catch (...) {
                // What was seen of an experiment that nobody can repeat counts, as far as it came.
                const bool half = episode.actions.size() > episode.states.size();
                if (half) episode.actions.pop_back();
                if (!seeded() && !episode.states.empty()) ready.push_back(std::move(episode));
                hand_over();
                throw;
            }
            ready.push_back(std::move(episode));
            if (ready.size() >= held) hand_over();
        }
        hand_over();
    }
};

/// An object with run(policy, first, count), which yields episodes in the order of their numbers.
class YieldingSystem final : public PythonSystem {
public:
    using PythonSystem::PythonSystem;

private:
    void run_here(const Policy& policy, std::int64_t first, std::int64_t count, const Accept& accept,
                  const std::function<bool()>& stop) override {
        const nb::object answers = object().attr("run")(nb::cast(policy), first, count);
        std::int64_t next = first;
        for (const nb::handle answer : nb::iter(answers)) {
            std::vector<SystemEpisode> batch;
            for (LoggedEpisode& seen : episodes_of(answer)) {
                validate_episode(seen, next);
                batch.push_back({next++, std::move(seen.states), std::move(seen.actions), seen.complete});
            }
            expects(next <= first + count, "the system reported {} episodes; {} were asked for", next - first,
                    count);
            accept(batch);
            if (next < first + count && is_to_stop(stop)) break;
        }
        if (nb::hasattr(answers, "close")) answers.attr("close")();
    }

    void validate_episode(const LoggedEpisode& seen, std::int64_t number) const {
        const auto states = std::ssize(seen.states), actions = std::ssize(seen.actions);
        expects(states >= 1 && states <= shape().horizon && (actions == states || actions + 1 == states),
                "episode {} has {} states and {} actions; must be 1 to {} states, and as many actions or one "
                "fewer",
                number, states, actions, shape().horizon);
        for (std::size_t h = 0; h < seen.states.size(); ++h)
            require_state(seen.states[h], static_cast<Step>(h), number);
        for (const Action action : seen.actions)
            expects(action >= 0 && action < shape().actions, "episode {} has action {}; must be 0 to {}",
                    number, action, shape().actions - 1);
    }
};

std::unique_ptr<System> python_system(nb::handle object, const Shape& shape, std::uint64_t seed,
                                      const std::shared_ptr<CallingThread>& caller) {
    if (nb::hasattr(object, "run")) return std::make_unique<YieldingSystem>(object, shape, seed, caller);
    expects(nb::hasattr(object, "reset") && nb::hasattr(object, "step"),
            "the system is a {}; must have reset(seed) and step(action), or run(policy, first, count)",
            nb::cast<std::string>(nb::object(object.type().attr("__name__"))));
    return std::make_unique<SteppedSystem>(object, shape, seed, caller);
}

std::shared_ptr<const TransitionModel> simulated_model(nb::handle object,
                                                       const std::shared_ptr<const TransitionModel>& truth) {
    if (!object.is_none()) return nb::cast<SimulatedSystem&>(object).model;
    expects(truth != nullptr, "the problem does not say how to run its system");
    return truth;
}

std::uint64_t seed_of(nb::handle object, std::uint64_t seed) {
    return object.is_none() ? seed : nb::cast<SimulatedSystem&>(object).seed.value_or(seed);
}

bool is_simulated(nb::handle object) {
    return object.is_none() || nb::isinstance<SimulatedSystem>(object);
}

}  // namespace

Tried reporting_system_of(nb::handle object, const Shape& shape, std::uint64_t seed,
                          const std::shared_ptr<const TransitionModel>& truth,
                          const std::shared_ptr<CallingThread>& caller) {
    if (nb::isinstance<System>(object)) {  // of the library: another program
        const auto system = nb::cast<std::shared_ptr<System>>(object);
        struct Borrowed final : System {
            explicit Borrowed(std::shared_ptr<System> own, std::shared_ptr<CallingThread> calling)
                : system(std::move(own)), caller(std::move(calling)) {}
            const Shape& shape() const override { return system->shape(); }
            bool seeded() const override { return system->seeded(); }
            std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count,
                             const Accept& accept, const std::function<bool()>& stop) override {
                std::int64_t reported = 0;
                // Its processes end with the thread that starts them, which must not be the one that
                // computes.
                caller->run([&] {
                    const nb::gil_scoped_release unlocked;
                    reported = system->run(policy, first, count, accept, [&] {
                        const nb::gil_scoped_acquire locked;
                        return caller->interrupted() || (stop && stop());
                    });
                });
                return reported;
            }
            std::shared_ptr<System> system;
            std::shared_ptr<CallingThread> caller;
        };
        return {nullptr, std::make_unique<Borrowed>(system, caller), nullptr};
    }
    if (!is_simulated(object)) return {nullptr, python_system(object, shape, seed, caller), nullptr};
    const auto environment = std::make_shared<SimulatedEnvironment>(*simulated_model(object, truth));
    return {nullptr, std::make_unique<StepwiseSystem>(*environment, seed_of(object, seed)), environment};
}

Tried system_of(nb::handle object, const Shape& shape, std::uint64_t seed,
                const std::shared_ptr<const TransitionModel>& truth,
                const std::shared_ptr<CallingThread>& caller) {
    if (!is_simulated(object)) {
        Tried tried = reporting_system_of(object, shape, seed, truth, caller);
        tried.deployer =
            std::make_unique<SystemDeployer>(*tried.system, [caller] { return caller->ending(); });
        return tried;
    }
    const auto model = simulated_model(object, truth);
    if (object.is_none() || nb::cast<SimulatedSystem&>(object).splitting)
        return {std::make_unique<CountSplittingDeployer>(*model, seed_of(object, seed)), nullptr, nullptr};
    const auto environment = std::make_shared<SimulatedEnvironment>(*model);
    return {std::make_unique<StepwiseDeployer>(*environment, seed_of(object, seed)), nullptr, environment};
}

}  // namespace alidade::python
