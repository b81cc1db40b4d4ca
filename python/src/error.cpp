#include "alidade/error.hpp"

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "alidade/environment/system.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/process/external_planner.hpp"
#include "alidade/run/run_record.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

/// Exception types live as long as the interpreter: the module holds them.
struct Exceptions {
    PyObject *invalid_argument, *model_contradiction, *impossible_transition, *broken_invariant, *run_refused,
        *system_failed, *command_failed, *command_stopped;
};

const char* name_of(RunFault fault) {
    switch (fault) {
        case RunFault::missing:
            return "missing";
        case RunFault::foreign:
            return "foreign";
        case RunFault::damaged:
            return "damaged";
        case RunFault::unknown:
            return "unknown";
        case RunFault::busy:
            return "busy";
        case RunFault::replaced:
            return "replaced";
        case RunFault::forbidden:
            return "forbidden";
        case RunFault::taken:
            break;
    }
    return "taken";
}

void raise_with(PyObject* type, const std::exception& error, const nb::dict& attributes) {
    nb::object raised = nb::borrow(type)(error.what());
    for (const auto& [name, value] : attributes) nb::setattr(raised, name, value);
    PyErr_SetObject(type, raised.ptr());
}

void raise_impossible(PyObject* type, const ImpossibleTransition& error) {
    nb::dict place;
    place["step"] = error.step();
    place["state"] = error.state();
    place["action"] = error.action();
    place["successor"] = error.successor();
    raise_with(type, error, place);
}

void translate(const std::exception_ptr& thrown, void* payload) {
    const auto& types = *static_cast<const Exceptions*>(payload);
    try {
        std::rethrow_exception(thrown);
    } catch (const RunRefused& error) {
        nb::dict attributes;
        attributes["fault"] = name_of(error.fault());
        raise_with(types.run_refused, error, attributes);
    } catch (const InvalidArgument& error) {
        PyErr_SetString(types.invalid_argument, error.what());
    } catch (const ImpossibleTransition& error) {
        raise_impossible(types.impossible_transition, error);
    } catch (const ModelContradiction& error) {
        PyErr_SetString(types.model_contradiction, error.what());
    } catch (const BrokenInvariant& error) {
        PyErr_SetString(types.broken_invariant, error.what());
    } catch (const SystemFailed& error) {
        PyErr_SetString(types.system_failed, error.what());
    } catch (const CommandFailed& error) {
        PyErr_SetString(types.command_failed, error.what());
    } catch (const CommandStopped& error) {
        PyErr_SetString(types.command_stopped, error.what());
    }
}

}  // namespace

void bind_error(nb::module_& m) {
    const auto add = [&](const char* name, PyObject* base, const char* doc) {
        const std::string full = std::string("alidade.") + name;
        nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr));
        if (!type.is_valid()) throw nb::python_error();
        m.attr(name) = type;
        return type.ptr();
    };
    static Exceptions types;  // of this interpreter; nanobind's translators take a plain pointer
    types.invalid_argument = add("InvalidArgument", PyExc_ValueError,
                                 "A caller's mistake: the message names the value, where it is, and what is "
                                 "allowed.");
    types.run_refused = add("RunRefused", types.invalid_argument,
                            "A folder that cannot be used as the run that was asked for. ``fault`` says why: "
                            "missing, foreign, damaged, unknown, busy, replaced, forbidden or taken.");
    types.model_contradiction =
        add("ModelContradiction", PyExc_RuntimeError,
            "The data contradict the model: a fact about the world, not a mistake of the caller.");
    types.impossible_transition =
        add("ImpossibleTransition", types.model_contradiction,
            "A transition that was seen and that no base model can produce: ``step``, ``state``, ``action`` "
            "and ``successor`` say which.");
    types.broken_invariant = add("BrokenInvariant", PyExc_AssertionError,
                                 "A promise of the library that does not hold: please report it.");
    types.system_failed = add("SystemFailed", PyExc_RuntimeError,
                              "A system that cannot go on. What it has reported before is kept.");
    types.command_failed = add("CommandFailed", PyExc_RuntimeError,
                               "A planner's command that failed or took too long.");
    types.command_stopped = add("CommandStopped", PyExc_RuntimeError, "A planner's command that was killed.");
    nb::register_exception_translator(translate, &types);
}

}  // namespace alidade::python
