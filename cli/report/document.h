#pragma once
// A report before it is text or Markdown: a list of blocks. Made by the section_*.cpp files, shown by text.cpp and
// markdown.cpp. Texts in it are tidy (display.h) but not escaped. U+00A0 is a space at which no line is broken.
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace remotemac::report {

enum class Tone { plain, strong, good, warning, bad, faint };

struct Span {
  std::string text;
  Tone tone = Tone::plain;
  bool code = false; // a name, path, command: verbatim in Markdown
};
using Inline = std::vector<Span>;

struct Heading {
  int level = 1;
  std::string text;
};

struct Paragraph {
  Inline text;
};

// Said before everything else and not to be overlooked.
struct Notice {
  std::string title;
  Inline text;
};

struct Item {
  Inline text;
  std::vector<Inline> below;
};

struct List {
  bool numbered = false;
  std::vector<Item> items;
};

struct Column {
  std::string title;
  bool right = false;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Inline>> rows; // each as long as columns
};

struct Bar {
  std::string label;
  double value = 0; // against the largest of `full` and all values
  std::string caption;
};

struct Bars {
  std::vector<Bar> bars;
  double full = 0; // the value of a full bar; 0: the largest one
};

// One criterion: id, status, title, and its evidence below.
struct Criterion {
  std::string id;
  Span status;
  std::string title;
  std::vector<Inline> lines;
};

struct Criteria {
  std::vector<Criterion> entries;
};

struct Code {
  std::string language; // sh: each line is one command, broken so that it can be copied
  std::vector<std::string> lines;
};

using Block = std::variant<Heading, Paragraph, Notice, List, Table, Bars, Criteria, Code>;
using Document = std::vector<Block>;

} // namespace remotemac::report
