// Profiles of PyTorch, of one rank or of several, for podsim import; and profiles of others that are like
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "ingest/kineto/ranks.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

bool is_kineto(std::string_view text);

// One file is told with all that it says; several are ranks of one run, and their collectives are joined.
std::optional<Imported> import_kineto(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems);

// Of ranks in their order, which are told under this title; their step becomes a scenario on what is stated.
// REQUIRES: there is one; the account is of all.
Imported imported_profiles(std::vector<kineto::RankProfile> ranks, const std::string& title, Account account,
                           const Stated& stated);

// What each device did, as a rank that is told alone, with the name of the device as its plane.
Figure devices_figure(const std::vector<kineto::RankProfile>& devices);

}  // namespace podsim
