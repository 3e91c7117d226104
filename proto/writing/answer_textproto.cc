// The keys of an answer in JSON are the names of the fields.
#include "proto/writing/answer_textproto.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "proto/answers.pb.h"

namespace podsim {
namespace {

using google::protobuf::Message;

std::string text_of(const Message& prototype, const nlohmann::json& answer) {
  const std::unique_ptr<Message> message(prototype.New());
  const auto status = google::protobuf::util::JsonStringToMessage(answer.dump(), message.get());
  PODSIM_CHECK(status.ok(), "proto/answers.proto has every key of an answer: " + status.ToString());
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(*message, &text);
  return "# proto-file: proto/answers.proto\n# proto-message: " + message->GetTypeName() + "\n" + text;
}

}  // namespace

std::string answer_textproto(const std::string& json, const std::string& message) {
  const auto* descriptor = schema::SearchAnswer::descriptor()->file()->FindMessageTypeByName(message);
  PODSIM_CHECK(descriptor != nullptr, "proto/answers.proto has the message " + message);
  const Message& prototype = *google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor);
  const auto answer = nlohmann::json::parse(json);
  if (!answer.is_array()) return text_of(prototype, answer);
  std::string text;
  for (const nlohmann::json& each : answer) text += (text.empty() ? "" : "\n") + text_of(prototype, each);
  return text;
}

}  // namespace podsim
