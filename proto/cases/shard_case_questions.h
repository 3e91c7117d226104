// The operations that a sharding case may ask about: which keys each has, and what they mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/cases/shard_case_values.h"

namespace podsim {

// Names of all operations.
std::vector<std::string> question_names();
// The keys of an operation beside those of every case. REQUIRES: a name of the above.
std::vector<std::string> question_keys(const std::string& op);

// The question of the case at `value`; nothing, and a problem, when its keys do not make one. REQUIRES: a
// name of the above; values.mesh() gave this mesh.
std::optional<Question> read_question(ShardCaseValues& values, std::int32_t value, const std::string& op,
                                      const Mesh& mesh);

// Those whose geometry has windows.
std::optional<Question> read_convolution(ShardCaseValues& values, std::int32_t value, const Mesh& mesh);
std::optional<Question> read_shift(ShardCaseValues& values, std::int32_t value, const std::string& op,
                                   const Mesh& mesh);

// Of "reshape", "transpose" and "reduce"; of "concatenate".
std::optional<Question> read_rearranged(ShardCaseValues& values, std::int32_t value, const std::string& op,
                                        const Mesh& mesh);
std::optional<Question> read_concatenate(ShardCaseValues& values, std::int32_t value, const Mesh& mesh);

}  // namespace podsim
