// Catalogue messages to the structs of the folders below, in their units.
#pragma once

#include <optional>

#include "proto/catalog/catalog_entries.h"
#include "topology/fabric_spec.h"
#include "workload/job/dtype.h"
#include "workload/job/model.h"

namespace google::protobuf {
class Message;
}

namespace podsim {

struct Chip;
struct Stack;

namespace schema {
class Channel;
class Chip;
class GpuCluster;
class Link;
class Torus;
class Transport;
}  // namespace schema

// `schema_dtype` is a number of schema::DtypeName, which are those of the first PrecisionRecipe::Names.
Dtype to_dtype(int schema_dtype);

// REQUIRES: the message is complete and in range (proto/text/ranges.h). What is missing has the default of
// the struct.
// Its kernels come from the entries; a set that they lack counts for nothing.
Chip to_chip(const schema::Chip& chip, const Catalog::Entries& entries);
// By name or alias; nothing for an unknown one.
std::optional<Chip> catalog_chip(const Catalog& catalog, const std::string& name);
Model to_model(const schema::Model& model);
Stack to_stack(const schema::Stack& stack);
// By name or alias; nothing for an unknown one.
std::optional<Stack> catalog_stack(const Catalog& catalog, const std::string& name);
LinkSpec to_link(const schema::Link& link);
Routing to_routing(int schema_routing);          // a number of schema::RoutingName
TorusSpec to_torus(const schema::Torus& torus);  // without the shape of the slice
GpuClusterSpec to_gpu_cluster(const schema::GpuCluster& cluster);
// With the parts of the links of this cluster, found by their bandwidth and the kind of its NICs.
std::optional<LibrarySpec> to_library(const schema::Library& library, const schema::GpuCluster& cluster);
// What it takes to start a collective on them.
Time launch_of(const schema::Library& library, const schema::GpuCluster& cluster);
Transport to_transport(const schema::Transport& transport);
ChannelSpec to_channel(const schema::Channel& channel);

// Sets in `base` every field that `change` has; a block is merged field by field. A list replaces the list,
// unless one of its elements is given in part, its name and without a field that it needs: then each
// changes the element of its name, as matmul { dtype: bf16 sustained: 0.6 } does.
void merge_override(const google::protobuf::Message& change, google::protobuf::Message& base);

}  // namespace podsim
