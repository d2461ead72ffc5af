// From the command of a run to the files of the project that it starts.
#include "cli/survey/reach.h"
#include "common/text.h"

#include <algorithm>

namespace remotemac::survey {
namespace {
std::string dotted_to_path(std::string text) {
  std::ranges::replace(text, '.', '/');
  return text;
}

bool take_module(SurveyEntry& out, const std::string& module, const ProjectFiles& files) {
  const std::string path = dotted_to_path(module);
  for (const std::string folder : {"", "src/"})
    for (const std::string& file : {folder + path + ".py", folder + path + "/__main__.py"})
      if (files.has(file)) {
        out.files.push_back(file);
        return true;
      }
  return false;
}

// A launcher that is not the project's own (torchrun, accelerate, pytest): the scripts among its arguments.
void take_arguments(SurveyEntry& out, const std::vector<std::string>& command, std::size_t begin, const ProjectFiles& files) {
  const std::string& module = command[begin - 1];
  for (std::size_t i = begin; i < command.size(); ++i) {
    const std::string path = inside_project("", command[i].substr(0, command[i].find("::")));
    if (!path.empty() && path.ends_with(".py") && files.has(path))
      out.files.push_back(path);
    else if (module == "pytest" && (files.has_folder(path) || command[i] == "."))
      for (const std::string& file : files.with_suffix(".py"))
        if ((path.empty() || file.starts_with(path + "/")) && (base_of(file).starts_with("test_") || file.ends_with("_test.py")))
          out.files.push_back(file);
    if (!out.files.empty() && module != "pytest")
      break;
  }
  out.note = out.files.empty() ? clean_line(module, 100) + " is no module of the project, and none of its arguments is a script of it"
                               : clean_line(module, 100) + " is no module of the project; its argument is taken as the script";
}
} // namespace

SurveyEntry resolve_entry(const std::vector<std::string>& command, const ProjectFiles& files) {
  SurveyEntry out;
  out.command = command;
  std::size_t i = 0;
  if (i < command.size() && base_of(command[i]).starts_with("python") && !command[i].ends_with(".py"))
    ++i;
  while (i < command.size() && command[i].size() > 1 && command[i].front() == '-' && command[i] != "-m" && command[i] != "-c")
    i += command[i] == "-W" || command[i] == "-X" ? std::size_t{2} : std::size_t{1};
  if (i >= command.size()) {
    out.note = "the command names no script";
  } else if (command[i] == "-c") {
    out.note = "the command brings its own code; name a script or a module so that imports can be followed";
  } else if (command[i] == "-m") {
    if (i + 1 >= command.size())
      out.note = "-m without a module";
    else if (!take_module(out, command[i + 1], files))
      take_arguments(out, command, i + 2, files);
  } else {
    const std::string path = inside_project("", command[i]);
    if (!path.empty() && files.has(path) && path.ends_with(".py"))
      out.files.push_back(path);
    else if (!path.empty() && files.has(path + "/__main__.py"))
      out.files.push_back(path + "/__main__.py");
    else
      out.note = clean_line(command[i], 200) + " is no Python file of the project (missing, a link, or outside of it)";
  }
  out.resolved = !out.files.empty();
  return out;
}

} // namespace remotemac::survey
