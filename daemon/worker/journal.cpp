#include "daemon/worker/journal.h"

#include "common/file_system.h"
#include "common/json.h"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace remotemac::worker {
namespace {

using nlohmann::json;

constexpr std::uint64_t k_max_journal_bytes = std::uint64_t{1} << 30;

SessionFacts facts_from_json(const json& value) {
  SessionFacts facts;
  facts.built_for = json_text(value, "built_for");
  facts.running = json_text(value, "running");
  facts.simulated = json_flag(value, "simulated");
  facts.simulated_reason = json_text(value, "reason");
  return facts;
}

void apply(Journal& journal, const json& line) {
  if (line.contains("session")) {
    journal.session = facts_from_json(line["session"]);
  } else if (line.contains("begin")) {
    auto draft = finding_from_json(json_at(line, "finding"));
    if (draft)
      journal.entries.push_back({static_cast<std::size_t>(json_int(line, "begin")), std::move(*draft), {}, false});
  } else if (line.contains("stage") && !journal.entries.empty()) {
    journal.entries.back().stage = json_text(line, "stage");
  } else if (line.contains("end") && !journal.entries.empty()) {
    auto finding = finding_from_json(json_at(line, "finding"));
    JournalEntry& entry = journal.entries.back();
    if (finding && entry.index == static_cast<std::size_t>(json_int(line, "end"))) {
      entry.finding = std::move(*finding);
      entry.ended = true;
    }
  }
}

} // namespace

Result<JournalWriter> JournalWriter::open(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd)
    return io_error("cannot open the journal " + file.string(), errno);
  // The last line of a child that crashed may be torn; ours must not be joined to it.
  JournalWriter writer(std::move(fd));
  if (::lseek(writer.m_fd.get(), 0, SEEK_END) > 0)
    RM_TRY(writer.write_line("", Sync::no));
  return writer;
}

Result<void> JournalWriter::write_line(const std::string& line, Sync sync) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(m_fd.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      return io_error("cannot write the journal", errno);
    done += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  if (sync == Sync::yes && ::fsync(m_fd.get()) != 0)
    return io_error("cannot write the journal to disk", errno);
  return ok();
}

Result<void> JournalWriter::session(const SessionFacts& facts) {
  const json line = {{"session", {{"built_for", facts.built_for}, {"running", facts.running}, {"simulated", facts.simulated}, {"reason", facts.simulated_reason}}}};
  return write_line(dump_json(line, -1), Sync::no);
}

Result<void> JournalWriter::begin(std::size_t index, const Finding& draft) {
  const json line = {{"begin", index}, {"finding", to_json(draft)}};
  return write_line(dump_json(line, -1), Sync::yes);
}

Result<void> JournalWriter::stage(std::string_view name) {
  const json line = {{"stage", name}};
  return write_line(dump_json(line, -1), Sync::no);
}

Result<void> JournalWriter::end(std::size_t index, const Finding& finding) {
  const json line = {{"end", index}, {"finding", to_json(finding)}};
  return write_line(dump_json(line, -1), Sync::no);
}

Journal parse_journal(std::string_view text) {
  Journal journal;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos)
      break; // torn by the end of its writer
    const auto line = parse_json(text.substr(0, end), "the journal");
    if (line && line->is_object())
      apply(journal, *line);
    text.remove_prefix(end + 1);
  }
  return journal;
}

Result<Journal> read_journal(const std::filesystem::path& file) {
  PosixFileSystem disk;
  if (!disk.exists(file))
    return Journal();
  RM_ASSIGN(const std::string text, disk.read_file(file, k_max_journal_bytes));
  return parse_journal(text);
}

} // namespace remotemac::worker
