// What was asked as a number: the same for the same question on every machine, in every format, whatever its
// comments.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace google::protobuf {
class Message;
}

namespace podsim {

// Every field that is set, in the order of its number, with numbers in their shortest form.
std::string canonical_text(const google::protobuf::Message& message);

// Remembers the entries of the catalogue that this thread looks up while it lives: with them, the names in a
// question mean something.
class LookedUpEntries {
 public:
  LookedUpEntries();
  ~LookedUpEntries();
  LookedUpEntries(const LookedUpEntries&) = delete;
  LookedUpEntries& operator=(const LookedUpEntries&) = delete;

  // SHA-256 of the question and the entries.
  std::string digest(const std::string& question) const;

  // An entry has been looked up. REQUIRES: it outlives this object.
  static void note(const std::string& section, const std::string& name,
                   const google::protobuf::Message& entry);

 private:
  std::map<std::pair<std::string, std::string>, const google::protobuf::Message*> entries_;
  LookedUpEntries* outer_;
};

}  // namespace podsim
