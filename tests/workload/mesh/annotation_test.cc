// Text of annotations: what is read, what is printed, and what is said about mistakes.
#include "workload/mesh/annotation.h"

#include <gtest/gtest.h>

#include "engine/random.h"

namespace podsim::testing::annotation_test {
namespace {

const Mesh kMesh{{{"data", 8}, {"fsdp", 4}, {"tensor", 2}, {"one", 1}}};
constexpr AxisRef kData{0, 1, 8}, kFsdp{1, 1, 4}, kTensor{2, 1, 2};

Annotation read(const std::string& text, std::size_t rank = 2) {
  const ParsedAnnotation parsed = parse_annotation(kMesh, rank, text);
  EXPECT_FALSE(parsed.problem) << text << ": " << parsed.problem->message;
  return parsed.annotation;
}

AnnotationProblem problem(const std::string& text, std::size_t rank = 2) {
  const ParsedAnnotation parsed = parse_annotation(kMesh, rank, text);
  EXPECT_TRUE(parsed.problem) << text;
  return parsed.problem.value_or(AnnotationProblem{});
}

TEST(Annotation, axes_are_read_major_to_minor_and_a_question_mark_leaves_a_dimension_open) {
  const Annotation annotation = read("[{data,fsdp},{tensor,?}]");
  EXPECT_EQ(annotation.dims[0], (DimAnnotation{{kData, kFsdp}, false, 0}));
  EXPECT_EQ(annotation.dims[1], (DimAnnotation{{kTensor}, true, 0}));
}

TEST(Annotation, priorities_and_sets_of_axes_are_read) {
  const Annotation annotation = read(" [ {data}p1 , {}p12 ]  replicated={ tensor } unreduced={fsdp}");
  EXPECT_EQ(annotation.dims[0].priority, 1);
  EXPECT_EQ(annotation.dims[1].priority, 12);
  EXPECT_EQ(annotation.replicated, AxisList{kTensor});
  EXPECT_EQ(annotation.unreduced, AxisList{kFsdp});
}

TEST(Annotation, printing_gives_back_what_was_read) {
  for (const std::string text :
       {"unset", "[{data,?},{}]", "[{data:(2)4},{data:(1)2,fsdp,?}p1]", "[{},{?}] replicated={data:(1)4}",
        "[{?},{?}] unreduced={fsdp,tensor}", "[{fsdp},{tensor}] replicated={data} unreduced={}"}) {
    const Annotation annotation = read(text);
    const std::string printed = to_string(kMesh, annotation);
    EXPECT_EQ(read(printed), annotation);
    if (text.find("unreduced={}") == std::string::npos) {
      EXPECT_EQ(printed, text);
    }
  }
}

TEST(Annotation, unset_means_every_dimension_open) {
  EXPECT_EQ(read("unset"), unset(2));
  EXPECT_EQ(read("[{?},{?}]"), unset(2));
  EXPECT_EQ(to_string(kMesh, unset(2)), "unset");
  EXPECT_EQ(read("[]", 0), unset(0));
}

TEST(Annotation, pieces_that_continue_each_other_become_one) {
  EXPECT_EQ(read("[{data:(1)2,data:(2)4},{}]").dims[0].axes, AxisList{kData});
  EXPECT_EQ(read("[{},{}] replicated={data:(2)4,data:(1)2}").replicated, AxisList{kData});
}

TEST(Annotation, an_axis_of_one_device_cuts_nothing) {
  EXPECT_TRUE(read("[{one},{one}]").dims[0].axes.empty());
}

TEST(Annotation, a_layout_is_a_closed_annotation) {
  const Layout layout{{{kData}, {}}, {kTensor}};
  const Annotation annotation = closed(layout);
  EXPECT_EQ(to_string(kMesh, annotation), "[{data},{}] unreduced={tensor}");
  EXPECT_EQ(layout_of(annotation), layout);
}

TEST(Annotation, an_unknown_axis_is_located_with_the_nearest_name) {
  const AnnotationProblem p = problem("[{data,fdsp},{}]");
  EXPECT_EQ(p.column, 8);
  EXPECT_EQ(p.message, "the mesh has no axis \"fdsp\"");
  EXPECT_EQ(p.hint, "did you mean fsdp?");
  EXPECT_EQ(problem("[{zzz},{}]").hint, "axes of the mesh: data, fsdp, tensor, one");
}

TEST(Annotation, an_axis_used_twice_names_both_places) {
  const AnnotationProblem p = problem("[{data},{fsdp,data}]");
  EXPECT_EQ(p.column, 15);
  EXPECT_EQ(p.message, "axis data is used twice on the tensor: data is already on dimension 0");
  EXPECT_EQ(problem("[{data},{}] replicated={data:(2)2}").message,
            "axis data:(2)2 is used twice on the tensor: data is already on dimension 0");
  EXPECT_EQ(problem("[{},{}] replicated={data} unreduced={data}").message,
            "axis data is used twice on the tensor: data is already replicated");
}

TEST(Annotation, a_piece_must_divide_its_axis) {
  const AnnotationProblem p = problem("[{data:(3)2},{}]");
  EXPECT_EQ(p.column, 3);
  EXPECT_EQ(p.message, "axis data of size 8 has no piece (3)2");
  problem("[{data:(0)2},{}]");
  problem("[{data:(1)1},{}]");
  problem("[{data:(4)4},{}]");
}

TEST(Annotation, the_number_of_dimensions_must_be_that_of_the_tensor) {
  const AnnotationProblem p = problem(" [{data}]");
  EXPECT_EQ(p.column, 2);
  EXPECT_EQ(p.message, "dimensions annotated: 1, of the tensor: 2");
}

TEST(Annotation, broken_text_is_a_problem_at_its_column) {
  EXPECT_EQ(problem("").column, 1);
  EXPECT_EQ(problem("data").column, 1);
  EXPECT_EQ(problem("[{data}").column, 8);
  EXPECT_EQ(problem("[{data},{?,fsdp}]").column, 11);
  EXPECT_EQ(problem("[{data fsdp},{}]").column, 8);
  EXPECT_EQ(problem("[{data:2},{}]").column, 8);
  EXPECT_EQ(problem("[{},{}]p").column, 8);
  EXPECT_EQ(problem("[{}p,{}]").column, 5);
  EXPECT_EQ(problem("[{}p99999999999,{}]").column, 5);
  EXPECT_EQ(problem("unset x").column, 7);
  EXPECT_EQ(problem("[{,data},{}]").column, 3);
}

// Whether the text is an annotation: if so, it prints to what reads the same; else the problem lies in it.
bool reads_well(const std::string& text) {
  const ParsedAnnotation parsed = parse_annotation(kMesh, 2, text);
  if (!parsed.problem) {
    EXPECT_EQ(read(to_string(kMesh, parsed.annotation)), parsed.annotation) << text;
    return true;
  }
  EXPECT_GE(parsed.problem->column, 1) << text;
  EXPECT_LE(parsed.problem->column, static_cast<int>(text.size()) + 1) << text;
  EXPECT_FALSE(parsed.problem->message.empty()) << text;
  return false;
}

TEST(Annotation, the_beginning_of_a_valid_text_is_a_problem_until_its_dimensions_are_closed) {
  const std::string text = "[{data:(2)4,?}p1,{fsdp}] replicated={tensor} unreduced={data:(1)2}";
  const std::size_t closed = text.find(']') + 1;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const bool good = reads_well(text.substr(0, length));
    if (length < closed) {
      EXPECT_FALSE(good) << length;
    }
  }
  EXPECT_TRUE(reads_well(text.substr(0, closed)));
  EXPECT_TRUE(reads_well(text));
}

TEST(Annotation, random_text_is_a_problem_within_it_or_prints_to_what_reads_the_same) {
  const std::vector<std::string> pieces = {"[", "]",    "{",    "}",      ",",   ":(1)2", ":(2)4",       "?",
                                           " ", "p1",   "data", "fsdp",   "dta", "unset", "replicated=", "[{",
                                           "(", "},{}", "{}]",  "tensor", ":",   "9",     "unreduced={"};
  std::size_t read_well = 0;
  for (std::uint64_t text_id = 0; text_id < 20000; ++text_id) {
    std::string text = random_bits(1, RandomPurpose::kTest, text_id, 0) % 2 == 0 ? "" : "[{";
    const std::uint64_t length = random_bits(1, RandomPurpose::kTest, text_id, 1) % 8;
    for (std::uint64_t i = 0; i < length; ++i)
      text += pieces[random_bits(2, RandomPurpose::kTest, text_id, i) % pieces.size()];
    read_well += reads_well(text);
  }
  EXPECT_GT(read_well, 50u);
}

}  // namespace
}  // namespace podsim::testing::annotation_test
