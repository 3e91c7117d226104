// Predicts measured kernels by the stack as it is, and takes the median of each kind.
#include "calibration/anchor_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <variant>

#include "engine/order_statistics.h"
#include "proto/text/csv_table.h"
#include "report/text/text.h"
#include "validation/validate_kernels.h"
#include "workload/partition/op_cost.h"

namespace podsim {
namespace {

constexpr double kTera = 1e12;
constexpr double kPeakTolerance = 0.02;  // data sheets round

// Errors of rows by the number that they tell of.
class Evidence {
 public:
  explicit Evidence(std::string file) : file_(std::move(file)) {}

  void add(const std::string& number, double error) { errors_[number].push_back(error); }
  void leave_out(const std::string& what) { ++unused_[what]; }

  ReadAnchorKernels take(const Spec& spec, bool alone, std::vector<Problem> problems) const {
    ReadAnchorKernels result;
    for (const auto& [number, errors] : errors_) {
      AnchorKernels made{(number == "gemm_factor" ? "matmuls of " : "attention of ") + file_,
                         number,
                         spec.job.stack,
                         alone,
                         static_cast<int>(errors.size()),
                         median(errors),
                         {}};
      made.text = made.id + " " + std::to_string(made.rows) + " " + shortest(made.error);
      result.kernels.push_back(std::move(made));
    }
    for (const auto& [what, rows] : unused_)
      result.unused.push_back(std::to_string(rows) + (rows == 1 ? " row of " : " rows of ") + what);
    result.problems = std::move(problems);
    if (result.problems.empty() && result.kernels.empty()) result.problems.push_back(nothing(spec));
    return result;
  }

 private:
  Problem nothing(const Spec& spec) const {
    Problem problem;
    problem.file = file_;
    problem.message = "has no kernel that tells of a stack on " + spec.cluster.chip.name;
    problem.hint = "expected matmuls or attention on that chip";
    return problem;
  }

  std::string file_;
  std::map<std::string, std::vector<double>> errors_;
  std::map<std::string, int> unused_;
};

// A matmul that no number format of the chip could have done in its time.
std::optional<Problem> impossible(const std::string& file, const MeasuredKernel& row, const Chip& chip) {
  const auto* matmul = std::get_if<MatmulCall>(&row.call);
  if (matmul == nullptr) return std::nullopt;
  double peak = 0;
  for (const auto& [dtype, rate] : chip.matmul) peak = std::max(peak, rate.peak.value);
  const double reached = 2 * matmul->m * matmul->n * matmul->k / row.time_s;
  if (reached <= (1 + kPeakTolerance) * peak) return std::nullopt;
  Problem problem;
  problem.file = file;
  problem.line = row.line;
  problem.message = "a matmul at " + significant(reached / kTera, 4) + " TFLOPS, and matmuls of " +
                    chip.name + " reach at most " + significant(peak / kTera, 4);
  problem.hint = "latency_ms is in milliseconds";
  return problem;
}

ReadAnchorKernels lone_kernels(const std::string& file, const std::string& text, const Spec& spec,
                               const Catalog& catalog) {
  MeasuredKernels read = read_kernel_table(file, text);
  Evidence evidence(file);
  const Chip& chip = spec.cluster.chip;
  const auto other_chip = [&](const MeasuredKernel& row) {
    return row.chip != chip.name && catalog.canonical(Catalog::Section::kChips, row.chip) != chip.name;
  };
  for (const MeasuredKernel& row : read.rows)
    if (other_chip(row)) evidence.leave_out("another chip, " + row.chip);
  std::erase_if(read.rows, other_chip);
  for (const MeasuredKernel& row : read.rows)
    if (auto problem = impossible(file, row, chip)) read.problems.push_back(*std::move(problem));
  const KernelValidation made = validate_kernels(std::move(read.rows), chip);
  for (const PredictedKernel& row : made.rows) {
    const std::string kernel = row.measured.kernel();
    const double error = std::log(row.predicted_s / row.measured.time_s);
    if (kernel == "matmul") {
      evidence.add("gemm_factor", error);
    } else if (kernel == "attention") {
      evidence.add("attention_factor", error);
    } else {
      evidence.leave_out(kernel);
    }
  }
  for (const LeftOutKernels& left : made.left_out)
    for (int row = 0; row < left.rows; ++row) evidence.leave_out("what cannot be predicted: " + left.reason);
  return evidence.take(spec, true, std::move(read.problems));
}

// Kernels inside a step, by the share of the peak that they reach.
class StepKernelReader {
 public:
  StepKernelReader(const std::string& file, const std::string& text, const Spec& spec)
      : csv_(file, text), spec_(spec), evidence_(file) {}

  ReadAnchorKernels read() {
    bool complete = true;
    for (const char* column : {"operation", "peak_tflops", "shape", "share_of_peak"})
      complete = csv_.require(column) && complete;
    if (complete)
      for (const CsvRow& row : csv_.rows()) add(row);
    return evidence_.take(spec_, false, csv_.problems());
  }

