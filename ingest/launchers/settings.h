// Keys and values of a launcher's configuration, where each stands, and what became of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/document.h"

namespace podsim {

// A number that a configuration may leave out.
using Whole = std::optional<std::int64_t>;

struct Setting {
  // kUnknown: of a command, one word that nobody knows, "$MORE": a value, or further arguments.
  enum class Kind { kNull, kBoolean, kNumber, kText, kList, kUnknown };
  std::string name;  // "zero_optimization.stage"
  Kind kind = Kind::kText;
  std::string text;               // as written; of a list, its values joined by commas
  std::vector<std::string> list;  // of a list
  std::string file, source_line;
  TextPosition at = {0, 0};
};

// A setting without a value, which stands there.
Setting setting_at(const Document& document, const std::string& name, TextPosition at);

// In place of the file of settings that a user states.
inline constexpr char kStatedFile[] = "--set";

// A later value of a name replaces an earlier one. Whoever asks for a value uses it; a value that cannot be
// read as what is asked for is a problem, one that holds a variable nobody sets is a need.
class Configuration {
 public:
  void set(Setting setting);
  // Those of --set, over these.
  void set_stated(const Stated& stated);
  // Those of another configuration, over these.
  void set_all(const Configuration& others);

  const std::vector<Setting>& all() const { return settings_; }  // of each name the last
  bool has(const std::string& name) const;                       // and it is not null
  std::optional<std::int64_t> integer(const std::string& name);
  std::optional<double> number(const std::string& name);
  std::optional<std::string> text(const std::string& name);
  std::optional<bool> boolean(const std::string& name);
  std::vector<std::string> list(const std::string& name);
  bool is_true(const std::string& name) { return boolean(name).value_or(false); }
  void use(const std::string& name);  // it is understood, whatever it says

  std::string place(const std::string& name) const;  // "train.sh:12"; empty where it is not set
  void refuse(const std::string& name, const std::string& message, const std::string& hint = "");

  // A setting that nobody asked for and that is one that was asked for, and is missing, but for one
  // character, is refused; one of --set that nobody asked for in any case.
  void refuse_misspelt(const std::function<std::string(const std::string&)>& reason);

  // Every setting once; `reason` tells why one that nobody asked for does not matter, empty where it is
  // unknown.
  Account account(const std::string& of, const std::function<std::string(const std::string&)>& reason) const;

  const std::vector<Problem>& problems() const { return problems_; }
  bool is_used(const std::string& name) const { return used_.contains(name); }
  bool add_problems(std::vector<Problem>& problems) const;  // false where there are none
  std::vector<Needed> needs;
  std::set<std::string> unread;  // words of commands that hold further arguments, which nobody knows: "$@"

 private:
  Setting* find(const std::string& name);
  void refuse_without_effect(const std::string& name, const std::string& why);
  std::optional<double> read_number(const std::string& name, const std::string& expected);

  std::vector<Setting> settings_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, bool> used_;
  mutable std::set<std::string> asked_;  // that are not there
  std::int64_t replaced_ = 0;
  std::vector<Problem> problems_;
};

// Of TOML, YAML and JSON: a table in a table has its name and a dot before its keys. Nothing, and problems,
// where the text is none.
std::optional<Configuration> read_toml(const std::string& file, const std::string& text,
                                       std::vector<Problem>& problems);
std::optional<Configuration> read_yaml(const std::string& file, const std::string& text,
                                       std::vector<Problem>& problems);
std::optional<Configuration> read_json_settings(const std::string& file, const std::string& text,
                                                std::vector<Problem>& problems);

}  // namespace podsim
