// Reads tables of measured kernels, whose columns tell which kernel they are of.
#include "validation/measured_kernels.h"

#include <cmath>
#include <optional>
#include <sstream>

#include "proto/text/csv_table.h"
#include "validation/kernel_rules.h"

namespace podsim {
namespace {

using Call = decltype(MeasuredKernel::call);
enum class Kind { kMatmul, kAttention, kExperts, kExchange };

constexpr const char* kBalanced = "balanced";
constexpr const char* kPowerLaw = "power_law_";

// Of the columns that one kind alone has: what most of them are there for.
Kind kind_of(const CsvTable& table) {
  if (table.has("dispatch_us")) return Kind::kExchange;
  if (table.has("expert_ffn") || table.has("topk")) return Kind::kExperts;
  return table.has("head_dim") || table.has("sequence") ? Kind::kAttention : Kind::kMatmul;
}

std::vector<const char*> columns_of(Kind kind) {
  switch (kind) {
    case Kind::kMatmul:
      return {"chip", "dtype", "m", "n", "k"};
    case Kind::kAttention:
      return {"chip", "dtype", "batch", "sequence", "heads", "kv_heads", "head_dim"};
    case Kind::kExperts:
      return {"chip", "dtype", "tokens", "hidden", "expert_ffn", "topk", "experts"};
    case Kind::kExchange:
      break;
  }
  return {"chip",    "nodes",        "hidden",      "tokens_per_gpu", "topk",
          "experts", "dispatch_sms", "combine_sms", "combine_us"};
}

class KernelRowReader {
 public:
  KernelRowReader(CsvTable& table, Kind kind, const CsvRow& row) : table_(table), kind_(kind), row_(row) {}

  // Nothing where a cell is wrong.
  std::vector<MeasuredKernel> read() {
    std::vector<MeasuredKernel> made;
    const std::string& chip = table_.cell(row_, "chip").text;
    if (kind_ == Kind::kExchange) {
      made.push_back({chip, "fp8", exchange("dispatch_sms", false),
                      microseconds("dispatch_us", "dispatch_notify_us"), row_.line});
      made.push_back({chip, "bf16", exchange("combine_sms", true),
                      microseconds("combine_us", "combine_notify_us"), row_.line});
    } else {
      made.push_back({chip, table_.cell(row_, "dtype").text, call(), number("latency_ms") * 1e-3, row_.line});
      made.back().assumption = assumption_;
    }
    if (!complete_) made.clear();
    return made;
  }

 private:
  double microseconds(const char* column, const char* added) {
    return (number(column) + number_or(added, 0, CsvNumber::kNotNegative)) * 1e-6;
  }

  ExchangeCall exchange(const char* units, bool back) {
    ExchangeCall call;
    call.tokens = number("tokens_per_gpu");
    call.hidden = number("hidden");
    call.topk = count("topk");
    call.experts = count("experts");
    call.domains = count("nodes");
    call.devices = call.domains * count_or("gpus_per_node", 8);
    call.units = number(units);
    call.back = back;
    check_experts_of_token(call.topk, call.experts);
    return call;
  }

  Call call() {
    if (kind_ == Kind::kMatmul) return MatmulCall{whole("m"), whole("n"), whole("k")};
    if (kind_ == Kind::kExperts) return experts();
    return AttentionCall{whole("batch"),    whole("sequence"),
                         whole("heads"),    whole("kv_heads"),
                         whole("head_dim"), number_or("window", 0, CsvNumber::kNotNegative)};
  }

  ExpertsCall experts() {
    ExpertsCall call;
    call.routing = {number("tokens"), count("topk"), count("experts"), count_or("expert_degree", 1),
                    exponent()};
    check_experts_of_token(call.routing.topk, call.routing.experts);
    call.hidden = number("hidden");
    call.expert_ffn = number("expert_ffn");
    call.tensor_degree = number_or("tensor_degree", 1, CsvNumber::kPositive);
    call.gated = gated(call.routing);
    if (complete_ && call.routing.experts % call.routing.devices != 0)
      refuse("expert_degree",
             std::to_string(call.routing.experts) + " experts do not lie alike on " +
                 std::to_string(call.routing.devices) + " devices",
             "");
    return call;
  }

  bool gated(const TokenRouting& routing) {
    if (has("gated")) return number("gated", CsvNumber::kNotNegative) != 0;
    const GateRule* rule = gate_rule(routing.topk, routing.experts);
    if (rule == nullptr) return true;
    assumption_ = rule->assumption;
    return rule->gated;
  }