 private:
  void add(const CsvRow& row) {
    const std::string& operation = csv_.cell(row, "operation").text;
    const bool matmul = operation == "matmul";
    if (!matmul && operation != "sdp_fwd" && operation != "sdp_bwd") return evidence_.leave_out(operation);
    const auto peak = csv_.number(row, "peak_tflops", CsvNumber::kPositive),
               share = csv_.number(row, "share_of_peak", CsvNumber::kPositive);
    const auto dtype = peak ? dtype_of(row, *peak * kTera) : std::nullopt;
    if (!share || !dtype) return;
    if (*share > 1)
      return csv_.report(row, "share_of_peak", "share_of_peak is above 1",
                         "expected a share, such as 0.75 for 75 %");
    const auto sizes = sizes_of(row);
    const auto op = matmul ? matmul_of(row, sizes, *dtype) : attention_of(row, sizes, operation == "sdp_bwd");
    if (!op) return;
    const double counted = op->flops.value * (matmul ? 1 : 2);  // the masked half too
    const double measured_s = counted / (*share * *peak * kTera);
    evidence_.add(matmul ? "gemm_factor" : "attention_factor",
                  std::log(op_seconds(*op, spec_.cluster.chip, spec_.job.stack) / measured_s));
  }

  std::optional<Dtype> dtype_of(const CsvRow& row, double peak) {
    std::set<double> known;
    for (const auto& [dtype, rate] : spec_.cluster.chip.matmul) {
      if (std::abs(rate.peak.value / peak - 1) < kPeakTolerance) return dtype;
      known.insert(rate.peak.value / kTera);
    }
    std::string expected;
    for (const double tflops : known) expected += (expected.empty() ? "" : ", ") + shortest(tflops);
    csv_.report(row, "peak_tflops", "no matmuls of " + spec_.cluster.chip.name + " have this peak",
                "expected one of " + expected);
    return std::nullopt;
  }

  // "m=4096;layout=TN": numbers by their names; words are left out but for the layout of a weight gradient.
  std::map<std::string, double> sizes_of(const CsvRow& row) {
    std::map<std::string, double> sizes;
    std::istringstream fields(csv_.cell(row, "shape").text);
    for (std::string field; std::getline(fields, field, ';');) {
      const std::size_t equals = field.find('=');
      if (equals == std::string::npos) continue;
      std::istringstream value(field.substr(equals + 1));
      value.imbue(std::locale::classic());
      if (double number = 0; value >> number && value.eof() && number > 0 && number == std::floor(number))
        sizes[field.substr(0, equals)] = number;
      if (field == "layout=NT") sizes["weight gradient"] = 1;
    }
    return sizes;
  }

  bool has(const CsvRow& row, const std::map<std::string, double>& sizes,
           std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (sizes.count(name) > 0) continue;
      csv_.report(row, "shape", std::string("the shape has no ") + name + " above 0",
                  std::string("expected ") + name + "=WHOLE NUMBER between semicolons");
      return false;
    }
    return true;
  }

  std::optional<ComputeOp> matmul_of(const CsvRow& row, const std::map<std::string, double>& sizes,
                                     Dtype dtype) {
    if (!has(row, sizes, {"m", "n", "k"})) return std::nullopt;
    ComputeOp op;
    op.dtype = dtype;
    op.m = sizes.at("m");
    op.n = sizes.at("n");
    op.k = sizes.at("k");
    op.repeats = sizes.count("b") > 0 ? sizes.at("b") : 1;
    op.weight_gradient = sizes.count("weight gradient") > 0;
    op.flops = {2 * op.repeats * op.m * op.n * op.k};
    op.hbm = {op.repeats * ((op.m + op.n) * op.k * bytes_per_element(dtype) + op.m * op.n * 2)};
    return op;
  }

  // Backward has five matmuls where forward has two.
  std::optional<ComputeOp> attention_of(const CsvRow& row, const std::map<std::string, double>& sizes,
                                        bool backward) {
    if (!has(row, sizes, {"batch", "seq_len", "head_num", "qk_head_dim", "v_head_dim"})) return std::nullopt;
    ComputeOp op;
    op.op_class = OpClass::kAttention;
    op.sequences = sizes.at("batch");
    op.query_length = op.key_length = sizes.at("seq_len");
    op.heads = sizes.at("head_num");
    op.head_dim = (sizes.at("qk_head_dim") + sizes.at("v_head_dim")) / 2;
    op.causal = true;
    op.backward = backward;
    const double forward = 2 * op.sequences * op.heads * op.query_length * op.key_length * op.head_dim;
    op.flops = {forward * (backward ? 2.5 : 1)};
    return op;
  }

  CsvTable csv_;
  const Spec& spec_;
  Evidence evidence_;
};

bool is_step_kernel_table(const std::string& text) { return CsvTable("", text).has("share_of_peak"); }

}  // namespace

bool is_anchor_kernel_table(const std::string& text) {
  return is_kernel_table(text) || is_step_kernel_table(text);
}

ReadAnchorKernels read_anchor_kernels(const std::string& file, const std::string& text, const Spec& spec,
                                      const Catalog& catalog) {
  if (is_step_kernel_table(text)) return StepKernelReader(file, text, spec).read();
  return lone_kernels(file, text, spec, catalog);
}

}  // namespace podsim
