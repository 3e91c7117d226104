// Prints the words of the language as a dictionary for libFuzzer: fields, values of enumerations, names of
// the catalogue, and numbers that are at a limit of something.
#include <google/protobuf/descriptor.h>

#include <cstdio>
#include <set>
#include <string>

#include "proto/catalog/catalog.h"
#include "proto/report.pb.h"
#include "proto/scenario.pb.h"

namespace podsim {
namespace {

std::set<std::string> words;

void add_words(const google::protobuf::Descriptor& message) {
  for (int f = 0; f < message.field_count(); ++f) {
    const auto& field = *message.field(f);
    if (!words.insert(field.name()).second) continue;
    if (field.message_type()) add_words(*field.message_type());
    for (int v = 0; field.enum_type() && v < field.enum_type()->value_count(); ++v)
      words.insert(field.enum_type()->value(v)->name());
  }
}

void add_names() {
  const Catalog catalog;
  for (const auto section : {Catalog::Section::kChips, Catalog::Section::kFabrics, Catalog::Section::kModels,
                             Catalog::Section::kStacks, Catalog::Section::kTransports})
    for (const std::string& name : catalog.names(section)) words.insert(name);
}

}  // namespace
}  // namespace podsim

int main() {
  podsim::add_words(*podsim::schema::Scenario::descriptor());
  podsim::add_names();
  for (const char* word :
       {"-1",         "0",          "1e308",  "nan",      "inf",   "2147483647", "18446744073709551615",
        "1e-300",     "{",          "}",      "[",        "]",     "KiB",        "GB",
        "..",         "x2",         "einsum", "equation", "lhs",   "rhs",        "sharding",
        "mesh",       "dims",       "nodes",  "edges",    "flows", "paths",      "deps",
        "all_reduce", "busbw_GBps", "time_us"})
    podsim::words.insert(word);
  for (const std::string& word : podsim::words) std::printf("\"%s\"\n", word.c_str());
}
