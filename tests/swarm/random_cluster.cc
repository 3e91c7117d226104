// Clusters: fat-trees of servers, racks of one NVLink domain, tori, pods of optical switches, slices.
#include "proto/scenario.pb.h"
#include "tests/swarm/random_scenario.h"

namespace podsim::testing {
namespace {

using Names = std::vector<std::string>;

struct Hardware {
  const char* fabric;
  const char* chip;
  int unit;  // of GPUs
  Names stacks, precisions;
};

const Names kHopper = {"torchtitan",          "megatron_bridge_2025", "nemo_2024", "mlperf_gpu",
                       "torchtitan_async_tp", "automodel_2026",       "fms_fsdp"};
const Names kAmpere = {"megatron_2022", "megatron_2023", "llm_foundry", "megatron_deepspeed", "megascale"};
const Names kBlackwell = {"megatron_bridge_2026", "mlperf_gpu", "dgxc_2025_gb200"};
const Names kGenericOfGpus = {"generic_eager", "generic_compiled", "generic_fsdp", "generic_megatron"};
const Names kGenericOfTpus = {"generic_xla"};
const Names kMaxText = {"maxtext_2023", "maxtext_2025", "palm", "mlperf_tpu"};

const std::vector<Hardware>& servers() {
  static const std::vector<Hardware> all = {
      {"dgx_h100", "h100", 8, kHopper, {"bf16", "fp16", "fp8", "fp8_tensorwise", "fp8_rowwise"}},
      {"dgx_h100_roce", "h100", 8, kHopper, {"bf16", "fp8"}},
      {"h800_cluster", "h800", 8, kHopper, {"bf16", "fp8", "fp8_blockwise"}},
      {"dgx_a100", "a100_80", 8, kAmpere, {"bf16", "fp16"}},
      {"dgx_b200", "b200", 8, kBlackwell, {"bf16", "fp8", "fp4", "nvfp4"}},
      {"l40s_pcie", "l40s", 8, {"torchtitan", "llm_foundry"}, {"bf16", "fp8"}},
      {"v100_4gpu", "v100", 4, {"deepspeed_2021", "megatron_2021"}, {"fp16"}}};
  return all;
}

const std::vector<Hardware>& racks() {
  static const std::vector<Hardware> all = {
      {"nvl72_gb200", "gb200", 72, kBlackwell, {"bf16", "fp8", "mxfp8", "nvfp4"}},
      {"nvl72_gb300", "gb300", 72, kBlackwell, {"bf16", "fp8"}}};
  return all;
}

const std::vector<Hardware>& flat_pods() {
  static const std::vector<Hardware> all = {{"v5e_pod", "tpu_v5e", 0, kMaxText, {"bf16", "int8"}},
                                            {"v6e_pod", "tpu_v6e", 0, kMaxText, {"bf16", "int8", "fp8"}},
                                            {"v2_pod", "tpu_v2", 0, kMaxText, {"bf16"}}};
  return all;
}

const std::vector<Hardware>& ocs_pods() {
  static const std::vector<Hardware> all = {{"v4_pod", "tpu_v4", 0, kMaxText, {"bf16", "int8"}},
                                            {"v5p_pod", "tpu_v5p", 0, kMaxText, {"bf16", "int8", "fp8"}},
                                            {"v7_pod", "tpu_v7", 0, kMaxText, {"bf16", "fp8"}}};
  return all;
}

using Shape = std::vector<int>;
const std::vector<Shape> kFlatShapes = {{1, 1}, {2, 2}, {2, 4}, {4, 4}, {4, 4}, {4, 8}, {8, 8}, {4, 16}};
const std::vector<Shape> kDeepShapes = {{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4},
                                        {4, 4, 4}, {4, 4, 4}, {4, 4, 8}};
const std::vector<Shape> kSliceShapes = {{2, 2}, {2, 4}, {4, 4}};

int product(const Shape& shape) {
  int chips = 1;
  for (const int side : shape) chips *= side;
  return chips;
}

DrawnCluster named(const Hardware& hardware, bool gpu, schema::ClusterChoice& cluster) {
  cluster.set_fabric(hardware.fabric);
  cluster.set_chip(hardware.chip);
  DrawnCluster drawn;
  drawn.gpu = gpu;
  drawn.chip = hardware.chip;
  drawn.stacks = hardware.stacks;
  drawn.generic = gpu ? kGenericOfGpus : kGenericOfTpus;
  drawn.precisions = hardware.precisions;
  drawn.unit = hardware.unit;
  return drawn;
}

// Small leaves, so that few servers have spines above them.
void draw_tiers(Draw& draw, schema::GpuCluster& gpus) {
  for (const int down : {draw.of({2, 4, 8, 16}), draw.of({2, 4}), 32}) {
    schema::FatTreeTier& tier = *gpus.add_tier();
    tier.set_down(down);
    if (draw.chance(0.3)) tier.set_oversubscription(draw.of({1.5, 2.0, 4.0}));
  }
}

void vary_servers(Draw& draw, DrawnCluster& drawn, schema::ClusterChoice& cluster) {
  schema::GpuCluster& gpus = *cluster.mutable_fabric_override()->mutable_gpu_cluster();
  if (draw.chance(0.3)) {
    drawn.unit = draw.of({1, 2, 4});
    gpus.set_gpus_per_domain(drawn.unit);
  }
  if (draw.chance(0.5)) gpus.set_rail_optimised(draw.chance(0.5));
  if (draw.chance(0.3)) gpus.set_nvls(draw.chance(0.5));
  if (draw.chance(0.2)) gpus.set_sharp(true);
  if (draw.chance(0.2)) gpus.mutable_nic()->set_bandwidth_gb_per_s(draw.of({6.25, 25.0, 100.0}));
  if (draw.chance(0.1)) gpus.mutable_nvlink()->set_latency_us(draw.of({0.0, 5.0}));
  if (draw.chance(0.6)) draw_tiers(draw, gpus);
}

DrawnCluster draw_servers(Draw& draw, schema::ClusterChoice& cluster) {
  DrawnCluster drawn = named(draw.of(servers()), true, cluster);
  if (draw.chance(0.6)) vary_servers(draw, drawn, cluster);
  drawn.chips = draw.chance(0.3) ? draw.of({1, 2, drawn.unit}) : drawn.unit * draw.of({2, 2, 3, 4, 4, 8});
  if (drawn.chips > drawn.unit && draw.chance(0.2)) cluster.set_oversubscription(draw.of({1.0, 2.0, 3.0}));
  return drawn;
}

DrawnCluster draw_racks(Draw& draw, schema::ClusterChoice& cluster) {
  DrawnCluster drawn = named(draw.of(racks()), true, cluster);
  if (draw.chance(0.6)) {  // racks of fewer GPUs, so that several are few chips
    drawn.unit = draw.of({8, 16});
    cluster.mutable_fabric_override()->mutable_gpu_cluster()->set_gpus_per_domain(drawn.unit);
    drawn.chips = drawn.unit * draw.of({1, 2, 4});
  } else {
    drawn.chips = draw.of({4, 8, 36, 72});
  }
  return drawn;
}

void set_shape(const Shape& shape, int slices, DrawnCluster& drawn, schema::ClusterChoice& cluster) {
  for (const int side : shape) cluster.add_slice_shape(side);
  if (slices > 1) cluster.set_slices(slices);
  drawn.unit = product(shape);
  drawn.chips = drawn.unit * slices;
}

// A torus that no catalogue knows, wrapped in every direction.
void write_torus(Draw& draw, const Shape& shape, schema::ClusterChoice& cluster) {
  cluster.clear_fabric();
  schema::Fabric& fabric = *cluster.mutable_fabric_override();
  fabric.set_name("plain_torus");
  schema::Torus& torus = *fabric.mutable_torus();
  torus.set_dimensions(static_cast<int>(shape.size()));
  torus.mutable_ici()->set_bandwidth_gb_per_s(draw.of({25.0, 50.0, 100.0}));
  torus.mutable_ici()->set_latency_us(draw.of({0.0, 0.5, 1.0}));
  fabric.mutable_dcn()->set_chips_per_host(draw.of({1, 2, 4}));
  fabric.mutable_dcn()->mutable_host()->set_bandwidth_gb_per_s(12.5);
}

DrawnCluster draw_torus(Draw& draw, schema::ClusterChoice& cluster) {
  DrawnCluster drawn = named(draw.of(flat_pods()), false, cluster);
  const bool plain = draw.chance(0.4);
  const Shape shape = plain && draw.chance(0.5) ? draw.of(kDeepShapes) : draw.of(kFlatShapes);
  if (plain) write_torus(draw, shape, cluster);
  set_shape(shape, 1, drawn, cluster);
  return drawn;
}

DrawnCluster draw_pod(Draw& draw, schema::ClusterChoice& cluster) {
  DrawnCluster drawn = named(draw.of(ocs_pods()), false, cluster);
  const Shape shape = draw.of(kDeepShapes);
  set_shape(shape, 1, drawn, cluster);
  drawn.ocs = true;
  if (shape.back() == 8 && draw.chance(0.5)) cluster.set_twisted(true);
  return drawn;
}

DrawnCluster draw_slices(Draw& draw, schema::ClusterChoice& cluster) {
  DrawnCluster drawn = named(draw.of(flat_pods()), false, cluster);
  set_shape(draw.of(kSliceShapes), draw.between(2, 4), drawn, cluster);
  if (draw.chance(0.3)) cluster.set_oversubscription(draw.of({1.0, 2.0}));
  return drawn;
}

void draw_routing(Draw& draw, bool gpu, schema::ClusterChoice& cluster) {
  const int routing = draw.below(gpu ? 3 : 4);
  cluster.set_routing(gpu       ? draw.of({schema::adaptive, schema::ecmp, schema::static_})
                      : routing ? schema::dimension_order
                                : schema::ecmp);
  if (draw.chance(0.5)) cluster.set_routing_seed(draw.below(100));
}

void draw_prices(Draw& draw, schema::ClusterChoice& cluster) {
  if (draw.chance(0.05)) cluster.set_prices("list_2026");
  if (draw.chance(0.1))
    cluster.set_price_term(draw.of({"on_demand", "committed_1y", "committed_3y", "spot"}));
  if (draw.chance(0.05)) cluster.set_usd_per_chip_hour(draw.real(0, 10));
  if (draw.chance(0.05)) cluster.set_pue(draw.real(1, 2));
  if (draw.chance(0.05)) cluster.set_embodied_kg(draw.real(0, 3000));
  if (draw.chance(0.05)) cluster.set_usd_per_kwh(draw.real(0, 1));
}

}  // namespace

DrawnCluster draw_cluster(Draw& draw, schema::ClusterChoice& cluster) {
  const int kind = draw.below(10);
  DrawnCluster drawn = kind < 4   ? draw_servers(draw, cluster)
                       : kind < 5 ? draw_racks(draw, cluster)
                       : kind < 7 ? draw_torus(draw, cluster)
                       : kind < 8 ? draw_slices(draw, cluster)
                                  : draw_pod(draw, cluster);
  if (drawn.gpu) cluster.set_chips(drawn.chips);
  if (draw.chance(0.2)) draw_routing(draw, drawn.gpu, cluster);
  if (draw.chance(0.2)) cluster.set_transport(draw.of({"ideal", "rocev2", "infiniband", "pull_paced"}));
  draw_prices(draw, cluster);
  if (draw.chance(0.1)) cluster.mutable_chip_override()->set_hbm_capacity_gib(draw.of({16.0, 1000.0}));
  return drawn;
}

void draw_terms(Draw& draw, bool gpu, schema::ClusterChoice& cluster) {
  if (draw.chance(0.05)) cluster.set_provider(gpu ? "coreweave" : "google");
  if (cluster.chip() == "tpu_v5e" && draw.chance(0.1)) {
    cluster.set_price_term("flex_start");
    cluster.set_region("asia-southeast1");
  }
  if (draw.chance(0.1)) {
    schema::Hypothetical& factors = *cluster.mutable_hypothetical();
    factors.set_chip(cluster.chip());
    const auto set = [&](auto setter) {
      if (draw.chance(0.4)) (factors.*setter)(draw.of({0.5, 1.5, 3.0}));
    };
    set(&schema::Hypothetical::set_matmul);
    set(&schema::Hypothetical::set_hbm);
    set(&schema::Hypothetical::set_hbm_capacity);
    set(&schema::Hypothetical::set_scale_up);
    set(&schema::Hypothetical::set_scale_out);
    set(&schema::Hypothetical::set_host_link);
    set(&schema::Hypothetical::set_power);
    set(&schema::Hypothetical::set_price);
  }
  if (cluster.chip() == "h100" && draw.chance(0.1)) {
    cluster.set_price_term("owned");
    cluster.clear_provider();
    schema::OwnedChips& owned = *cluster.mutable_owned();
    if (draw.chance(0.5)) owned.set_chip_usd(draw.real(1'000, 100'000));
    if (draw.chance(0.5)) owned.set_years(draw.real(1, 10));
    if (draw.chance(0.5)) owned.set_utilisation(draw.real(0.1, 1));
  }
  Draw apart = draw.apart();
  if (apart.chance(0.1)) cluster.set_grid(apart.of({"world", "sweden", "none"}));
  if (!cluster.has_grid() && apart.chance(0.05)) cluster.set_kg_per_kwh(apart.real(0, 1));
  if (!draw.chance(0.1)) return;
  schema::Contract& contract = *cluster.mutable_contract();
  contract.set_kind(
      draw.of({schema::Contract::on_demand, schema::Contract::spot, schema::Contract::reservation,
               schema::Contract::commitment, schema::Contract::owned}));
  if (draw.chance(0.5)) contract.set_minimum_days(draw.real(0, 400));
  if (draw.chance(0.5)) contract.set_rest_used_share(draw.real(0, 1));
}

}  // namespace podsim::testing
