// A search on paper: what became of every layout, so that somebody else can go through the proof.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/search/search.h"
#include "proto/catalog/catalog.h"

namespace podsim {

struct CertificateHeader {
  std::string version;   // of podsim, by which bounds and steps are what they are
  std::string scenario;  // text, with its space
  std::string sha256;    // of the question
  int top = 10;
  double within = 0, gap = 0;
};

// One JSON object a line: the header, each layout, the counts and the answer. REQUIRES: the search recorded,
// was not for a front, and went over all parts.
std::string certificate_text(const CertificateHeader& header, const SearchAnswer& answer);

struct CertificateVerdict {
  std::vector<std::string> faults;                      // at most 20
  bool is_certificate = true;                           // else its first line is that of none
  std::int64_t layouts = 0, bounds = 0, simulated = 0;  // gone through, computed again, simulated again
  bool holds() const { return faults.empty(); }
};

// Builds the space from the scenario alone and demands: that every layout of it is there once, and no other;
// that every bound and every byte is what it is when computed again; that what was dropped is above the
// limit that the simulated steps set; that a step of what is called too long may be so; that the answer is
// the fastest of these. The layouts of the answer are simulated again, and so are `sample` others, simulated
// or dropped, of which none may be better than said.
CertificateVerdict check_certificate(const std::string& text, const std::string& version,
                                     const Catalog& catalog, int sample, int threads);

}  // namespace podsim
