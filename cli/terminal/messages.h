// What podsim tells people beside its results: standard error, and the log that goes there.
#pragma once

#include <sstream>
#include <string>

namespace podsim {

// The log of the program, to standard error.
void set_up_log();

// As it is, to standard error.
void tell(const std::string& text);

// While one lives, what this process tells is collected in it instead, its log too, and nothing shows how far
// a run is. REQUIRES: there is no other.
class CollectedMessages {
 public:
  CollectedMessages();
  ~CollectedMessages();
  CollectedMessages(const CollectedMessages&) = delete;
  CollectedMessages& operator=(const CollectedMessages&) = delete;
  std::string text() const { return text_.str(); }
  static bool any();  // lives

 private:
  friend void tell(const std::string& text);
  struct Log;
  std::ostringstream text_;
  Log* before_;  // of the process
};

}  // namespace podsim
