// Mistakes in a program of one's own: where they are, what was expected, and the nearest valid name.
#include <gtest/gtest.h>

#include "tests/proto/scenario/program_scenario.h"

namespace podsim::program_errors_test {
namespace {

TEST(ProgramErrors, an_unknown_dimension_names_the_nearest) {
  EXPECT_EQ(problems_of_mlp("dims: \"batch ffn\"", "dims: \"batch fnn\""),
            Lines{"16:65 there is no dimension \"fnn\" | did you mean \"ffn\"?; declare it: dimension { "
                  "name: \"fnn\" "
                  "size: 1024 }, or write a size here: fnn=1024"});
}

TEST(ProgramErrors, an_unknown_tensor_names_the_nearest) {
  EXPECT_EQ(problems_of_mlp("input: [\"a\", \"w_out\"]", "input: [\"a\", \"w_oot\"]"),
            Lines{"18:32 there is no tensor \"w_oot\" yet | did you mean \"w_out\"?; operations run in the "
                  "order in which "
                  "they are written"});
}

TEST(ProgramErrors, an_input_must_be_there_before_its_operation) {
  EXPECT_EQ(problems_of_mlp("input: \"h\" output: \"a\"", "input: \"y\" output: \"a\"").front().substr(0, 35),
            "17:37 there is no tensor \"y\" yet | ");
}

TEST(ProgramErrors, one_name_has_one_size_in_an_operation) {
  EXPECT_EQ(problems_of_mlp("dims: \"embed ffn\"", "dims: \"embed=512 ffn\""),
            Lines{"16:32 einsum h: \"embed\" has different sizes: 1024 and 512 in x [batch embed], w_in "
                  "[embed=512 ffn] | "
                  "one name is one dimension here; give them different names, or write an equation"});
}

TEST(ProgramErrors, what_follows_a_problem_is_not_reported_again) {
  EXPECT_EQ(
      problems_of_mlp("output: \"h\" dims: \"batch ffn\"", "output: \"h\" dims: \"batch embed=8\"").size(),
      1u);
}

TEST(ProgramErrors, a_dimension_of_the_output_must_be_in_the_equation) {
  EXPECT_EQ(
      problems_of_mlp("output: \"h\" dims: \"batch ffn\"", "output: \"h\" equation: \"be,ef->bq\""),
      Lines{
          "16:65 einsum h: the output has \"q\", which no input has | give the sizes of the output in dims"});
  EXPECT_EQ(problems_of_mlp("output: \"h\" dims: \"batch ffn\"", "output: \"h\" equation: \"be,ef,bf\""),
            Lines{"16:65 einsum h: \"be,ef,bf\" has no -> | write, for example, \"batch embed, embed ffn -> "
                  "batch ffn\""});
}

TEST(ProgramErrors, a_reshape_keeps_the_number_of_elements) {
  EXPECT_EQ(problems_of_mlp("kind: elementwise input: \"h\" output: \"a\"",
                            "kind: reshape input: \"h\" output: \"a\" dims: \"batch 3 1024\""),
            Lines{"17:56 reshape a: makes 196608 elements of the 262144 of h [batch ffn]"});
}

TEST(ProgramErrors, a_window_fits_into_its_input) {
  EXPECT_EQ(problems_of_mlp("kind: elementwise input: \"h\" output: \"a\"",
                            "kind: pool input: \"h\" output: \"a\" window { along: \"ffn\" size: 5000 }"),
            Lines{"17:53 pool a: a window over 5000 is larger than the input of 4096"});
}

TEST(ProgramErrors, operations_say_which_shapes_they_take) {
  EXPECT_EQ(
      problems_of_mlp("kind: elementwise input: \"h\" output: \"a\"",
                      "kind: attention input: [\"h\", \"x\"] output: \"a\"")
          .front(),
      "17:35 attention a: h [batch ffn] must have four dimensions: batch, sequence, heads, width of a head");
}

TEST(ProgramErrors, a_program_ends_in_a_loss) {
  EXPECT_EQ(
      problems_of_mlp("kind: loss", "kind: elementwise"),
      Lines{
          "11:5 the last part mlp must end in a loss | training goes back from there: operation { kind: loss "
          "input: \"logits\" output: \"losses\" }"});
}

TEST(ProgramErrors, nothing_is_left_over) {
  EXPECT_EQ(problems_of_mlp("parameter { name: \"w_out\"",
                            "parameter { name: \"spare\" dims: \"ffn\" }\n parameter { name: \"w_out\""),
            Lines{"15:7 nothing uses spare | remove it, or give it to an operation"});
}

TEST(ProgramErrors, parts_fit_together) {
  EXPECT_EQ(problems_of_mlp("    part {\n",
                            "    part { name: \"first\" data { name: \"z\" dims: \"batch ffn\" }\n"
                            "           operation { kind: elementwise input: \"z\" output: \"e\" } }\n"
                            "    part {\n      input { name: \"p\" dims: \"batch embed\" }\n"
                            "      operation { kind: add input: [\"p\", \"p\"] output: \"unused\" }\n"),
            Lines({"14:7 part mlp takes p [batch embed], but part first gives e [batch ffn]",
                   "15:47 nothing uses unused | remove it, or give it to an operation"}));
}

TEST(ProgramErrors, an_unknown_part_names_the_nearest) {
  EXPECT_EQ(problems_of_mlp("    part {\n", "    order { part: \"mpl\" }\n    part {\n"),
            Lines{"11:13 there is no part \"mpl\" | did you mean \"mlp\"?"});
}

TEST(ProgramErrors, annotations_name_tensors_and_axes) {
  const auto annotated = [](const std::string& text) {
    return problems_of_mlp("  program {", "  annotation { " + text + " }\n  program {");
  };
  EXPECT_EQ(annotated("tensor: \"w_inn\" sharding: \"[{data},{}]\""),
            Lines{"8:16 there is no tensor \"w_inn\" | did you mean \"w_in\"?"});
  EXPECT_EQ(annotated("tensor: \"h\" sharding: \"[{dota},{}]\""),
            Lines{"8:28 h: the mesh has no axis \"dota\" | did you mean data?"});
  EXPECT_EQ(annotated("tensor: \"h\" sharding: \"[{data},{data}]\"").front().substr(0, 55),
            "8:28 h: axis data is used twice on the tensor: data is ");
}

TEST(ProgramErrors, two_closed_annotations_of_an_operation_must_agree) {
  std::string text = replaced(mlp_scenario(), "{ name: \"data\" size: 8 }",
                              "{ name: \"a\" size: 4 } mesh { name: \"b\" size: 2 }");
  text = replaced(text, "  rule { dimension: \"batch\" axis: \"data\" }\n", "");
  text = replaced(text, "  program {",
                  "  annotation { tensor: \"h\" sharding: \"[{},{a}]\" }\n"
                  "  annotation { tensor: \"a\" sharding: \"[{},{b}]\" }\n  program {");
  EXPECT_EQ(problems_of(text),
            Lines{"8:28 a: h has a on dimension ffn, a has b on it; one of them must change or be "
                  "open (annotated [{},{a}] and [{},{b}]) | a dimension that ends in ? is open and "
                  "follows the others"});
  EXPECT_EQ(problems_of(replaced(text, "{a}", "{a,?}")), Lines{});
}

TEST(ProgramErrors, rules_speak_of_dimensions_that_the_program_has) {
  EXPECT_EQ(
      problems_of_mlp("axis: \"data\" }",
                      "axis: \"data\" } rule { dimension: \"param_fnn\" axis: \"data\" }"),
      Lines{"5:51 no tensor of the program has a dimension \"param_fnn\" | did you mean \"param_ffn\"?"});
}

TEST(ProgramErrors, a_step_bound_by_memory_ends_within_a_day) {
  std::string text =
      replaced(mlp_scenario(), "    dimension { name: \"ffn\" size: 4096 }",
               "    dimension { name: \"ffn\" size: 4096 }"
               "part { name: \"copies\" repeat: 9000 input { name: \"c\" dims: \"batch ffn\" } "
               "operation { kind: elementwise input: \"c\" output: \"d\" passes: 1000 } }"
               "order { part: \"first\" } order { part: \"copies\" } order { part: \"mlp\" }"
               "part { name: \"first\" data { name: \"x\" dims: \"batch ffn\" } "
               "operation { kind: elementwise input: \"x\" output: \"y\" } }");
  text = replaced(text, "data { name: \"x\" dims: \"batch embed\" }",
                  "input { name: \"x\" dims: \"batch ffn\" }");
  text = replaced(text, "{ name: \"w_in\" dims: \"embed ffn\" }", "{ name: \"w_in\" dims: \"ffn embed\" }");
  text = replaced(text, "output: \"h\" dims: \"batch ffn\"", "output: \"h\" dims: \"batch embed\"");
  text = replaced(text, "\"w_out\" dims: \"ffn embed\"", "\"w_out\" dims: \"embed ffn\"");
  text = replaced(text, "output: \"y\" dims: \"batch embed\"", "output: \"y\" dims: \"batch ffn\"");
  EXPECT_EQ(problems_of(text), Lines{});
  EXPECT_EQ(problems_of(replaced(text, "global_batch_sequences: 64", "global_batch_sequences: 64000000"))
                .front()
                .substr(0, 37),
            "6:3 a step of this job takes at least");
}

TEST(ProgramErrors, all_problems_come_at_once) {
  std::string text = replaced(mlp_scenario(), "dims: \"batch ffn\"", "dims: \"batch fnn\"");
  text = replaced(text, "\"w_out\"] output", "\"w_oot\"] output");
  text = replaced(text, "axis: \"data\" }", "axis: \"dota\" }");
  EXPECT_EQ(problems_of(text).size(), 3u);
}

TEST(ProgramErrors, closed_annotations_that_disagree_are_told_at_the_later_one_with_both) {
  EXPECT_EQ(
      problems_of_mlp("    part {\n",
                      "    shard { tensor: \"h\" sharding: \"[{data:(1)2},{}]\" }\n"
                      "    shard { tensor: \"a\" sharding: \"[{data:(2)4},{}]\" }\n    part {\n"),
      Lines{"12:25 a: h has data:(1)2 on dimension batch, a has data:(2)4 on it; one of them must change or "
            "be open (annotated [{data:(1)2},{}] and [{data:(2)4},{}]) | a dimension that ends in ? is "
            "open and follows the others"});
}

}  // namespace
}  // namespace podsim::program_errors_test
