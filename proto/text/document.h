// One text the user wrote: where each of its fields stands, and what is wrong with it so far.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/problem.h"

namespace podsim {

// Counted from 1; the column in bytes.
struct TextPosition {
  int line, column;
};

// Fields are named by their path from the root: "job.mesh[1].size"; "" is the root itself.
class Document {
 public:
  static constexpr std::size_t kMaxProblems = 20;

  Document(std::string file, std::string text);

  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }

  TextPosition position(std::size_t offset) const;
  std::string_view line(int number) const;  // without its newline; empty when there is no such line

  int lines() const { return static_cast<int>(line_starts_.size()); }

  void place(const std::string& path, TextPosition at);
  // Line 0 when the text does not have it.
  TextPosition position_of(const std::string& path) const { return find(path).at; }
  int line_of(const std::string& path) const { return find(path).at.line; }
  // The field was given on the command line: problems with it name `flag` and show `argument`.
  void place_argument(const std::string& path, const std::string& flag, const std::string& argument);

  // A problem of this field has been reported already: later ones with it, or with what it is part of, say
  // nothing new.
  void spoil(const std::string& path);
  bool spoiled(const std::string& path) const;

  // A problem at a field, or at the nearest enclosing one that the text has. Silent when the field is
  // spoiled.
  void report(const std::string& path, const std::string& message, const std::string& hint = "");
  void report_at(TextPosition at, const std::string& message, const std::string& hint = "");
  void report_file(const std::string& message, const std::string& hint = "");  // of the whole file
  void warn(const std::string& path, const std::string& message, const std::string& hint = "");
  // Warns that a field, or a block, changes nothing: "cluster.transport has no effect: ...".
  void warn_idle(const std::string& path, const std::string& why, const std::string& hint = "") {
    warn(path, path + " has no effect: " + why, hint);
  }

  bool full() const { return problems_.size() >= kMaxProblems; }  // further problems are not kept
  bool clean() const { return problems_.empty(); }
  // Is there a problem at this path or below it?
  bool clean_below(const std::string& path) const;
  std::vector<Problem> problems() const;  // in the order of the text
  const std::vector<Problem>& warnings() const { return warnings_; }

 private:
  struct Place {
    TextPosition at = {0, 0};
    std::string flag, argument;
  };
  Place find(std::string path) const;
  Problem problem_at(const Place& place, const std::string& message, const std::string& hint) const;
  void add(Problem problem);

  std::string file_, text_;
  std::vector<std::size_t> line_starts_;
  std::map<std::string, Place> places_;
  std::set<std::string> spoiled_;
  std::set<std::string> reported_;
  std::vector<Problem> problems_, warnings_;
};

// "job" and "mesh" give "job.mesh"; an empty parent adds no dot.
std::string join_path(const std::string& parent, std::string_view field);

}  // namespace podsim
