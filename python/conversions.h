// Values of the library as Python has them, and waiting that Ctrl-C ends.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "podsim/podsim.h"

namespace podsim::python {

pybind11::object object_of(const Value& value);
pybind11::list list_of(const std::vector<Diagnostic>& diagnostics);

// The exception of podsim/_errors.py that the error is, and its raising.
pybind11::object exception_of(const Error& error);
[[noreturn]] void raise(const Error& error);

template <class T>
T value_or_raise(Expected<T> expected) {
  if (!expected) raise(expected.error());
  return std::move(*expected);
}

// A call's wish to be told and to be ended: the caller's function, which may be None, and Ctrl-C.
class Listener {
 public:
  Listener(pybind11::object told, int threads);

  const Effort& effort() const { return effort_; }
  std::atomic<bool>& stop() { return stop_; }

  // f() without the interpreter's lock, on this thread; it must call the watch of `effort` to be ended.
  template <class F>
  auto run_here(F&& f) {
    std::optional<decltype(f())> result;
    {
      const pybind11::gil_scoped_release unlocked;
      result.emplace(f());
    }
    rethrow();
    return *std::move(result);
  }

  // f() on another thread, while this one looks for Ctrl-C.
  template <class F>
  auto run(F&& f) {
    auto result = std::async(std::launch::async, f);
    {
      const pybind11::gil_scoped_release unlocked;
      while (result.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) look_for_signals();
    }
    auto value = result.get();
    rethrow();
    return value;
  }

 private:
  bool tell(const Advance& advance);  // from any thread, without the lock
  void look_for_signals();
  void note_exception();  // REQUIRES: the lock, and a Python exception that is set
  void rethrow();

  pybind11::object told_;
  Effort effort_;
  std::atomic<bool> stop_ = false;
  std::chrono::steady_clock::time_point last_;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

}  // namespace podsim::python
