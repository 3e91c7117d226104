// The reliability block: nodes and spares, storage to seconds, and what hangs together.
#include <cmath>

#include "engine/unit_factors.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/ranges.h"
#include "report/text/text.h"
#include "scheduler/reliability/weeks/reliability_question.h"
#include "workload/model/model_program.h"

namespace podsim {
namespace {

constexpr double kMostCheckpoints = 1e7, kMostFailures = 1e7;  // of a run; more would take hours

class ReliabilityResolver {
 public:
  ReliabilityResolver(const schema::Reliability& block, const Catalog::Entries& entries, BesideWeeks beside,
                      const std::string& path, ReliabilityQuestion& question, Document& document)
      : block_(block),
        entries_(entries),
        beside_(beside),
        path_(path),
        question_(question),
        run_(question.run),
        document_(document) {}

  void resolve() {
    if (beside_.cluster_known) nodes();
    resolve_failures_of_weeks(block_, entries_, path_, question_, document_);
    recovery();
    length();
    checkpoint();
    if (beside_.cluster_known) elastic();
    egress();
    run_.redundant_share = block_.redundant_share();
  }

 private:
  std::string at(const std::string& field) const { return join_path(path_, field); }

  void nodes() {
    const FabricSpec& fabric = question_.cluster.fabric;
    run_.chips_per_node = std::min(fabric.chips_per_host, fabric.chips);
    run_.nodes_per_unit = block_.has_nodes_per_unit() ? block_.nodes_per_unit() : 1;
    const int nodes = (fabric.chips + run_.chips_per_node - 1) / run_.chips_per_node;
    if (nodes % run_.nodes_per_unit != 0)
      document_.report(at("nodes_per_unit"), at("nodes_per_unit") + " must divide the " +
                                                 significant(nodes, 1) + " nodes of the job");
    run_.units = nodes / run_.nodes_per_unit;
    spares();
  }

  void spares() {
    const schema::Spares& spares = block_.spares();
    if (spares.nodes() % run_.nodes_per_unit != 0)
      document_.report(at("spares.nodes"), at("spares.nodes") + " must be a multiple of the " +
                                               std::to_string(run_.nodes_per_unit) +
                                               " nodes that are replaced together, not " +
                                               std::to_string(spares.nodes()));
    run_.spare_units = spares.nodes() / run_.nodes_per_unit;
    if (run_.nodes() > kMaxChips)
      document_.report(at("spares.nodes"), "the cluster has more than 1,000,000 nodes with its spares");
    if (spares.kind() == schema::Spares::warm) {
      if (!spares.has_ready()) report_missing(at("spares.ready"), "{ mean_s: 120 }", document_);
      run_.recovery.scheduling = to_delay(spares.ready());
    } else if (spares.has_ready()) {
      document_.report(at("spares.ready"), "hot spares are ready at once",
                       "write kind: warm, or leave it out");
    }
  }

  void recovery() {
    const schema::Recovery& recovery = block_.recovery();
    run_.recovery.detection = to_delay(recovery.detection());
    run_.recovery.diagnosis = to_delay(recovery.diagnosis());
    run_.recovery.restart = to_delay(recovery.restart());
    run_.recovery.restore = to_delay(recovery.restore());
    run_.recovery.warm_up = to_delay(recovery.warm_up());
    run_.repair_crews = block_.repair().crews();
  }

  // Seconds that storage takes for a checkpoint at this rate, which all hosts share.
  double storage_s(double gb_per_s) const {
    double rate = gb_per_s;
    const schema::Checkpoint& checkpoint = block_.checkpoint();
    if (checkpoint.has_gb_per_s_per_host())
      rate = std::min(rate, checkpoint.gb_per_s_per_host() * run_.job_nodes());
    return size_gb() / rate;
  }

