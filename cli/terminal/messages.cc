// Swaps the log of the process for one that writes into a text, and back.
#include "cli/terminal/messages.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr const char* kPattern = "podsim: %l: %v";
std::atomic<CollectedMessages*> collecting = nullptr;

}  // namespace

struct CollectedMessages::Log {
  std::shared_ptr<spdlog::logger> logger;
  spdlog::level::level_enum level;
};

void set_up_log() {
  auto log = spdlog::stderr_logger_mt("podsim");
  log->set_pattern(kPattern);
  spdlog::set_default_logger(log);
}

void tell(const std::string& text) {
  if (CollectedMessages* collected = collecting) {
    collected->text_ << text;
  } else {
    std::cerr << text;
  }
}

CollectedMessages::CollectedMessages()
    : before_(new Log{spdlog::default_logger(), spdlog::default_logger()->level()}) {
  PODSIM_CHECK(collecting == nullptr, "messages are collected by one at a time");
  auto log = std::make_shared<spdlog::logger>("podsim in process",
                                              std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
  log->set_pattern(kPattern);
  spdlog::set_default_logger(std::move(log));
  collecting = this;
}

CollectedMessages::~CollectedMessages() {
  collecting = nullptr;
  before_->logger->set_level(before_->level);
  spdlog::set_default_logger(before_->logger);
  delete before_;
}

bool CollectedMessages::any() { return collecting != nullptr; }

}  // namespace podsim
