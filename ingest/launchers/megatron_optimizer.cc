// Formats count with --use-precision-aware-optimizer alone, without which Megatron-LM takes no other than
// fp32.
#include "ingest/launchers/megatron_optimizer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

class OptimizerReader {
 public:
  explicit OptimizerReader(Configuration& settings) : s_(settings) {}

  MegatronOptimizer read() {
    std::string name = s_.text("optimizer").value_or("adam");
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name == "sgd")
      read_sgd();
    else if (name.find("adam") != std::string::npos)
      read_adam();
    else
      read_.not_simulated.push_back("what the optimizer " + name + " keeps and computes: those of Adam");
    if (s_.integer("num-distributed-optimizer-instances").value_or(1) > 1)
      read_.not_simulated.emplace_back(
          "state cut over the ranks of one instance alone (--num-distributed-optimizer-instances): over all "
          "that hold a weight");
    if (s_.is_true("fp8-param-gather"))
      read_.not_simulated.emplace_back(
          "weights that are kept and gathered in 8 bits (--fp8-param-gather): in those of the recipe");
    return std::move(read_);
  }

 private:
  // Bytes of a format; those of 32 bits where nothing is said.
  std::int64_t bytes(const char* name) {
    const std::string format = s_.text(name).value_or("fp32");
    if (s_.has(name)) from_ = "--" + std::string(name) + ", " + s_.place(name);
    return format.ends_with("16") ? 2 : format.find("fp8") != std::string::npos ? 1 : 4;
  }

  void state(std::int64_t weight, std::int64_t beside, const std::string& words) {
    PODSIM_CHECK(weight > 0 && beside >= 0, "a weight is kept by the optimizer");
    read_.state_bytes = weight + beside;
    read_.from =
        from_ + ": weights of " + std::to_string(weight) + " bytes and " + words + " beside each of them";
  }

  void read_adam() {
    if (!s_.is_true("use-precision-aware-optimizer")) return;
    from_ = "--use-precision-aware-optimizer, " + s_.place("use-precision-aware-optimizer");
    const std::int64_t weight = bytes("main-params-dtype");
    const std::int64_t mean = bytes("exp-avg-dtype"), square = bytes("exp-avg-sq-dtype");
    if (weight + mean + square < read_.state_bytes)
      state(weight, mean + square, std::to_string(mean) + " and " + std::to_string(square));
    if (s_.text("main-grads-dtype").value_or("fp32").ends_with("16"))
      read_.not_simulated.emplace_back(
          "gradients that the optimizer reads in 16 bits (--main-grads-dtype): as they are reduced");
  }

  void read_sgd() {
    from_ = "--optimizer, " + s_.place("optimizer");
    const bool momentum = s_.number("sgd-momentum").value_or(0.9) != 0;
    state(4, momentum ? 4 : 0, momentum ? "a momentum of 4" : "nothing");
  }

  Configuration& s_;
  MegatronOptimizer read_;
  std::string from_;
};

}  // namespace

MegatronOptimizer read_megatron_optimizer(Configuration& settings) {
  return OptimizerReader(settings).read();
}

}  // namespace podsim
