// A text that many have in common.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace podsim::hlo {

// Copies share it: a module has tens of thousands of instructions and some dozens of operations.
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}

  const std::string& text() const {
    static const std::string kNone;
    return text_ ? *text_ : kNone;
  }
  operator const std::string&() const { return text(); }
  operator std::string_view() const { return text(); }
  bool starts_with(std::string_view begin) const { return text().starts_with(begin); }
  bool ends_with(std::string_view end) const { return text().ends_with(end); }

  friend bool operator==(const SharedText& a, std::string_view b) { return a.text() == b; }

 private:
  std::shared_ptr<const std::string> text_;
};

}  // namespace podsim::hlo
