// Modules as they are written by compilers and by hand, and what is said of those that cannot be read.
#include <algorithm>

#include "tests/ingest/hlo_texts.h"

namespace podsim::hlo_module_test {
namespace {

using testing::kAdd;
using testing::module_of;
using testing::problem_of;

TEST(HloModule, is_read_with_header_comments_layouts_and_typed_operands) {
  const hlo::Module module =
      module_of(R"(HloModule jit_f, is_scheduled=true, num_partitions=8, replica_count=2

FileNames
1 "train.py"
StackFrames
1 {file_location_id=1}

%f (p: (f32[], bf16[2,3])) -> bf16[2,3] {
  %p = (f32[], /*index=1*/bf16[2,3]{1,0:T(8,128)(2,1)S(1)}) parameter(0)  // two values
  ROOT %r = bf16[2,3]{1,0} get-tuple-element((f32[], bf16[2,3]) %p), index=1, metadata={op_name="a}{b" line=3}
}

ENTRY %main (a: f32[4], b: bf16[2,3]) -> bf16[2,3] {
  %a = f32[4]{0} parameter(0)
  %b = bf16[2,3]{1,0} parameter(1)
  %z = f32[] constant({...})
  %t = (f32[], bf16[2,3]{1,0}) tuple(%z, bf16[2,3]{1,0} %b)
  ROOT %c = bf16[2,3]{1,0} call(%t),
    to_apply=%f
}
)");
  EXPECT_EQ(module.name, "jit_f");
  EXPECT_TRUE(module.scheduled);
  EXPECT_EQ(module.partitions, 8);
  EXPECT_EQ(module.replicas, 2);
  ASSERT_EQ(module.computations.size(), 2u);
  const hlo::Computation& entry = module.entry_computation();
  EXPECT_EQ(entry.name, "main");
  EXPECT_EQ(entry.root_instruction().attribute("to_apply"), "%f");
  EXPECT_EQ(entry.operand(entry.root_instruction(), 0).shape.bytes(), 4 + 12);
  EXPECT_EQ(module.computations[0].root_instruction().line, 10);
}

TEST(HloModule, without_entry_or_root_takes_the_last_computation_and_the_last_instruction) {
  const hlo::Module module =
      module_of(kAdd + "main {\n  a = f32[8] parameter(0)\n  b = f32[8] negate(a)\n}\n");
  EXPECT_EQ(module.name, "");
  EXPECT_EQ(module.entry_computation().root_instruction().name, "b");
}

TEST(HloModule, may_have_bodies_of_one_line) {
  const hlo::Module module = module_of(
      "HloModule m\nf { a = f32[8] parameter(0) ROOT b = f32[8] negate(a) }\n"
      "ENTRY e { a = f32[8] parameter(0) ROOT c = f32[8] call(a), to_apply=f }\n");
  ASSERT_EQ(module.computations.size(), 2u);
  EXPECT_EQ(module.computations[0].instructions.size(), 2u);
  EXPECT_EQ(module.entry_computation().root_instruction().opcode, "call");
}

// Lengths of attributes are packed in seven bits a byte; short lists lie within their owners.
TEST(HloModule, keeps_attributes_of_every_length_and_lists_of_every_size) {
  for (const std::size_t length : {0u, 1u, 127u, 128u, 16'383u, 16'384u, 3'000'000u}) {
    hlo::Attributes attributes;
    attributes.add("", std::string(length, 'a'));
    attributes.add(std::string(length, 'k'), "value");
    attributes.release_spare();
    EXPECT_EQ(attributes.of({}).size(), length);
    if (length > 0) {
      EXPECT_EQ(attributes.of(std::string(length, 'k')), "value") << length;
    }
  }
  hlo::ShortList<int, 2> list;
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(list.size(), static_cast<std::size_t>(i));
    list.push_back(i);
    const hlo::ShortList<int, 2> copy = list;
    hlo::ShortList<int, 2> other = {-1, -2, -3};
    other = copy;
    EXPECT_EQ(other, list);
    EXPECT_EQ(other.back(), i);
    const std::vector<int> numbers = std::move(other);
    EXPECT_EQ(numbers, std::vector<int>(list.begin(), list.end()));
  }
}

TEST(HloModule, has_attributes_in_the_order_written_until_they_are_removed) {
  hlo::Attributes attributes;
  attributes.add("window", "{size=3}");
  attributes.add("metadata", "");
  attributes.add("window", "{size=5}");
  EXPECT_EQ(attributes.of("window"), "{size=3}") << "the first";
  EXPECT_TRUE(attributes.has("metadata"));
  attributes.remove("window");
  EXPECT_FALSE(attributes.has("window"));
  EXPECT_EQ(attributes.of("window"), "");
  std::vector<std::string> left;
  for (const auto& [key, value] : attributes) left.push_back(std::string(key) + "=" + std::string(value));
  EXPECT_EQ(left, std::vector<std::string>{"metadata="});
}

TEST(HloModule, may_have_a_body_in_place) {
  const hlo::Module module = module_of(R"(HloModule m
ENTRY main {
  a = f32[8] parameter(0)
  ROOT b = f32[8] fusion(a), kind=kLoop, calls= {
    p = f32[8] parameter(0)
    ROOT n = f32[8] negate(p)
  }
}
)");
  ASSERT_EQ(module.computations.size(), 2u);
  EXPECT_EQ(module.find(module.entry_computation().root_instruction().attribute("calls")), 0);
}

TEST(HloModule, may_name_the_thread_of_a_computation_behind_its_body) {
  const hlo::Module module = module_of(R"(HloModule m
inner (p: f32[8]) -> f32[8] {
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
}, execution_thread="sparsecore"
ENTRY main {
  a = f32[8] parameter(0)
  s = ((f32[8]), f32[8]) async-start(a), async_execution_thread="sparsecore", calls=inner
  ROOT d = f32[8] async-done(s)
}
)");
  EXPECT_EQ(module.computations.size(), 2u);
  EXPECT_EQ(problem_of(
                "inner {\n  ROOT p = f32[8] parameter(0)\n},\nENTRY e {\n  ROOT a = f32[8] parameter(0)\n}\n")
                .substr(0, 42),
            "3:3: expected an attribute of the computat");
}

TEST(HloModule, packs_elements_of_four_bits_only_where_its_layout_says_so) {
  const hlo::Module module =
      module_of("e {\n  a = s4[4,16]{1,0:E(4)} parameter(0)\n  b = s4[4,16]{1,0} parameter(1)\n}\n");
  EXPECT_EQ(module.entry_computation().instructions[0].shape.bytes(), 32);
  EXPECT_EQ(module.entry_computation().instructions[1].shape.bytes(), 64);
}

TEST(HloModule, of_several_in_a_file_are_all_read) {
  std::vector<Problem> problems;
  const std::string one = "HloModule a\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n";
  const auto modules = hlo::parse_modules("two.hlo", one + "\n" + one, problems);
  ASSERT_TRUE(modules);
  EXPECT_EQ(modules->size(), 2u);
}

TEST(HloProblems, name_the_place) {
  EXPECT_EQ(problem_of("HloModule m\nENTRY e {\n  a = f33[4] parameter(0)\n}\n"),
            "3:7: element type f33 (did you mean f32?)");
  EXPECT_EQ(problem_of("HloModule m\nENTRY e {\n  p0 = f32[4] parameter(0)\n  b = f32[4] add(p0, p1)\n}\n"),
            "4:22: no instruction \"p1\" in e");
  EXPECT_EQ(problem_of("HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  a = f32[4] negate(a)\n}\n"),
            "4:3: \"a\" stands in e already");
  EXPECT_EQ(problem_of("HloModule m\nENTRY e {\n  a = f32[4] call(), to_apply=%f\n}\n"),
            "3:3: \"a\" calls a computation that is not in the module");
  EXPECT_EQ(problem_of("HloModule m\nENTRY e {\n  a = negate(b)\n}\n"),
            "3:7: the shape is missing (write it: f32[8,128] negate(...))");
  EXPECT_EQ(problem_of(" \n"), "2:1: the file is empty");
}

TEST(HloProblems, tell_what_is_not_closed_where_the_text_ends) {
  EXPECT_EQ(problem_of("HloModule m\nENTRY main {\n  a = f32[4] parameter(0)\n"),
            "4:1: ENTRY main is not closed: truncated");
  EXPECT_EQ(problem_of("HloModule m\nf {\n  a = f32[4] parameter(0)\n  b = f32[4] neg"),
            "4:17: computation f is not closed: truncated");
}

TEST(HloProblems, refuse_computations_that_call_themselves) {
  const std::string problem =
      problem_of("HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  b = f32[4] call(a), to_apply=%e\n}\n");
  EXPECT_NE(problem.find("calls itself"), std::string::npos) << problem;
}

// Callees may stand first, as XLA prints them, or last.
TEST(HloProblems, refuse_chains_of_calls_of_any_order_that_are_too_long) {
  const auto chain = [](int length, bool callees_first) {
    std::vector<std::string> parts;
    for (int i = 0; i < length; ++i)
      parts.push_back("c" + std::to_string(i) + " {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] " +
                      (i == 0 ? "negate(a)" : "call(a), to_apply=c" + std::to_string(i - 1)) + "\n}\n");
    if (!callees_first) std::reverse(parts.begin(), parts.end());
    std::string text = "HloModule m\n";
    for (const std::string& part : parts) text += part;
    return text + "ENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] call(a), to_apply=c" +
           std::to_string(length - 1) + "\n}\n";
  };
  for (const bool callees_first : {true, false}) {
    EXPECT_EQ(problem_of(chain(400, callees_first)), "") << callees_first;
    EXPECT_NE(problem_of(chain(501, callees_first)).find("nested too deep"), std::string::npos)
        << callees_first;
  }
}

// Whatever is cut off: a problem, never an answer to less.
TEST(HloProblems, come_of_a_module_that_is_cut_anywhere_before_its_last_brace) {
  const std::string text = "HloModule m, num_partitions=4\n" + kAdd +
                           "ENTRY e {\n  a = f32[4]{0} parameter(0)\n  b = f32[4]{0} all-reduce(a), "
                           "replica_groups={{0,1},{2,3}}, to_apply=%add\n}";
  EXPECT_EQ(problem_of(text), "");
  for (std::size_t length = 0; length < text.size(); ++length)
    if (length != text.find("\nENTRY") && length != text.find("\nENTRY") + 1) {
      EXPECT_NE(problem_of(text.substr(0, length)), "") << text.substr(0, length);
    }
}

TEST(HloModule, refuses_operations_without_what_they_cannot_be_without) {
  EXPECT_EQ(problem_of("ENTRY e {\n  x = s32[] parameter(0)\n  ROOT w = s32[] while(x), condition=e\n}\n"),
            "3:3: \"w\": while has no body");
  EXPECT_EQ(
      problem_of(
          "ENTRY e {\n  x = f32[2,2] parameter(0)\n  ROOT r = f32[2] reduce(x, x), dimensionz={1}\n}\n"),
      "3:3: \"r\": reduce has no dimensions");
  EXPECT_NE(problem_of("ENTRY e {\n  x = f32[2,2] parameter(0)\n  ROOT c = f32[2,2] call(x)\n}\n")
                .find("calls nothing"),
            std::string::npos);
  EXPECT_EQ(problem_of("ENTRY e {\n  x = f32[2,2] parameter(0)\n  ROOT d = f32[2,2] dot(x), "
                       "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"),
            "3:3: \"d\": dot has 1 operands (expected 2 or more)");
}

// A digit that was changed shows where the value is used.
TEST(HloModule, refuses_shapes_that_do_not_follow_from_the_operands) {
  const auto refused = [](const std::string& result) {
    return problem_of(kAdd + "ENTRY e {\n  x = f32[4,8] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = " +
                      result + "\n}\n");
  };
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"f32[4,9] add(x, x)", "add gives f32[4,9], its operands make it f32[4,8]"},
      {"f32[4,5] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
       "its operands make it f32[4,4]"},
      {"f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "do not agree"},
      {"f32[5] reduce(x, z), dimensions={1}, to_apply=add", "its operands make it f32[4]"},
      {"f32[33] reshape(x)", "as many elements"},
      {"f32[4,9,2] broadcast(x), dimensions={0,1}", "is no part of"},
      {"f32[4,7] all-reduce(x), replica_groups={}, to_apply=add", "its operand is f32[4,8]"},
      {"f32[4,8] transpose(x), dimensions={1,0}", "its operands make it f32[8,4]"},
      {"f32[4,8] transpose(x), dimensions={0,0}", "names not each dimension of f32[4,8] once"},
      {"f32[8,9] concatenate(x, x), dimensions={0}", "its operands make it f32[8,8]"},
      {"f32[4,8] concatenate(x, x), dimensions={2}", "no dimension {2} to join along"},
      {"f32[4,3] slice(x), slice={[0:4], [0:2]}", "its operands make it f32[4,2]"},
      {"f32[4,2] slice(x), slice={[0:4], [7:9]}", "no elements 7 to 9 along dimension 1"},
      {"f32[4,8] pad(x, z), padding=1_0x0_0", "its operands make it f32[5,8]"},
      {"f32[5,8] dynamic-slice(x, z, z), dynamic_slice_sizes={5,8}", "is no part of f32[4,8]"},
      {"f32[4,8] reduce-window(x, z), window={size=2x1}, to_apply=add", "its operands make it f32[3,8]"},
      {"f32[] reduce(x, z), dimensions={0,0}, to_apply=add", "lacks a dimension that is reduced"},
      {"f32[4,4] convolution(x, x), dim_labels=bf_io->bf", "its kernel takes 4 of 8 features in 1 groups"},
      {"f32[4,9] convolution(x, x), dim_labels=bf_oi->bf", "its operands make it f32[4,4]"},
      {"(f32[4,8], f32[4]) tuple(x, z)", "its operands are others"},
      {"f32[2] call(x, z), to_apply=add", "operand 0 is f32[4,8] and add expects f32[]"},
      {"f32[] get-tuple-element(x), index=0", "has no element 0"}};
  for (const auto& [text, message] : wrong)
    EXPECT_NE(refused(text).find(message), std::string::npos) << text << ": " << refused(text);
  EXPECT_EQ(refused("f32[4,8] clamp(z, x, z)"), "");
  for (const char* right :
       {"f32[8,4] transpose(x), dimensions={1,0}", "f32[4,16] concatenate(x, x), dimensions={1}",
        "f32[2,3] slice(x), slice={[1:3], [0:8:3]}", "f32[7,9] pad(x, z), padding=1_-1_1x0_1",
        "f32[4,4] reduce-window(x, z), window={size=3x2 stride=1x2 pad=1_1x0_0}, to_apply=add",
        "f32[4,4] convolution(x, x), dim_labels=bf_oi->bf"})
    EXPECT_EQ(refused(right), "") << right;
  EXPECT_EQ(refused("f32[4,8,4,8] dot(x, x)"), "");  // an outer product
  EXPECT_NE(refused("f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dimz={1}"), "");
}

}  // namespace
}  // namespace podsim::hlo_module_test
