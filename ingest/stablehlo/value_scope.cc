// Looks values up from the inside out.
#include "ingest/stablehlo/value_scope.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "engine/words.h"
#include "ingest/stablehlo/statement.h"

namespace podsim::stablehlo {

// A name of HLO does not begin with a digit.
std::string plain_name(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  std::string made = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "v" : "";
  for (const char c : name) made += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '.';
  return made;
}

std::string tuple_of(const std::vector<std::string>& types) { return "(" + separated(types, ", ") + ")"; }

ValueScope::ValueScope(std::string name, std::int64_t& count, Captures& captures,
                       const std::vector<std::string>& given, const std::vector<std::string>& types)
    : name_(std::move(name)), count_(count), captures_(&captures), given_(types) {
  parameter_ = define("%given", tuple_of(types), "parameter(0)");
  elements(parameter_, given, types);
}

Value ValueScope::define(const std::string& result, const std::string& type, const std::string& rest) {
  Value value{plain_name(result) + "." + std::to_string(count_++), type, lines_.size(),
              rest.starts_with("constant(")};
  lines_.push_back(value.name + " = " + type + " " + rest);
  values_[result] = value;
  return value;
}

Value ValueScope::value(const std::string& name) {
  for (const std::string& of : {name, name + "#0"})
    if (const auto found = values_.find(of); found != values_.end()) return found->second;
  if (captures_ == nullptr) throw Unread{"value " + name + " is not in sight: it is of another region"};
  const Value outer = captures_->around.value(name);
  if (outer.constant) {
    const std::string& line = captures_->around.lines_[outer.line];
    return define(name, outer.type, line.substr(line.find("constant(")));
  }
  std::vector<Value>& captured = captures_->values;
  const auto known = std::ranges::find(captured, outer.name, &Value::name);
  const auto place = static_cast<std::size_t>(known - captured.begin());
  if (known == captured.end()) captured.push_back(outer);
  return element(name, place);
}

Value ValueScope::element(const std::string& result, std::size_t captured) {
  return define(
      result, captures_->values[captured].type,
      "get-tuple-element(" + parameter_.name + "), index=" + std::to_string(given_.size() + captured));
}

std::vector<Value> ValueScope::carried() {
  std::vector<Value> made;
  for (std::size_t i = 0; captures_ != nullptr && i < captures_->values.size(); ++i)
    made.push_back(element("%carried", i));
  return made;
}

std::string ValueScope::list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + value(name).name;
  return "(" + text + ")";
}

void ValueScope::elements(const Value& tuple, const std::vector<std::string>& results,
                          const std::vector<std::string>& types) {
  for (std::size_t i = 0; i < results.size(); ++i)
    define(results[i], types[i], "get-tuple-element(" + tuple.name + "), index=" + std::to_string(i));
}

void ValueScope::close() {
  std::vector<std::string> types = given_;
  for (const Value& each : captures_->values) types.push_back(each.type);
  lines_[parameter_.line] = parameter_.name + " = " + tuple_of(types) + " parameter(0)";
}

std::string ValueScope::written() const {
  std::string text = name_ + " {\n";
  for (const std::string& line : lines_) text += "  " + line + "\n";
  return text + "}\n\n";
}

}  // namespace podsim::stablehlo
