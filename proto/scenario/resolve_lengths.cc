// Lengths of documents: of the catalogue or the job's own, and how they are balanced.
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/job_resolver.h"
#include "proto/text/ranges.h"

namespace podsim {
namespace {

LengthBalance balance_of(schema::JobChoice::LengthBalance balance) {
  switch (balance) {
    case schema::JobChoice::sorted:
      return LengthBalance::kSorted;
    case schema::JobChoice::squares:
      return LengthBalance::kSquares;
    default:
      return LengthBalance::kNone;
  }
}

}  // namespace

void JobResolver::lengths() {
  if (!choice_.has_lengths() && !choice_.has_lengths_override()) {
    if (choice_.has_length_balance())
      document_.report(at("length_balance"), "there is nothing to balance: every document fills a sequence",
                       "name lengths, such as lengths: \"long_tail_32k\"");
    return;
  }
  schema::Lengths lengths;
  lengths.set_name("own");
  if (choice_.has_lengths()) {
    const schema::Lengths* entry = find_lengths(entries_, choice_.lengths());
    if (!entry)
      return report_unknown_name(entries_, Catalog::Section::kLengths, choice_.lengths(), at("lengths"),
                                 document_);
    lengths = *entry;
  }
  merge_override(choice_.lengths_override(), lengths);
  check_required(lengths, at("lengths_override"), document_);
  if (choice_.has_measured_layers())
    return document_.report(at(choice_.has_lengths() ? "lengths" : "lengths_override"),
                            "of measured layers it is not known what grows with the length of documents",
                            "remove the lengths, or name a model");
  for (const schema::LengthBin& bin : lengths.bin()) job_.lengths.bins.push_back({bin.tokens(), bin.share()});
  job_.lengths.balance = balance_of(choice_.length_balance());
}

}  // namespace podsim
