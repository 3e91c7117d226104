// How dimensions and equations of a program are read.
#include "workload/model/program_text.h"

#include <gtest/gtest.h>

namespace podsim::testing::program_text_test {
namespace {

TEST(ProgramDims, a_term_is_a_name_a_size_blocks_or_a_product) {
  const ParsedDims dims = parse_dims("batch height=56 heads=heads+kv_heads+2 (a b=3) 7");
  ASSERT_EQ(dims.problem, "");
  ASSERT_EQ(dims.terms.size(), 5u);
  EXPECT_EQ(dims.terms[0].name, "batch");
  EXPECT_EQ(dims.terms[1].name, "height");
  EXPECT_EQ(dims.terms[1].blocks.front().number, 56);
  ASSERT_EQ(dims.terms[2].blocks.size(), 3u);
  EXPECT_EQ(dims.terms[2].blocks[1].name, "kv_heads");
  EXPECT_EQ(dims.terms[2].blocks[2].number, 2);
  ASSERT_EQ(dims.terms[3].factors.size(), 2u);
  EXPECT_EQ(dims.terms[3].name, "a");
  EXPECT_EQ(dims.terms[3].text, "(a b=3)");
  EXPECT_EQ(dims.terms[4].name, "");
}

TEST(ProgramDims, nothing_is_a_scalar) {
  const ParsedDims dims = parse_dims("  ");
  EXPECT_EQ(dims.problem, "");
  EXPECT_TRUE(dims.terms.empty());
}

TEST(ProgramDims, what_cannot_be_read_is_told) {
  for (const char* text :
       {"a=", "a=+b", "(a", "()", "3=4", "0", "-1", "a,b", "a)", "9999999999999", "a=1e", "\xff"})
    EXPECT_NE(parse_dims(text).problem, "") << text;
}

TEST(ProgramEquation, letters_and_names_say_the_same) {
  const Equation letters = parse_equation("bsd,df->bsf", {3, 2});
  const Equation names = parse_equation("b s d, d f -> b s f", {3, 2});
  for (const Equation* equation : {&letters, &names}) {
    ASSERT_EQ(equation->problem, "");
    ASSERT_EQ(equation->inputs.size(), 2u);
    EXPECT_EQ(equation->inputs[1], (EquationOperand{{"d"}, {"f"}}));
    EXPECT_EQ(equation->outputs[0], (EquationOperand{{"b"}, {"s"}, {"f"}}));
  }
}

TEST(ProgramEquation, one_word_is_a_name_where_the_rank_says_so) {
  EXPECT_EQ(parse_equation("embed,embed->embed", {1, 1}).inputs[0], EquationOperand{{"embed"}});
  EXPECT_EQ(parse_equation("bd,bd->bd", {2, 2}).inputs[0], (EquationOperand{{"b"}, {"d"}}));
}

TEST(ProgramEquation, products_have_brackets) {
  EXPECT_EQ(parse_equation("b(sn)d->bsnd", {3}).inputs[0], (EquationOperand{{"b"}, {"s", "n"}, {"d"}}));
}

TEST(ProgramEquation, needs_an_arrow) { EXPECT_NE(parse_equation("ab,bc", {2, 2}).problem, ""); }

}  // namespace
}  // namespace podsim::testing::program_text_test
