// The page of several jobs: their steps alone and together, and of each what its parts and its memory are.
#include <utility>

#include "proto/pages/run_page.h"
#include "proto/writing/write.h"
#include "report/figures/figures.h"
#include "report/figures/step_figures.h"
#include "report/pictures/run_pictures.h"
#include "report/tables/memory_text.h"
#include "report/tables/write.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string key_of(std::size_t job) { return "jobs[" + std::to_string(job) + "]."; }

// A picture of one of two reports of a job, whose figures lie below `key`.
Picture picture_of(Picture picture, const std::string& key, std::size_t job) {
  picture.id += "-" + std::to_string(job + 1);
  for (PictureSeries& series : picture.series)
    for (PictureMark& mark : series.marks)
      if (!mark.key.empty()) mark.key = key + mark.key;
  return picture;
}

PageTable job_bucket_table(const JobReport& job, const std::string& key) {
  PageTable table{"Seconds of a step of the mean chip", {"", "alone", "together"}, {}};
  const auto add = [&](const std::string& name, Time Report::*time, const std::string& figure) {
    table.rows.push_back({{name},
                          {fixed((job.alone.*time).in_seconds(), 6), key + "alone." + figure},
                          {fixed((job.together.*time).in_seconds(), 6), key + "together." + figure}});
  };
  for (const StepBucket& bucket : step_buckets())
    add(bucket.name, bucket.time,
        std::string(bucket.key) + (bucket.time == &Report::exposed_communication ? ".total" : ""));
  add("step time", &Report::step_time, "step_time_s");
  return table;
}

PagePanel job_panel(const JobReport& job, std::size_t j) {
  PagePanel panel{"job-" + std::to_string(j + 1), "Job " + job.name};
  panel.tables.push_back(job_bucket_table(job, key_of(j)));
  if (job.alone.knows_memory())
    panel.pictures.push_back(picture_of(memory_picture(job.alone), key_of(j) + "alone.", j));
  if (!job.together.link_use.empty())
    panel.pictures.push_back(picture_of(links_picture(job.together), key_of(j) + "together.", j));
  if (!job.alone.memory.fits) panel.text = memory_verdict(job.alone);
  return panel;
}

}  // namespace

Page jobs_page(const JobsReport& report) {
  Page page{.title = report.scenario, .question = report.question};
  page.json = report_json(report);
  page.meanings = meanings_of(figures(report));
  PagePanel step{"step", "Where the steps go"};
  std::vector<NamedReport> bars;
  for (std::size_t j = 0; j < report.jobs.size(); ++j) {
    const JobReport& job = report.jobs[j];
    bars.push_back({job.name + ", alone", &job.alone, key_of(j) + "alone."});
    bars.push_back({job.name + ", together", &job.together, key_of(j) + "together."});
    page.figures.push_back(
        {job.name + ", slowdown", {fixed(job.slowdown(), 4), key_of(j) + "slowdown"}, "together over alone"});
  }
  step.pictures.push_back(breakdown_picture(bars));
  step.text = jobs_table(report);
  page.panels.push_back(std::move(step));
  for (std::size_t j = 0; j < report.jobs.size(); ++j) page.panels.push_back(job_panel(report.jobs[j], j));
  return page;
}

}  // namespace podsim
