// What the other loaders need of the catalogue: its entries as messages.
#pragma once

#include <string>

#include "proto/catalog/catalog.h"
#include "proto/text/document.h"

namespace google::protobuf {
class Message;
}

namespace podsim {

namespace schema {
class Chip;
class Fabric;
class FailureMix;
class Jitter;
class Kernels;
class Lengths;
class Library;
class Model;
class PriceList;
class Stack;
class Transport;
}  // namespace schema

// By name or alias. Null for an unknown one.
const schema::Chip* find_chip(const Catalog::Entries& entries, const std::string& name);
const schema::Fabric* find_fabric(const Catalog::Entries& entries, const std::string& name);
const schema::Model* find_model(const Catalog::Entries& entries, const std::string& name);
const schema::Stack* find_stack(const Catalog::Entries& entries, const std::string& name);
const schema::PriceList* find_prices(const Catalog::Entries& entries, const std::string& name);
const schema::Transport* find_transport(const Catalog::Entries& entries, const std::string& name);
const schema::Library* find_library(const Catalog::Entries& entries, const std::string& name);
const schema::FailureMix* find_failures(const Catalog::Entries& entries, const std::string& name);
const schema::Jitter* find_jitter(const Catalog::Entries& entries, const std::string& name);
const schema::Lengths* find_lengths(const Catalog::Entries& entries, const std::string& name);
const schema::Kernels* find_kernels(const Catalog::Entries& entries, const std::string& name);

// An entry of any section, to be changed; null for an unknown name.
google::protobuf::Message* find_entry(Catalog::Entries& entries, Catalog::Section section,
                                      const std::string& name);

std::vector<std::string> entry_names(const Catalog::Entries& entries, Catalog::Section section);

// The name of the entry that is found by this name or alias; nothing for an unknown one.
std::optional<std::string> canonical_name(const Catalog::Entries& entries, Catalog::Section section,
                                          const std::string& name);

// Aliases of this entry alone, and those that fit other entries too; none for an unknown name.
std::vector<std::string> loose_aliases(const Catalog::Entries& entries, Catalog::Section section,
                                       const std::string& name);
std::vector<std::string> entry_aliases(const Catalog::Entries& entries, Catalog::Section section,
                                       const std::string& name);

// The nearest name, those of the same family, or all.
std::string hint_for_unknown_name(const Catalog::Entries& entries, Catalog::Section section,
                                  const std::string& name);

// `the catalogue has no chip "h10"`, with that hint.
void report_unknown_name(const Catalog::Entries& entries, Catalog::Section section, const std::string& name,
                         const std::string& path, Document& document);

// A warning where the name fits several entries: `"A100" is taken as a100_80`.
void warn_of_loose_name(const Catalog::Entries& entries, Catalog::Section section, const std::string& name,
                        const std::string& path, Document& document);

// Parses, checks and adds the entries of one file. Nothing is added from a file with problems.
void add_catalog_file(Catalog::Entries& entries, Document& document);

}  // namespace podsim
