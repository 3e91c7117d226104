// Sizes and an element, with x between them.
#include "ingest/stablehlo/tensor_type.h"

#include <algorithm>
#include <cctype>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "ingest/hlo/fields.h"

namespace podsim::stablehlo {
namespace {

const std::vector<std::string>& element_types() {
  static const std::vector<std::string> kTypes = {
      "f32",       "bf16",       "f32",      "f64",          "f80",
      "f128",      "tf32",       "index",    "f8E3M4",       "f8E4M3",
      "f8E4M3FN",  "f8E4M3FNUZ", "f8E5M2",   "f8E5M2FNUZ",   "f8E4M3B11FNUZ",
      "f8E8M0FNU", "f6E2M3FN",   "f6E3M2FN", "f4E2M1FN",     "i1",
      "i4",        "i8",         "i16",      "i32",          "i64",
      "ui4",       "ui8",        "ui16",     "ui32",         "ui64",
      "si2",       "si4",        "si8",      "si16",         "si32",
      "si64",      "i2",         "ui2",      "complex<f32>", "complex<f64>"};
  return kTypes;
}

}  // namespace

std::optional<TensorType> tensor_type(std::string_view text, std::string& unknown) {
  TensorType type;
  while (!text.empty()) {
    const std::size_t x = text.find('x');
    const std::string_view size = text.substr(0, x);
    if (x == std::string_view::npos || x == 0) break;
    if (size == "?" || size == "*") {
      type.sizes.push_back(1);
      type.has_open_size = true;
    } else {
      const auto number = whole_text_as<std::int64_t>(size);
      if (!number || *number < 0) break;
      type.sizes.push_back(*number);
    }
    text.remove_prefix(x + 1);
  }
  type.element = std::string(text.substr(0, text.find(',')));
  while (type.element.ends_with(' ')) type.element.pop_back();
  const bool of_a_dialect = type.element.starts_with("!");
  if (of_a_dialect || std::ranges::count(element_types(), type.element) > 0) return type;
  unknown = type.element;
  return std::nullopt;
}

std::string nearest_element_type(const std::string& name) {
  const auto one_letter_off = [&](const std::string& type) {
    if (type.size() != name.size()) return false;
    int differ = 0;
    for (std::size_t i = 0; i < name.size(); ++i) differ += type[i] != name[i];
    return differ == 1;
  };
  const auto near = std::ranges::find_if(element_types(), one_letter_off);
  return near != element_types().end() ? *near : closest_name(name, element_types());
}

std::int64_t elements_of(const TensorType& type) {
  std::int64_t product = 1;
  for (const std::int64_t size : type.sizes) product = hlo::saturating_multiply(product, size);
  return product;
}

}  // namespace podsim::stablehlo
