// Goes through the entry of the like chip line by line and puts the data sheet's figures in.
#include "planner/new_chip.h"

#include <cmath>
#include <regex>
#include <sstream>

#include "report/text/text.h"

namespace podsim {
namespace {

// Of 80 GB of a data sheet 79.1 GiB can be used on H100, of 192 GB 191.9 on MI300X.
constexpr double kUsableMemory = 0.99;
// Chips of the catalogue are busy at 0.88 to 0.95 of their limit.
constexpr double kBusyPower = 0.93;

std::string without_comment(const std::string& line) {
  const std::size_t end = line.substr(0, line.find('#')).find_last_not_of(" \t");
  return end == std::string::npos ? "" : line.substr(0, end + 1);
}

std::optional<double> number_behind(const std::string& text, const std::string& field) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("\\b" + field + ": *([0-9.eE+-]+)"))) return std::nullopt;
  return std::stod(found[1]);
}

std::string with_number(const std::string& text, const std::string& field, double value) {
  return std::regex_replace(text, std::regex("\\b" + field + ": *[0-9.eE+-]+"),
                            field + ": " + shortest(value));
}

double to_four_digits(double x) {
  const double scale = std::pow(10, 3 - std::floor(std::log10(x)));
  return std::round(x * scale) / scale;
}

class NewChip {
 public:
  NewChip(const ChipSheet& sheet, const std::string& like_name, const std::string& like)
      : sheet_(sheet), as_like_("assumed as " + like_name) {
    std::smatch found;
    if (std::regex_search(like, found, std::regex("dtype: *(bf16|fp16) +peak_tflops: *([0-9.eE+-]+)")))
      like_peak_ = std::stod(found[2]);
    like_busy_w_ = number_behind(like, "power_busy_w").value_or(0);
    adds_fp8_ = sheet.peak_fp8_tflops && like.find("dtype: fp8") == std::string::npos;
  }

  std::string line(const std::string& text) {
    if (text.find("matmul {") != std::string::npos) return matmul(text) + added_fp8(text);
    if (const auto hbm = sheet_.hbm_gb; hbm && number_behind(text, "hbm_capacity_gib"))
      return stated(text, "hbm_capacity_gib", *hbm * kUsableMemory,
                    "data sheet, less 1 % for ECC and driver");
    if (const auto rate = sheet_.hbm_gb_per_s; rate && number_behind(text, "hbm_bandwidth_gb_per_s"))
      return stated(text, "hbm_bandwidth_gb_per_s", *rate, "data sheet");
    if (const auto power = sheet_.power_w; power && number_behind(text, "power_busy_w"))
      return stated(text, "power_busy_w", *power * kBusyPower,
                    "assumed: 0.93 of the limit of the data sheet");
    const auto idle = number_behind(text, "power_idle_w");
    if (sheet_.power_w && idle && like_busy_w_ > 0)
      return stated(text, "power_idle_w", *idle * *sheet_.power_w * kBusyPower / like_busy_w_,
                    "share of power_busy_w: " + as_like_);
    if (sheet_.compute_units && number_behind(text, "compute_units"))
      return stated(text, "compute_units", *sheet_.compute_units, "data sheet");
    return text + (text.find(':') == std::string::npos ? "" : "  # " + as_like_);
  }

 private:
  static std::string stated(const std::string& text, const std::string& field, double value,
                            const std::string& source) {
    return with_number(text, field, to_four_digits(value)) + "  # " + source;
  }

  std::string matmul(const std::string& text) const {
    const std::string share = "; sustained: " + as_like_;
    if (sheet_.peak_fp8_tflops && text.find("dtype: fp8") != std::string::npos)
      return stated(text, "peak_tflops", *sheet_.peak_fp8_tflops, "peak: data sheet" + share);
    const auto peak = number_behind(text, "peak_tflops");
    if (!sheet_.peak_tflops || !peak || like_peak_ <= 0) return text + "  # " + as_like_;
    return stated(text, "peak_tflops", *peak * *sheet_.peak_tflops / like_peak_,
                  (in_16_bits(text) ? "peak: data sheet" : "peak: grown with that of 16 bits") + share);
  }

  // Behind the first matmul in 16 bits, where the like chip has none in fp8.
  std::string added_fp8(const std::string& text) {
    if (!adds_fp8_ || !in_16_bits(text)) return "";
    adds_fp8_ = false;
    return "\n  matmul { dtype: fp8 peak_tflops: " + shortest(to_four_digits(*sheet_.peak_fp8_tflops)) +
           " sustained: " + shortest(number_behind(text, "sustained").value_or(1)) +
           " }  # peak: data sheet; sustained: that of 16 bits, " + as_like_;
  }

  static bool in_16_bits(const std::string& text) {
    return text.find("dtype: bf16") != std::string::npos || text.find("dtype: fp16") != std::string::npos;
  }

  const ChipSheet& sheet_;
  std::string as_like_;
  double like_peak_ = 0, like_busy_w_ = 0;
  bool adds_fp8_ = false;
};

}  // namespace

std::string new_chip_text(const std::string& name, const ChipSheet& sheet, const std::string& like_name,
                          const std::string& like) {
  NewChip chip(sheet, like_name, like);
  std::string text = "# " + name + ": figures of its data sheet, all else as " + like_name +
                     ". Write the source of each number beside it.\n";
  std::istringstream lines(like);
  for (std::string line; std::getline(lines, line);) {
    line = without_comment(line);
    if (line.empty() || std::regex_search(line, std::regex("^ *(loose_)?alias:"))) continue;
    const bool names = std::regex_search(line, std::regex("^ *name:"));
    text += (names ? "  name: \"" + name + "\"" : chip.line(line)) + "\n";
  }
  return text;
}

}  // namespace podsim
