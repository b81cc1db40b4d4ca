#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "alidade/environment/deployment.hpp"
#include "alidade/environment/system.hpp"
#include "alidade/model/transition_model.hpp"
#include "calling_thread.hpp"

/// What Python hands over as the system under study.
namespace alidade::python {

/// A simulated system as an object: counts by splitting, or episode by episode.
struct SimulatedSystem {
    std::shared_ptr<const TransitionModel> model;
    bool splitting = true;
    std::optional<std::uint64_t> seed;  ///< of its draws; none: that of the exploration
};

/// What runs experiments for one call, whichever it is: a deployer that counts, or a system that reports
/// every episode. It may outlive the call that made it, on the thread that computes.
struct Tried {
    std::unique_ptr<Deployer> deployer;
    std::unique_ptr<System> system;
    std::shared_ptr<void> owner;  // of what either refers to
};

/// Takes an object for the system under study: SimulatedSystem; an object with `run`
/// (alidade.environment.System); an object with `reset` and `step` (alidade.environment.Environment). None
/// stands for the truth, which may be null. Throws InvalidArgument for others.
Tried system_of(nb::handle object, const Shape& shape, std::uint64_t seed,
                const std::shared_ptr<const TransitionModel>& truth,
                const std::shared_ptr<CallingThread>& caller);

/// The same where every episode is to be reported.
Tried reporting_system_of(nb::handle object, const Shape& shape, std::uint64_t seed,
                          const std::shared_ptr<const TransitionModel>& truth,
                          const std::shared_ptr<CallingThread>& caller);

}  // namespace alidade::python