  void check_experts_of_token(int topk, int experts) {
    if (complete_ && topk > experts)
      refuse("topk", "a token has " + std::to_string(topk) + " of " + std::to_string(experts) + " experts",
             "");
  }

  double exponent() {
    const std::string routing = has("routing") ? table_.cell(row_, "routing").text : kBalanced;
    if (routing == kBalanced) return 0;
    double exponent = 0;
    std::istringstream rest(routing.starts_with(kPowerLaw) ? routing.substr(std::string(kPowerLaw).size())
                                                           : "");
    rest.imbue(std::locale::classic());
    if (rest >> exponent && rest.eof() && exponent > 0 && exponent < 10 && exponent != 1) return exponent;
    refuse("routing", "routing is \"" + routing + '"', "expected balanced, or power_law_ and an exponent");
    return 0;
  }

  double number(const char* column, CsvNumber which = CsvNumber::kPositive) {
    const auto value = table_.number(row_, column, which);
    complete_ = complete_ && value;
    return value.value_or(1);
  }
  double number_or(const char* column, double missing, CsvNumber which) {
    return has(column) ? number(column, which) : missing;
  }
  double whole(const char* column) {
    const double value = number(column);
    if (value != std::floor(value)) refuse_number(column, "expected a whole number");
    return value;
  }
  int count(const char* column) {
    constexpr double kMost = 1e6;
    const double value = number(column);
    if (value == std::floor(value) && value <= kMost) return static_cast<int>(value);
    refuse_number(column, "expected a whole number, at most 1000000");
    return 1;
  }
  int count_or(const char* column, int missing) { return has(column) ? count(column) : missing; }

  // An empty cell is a missing one.
  bool has(const char* column) const { return !table_.cell(row_, column).text.empty(); }

  void refuse_number(const char* column, const std::string& hint) {
    refuse(column, std::string(column) + " is \"" + table_.cell(row_, column).text + '"', hint);
  }
  void refuse(const char* column, const std::string& message, const std::string& hint) {
    table_.report(row_, column, message, hint);
    complete_ = false;
  }

  CsvTable& table_;
  const Kind kind_;
  const CsvRow& row_;
  bool complete_ = true;
  std::string assumption_;
};

struct ShapeText {
  std::ostream& out;
  void operator()(const MatmulCall& call) const {
    out << "m=" << call.m << " n=" << call.n << " k=" << call.k;
  }
  void operator()(const AttentionCall& call) const {
    out << "batch=" << call.batch << " sequence=" << call.sequence << " heads=" << call.heads << '/'
        << call.kv_heads << " of " << call.head_dim;
    if (call.window > 0) out << " window=" << call.window;
  }
  void operator()(const ExpertsCall& call) const {
    const TokenRouting& routing = call.routing;
    out << "tokens=" << routing.tokens << ' ' << call.hidden << 'x' << call.expert_ffn
        << (call.gated ? " gated " : " ") << routing.topk << " of " << routing.experts
        << " tensor=" << call.tensor_degree << " expert=" << routing.devices;
    if (routing.exponent > 0) out << " power law " << routing.exponent;
  }
  void operator()(const ExchangeCall& call) const {
    out << "tokens=" << call.tokens << " hidden=" << call.hidden << ' ' << call.topk << " of " << call.experts
        << " nodes=" << call.domains << " units=" << call.units;
  }
};

}  // namespace

const char* MeasuredKernel::kernel() const {
  constexpr const char* kNames[] = {"matmul", "attention", "experts"};
  if (const auto* exchange = std::get_if<ExchangeCall>(&call)) return exchange->back ? "combine" : "dispatch";
  return kNames[call.index()];
}

std::string MeasuredKernel::shape() const {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(12);
  std::visit(ShapeText{text}, call);
  return text.str();
}

bool is_kernel_table(const std::string& text) {
  std::istringstream lines(text);
  std::string header;
  while (std::getline(lines, header) && (header.empty() || header.front() == '#')) continue;
  const CsvTable table("", header);
  return table.has("dispatch_us") || (table.has("latency_ms") && !table.has("collective"));
}

MeasuredKernels read_kernel_table(const std::string& file, const std::string& text) {
  CsvTable table(file, text);
  const Kind kind = kind_of(table);
  bool complete = true;
  for (const char* column : columns_of(kind)) complete = table.require(column) && complete;
  MeasuredKernels read;
  for (const CsvRow& row : table.rows()) {
    if (!complete) break;
    for (MeasuredKernel& made : KernelRowReader(table, kind, row).read())
      read.rows.push_back(std::move(made));
  }
  read.problems = table.problems();
  return read;
}

}  // namespace podsim
