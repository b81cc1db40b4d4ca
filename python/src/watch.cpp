#include "watch.hpp"

#include <nanobind/stl/string.h>

namespace alidade::python {

Watch::Watch(nb::handle observe, nb::handle interrupted, bool progress, std::int64_t episodes,
             std::shared_ptr<CallingThread> caller)
    : observe_(observe.is_none() ? nullptr : keep(nb::borrow(observe))),
      interrupted_(interrupted.is_none() ? nullptr : keep(nb::borrow(interrupted))),
      caller_(std::move(caller)) {
    if (!progress) return;
    nb::object bar = nb::module_::import_("alidade._progress").attr("bar")(episodes);
    if (!bar.is_none()) bar_ = keep(std::move(bar));
}

void Watch::operator()(const Progress& progress) const {
    if (!observe_ && !bar_) return;
    // What it raises arrives with the caller, and the run ends before the next batch: nothing is lost.
    caller_->run_quietly([&] {
        const nb::object seen = nb::cast(progress);
        if (bar_) (*bar_)(seen);
        if (observe_) (*observe_)(seen);
    });
}

bool Watch::stops() const {
    // Who has left does not wait for a last certificate: what was told is stored, and that is all.
    if (caller_->is_gone()) throw PythonRaised();
    if (caller_->ending()) return true;
    if (!interrupted_) return false;
    bool stop = true;
    caller_->run_quietly([&] { stop = nb::cast<bool>(nb::bool_(nb::object((*interrupted_)()))); });
    return stop;
}

void Watch::close() const {
    if (bar_) bar_->attr("close")();
}

}  // namespace alidade::python
