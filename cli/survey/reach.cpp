#include "cli/survey/reach.h"

#include "common/text.h"

#include <algorithm>
#include <deque>

namespace remotemac::survey {
namespace {
// Order of strength; unknown does not take part.
int strength(Reach reach) { return reach == Reach::reached ? 2 : reach == Reach::maybe ? 1 : 0; }
Reach weaker(Reach a, Reach b) { return strength(a) < strength(b) ? a : b; }

// What the way a statement is written says about whether a Mac runs it.
Reach of_how(const std::string& how, bool is_entry) {
  if (how == "type-checking" || how == "cuda-guarded")
    return Reach::not_reached;
  if (how == "main")
    return is_entry ? Reach::reached : Reach::not_reached;
  if (how == "conditional" || how == "platform-guarded")
    return Reach::maybe;
  return Reach::reached; // plain, try, and lazy, whose function is judged by `top`
}
} // namespace

ImportGraph::ImportGraph(const Sources& sources, const ProjectFiles& files, const SurveyEntry& entry, std::set<std::string> installed)
    : m_files(files), m_entry(entry.files.begin(), entry.files.end()), m_installed(std::move(installed)), m_search{"", "src/"},
      m_resolved(entry.resolved && !sources.python_version.empty()) {
  for (const std::string& file : entry.files)
    if (std::ranges::find(m_search, folder_of(file)) == m_search.end())
      m_search.push_back(folder_of(file));
  for (const SourceFile& file : sources.files)
    m_mentions.insert(file.mentions.begin(), file.mentions.end());
  if (!m_resolved)
    return;
  follow(sources);
  note_blind_spots(sources);
}

void ImportGraph::follow(const Sources& sources) {
  std::map<std::string, const SourceFile*> by_path;
  for (const SourceFile& file : sources.files)
    by_path.emplace(file.path, &file);
  std::deque<std::string> open(m_entry.begin(), m_entry.end());
  for (const std::string& file : m_entry)
    m_reach[file] = Reach::reached;
  while (!open.empty()) { // a file comes again when it becomes stronger: at most twice
    const std::string path = open.front();
    open.pop_front();
    const auto found = by_path.find(path);
    if (found == by_path.end())
      continue;
    for (const ImportRow& row : found->second->imports) {
      const Reach reach = of_place(*found->second, row.how, row.top);
      if (reach == Reach::not_reached)
        continue;
      for (const std::string& target : own_files(path, row)) {
        const auto known = m_reach.find(target);
        if (known != m_reach.end() && strength(known->second) >= strength(reach))
          continue;
        m_reach[target] = reach;
        open.push_back(target);
      }
    }
  }
}

void ImportGraph::note_blind_spots(const Sources& sources) {
  for (const SourceFile& file : sources.files) {
    if (strength(of_file(file.path)) == 0)
      continue;
    for (const auto& [line, call] : file.dynamic)
      m_gaps.push_back({file.path + ":" + std::to_string(line), call + " loads what is only known at run time"});
    if (!file.dynamic.empty() || !file.error.empty())
      m_blind = true;
  }
}

Reach ImportGraph::of_file(const std::string& file) const {
  if (!m_resolved)
    return Reach::unknown;
  if (const auto found = m_reach.find(file); found != m_reach.end())
    return found->second;
  return m_blind ? Reach::maybe : Reach::not_reached;
}

Reach ImportGraph::of_place(const SourceFile& file, const std::string& how, const std::string& top) const {
  const Reach base = of_file(file.path);
  if (base == Reach::unknown)
    return base;
  const Reach called = top.empty() || m_mentions.contains(top) ? Reach::reached : Reach::maybe;
  return weaker(base, weaker(called, of_how(how, m_entry.contains(file.path))));
}

void ImportGraph::add_module(const std::string& base, const std::string& dotted, const std::vector<std::string>& names,
                             std::vector<std::string>& out) const {
  std::string path = base;
  if (!dotted.empty())
    for (const std::string& part : split(dotted, '.')) {
      path += part;
      if (m_files.has(path + "/__init__.py"))
        out.push_back(path + "/__init__.py"); // a package is found before a module of the same name
      else if (m_files.has(path + ".py"))
        out.push_back(path + ".py");
      path += "/";
    }
  for (const std::string& name : names) { // "from package import module"
    if (m_files.has(path + name + "/__init__.py"))
      out.push_back(path + name + "/__init__.py");
    else if (m_files.has(path + name + ".py"))
      out.push_back(path + name + ".py");
  }
}

std::vector<std::string> ImportGraph::own_files(const std::string& importer, const ImportRow& row) const {
  std::vector<std::string> out;
  if (row.level > 0) {
    std::string base = folder_of(importer);
    for (int up = 1; up < row.level; ++up) {
      if (base.empty())
        return out;
      base = folder_of(base.substr(0, base.size() - 1));
    }
    if (row.module.empty() && m_files.has(base + "__init__.py"))
      out.push_back(base + "__init__.py");
    add_module(base, row.module, row.names, out);
    return out;
  }
  if (row.standard)
    return out;
  const std::string first = split(row.module, '.').front();
  for (const std::string& base : m_search) {
    const bool package = m_files.has(base + first + "/__init__.py") || m_files.has(base + first + ".py");
    // A folder without __init__.py is a module only when nothing installed has its name, and it holds Python files.
    const bool folder = !package && !m_installed.contains(first) && m_files.has_folder(base + first);
    if (!package && !folder)
      continue;
    add_module(base, row.module, row.names, out);
    if (!out.empty())
      return out;
  }
  return out;
}

} // namespace remotemac::survey
