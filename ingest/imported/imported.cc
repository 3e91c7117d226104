// How what is missing is told.
#include "ingest/imported/imported.h"

namespace podsim {

std::string needs_text(const std::vector<Needed>& needs) {
  std::string text;
  for (const Needed& need : needs)
    text += "needs " + need.what + (need.option.empty() ? "" : " (" + need.option + ")") + "\n";
  return text;
}

Imported begun_import(std::vector<Figure> figures, const std::string& text, std::vector<Needed> needs,
                      Account account) {
  Imported imported;
  imported.figures = std::move(figures);
  imported.figures.push_back(account_figure(account));
  imported.text = text + needs_text(needs) + account_text(account);
  imported.needs = std::move(needs);
  imported.accounts.push_back(std::move(account));
  return imported;
}

FigureValue known(const std::optional<std::int64_t>& number) {
  return number ? FigureValue(*number) : FigureValue();
}

FigureValue known(const std::optional<std::string>& text) {
  return text ? FigureValue(*text) : FigureValue();
}

Figure needs_figure(const std::vector<Needed>& needs) {
  std::vector<std::string> words;
  for (const Needed& need : needs) words.push_back(need.what);
  return Figure::list("needs", values_of(words));
}

}  // namespace podsim