  double size_gb() const {
    const schema::Checkpoint& checkpoint = block_.checkpoint();
    if (!checkpoint.has_bytes_per_parameter() || !question_.step) return checkpoint.size_gb();
    return checkpoint.bytes_per_parameter() * parameter_count(model_program(question_.step->job)) / 1e9;
  }

  void checkpoint() {
    const schema::Checkpoint& checkpoint = block_.checkpoint();
    const std::string path = at("checkpoint");
    const auto field = [&](const char* name) { return join_path(path, name); };
    if (checkpoint.has_bytes_per_parameter() && !beside_.job)
      document_.report(field("bytes_per_parameter"), "without a job there are no parameters",
                       "write size_gb");
    if (checkpoint.has_bytes_per_parameter() && checkpoint.has_size_gb())
      document_.report(field("size_gb"), path + " has both size_gb and bytes_per_parameter", "leave one out");
    const bool has_size = checkpoint.has_size_gb() || checkpoint.has_bytes_per_parameter();
    const bool by_size = has_size && checkpoint.has_write_gb_per_s();
    if (checkpoint.has_save_s() == by_size && document_.clean_below(path))
      document_.report(
          path, path + (by_size ? " has both save_s and size_gb" : " does not say how long a save takes"),
          "write save_s: 30, or size_gb: 5000 write_gb_per_s: 200");
    const double save_s = by_size ? storage_s(checkpoint.write_gb_per_s()) : checkpoint.save_s();
    if (by_size && !block_.recovery().has_restore())
      run_.recovery.restore.mean_s = storage_s(checkpoint.has_read_gb_per_s() ? checkpoint.read_gb_per_s()
                                                                              : checkpoint.write_gb_per_s());
    const bool asynchronous = checkpoint.mode() == schema::Checkpoint::asynchronous;
    if (asynchronous && !checkpoint.has_pause_s()) report_missing(field("pause_s"), "2", document_);
    if (!asynchronous && checkpoint.has_pause_s())
      document_.report(field("pause_s"), "training waits for a blocking checkpoint until it is saved",
                       "write mode: asynchronous, or leave it out");
    run_.checkpoints.pause = Milliseconds::seconds(asynchronous ? checkpoint.pause_s() : save_s);
    run_.checkpoints.persist = Milliseconds::seconds(asynchronous ? save_s : 0);
    if (checkpoint.has_replicas()) replicas(checkpoint.replicas());
    interval(checkpoint, save_s);
  }

  void replicas(const schema::MemoryReplicas& replicas) {
    Checkpoints::Replicas result;
    result.pause = Milliseconds::seconds(replicas.pause_s());
    result.restore = to_delay(replicas.restore());
    if (replicas.has_saves_per_storage_save())
      result.saves_per_storage_save = replicas.saves_per_storage_save();
    if (replicas.has_survives_units()) result.survives_units = replicas.survives_units();
    run_.checkpoints.replicas = result;
  }

  void interval(const schema::Checkpoint& checkpoint, double save_s) {
    const std::string field = at("checkpoint.interval_s");
    if (checkpoint.has_interval_s()) {
      question_.interval = IntervalChoice::kGiven;
      run_.checkpoints.interval = Milliseconds::seconds(checkpoint.interval_s());
      const auto& replicas = run_.checkpoints.replicas;
      const double between_s = checkpoint.interval_s() * (replicas ? replicas->saves_per_storage_save : 1);
      if (checkpoint.has_auto_())
        document_.report(field, at("checkpoint") + " has both interval_s and auto", "leave one out");
      if (run_.checkpoints.interval.ms == 0)
        document_.report(field, field + " must be at least a millisecond");
      if (run_.length.in_seconds() > kMostCheckpoints * checkpoint.interval_s() &&
          !block_.has_target_tokens())
        document_.report(field, field + " makes more than 10,000,000 checkpoints of the run");
      if (save_s > between_s)
        document_.report(field,
                         "a checkpoint takes longer than the interval: " + significant(save_s, 4) + " s of " +
                             significant(between_s, 4) + " s",
                         "write interval_s: " + significant(std::ceil(save_s), 1) +
                             " or more, or auto: exact for the best");
      return;
    }
    constexpr IntervalChoice kChoices[] = {IntervalChoice::kExact, IntervalChoice::kYoung,
                                           IntervalChoice::kDaly, IntervalChoice::kExact,
                                           IntervalChoice::kSimulated};
    question_.interval = kChoices[checkpoint.auto_()];
  }

