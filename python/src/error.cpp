#include "alidade/error.hpp"

#include <nanobind/nanobind.h>

#include <exception>

#include "alidade/environment/system.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/process/external_planner.hpp"
#include "alidade/run/run_record.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

/// An exception of alidade.error, which is written in Python.
nb::object type_of(const char* name) {
    return nb::module_::import_("alidade.error").attr(name);
}

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

void raise(const char* name, const std::exception& error, const nb::dict& attributes = {}) {
    const nb::object type = type_of(name), raised = type(error.what());
    for (const auto& [attribute, value] : attributes) nb::setattr(raised, attribute, value);
    PyErr_SetObject(type.ptr(), raised.ptr());
}

nb::dict place_of(const ImpossibleTransition& error) {
    nb::dict place;
    place["step"] = error.step();
    place["state"] = error.state();
    place["action"] = error.action();
    place["successor"] = error.successor();
    return place;
}

nb::dict fault_of(const RunRefused& error) {
    nb::dict attributes;
    attributes["fault"] = name_of(error.fault());
    return attributes;
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const RunRefused& error) {
        raise("RunRefused", error, fault_of(error));
    } catch (const InvalidArgument& error) {
        raise("InvalidArgument", error);
    } catch (const ImpossibleTransition& error) {
        raise("ImpossibleTransition", error, place_of(error));
    } catch (const ModelContradiction& error) {
        raise("ModelContradiction", error);
    } catch (const BrokenInvariant& error) {
        raise("BrokenInvariant", error);
    } catch (const SystemFailed& error) {
        raise("SystemFailed", error);
    } catch (const CommandFailed& error) {
        raise("CommandFailed", error);
    } catch (const CommandStopped& error) {
        raise("CommandStopped", error);
    }
}

}  // namespace

void bind_error(nb::module_&) {
    nb::register_exception_translator(translate, nullptr);
}

}  // namespace alidade::python
