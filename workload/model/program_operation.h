// One operation of a user's program: which dimensions are one, what it yields, and what is wrong with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workload/job/tensor_program.h"
#include "workload/model/program_scope.h"

namespace podsim {

// What a kind of operation is called in a program: "einsum".
std::string kind_name(ProgramKind kind);

// Adds the operation and its results to the scope, or reports why not. `layer` = its part is a layer.
class ProgramOperationBuilder {
 public:
  ProgramOperationBuilder(ProgramScope& scope, const ProgramOperation& op, bool layer, std::string path);
  void run();

 private:
  struct Input {
    ScopeTensor* tensor = nullptr;
    std::vector<std::string> keys;  // [dimension] equal keys are one dimension
  };

  void report(const std::string& field, const std::string& message, const std::string& hint = "");
  std::string text(const Input& input) const;  // "x [batch embed]"
  bool take_inputs(std::size_t least, std::size_t most);
  bool bind_inputs();  // keys by equation or by name
  bool outputs_of(std::size_t count);
  char letter(const std::string& key);
  std::string letters(const std::vector<std::string>& keys);
  bool has_input_key(const std::string& key) const;
  const DimTerm* term_of(const std::string& key) const;  // of the first input that has it
  std::vector<std::string> along(const Input& input);    // keys of `along`, the last dimension without it
  // Declares output `i` of these dimensions, or of those the user wrote; then its keys.
  bool add_output(std::size_t i, const std::vector<DimTerm>& implied);
  bool add_output(std::size_t i, std::vector<DimTerm> terms, std::vector<std::string> keys);
  bool parse_output(std::size_t i, std::vector<DimTerm>& terms);
  // Equal keys have equal sizes, but for the key `free` ("*" = all), also in outputs added later.
  bool check_sizes(const std::string& free = "");
  void push(OperationKind kind);

  void einsum();
  void pointwise();
  void reduce();
  void reshape();
  void transpose();
  void concatenate();
  void shift();
  void embedding();
  void scatter();
  void routing();
  void attention();
  void convolution();
  void loss();
  // Indices that a window makes of `size`; 0 after a problem.
  std::int64_t slide(const ProgramWindow& window, const std::string& field, std::int64_t size);
  ProgramWindow filter_window(std::size_t spatial, std::size_t count);
  bool splits();  // the sizes of several outputs are those of the inputs, or add up to them
  bool same_sizes(const std::vector<DimTerm>& made);  // of the output as written and as made
  bool check_groups(std::int64_t channels, std::int64_t filter_in, std::int64_t filter_out);

  ProgramScope& scope_;
  const ProgramOperation& op_;
  bool layer_;
  std::string path_;
  std::vector<Input> inputs_;
  Equation equation_;
  std::map<std::string, char> letters_;
  std::map<std::string, std::int64_t> sizes_;  // by key
  std::string free_;
  Operation result_;
};

}  // namespace podsim