  void elastic() {
    if (!block_.has_elastic()) return;
    const schema::ElasticReplicas& elastic = block_.elastic();
    const std::string path = at("elastic");
    if (!elastic.has_replicas() || !elastic.has_least_replicas()) return;
    if (run_.units % elastic.replicas() != 0)
      document_.report(join_path(path, "replicas"), join_path(path, "replicas") + " must divide the " +
                                                        significant(run_.units, 1) + " units of the job");
    if (elastic.least_replicas() > elastic.replicas())
      document_.report(join_path(path, "least_replicas"),
                       join_path(path, "least_replicas") + " must be at most the " +
                           std::to_string(elastic.replicas()) + " replicas that there are");
    Elastic result;
    result.units_per_replica = run_.units / elastic.replicas();
    result.least_replicas = elastic.least_replicas();
    result.reconfigure = to_delay(elastic.reconfigure());
    result.keeps_work = elastic.keeps_work();
    if (elastic.has_speed_of_rest()) result.speed_of_rest = elastic.speed_of_rest();
    run_.elastic = result;
  }

  void egress() {
    const schema::Egress& egress = block_.egress();
    question_.egress = {egress.gb(), egress.gb_per_day(), egress.gb_per_checkpoint()};
    if (egress.has_usd_per_gb()) question_.cluster.price.egress_usd_per_gb = egress.usd_per_gb();
    if (block_.has_egress() && !question_.egress.any())
      document_.warn_idle(at("egress"), "nothing leaves",
                          "gb, gb_per_day or gb_per_checkpoint says how much");
  }

  void length() {
    for (const auto& [given, name] :
         {std::pair{block_.has_step_time_s(), "step_time_s"},
          std::pair{block_.has_tokens_per_step(), "tokens_per_step"}, std::pair{block_.has_mfu(), "mfu"}}) {
      if (given && beside_.job)
        document_.report(at(name), at(name) + " follows from the job", "leave it out, or the job");
    }
    question_.step_time_s = block_.step_time_s();
    question_.tokens_per_step = block_.tokens_per_step();
    question_.mfu = block_.mfu();
    question_.step_error = !block_.has_step_error() || block_.step_error();
    constexpr double kDays = 30;
    run_.length = Milliseconds::seconds((block_.has_days() ? block_.days() : kDays) * kSecondsPerDay);
    if (interruptions_per_s(run_) * run_.length.in_seconds() > kMostFailures)
      document_.report(path_, path_ + " has more than 10,000,000 failures in a run");
    if (!block_.has_target_tokens()) return;
    question_.target_tokens = block_.target_tokens();
    if (block_.has_days())
      document_.report(at("target_tokens"), path_ + " has both days and target_tokens", "leave one out");
    if (beside_.job) return;
    if (!block_.has_step_time_s()) report_missing(at("step_time_s"), "9.5", document_);
    if (!block_.has_tokens_per_step()) report_missing(at("tokens_per_step"), "16777216", document_);
  }

  const schema::Reliability& block_;
  const Catalog::Entries& entries_;
  const BesideWeeks beside_;
  const std::string& path_;
  ReliabilityQuestion& question_;
  TrainingRun& run_;
  Document& document_;
};

}  // namespace

void resolve_reliability(const schema::Reliability& block, const Catalog::Entries& entries,
                         BesideWeeks beside, const std::string& path, ReliabilityQuestion& question,
                         Document& document) {
  ReliabilityResolver(block, entries, beside, path, question, document).resolve();
}

}  // namespace podsim
