// The first screen: the verdict, why, what stands in the way, what to do next.
#include "cli/report/display.h"
#include "cli/report/parts.h"
#include "cli/report/sections.h"

#include <algorithm>

namespace remotemac::report {
namespace {
using verdict::Status;

Tone tone_of(verdict::Class value) {
  switch (value) {
  case verdict::Class::suitable:
    return Tone::good;
  case verdict::Class::development_and_test:
    return Tone::warning;
  case verdict::Class::cuda_required:
    break;
  }
  return Tone::bad;
}

Tone tone_of(Status status) {
  switch (status) {
  case Status::pass:
    return Tone::good;
  case Status::limited:
  case Status::not_shown:
    return Tone::warning;
  case Status::fail:
    return Tone::bad;
  case Status::not_applicable:
    break;
  }
  return Tone::faint;
}

std::string spoken(verdict::Ground ground) {
  switch (ground) {
  case verdict::Ground::shown_not_to_work:
    return " (shown not to work)";
  case verdict::Ground::not_sufficiently_shown:
    return " (not sufficiently shown)";
  case verdict::Ground::none:
    break;
  }
  return {};
}

std::uint64_t with_status(const verdict::Verdict& verdict, Status status) {
  return static_cast<std::uint64_t>(std::ranges::count(verdict.criteria, status, &verdict::Criterion::status));
}

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::string sentence(std::string text) {
  text = capital(std::move(text));
  if (!text.empty() && std::string_view(".!?").find(text.back()) == std::string_view::npos)
    text += '.';
  return text;
}

// One sentence: the heaviest reason and its first evidence; without a reason, what the criteria came to.
Inline because(const verdict::Verdict& verdict) {
  if (!verdict.reasons.empty()) {
    const verdict::Reason& first = verdict.reasons.front();
    const std::string text = tidy(first.text);
    const std::string detail = tidy(first.detail);
    return {words(sentence(detail.empty() || detail == text ? text : text + ": " + detail))};
  }
  std::string text = count(with_status(verdict, Status::pass), "criterion is met", "criteria are met");
  if (const std::uint64_t none = with_status(verdict, Status::not_applicable); none != 0)
    text += ", " + number(none) + (none == 1 ? " does not apply" : " do not apply");
  return {words(text + "; the evidence stands under Why.")};
}

void add_title(const Source& source, Document& out) {
  const Evidence& e = source.evidence;
  const std::string name = tidy(e.project.name, 120);
  out.push_back(Heading{1, name.empty() ? "Report" : "Report: " + name});
  Inline line{words("Run ", Tone::faint), code(e.run.id)};
  const auto add = [&](std::string label, std::string_view value) {
    if (!value.empty()) {
      line.push_back(words(std::move(label), Tone::faint));
      line.push_back(said(value));
    }
  };
  add(" on host ", e.run.host);
  add(", ", e.run.started);
  add("; purpose ", e.project.purpose);
  add(", scale ", e.project.scale);
  add("; remotemac ", e.run.remotemac_version);
  out.push_back(paragraph(std::move(line)));
}

void add_no_verdict(const Source& source, Document& out) {
  const Evidence& e = source.evidence;
  if (!e.broke_off) {
    out.push_back(Notice{"No verdict", {words("the run broke off. ", Tone::bad), said(source.verdict.why_not)}});
    return;
  }
  Inline text{words("the run broke off at ", Tone::bad),
              said(e.broke_off->stage.empty() ? "an unknown stage" : e.broke_off->stage, Tone::bad)};
  if (!e.broke_off->code.empty() && e.broke_off->code != e.broke_off->stage) {
    text.push_back(words(" ("));
    text.push_back(said(e.broke_off->code));
    text.push_back(words(")"));
  }
  out.push_back(Notice{"No verdict", std::move(text)});
  const std::string reason = tidy(e.broke_off->reason, 1000);
  const std::string fallback = tidy(source.verdict.why_not, 1000);
  out.push_back(paragraph({words("Reason: ", Tone::strong),
                           words(reason.empty() ? fallback.empty() ? "not recorded" : fallback : reason)}));
  if (Inline hint = with_commands(e.broke_off->hint); !hint.empty()) {
    hint.insert(hint.begin(), words("To do: ", Tone::strong));
    out.push_back(paragraph(std::move(hint)));
  }
  out.push_back(remark(
      "A run that broke off says nothing for or against the project; what was measured until then stands below."));
}

void add_notices(const Source& source, Document& out) {
  if (is_simulated(source.evidence)) {
    const std::string reason = simulation_reason(source.evidence);
    out.push_back(
        Notice{"Simulated backend",
               {words("the device in this run was not a real one" + (reason.empty() ? "" : " (" + reason + ")") +
                      ". No number here was measured on the GPU of a Mac.")}});
  } else if (source.evidence.host && source.evidence.host->virtual_machine.value_or(false)) {
    out.push_back(Notice{"Virtual machine",
                         {words("the host is a virtual machine; times and numerics may differ on a physical Mac.")}});
  }
}

Criterion entry_of(const verdict::Criterion& criterion) {
  Criterion out{std::string(criterion.id),
                words(std::string(verdict::name_of(criterion.status)), tone_of(criterion.status)),
                std::string(criterion.title),
                {}};
  const std::size_t limit = criterion.status == Status::pass ? 4 : 6;
  std::vector<const verdict::Line*> lines;
  for (const verdict::Line& line : criterion.lines) {
    if (std::ranges::none_of(lines, [&](const verdict::Line* before) { return before->text == line.text; }))
      lines.push_back(&line);
  }
  // What lowers the class first: the rest may be cut.
  std::ranges::stable_sort(lines, {}, [](const verdict::Line* line) { return line->allows; });
  for (std::size_t i = 0; i < std::min(limit, lines.size()); ++i)
    out.lines.push_back(
        {said(lines[i]->text, lines[i]->allows == verdict::Class::suitable ? Tone::plain : tone_of(lines[i]->allows))});
  if (lines.size() > limit)
    out.lines.push_back({words("and " + number(lines.size() - limit) + " more in the JSON report", Tone::faint)});
  if (out.lines.empty())
    out.lines.push_back({words("no evidence", Tone::faint)});
  return out;
}

std::string ids(const verdict::Reason& reason) {
  std::string out;
  for (const std::string_view id : reason.criteria)
    out += (out.empty() ? "" : ", ") + std::string(id);
  return out;
}
} // namespace

Document head_section(const Source& source) {
  Document out;
  add_title(source, out);
  const verdict::Verdict& verdict = source.verdict;
  if (verdict.reached == verdict::Reached::no) {
    add_no_verdict(source, out);
    add_notices(source, out);
    return out;
  }
  Inline because_text = because(verdict);
  out.push_back(Notice{"Verdict",
                       {words(std::string(verdict::name_of(verdict.classification)), tone_of(verdict.classification)),
                        words(spoken(verdict.ground))}});
  out.push_back(paragraph(std::move(because_text)));
  add_notices(source, out);
  if (const std::string use = tidy(verdict::use_from_now_on(verdict), 600); !use.empty())
    out.push_back(paragraph({words("From now on: ", Tone::strong), words(use)}));
  return out;
}

Document why_section(const Source& source) {
  Document out;
  const verdict::Verdict& verdict = source.verdict;
  if (!verdict.reasons.empty()) {
    List list;
    for (const verdict::Reason& reason : verdict.reasons) {
      Item item{{said(reason.text, tone_of(reason.allows))}, {}};
      if (!reason.criteria.empty())
        item.text.push_back(words(" (" + ids(reason) + ")", Tone::faint));
      item.text.push_back(words(", which allows at best " + std::string(verdict::name_of(reason.allows))));
      if (const std::string detail = tidy(reason.detail); !detail.empty() && detail != reason.text)
        item.below.push_back({words(detail)});
      list.items.push_back(std::move(item));
    }
    out.push_back(std::move(list));
  }
  Criteria criteria;
  for (const verdict::Criterion& criterion : verdict.criteria)
    criteria.entries.push_back(entry_of(criterion));
  if (!criteria.entries.empty())
    out.push_back(std::move(criteria));
  return out;
}

Document obstacles_section(const Source& source) {
  Document out;
  List list;
  constexpr std::size_t k_max = 20;
  for (const verdict::Obstacle& obstacle : source.verdict.obstacles) {
    if (list.items.size() == k_max)
      break;
    Item item{{said(obstacle.what, Tone::strong)}, {}};
    if (!obstacle.where.empty()) {
      item.text.push_back(words(" at "));
      item.text.push_back(code(obstacle.where));
    }
    if (!obstacle.effort.empty())
      item.text.push_back(words("; effort: " + tidy(obstacle.effort, 40)));
    if (!obstacle.instead.empty())
      item.below.push_back({words("Instead: "), said(obstacle.instead)});
    list.items.push_back(std::move(item));
  }
  if (!list.items.empty())
    out.push_back(std::move(list));
  add_rest(source.verdict.obstacles.size(), k_max, "obstacles", out);
  return out;
}

Document next_section(const Source& source) {
  const std::optional<BrokeOff>& broke = source.evidence.broke_off;
  if (broke && source.verdict.next_steps == std::vector<std::string>{broke->hint})
    return {}; // said at the top
  List list{true, {}};
  for (const std::string& step : source.verdict.next_steps) {
    if (list.items.size() < 12)
      list.items.push_back({with_commands(step), {}});
  }
  Document out;
  if (!list.items.empty())
    out.push_back(std::move(list));
  add_rest(source.verdict.next_steps.size(), 12, "steps", out);
  return out;
}

} // namespace remotemac::report
