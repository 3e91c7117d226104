// JSON sharding cases: the list of cases, what all of them have, and the cost that a file may expect.
#include "proto/cases/load_shard_cases.h"

#include <algorithm>
#include <set>

#include "engine/spelling.h"
#include "proto/cases/shard_case_questions.h"
#include "proto/text/assign.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

constexpr std::size_t kMostCases = 10'000;
constexpr const char* kFormat = "gspmd-cases/1";

// Every case has these; what is behind the first four is for readers and for comparison.
const std::vector<std::string>& common_keys() {
  static const std::vector<std::string> keys = {"id",      "category", "op",       "mesh",  "dtype", "source",
                                                "options", "expected", "notation", "check", "note"};
  return keys;
}

class CasesReader {
 public:
  CasesReader(Document& document, const JsonTree& tree)
      : document_(document), values_(document, tree), tree_(tree) {}

  void read() {
    const auto keys = values_.object(0, {"format", "generated", "conventions", "cases"});
    if (!keys) return;
    const auto format = values_.text((*keys)[0]);
    if ((*keys)[0] == kMissing) values_.report_missing(0, "format");
    if (format && *format != kFormat)
      values_.report((*keys)[0], std::string("must be \"") + kFormat + "\", not \"" + *format + "\"");
    if ((*keys)[3] == kMissing) values_.report_missing(0, "cases");
    const auto cases = values_.array((*keys)[3]);
    if (cases.size() > kMostCases) {
      values_.report((*keys)[3], "must not be more than " + std::to_string(kMostCases));
      return;
    }
    for (const std::int32_t value : cases) {
      if (values_.full()) return;
      const std::size_t had = document_.problems().size(), read = cases_.size();
      read_case(value);
      if (cases_.size() == read) keep_unreadable(value, had);
    }
  }

  std::vector<ShardCase> take() { return std::move(cases_); }

 private:
  void read_case(std::int32_t value) {
    const std::int32_t named = values_.find(value, "op");
    const auto op = values_.text(named);
    const std::vector<std::string> known = question_names();
    if (op && std::find(known.begin(), known.end(), *op) == known.end()) {
      values_.report(named, "is \"" + *op + "\", which is not planned", suggest(*op, known, "operations"));
      return;
    }
    std::vector<std::string> keys = common_keys();
    if (op) {
      const auto more = question_keys(*op);
      keys.insert(keys.end(), more.begin(), more.end());
    }
    if (!values_.object(value, keys)) return;
    if (named == kMissing) values_.report_missing(value, "op");
    const auto id = values_.text(values_.require(value, "id"));
    const auto category = values_.text(values_.find(value, "category"));
    const auto mesh = values_.mesh(values_.require(value, "mesh"));
    if (id && !ids_.insert(*id).second)
      values_.report(values_.find(value, "id"), "is \"" + *id + "\", the id of another case");
    if (!op || !mesh) return;  // what is on the mesh would only echo its problems
    values_.element_bytes(values_.find(value, "dtype"));
    auto question = read_question(values_, value, *op, *mesh);
    if (!question || !id) return;
    cases_.push_back({*id, category.value_or(""), *op, *mesh, *std::move(question), expected(value)});
  }

  // A case with problems, of which there are more than `had`: others need not suffer for it.
  void keep_unreadable(std::int32_t value, std::size_t had) {
    ShardCase unreadable;
    const auto text_in = [&](const char* key) -> std::string {
      const std::int32_t found = values_.find(value, key);
      if (found == kMissing || !values_.is(found, JsonKind::kString)) return "";
      return tree_.texts[static_cast<std::size_t>(tree_.at(found).text)];
    };
    unreadable.id = text_in("id");
    unreadable.category = text_in("category");
    unreadable.op = text_in("op");
    const std::size_t problems = document_.problems().size() - had;
    unreadable.question =
        Unplanned{problems == 1 ? "it has a problem" : "it has " + std::to_string(problems) + " problems"};
    if (!unreadable.id.empty()) cases_.push_back(std::move(unreadable));
  }

  // The sum over kinds of collectives, as far as the file states it.
  std::optional<ExpectedCost> expected(std::int32_t value) const {
    const std::int32_t totals = values_.find(values_.find(value, "expected"), "totals");
    if (totals == kMissing || !values_.is(totals, JsonKind::kObject)) return std::nullopt;
    ExpectedCost cost;
    for (std::int32_t kind = tree_.first_inside(totals); kind < tree_.after(totals); kind = tree_.after(kind))
      cost.send_bytes += number_in(kind, "send_bytes").value_or(0);
    return cost;
  }

  std::optional<double> number_in(std::int32_t object, const std::string& key) const {
    const std::int32_t value = values_.find(object, key);
    if (value == kMissing || !values_.is(value, JsonKind::kNumber)) return std::nullopt;
    return tree_.at(value).number;
  }

  const Document& document_;
  ShardCaseValues values_;
  const JsonTree& tree_;
  std::vector<ShardCase> cases_;
  std::set<std::string> ids_;
};

}  // namespace

LoadShardCasesResult load_shard_cases(const std::string& file_name, const std::string& text) {
  LoadShardCasesResult result;
  if (text.size() > kMostJsonBytes) {
    result.problems.push_back({file_name, 0, 0, "the file is larger than 32 MiB", "", ""});
    return result;
  }
  Document document(file_name, text);
  JsonTree tree;
  if (parse_json_tree(document, kMostJsonValues, tree)) {
    CasesReader reader(document, tree);
    reader.read();
    std::vector<ShardCase> cases = reader.take();
    if (document.clean())
      result.cases = std::move(cases);
    else
      result.readable = std::move(cases);
  }
  result.problems = document.problems();
  return result;
}

LoadShardCasesResult load_shard_cases_file(const std::string& path) {
  std::vector<Problem> problems;
  const auto input = read_input(path, problems, kMostJsonBytes);
  if (!input) return {std::nullopt, std::move(problems), {}};
  return load_shard_cases(input->name, input->text);
}

}  // namespace podsim
