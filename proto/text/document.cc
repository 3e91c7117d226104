// One text the user wrote: where each of its fields stands, and what is wrong with it so far.
#include "proto/text/document.h"

#include <algorithm>
#include <tuple>

#include "engine/utf8.h"

namespace podsim {
namespace {

// Long lines are cut to a window around the column, so that a message stays readable whatever the file holds.
constexpr std::size_t kWindow = 100;  // bytes

struct Excerpt {
  std::string text;
  int caret;  // the character of the column, from 1
};

// Bytes that are no text become '?', controls become blanks.
Excerpt excerpt(std::string_view line, int column) {
  const std::size_t target = std::min(static_cast<std::size_t>(column - 1), line.size());
  const std::size_t first = target < kWindow ? 0 : target - kWindow / 2;
  Excerpt shown{"", 1};
  for (std::size_t i = first; i < std::min(line.size(), first + kWindow);) {
    const std::size_t length = utf8_length(line, i);
    if (length == 0) {
      shown.text += '?';
    } else if (is_control(line[i])) {
      shown.text += ' ';
    } else {
      shown.text += line.substr(i, length);
    }
    if (i < target) ++shown.caret;
    i += std::max<std::size_t>(length, 1);
  }
  return shown;
}

// Does the set have `ancestor` or anything below it?
bool any_within(const std::set<std::string>& paths, const std::string& ancestor) {
  if (ancestor.empty()) return !paths.empty();
  const auto below = [&](const std::string& prefix) {
    const auto at = paths.lower_bound(prefix);
    return at != paths.end() && at->compare(0, prefix.size(), prefix) == 0;
  };
  return paths.count(ancestor) > 0 || below(ancestor + ".") || below(ancestor + "[");
}

}  // namespace

std::string join_path(const std::string& parent, std::string_view field) {
  return parent.empty() ? std::string(field) : parent + "." + std::string(field);
}

Document::Document(std::string file, std::string text) : file_(std::move(file)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::string_view Document::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts_.size()) return {};
  const std::size_t first = line_starts_[number - 1];
  std::size_t last =
      static_cast<std::size_t>(number) == line_starts_.size() ? text_.size() : line_starts_[number] - 1;
  if (last > first && text_[last - 1] == '\r') --last;
  return std::string_view(text_).substr(first, last - first);
}

TextPosition Document::position(std::size_t offset) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return {static_cast<int>(next - line_starts_.begin()), static_cast<int>(offset - *(next - 1)) + 1};
}

void Document::place(const std::string& path, TextPosition at) { places_[path] = {at, "", ""}; }

void Document::place_argument(const std::string& path, const std::string& flag, const std::string& argument) {
  places_[path] = {{0, 0}, flag, argument};
}

void Document::spoil(const std::string& path) { spoiled_.insert(path); }

bool Document::spoiled(const std::string& path) const { return any_within(spoiled_, path); }

bool Document::clean_below(const std::string& path) const {
  return !any_within(spoiled_, path) && !any_within(reported_, path);
}

// Falls back from a field the text does not have to the one around it. What a name gives can be overridden
// inline, so "job.model.heads" may stand at "job.model_override.heads".
Document::Place Document::find(std::string path) const {
  while (true) {
    if (const auto at = places_.find(path); at != places_.end()) return at->second;
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string::npos) break;
    const std::string parent = path.substr(0, cut);
    if (path[cut] == '.') {
      if (const auto at = places_.find(parent + "_override" + path.substr(cut)); at != places_.end())
        return at->second;
    }
    path = parent;
  }
  const auto root = places_.find("");
  return root == places_.end() ? Place{} : root->second;
}

Problem Document::problem_at(const Place& place, const std::string& message, const std::string& hint) const {
  if (!place.flag.empty()) return {place.flag, 0, 0, message, place.argument, hint};
  if (place.at.line == 0) return {file_, 0, 0, message, "", hint};
  const Excerpt shown = excerpt(line(place.at.line), place.at.column);
  return {file_, place.at.line, place.at.column, message, shown.text, hint, shown.caret};
}

void Document::add(Problem problem) {
  if (full()) return;
  const auto same = [&](const Problem& p) {
    return std::tie(p.file, p.line, p.column, p.message) ==
           std::tie(problem.file, problem.line, problem.column, problem.message);
  };
  if (std::none_of(problems_.begin(), problems_.end(), same)) problems_.push_back(std::move(problem));
}

void Document::report(const std::string& path, const std::string& message, const std::string& hint) {
  if (spoiled(path)) return;
  reported_.insert(path);
  add(problem_at(find(path), message, hint));
}

void Document::report_at(TextPosition at, const std::string& message, const std::string& hint) {
  add(problem_at({at, "", ""}, message, hint));
}

void Document::report_file(const std::string& message, const std::string& hint) {
  add({file_, 0, 0, message, "", hint});
}

void Document::warn(const std::string& path, const std::string& message, const std::string& hint) {
  warnings_.push_back(problem_at(find(path), message, hint));
}

std::vector<Problem> Document::problems() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return sorted;
}

}  // namespace podsim
