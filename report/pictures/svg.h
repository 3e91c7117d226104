// Pictures as SVG: the same bytes for the same picture.
#pragma once

#include <string>
#include <string_view>

#include "report/pictures/picture.h"

namespace podsim {

// What is special to XML and HTML written as entities; bytes that are not UTF-8, and characters that these do
// not admit, as U+FFFD.
std::string escaped(std::string_view text);

// A file that shows the picture by itself, on light paper or dark.
std::string svg_file(const Picture& picture);

// An element for a page that has `picture_style()` and, once, `picture_patterns()`.
std::string svg_element(const Picture& picture);

// A style sheet: the class r-ROLE of every role, and that of lines and text.
std::string picture_style();

// What hatches time in which nothing is done: definitions that all pictures of a page share.
std::string picture_patterns();

}  // namespace podsim
