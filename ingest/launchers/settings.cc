// Values by name, with the account of who asked for which.
#include "ingest/launchers/settings.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool letter(char character) { return std::isdigit(static_cast<unsigned char>(character)) == 0; }

// Whether one letter is another, missing, or has changed places with its neighbour. Numbers in names count
// things: layers_1 is no mistake for layers_2; and a name may have a plural.
bool misspelt(const std::string& name, const std::string& meant) {
  const auto [x, y] = std::ranges::mismatch(name, meant);
  const std::string_view left(x, name.end()), right(y, meant.end());
  if (left.size() == right.size() && !left.empty())
    return letter(left[0]) && letter(right[0]) &&
           (left.substr(1) == right.substr(1) ||
            (left.size() > 1 && left[0] == right[1] && left[1] == right[0] && letter(left[1]) &&
             left.substr(2) == right.substr(2)));
  const auto [shorter, longer] = left.size() < right.size() ? std::pair(left, right) : std::pair(right, left);
  return longer.size() == shorter.size() + 1 && !shorter.empty() && letter(longer[0]) &&
         longer.substr(1) == shorter;
}

// "2e8", "200_000", "+1.5"
std::optional<double> number_of(std::string text) {
  std::erase(text, '_');
  if (text.starts_with('+')) text.erase(0, 1);
  return whole_text_as<double>(text);
}

}  // namespace

Setting setting_at(const Document& document, const std::string& name, TextPosition at) {
  Setting setting;
  setting.name = name;
  setting.file = document.file();
  setting.at = at;
  setting.source_line = std::string(document.line(at.line));
  return setting;
}

void Configuration::set(Setting setting) {
  const auto [found, added] = index_.emplace(setting.name, settings_.size());
  if (added) {
    settings_.push_back(std::move(setting));
  } else {
    settings_[found->second] = std::move(setting);
    ++replaced_;
  }
}

void Configuration::set_stated(const Stated& stated) {
  for (const auto& [name, text] : stated.settings) {
    Setting setting;
    setting.name = name;
    setting.text = text;
    setting.file = kStatedFile;
    set(std::move(setting));
  }
}

void Configuration::set_all(const Configuration& others) {
  for (const Setting& setting : others.settings_) set(setting);
  unread.insert(others.unread.begin(), others.unread.end());
  replaced_ += others.replaced_;
}

Setting* Configuration::find(const std::string& name) {
  const auto found = index_.find(name);
  if (found == index_.end()) return asked_.insert(name), nullptr;
  used_[name] = true;
  Setting& setting = settings_[found->second];
  return setting.kind == Setting::Kind::kNull ? nullptr : &setting;
}

bool Configuration::has(const std::string& name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) asked_.insert(name);
  return found != index_.end() && settings_[found->second].kind != Setting::Kind::kNull;
}

void Configuration::use(const std::string& name) { find(name); }

std::optional<double> Configuration::read_number(const std::string& name, const std::string& expected) {
  const Setting* setting = find(name);
  if (setting == nullptr) return std::nullopt;
  if (const auto value = number_of(setting->text)) return value;
  if (setting->text.find('$') != std::string::npos)
    needs.push_back({name + ": " + setting->text, "--set " + name + "=VALUE"});
  else
    refuse(name, name + " is \"" + setting->text + "\"", "expected " + expected);
  return std::nullopt;
}

std::optional<double> Configuration::number(const std::string& name) { return read_number(name, "a number"); }

std::optional<std::int64_t> Configuration::integer(const std::string& name) {
  constexpr double kMost = 1e15;
  const auto value = read_number(name, "a whole number");
  if (!value) return std::nullopt;
  if (*value != std::floor(*value) || std::abs(*value) > kMost) {
    refuse(name, name + " is " + shortest(*value), "expected a whole number");
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<std::string> Configuration::text(const std::string& name) {
  const Setting* setting = find(name);
  return setting == nullptr ? std::nullopt : std::optional(setting->text);
}

std::optional<bool> Configuration::boolean(const std::string& name) {
  const Setting* setting = find(name);
  if (setting == nullptr) return std::nullopt;
  if (setting->kind == Setting::Kind::kUnknown) {  // no value: an argument that is true or false has none
    unread.insert(setting->text);
    return true;
  }
  const std::string word = lower(setting->text);
  if (word.empty() || word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  refuse(name, name + " is \"" + setting->text + "\"", "expected true or false");
  return std::nullopt;
}

std::vector<std::string> Configuration::list(const std::string& name) {
  const Setting* setting = find(name);
  if (setting == nullptr) return {};
  if (setting->kind == Setting::Kind::kList) return setting->list;
  return {setting->text};
}

std::string Configuration::place(const std::string& name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) return "";
  const Setting& setting = settings_[found->second];
  return setting.file + (setting.at.line > 0 ? ":" + std::to_string(setting.at.line) : "");
}

void Configuration::refuse(const std::string& name, const std::string& message, const std::string& hint) {
  if (problems_.size() >= Document::kMaxProblems) return;
  Problem problem;
  if (const auto found = index_.find(name); found != index_.end()) {
    const Setting& setting = settings_[found->second];
    problem.file = setting.file;
    problem.line = setting.at.line;
    problem.column = problem.caret = setting.at.column;
    problem.source_line = setting.source_line;
  } else if (!settings_.empty()) {
    problem.file = settings_.front().file;
  }
  problem.message = message;
  problem.hint = hint;
  problems_.push_back(problem);
}

void Configuration::refuse_without_effect(const std::string& name, const std::string& why) {
  if (!why.empty())
    return refuse(name, "no setting " + name + " is read here", "of a file it is passed over: " + why);
  std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [used, is] : used_) known.push_back(used);
  const std::string near = closest_name(name, known);
  refuse(name, "no setting " + name + " is read here",
         near.empty() ? "expected a setting of the file, or a variable of the script"
                      : "did you mean " + near + "?");
}

void Configuration::refuse_misspelt(const std::function<std::string(const std::string&)>& reason) {
  for (const Setting& setting : settings_) {
    if (used_.contains(setting.name)) continue;
    const std::string why = reason(setting.name);
    if (setting.file == kStatedFile) {
      refuse_without_effect(setting.name, why);
      continue;
    }
    if (!why.empty()) continue;
    const auto near =
        std::ranges::find_if(asked_, [&](const std::string& name) { return misspelt(setting.name, name); });
    if (near != asked_.end())
      refuse(setting.name, "no setting " + setting.name, "did you mean " + *near + "?");
  }
}

bool Configuration::add_problems(std::vector<Problem>& problems) const {
  problems.insert(problems.end(), problems_.begin(), problems_.end());
  return !problems_.empty();
}

Account Configuration::account(const std::string& of,
                               const std::function<std::string(const std::string&)>& reason) const {
  Account account;
  account.of = of;
  account.read = static_cast<std::int64_t>(settings_.size()) + replaced_;
  if (replaced_ > 0) account.passed_over["replaced by a later value"] = replaced_;
  for (const Setting& setting : settings_) {
    if (used_.count(setting.name) != 0) {
      ++account.used;
    } else if (const std::string why = reason(setting.name); !why.empty()) {
      ++account.passed_over[why];
    } else {
      ++account.unknown[setting.name];
    }
  }
  account.check();
  return account;
}

}  // namespace podsim
