// A certificate holds or has faults with words; layouts that are none are among them.
#include "tests/fuzz/certificate_reader.h"

#include "engine/check.h"
#include "planner/search/certificate.h"
#include "proto/scenario/load_space.h"

namespace podsim::testing {
namespace {

constexpr const char* kVersion = "any";
constexpr const char* kSmallSearch = R"(cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
job { mesh { name: "data" size: rest } sharding: "data" model: "llama3_8b" model_override { layers: 4 }
  stack: "megatron_bridge_2025" global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 2048 }
space { tensor: [1, 2] context: 1 pipeline: [1, 2] microbatch: 1 sharding: [ddp, zero1] recompute: none })";

const Catalog& certificate_catalog() {
  static const Catalog built_in;
  return built_in;
}

// The first line of a certificate of that search, which no change of the catalogue makes one of another.
const std::string& first_line() {
  static const std::string line = [] {
    const LoadSearchResult loaded = load_search("certificate", kSmallSearch, certificate_catalog(), {});
    const std::string text =
        certificate_text({kVersion, kSmallSearch, loaded.question.value().spec.sha256, 3, 0, 0}, {});
    return text.substr(0, text.find('\n') + 1);
  }();
  return line;
}

void check_proof(const std::string& text) {
  constexpr std::size_t kMostFaults = 20, kLongest = 10'000;
  const CertificateVerdict verdict = check_certificate(text, kVersion, certificate_catalog(), 1, 1);
  PODSIM_CHECK(verdict.is_certificate || !verdict.holds(), "what is no certificate proves nothing");
  PODSIM_CHECK(verdict.faults.size() <= kMostFaults, std::to_string(verdict.faults.size()) + " faults");
  for (const std::string& fault : verdict.faults)
    PODSIM_CHECK(!fault.empty() && fault.size() < kLongest, "a fault says nothing, or pages");
}

}  // namespace

void certificate(const std::string& bytes) {
  check_proof(bytes);
  check_proof(first_line() + bytes);
}

}  // namespace podsim::testing
