#pragma once

#include <nanobind/nanobind.h>

/// One function for each module of the library: it adds the module's names to the extension.
namespace alidade::python {

namespace nb = nanobind;

void bind_error(nb::module_& m);
void bind_model(nb::module_& m);
void bind_decisions(nb::module_& m);  // of model: policies, rewards, counts
void bind_grid(nb::module_& m);       // of model: grids
void bind_problem(nb::module_& m);
void bind_environment(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_confidence(nb::module_& m);
void bind_certify(nb::module_& m);
void bind_model_fit(nb::module_& m);     // of certify: how the data stand with the model
void bind_reward_class(nb::module_& m);  // of certify: classes of rewards
void bind_explore(nb::module_& m);
void bind_audit(nb::module_& m);
void bind_theory(nb::module_& m);
void bind_io(nb::module_& m);  // files and formats
void bind_run(nb::module_& m);
void bind_ask_tell(nb::module_& m);       // of run: experiments that others run
void bind_atlas(nb::module_& m);          // of certify, with its files; knowledge and runs make them
void bind_atlas_answers(nb::module_& m);  // of atlas: what it is made of, and what it says

/// A method that is written in Python: alidade.MODULE.FUNCTION(self, ...). Its signature is said by nb::sig.
inline auto in_python(const char* module, const char* function) {
    return [module, function](nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
        return nb::object(nb::module_::import_(module).attr(function)(self, *args, **kwargs));
    };
}

}  // namespace alidade::python
