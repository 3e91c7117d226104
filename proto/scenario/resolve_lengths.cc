// Lengths of documents: of the catalogue or the job's own, and how they are balanced.
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/job_resolver.h"
#include "proto/text/ranges.h"
#include "workload/partition/job_validity.h"

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
    if (choice_.has_shapes())
      document_.report(at("shapes"), "nobody says how long the documents are that are padded",
                       "name lengths, such as lengths: \"long_tail_32k\"");
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
  if (job_.model.vision || (job_.program && !has_tokens(*job_.program)))
    return document_.report(at(choice_.has_lengths() ? "lengths" : "lengths_override"),
                            "only a sequence of tokens is filled with documents, and a sample here has none",
                            "remove the lengths, or name a model of text");
  for (const schema::LengthBin& bin : lengths.bin()) job_.lengths.bins.push_back({bin.tokens(), bin.share()});
  job_.lengths.balance = balance_of(choice_.length_balance());
  if (choice_.has_shapes()) shapes();
}

// In place of lengths that are packed.
void JobResolver::shapes() {
  const schema::PaddedShapes& choice = choice_.shapes();
  if (choice_.has_program() || job_.model.vision)
    return document_.report(at("shapes"), "only sequences of a model of text have many lengths",
                            "remove the shapes, or name another model");
  if (choice_.has_length_balance())
    document_.report(at("length_balance"), "documents that are padded are not packed, so that none are dealt",
                     "remove length_balance or shapes");
  if (choice.exact() && choice.bucket_tokens_size() > 0)
    document_.report(at("shapes.exact"), "nothing is padded to buckets where each length is a shape",
                     "remove exact or bucket_tokens");
  if (choice.has_compile_s() != choice.has_run_steps())
    document_.report(at("shapes"), "compilation takes a share of a run's steps, of which half is said",
                     "write compile_s and run_steps, or neither");
  const int longest = choice_.sequence_tokens();
  for (int i = 0; i < choice.bucket_tokens_size(); ++i)
    if (choice.bucket_tokens(i) > longest)
      document_.report(at("shapes.bucket_tokens[" + std::to_string(i) + "]"),
                       "a bucket is longer than a sequence of " + std::to_string(longest) + " tokens",
                       "sequence_tokens is that of the longest");
  if (!document_.clean_below(path_)) return;
  const std::vector<int> buckets(choice.bucket_tokens().begin(), choice.bucket_tokens().end());
  PaddedShapes padded = choice.exact() ? keep_lengths(job_.lengths.bins, longest)
                                       : pad_to_buckets(job_.lengths.bins, buckets, longest);
  padded.compile_s = choice.compile_s();
  if (choice.has_run_steps()) padded.run_steps = choice.run_steps();
  job_.lengths = {};
  job_.shapes = std::move(padded);
}

// REQUIRES: the job is valid at its longest shape.
void JobResolver::check_shapes() {
  if (!job_.shapes) return;
  for (const PaddedShape& shape : job_.shapes->shapes) {
    Job padded = job_;
    padded.sequence = shape.tokens;
    const std::vector<JobProblem> problems = explain_invalid(padded);
    if (problems.empty()) continue;
    return document_.report(at("shapes"), "with sequences of " + std::to_string(shape.tokens) +
                                              " tokens: " + problems.front().message);
  }
}

}  // namespace podsim
