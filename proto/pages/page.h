// A result as one page of HTML that opens from disk: panels of sentences, pictures and tables around the JSON
// that says the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/pictures/drawing.h"
#include "report/pictures/picture.h"

namespace podsim {

// Something written, which may be a figure of the JSON: its key leads there, as in "jobs[0].slowdown".
struct PageText {
  std::string text;
  std::string key = {};
};

struct PageTable {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<PageText>> rows;
};

// Shown as it is.
struct PageDrawing {
  std::string summary;  // the same in words
  Drawing drawing;
};

struct PagePanel {
  std::string id, title;
  std::vector<std::string> sentences = {};
  std::vector<Picture> pictures = {};
  std::vector<PageDrawing> drawings = {};
  std::vector<PageTable> tables = {};
  std::string text = {};  // as it is, in letters of one width
};

// A figure that is read first: large, with a word below.
struct PageFigure {
  std::string name;
  PageText value;
  std::string below = {};
};

// What a figure is, by its key without numbers in brackets.
struct FigureMeaning {
  std::string unit, definition;
};

// An entry of the catalogue as its file has it.
struct PageEntry {
  std::string title, text;
};

// Of a result.
struct PageOrigin {
  std::string name, text;                   // of a scenario
  std::vector<std::string> sentences = {};  // what is doubtful in it
  std::vector<PageTable> assumptions = {};
  std::vector<PageEntry> entries = {};  // that its names stand for
};

struct Page {
  std::string title, question = {};
  std::vector<PageFigure> figures = {};
  std::string answer = {};  // sentences
  std::vector<PagePanel> panels = {};
  std::string json = {};  // the result; a panel at the end lists every value of it
  std::map<std::string, FigureMeaning> meanings = {};
  std::string command = {};  // that made it
  std::vector<PageOrigin> origins = {};
};

// The file: no other is needed, and nothing is loaded from anywhere. With scripts off it shows the same
// pictures, which scripts only make to answer the pointer. The same page gives the same bytes. REQUIRES: keys
// are those of figures of the JSON.
std::string html_page(const Page& page);

// Its panels alone, to stand on a page of others: no style but that of the pictures, which are files of their
// own. REQUIRES: as above.
std::string html_panels(const Page& page);

// Whether scripts for pictures are part of this podsim.
bool has_page_scripts();

}  // namespace podsim
