#include "cli/app.h"

#include "cli/command.h"
#include "common/text.h"
#include "common/version.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

namespace remotemac::cli {
namespace {
struct Built {
  std::unique_ptr<CLI::App> app;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>> commands;
  bool json = false;
};

const std::map<std::string_view, std::string_view> k_groups = {{"host", "add, list, show and remove hosts"}, {"audit", "read and verify the audit log"}};

std::unique_ptr<Built> build() {
  auto built = std::make_unique<Built>();
  built->app = std::make_unique<CLI::App>("Find out, with evidence, whether a CUDA project can move to an Apple Silicon Mac, and let only permitted data go there.", "remotemac");
  CLI::App& app = *built->app;
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", built->json, "print one JSON object on standard output instead of text");
  app.set_version_flag("--version", std::string("remotemac ") + k_version);
  app.footer("Exit status: 0 done, 1 below what was required or a check found something, 2 no verdict, 120 usage or configuration, 121 internal error, 124 deadline,\n"
             "125 set-up or transport, 126 refused, 127 no such job, host or run, 130 interrupted. Start with: remotemac init");
  std::map<std::string, CLI::App*, std::less<>> groups;
  for (const CommandEntry& entry : command_list()) {
    CLI::App* parent = &app;
    std::string_view name = entry.name;
    if (const std::size_t space = name.find(' '); space != std::string_view::npos) {
      const std::string group(name.substr(0, space));
      if (!groups.contains(group)) {
        groups[group] = app.add_subcommand(group, std::string(k_groups.at(group)));
        groups[group]->require_subcommand(1);
        groups[group]->footer("Example: " + std::string(entry.example));
      }
      parent = groups[group];
      name = name.substr(space + 1);
    }
    CLI::App* sub = parent->add_subcommand(std::string(name), std::string(entry.summary));
    sub->footer("Example: " + std::string(entry.example) + "\nWith --json: one JSON object on standard output, also for an error.");
    std::unique_ptr<Command> command = entry.make();
    command->declare(*sub);
    built->commands.emplace_back(sub, std::move(command));
  }
  return built;
}

// The names of commands, or of those of one group.
std::vector<std::string> command_names(const std::string& group) {
  std::vector<std::string> out;
  for (const CommandEntry& entry : command_list()) {
    const std::string_view name = entry.name;
    const std::size_t space = name.find(' ');
    if (group.empty())
      out.emplace_back(name.substr(0, space));
    else if (space != std::string_view::npos && name.substr(0, space) == group)
      out.emplace_back(name.substr(space + 1));
  }
  return out;
}

Error usage_error(const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  std::string path;  // the command so far
  std::string group; // of which the next word must be a command
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("-"))
      continue;
    const std::vector<std::string> known = command_names(group);
    const std::string shown = (group.empty() ? "" : group + " ") + clean_line(word, 100);
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      const std::string near = nearest(word, known);
      return Error(ErrorCode::usage, "'" + shown + "' is not a command", near.empty() ? "the commands are listed by: remotemac" + (group.empty() ? "" : " " + group) + " --help" : "did you mean '" + (group.empty() ? "" : group + " ") + near + "'?");
    }
    path += " " + word;
    if (!group.empty() || !k_groups.contains(word))
      break;
    group = word;
  }
  if (path.empty())
    return Error(ErrorCode::usage, "no command was given", "the commands are listed by: remotemac --help; start with: remotemac init");
  if (path == " " + group)
    return Error(ErrorCode::usage, "'" + group + "' needs one of: " + join(command_names(group), ", "), "remotemac " + group + " --help");
  return Error(ErrorCode::usage, clean_line(error.what(), 500), "remotemac" + path + " --help");
}

// "--flag=" gives the empty value; CLI11 would take the next argument for it.
std::vector<std::string> with_empty_values(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (const std::string& argument : arguments) {
    const bool empty = argument.size() > 3 && argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    out.push_back(empty ? argument.substr(0, argument.size() - 1) : argument);
    if (empty)
      out.emplace_back();
  }
  return out;
}

Colour colour_from_word(std::string_view word) { return word == "always" ? Colour::always : word == "never" ? Colour::never : Colour::automatic; }

// Until the settings are read.
Colour colour_from_environment() {
  const char* value = std::getenv("REMOTEMAC_COLOUR");
  return colour_from_word(value == nullptr ? "auto" : value);
}

Result<int> dispatch(Built& built, Output& out, Interrupts& interrupts) {
  RM_ASSIGN(const Paths paths, Paths::from_environment());
  RM_ASSIGN(const Config config, Config::load(paths.config / "config.toml"));
  out.set_colour(colour_from_word(config.text("output.colour")));
  const SystemClock clock;
  PosixProcessRunner processes;
  std::error_code ignored;
  Context context{out, paths, config, clock, processes, interrupts, std::filesystem::read_symlink("/proc/self/exe", ignored)};
  for (auto& [sub, command] : built.commands) {
    if (sub->parsed())
      return command->run(context);
  }
  return Error(ErrorCode::usage, "no command was given", "remotemac --help");
}

} // namespace

int run_app(const std::vector<std::string>& arguments) {
  Interrupts& interrupts = Interrupts::install();
  const std::unique_ptr<Built> built = build();
  std::vector<std::string> reversed = with_empty_values(arguments);
  std::reverse(reversed.begin(), reversed.end());
  reversed.pop_back();
  try {
    built->app->parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)
      return built->app->exit(error);
    const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    Output out(json ? OutputForm::json : OutputForm::people, colour_from_environment());
    out.fail(usage_error(error, arguments));
    return exit_status(ErrorCode::usage);
  }
  Output out(built->json ? OutputForm::json : OutputForm::people, colour_from_environment());
  try {
    if (built->json)
      interrupts.set_json();
    Result<int> status = dispatch(*built, out, interrupts);
    if (Result<void> printed = out.finish(); status && !printed)
      status = std::move(printed).error();
    if (status)
      return *status;
    Error error = std::move(status).error();
    if (error.code() == ErrorCode::interrupted && error.hint().empty())
      error.set_hint(interrupts.next());
    out.fail(error);
    return exit_status(error.code());
  } catch (const std::exception& error) {
    // Everything that throws is caught where it is called; what arrives here is a defect of ours.
    out.fail(Error(ErrorCode::internal, clean_line(error.what(), 500), "please report this with the command line and the version"));
    return exit_status(ErrorCode::internal);
  }
}

std::string commands_reference() {
  const std::unique_ptr<Built> built = build();
  std::string out;
  for (std::size_t i = 0; i < built->commands.size(); ++i) {
    const CommandEntry& entry = command_list()[i];
    out += "## remotemac " + std::string(entry.name) + "\n\n" + std::string(entry.summary) + ".\n\n    " + std::string(entry.example) + "\n\n";
    std::string rows;
    for (const CLI::Option* option : std::as_const(*built->commands[i].first).get_options()) {
      if (option->get_name() == "--help" || option->get_group().empty())
        continue;
      rows += "| `" + option->get_name(option->get_positional(), true) + "` | " + option->get_description() + " |\n";
    }
    if (!rows.empty())
      out += "| flag or argument | meaning |\n|---|---|\n" + rows + "\n";
  }
  return out;
}

} // namespace remotemac::cli
