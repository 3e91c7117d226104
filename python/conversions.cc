// Values and errors between the library and Python.
#include "python/conversions.h"

#include <type_traits>
#include <utility>
#include <variant>

namespace podsim::python {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

py::object object_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return py::none();
        } else {
          return py::cast(held);
        }
      },
      value);
}

py::list list_of(const std::vector<Diagnostic>& diagnostics) {
  py::list list;
  for (const Diagnostic& each : diagnostics) {
    py::dict dict;
    dict["file"] = each.file;
    dict["line"] = each.line;
    dict["column"] = each.column;
    dict["message"] = each.message;
    dict["source_line"] = each.source_line;
    dict["hint"] = each.hint;
    dict["text"] = each.text;
    list.append(dict);
  }
  return list;
}

py::object exception_of(const Error& error) {
  constexpr const char* kKinds[] = {"InputError", "InfeasibleError", "CancelledError", "InternalError"};
  const py::object type = py::module_::import("podsim._errors").attr(kKinds[static_cast<int>(error.kind)]);
  return type(error.text(), list_of(error.diagnostics));
}

void raise(const Error& error) {
  const py::object exception = exception_of(error);
  PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
  throw py::error_already_set();
}

Listener::Listener(py::object told, int threads) : told_(std::move(told)), last_(Clock::now()) {
  effort_.threads = threads;
  effort_.stop = &stop_;
  effort_.watch = [this](const Advance& advance) { return tell(advance); };
}

bool Listener::tell(const Advance& advance) {
  const Clock::time_point now = Clock::now();
  const bool last = advance.total > 0 && advance.done == advance.total;
  if (!last && now - last_ < std::chrono::milliseconds(50)) return true;
  last_ = now;
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) {
    note_exception();
    return false;
  }
  if (told_.is_none()) return true;
  try {
    return !told_(advance.share, advance.done, advance.total, advance.text).is(py::bool_(false));
  } catch (py::error_already_set& error) {
    error.restore();
    note_exception();
    return false;
  }
}

void Listener::look_for_signals() {
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) note_exception();
}

void Listener::note_exception() {
  stop_ = true;
  if (type_ != nullptr) {
    PyErr_Clear();
  } else {
    PyErr_Fetch(&type_, &value_, &trace_);
  }
}

void Listener::rethrow() {
  if (type_ == nullptr) return;
  PyErr_Restore(std::exchange(type_, nullptr), value_, trace_);
  throw py::error_already_set();
}

}  // namespace podsim::python
