// One job block on its way to a Job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/scenario/resolve.h"
#include "proto/text/assign.h"

namespace podsim {
namespace schema {
class JobChoice;
class Model;
}  // namespace schema

class JobResolver {
 public:
  JobResolver(const schema::JobChoice& choice, const Catalog::Entries& entries, ClusterParts cluster,
              const std::string& path, Document& document)
      : choice_(choice), entries_(entries), cluster_(cluster), path_(path), document_(document) {}

  std::optional<Job> resolve();

 private:
  std::string at(const std::string& field) const { return join_path(path_, field); }
  void model();
  void program(const schema::Model& model);
  void measured_layers();
  void check_measured();
  void check_program();
  void check_annotations();
  void stack();
  void mesh();
  void rest_of_mesh(int index);
  void mesh_fills_cluster();
  void sharding();
  void unused_axes();
  void idle_rules();
  void axes_beyond_nvlink();
  void pipeline();
  std::optional<PrecisionRecipe> recipe(int schema_name, const std::string& field);
  void check_format(Dtype dtype, const std::string& field);
  void precision();
  void check_gemms();
  void check_adapters();
  void recompute();
  void recompute_policy();
  void check_retained_names();
  void check_host_link();
  void input();
  void evaluation();
  void lengths();
  void shapes();
  void check_shapes();
  void batch();
  std::vector<std::int64_t> microbatch_choices() const;
  void step_length();

  const schema::JobChoice& choice_;
  const Catalog::Entries& entries_;
  ClusterParts cluster_;
  const std::string& path_;
  Document& document_;
  Job job_;
  std::string program_path_;
};

}  // namespace podsim
