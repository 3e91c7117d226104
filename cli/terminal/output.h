// Results to standard output or to files, whole or not at all.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace podsim {

// What is to be written is a file that was read.
struct InputWouldBeLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Replaces the file, or what a link leads to, in one step: a reader sees the old content or the new, never a
// part. Throws std::runtime_error, and InputWouldBeLost with nothing written.
void write_whole(const std::string& path, const std::string& content);

// To the file, or to standard output when `out` is empty. Throws std::runtime_error.
void emit(const std::string& content, const std::string& out);

// While one lives, what this thread emits to standard output is collected in it instead.
class CollectedOutput {
 public:
  CollectedOutput();
  ~CollectedOutput();
  CollectedOutput(const CollectedOutput&) = delete;
  CollectedOutput& operator=(const CollectedOutput&) = delete;
  const std::string& text() const { return text_; }
  static bool any();  // lives, in this thread

 private:
  friend void emit(const std::string& content, const std::string& out);
  std::string text_;
  CollectedOutput* outer_;
};

// Whether --out means a folder: it exists as one, or ends with a slash.
bool is_folder(const std::string& out);

// One file per name in the folder, which is made when it is missing: "NAME.EXTENSION", and NAME-2, ... for
// repeated names.
struct NamedContent {
  std::string name;
  std::string content;
};
void emit_each(const std::vector<NamedContent>& files, const std::string& extension,
               const std::string& folder);

}  // namespace podsim
