#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "calling_thread.hpp"

NB_MODULE(_core, m) {
    using namespace alidade::python;
    m.doc() = "The library behind the package alidade; its names are those of alidade's modules.";
    m.attr("version") = ALIDADE_VERSION;
    bind_error(m);
    bind_model(m);
    bind_decisions(m);
    bind_grid(m);
    bind_problem(m);
    bind_environment(m);
    bind_plan(m);
    bind_confidence(m);
    bind_certify(m);
    bind_model_fit(m);
    bind_reward_class(m);
    bind_explore(m);
    bind_audit(m);
    bind_theory(m);
    bind_io(m);
    bind_run(m);
    bind_ask_tell(m);
    bind_atlas(m);
    m.def("_wait_for_abandoned_work", wait_for_abandoned_work,
          "Waits for work that goes on although its caller was interrupted.");
}
