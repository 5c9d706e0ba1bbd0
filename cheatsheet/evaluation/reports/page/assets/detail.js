"use strict";

const DONE = {
  add: "Added", update: "Reworded", merge: "Merged", tag: "Counted", remove: "Archived", restore: "Served again",
};

/** What is known of one answer, as sections one beside the other. */
function detailOf(answer, detail, others, link) {
  return element(
    "div",
    { class: "inside" },
    textSection("Question", answer.question.text || "It was not kept with this row.", { whole: true }),
    answer.error ? textSection("Error", answer.error, { whole: true }) : null,
    answer.error ? null : textSection("Answer", answer.answer || "The answer is empty."),
    textSection("Target", answer.question.target),
    detail.reply ? textSection("The whole reply", detail.reply, { whole: true }) : null,
    textSection(`Context that it saw, ${number(detail.context_tokens)} tokens`, detail.context || "Nothing.", {
      whole: true, code: Boolean(detail.context),
    }),
    detail.ledger.length ? ledgerSection(detail.ledger) : null,
    learntSection(detail),
    listSection("Left out in learning", detail.skipped),
    listSection("Notes", detail.notes),
    figuresSection(answer, detail),
    othersSection(others, link),
    section("Link", {}, element("a", { href: link(answer) }, "Link to this answer")),
  );
}

function section(title, { whole = false }, ...content) {
  return element("section", { class: whole ? "whole" : null }, element("h3", {}, title), ...content);
}

function textSection(title, text, { whole = false, code = false } = {}) {
  return section(title, { whole }, element("pre", { class: code ? "text code" : "text", dir: "auto", tabindex: "0" }, shown(text)));
}

function listSection(title, texts) {
  if (!texts.length) return null;
  return section(title, { whole: true }, element("ul", { class: "notes" }, texts.map((text) => element("li", { dir: "auto" }, shown(text)))));
}

function ledgerSection(ledger) {
  const titles = ["section", "priority", "wanted", "got", "what became of it", "why", "shown"];
  const rows = ledger.map((entry) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, shown(entry.section)),
      [number(entry.priority), (entry.wanted_exact ? "" : "about ") + number(entry.wanted_tokens), number(entry.got_tokens)]
        .map((text) => element("td", { class: "number" }, text)),
      element("td", {}, entry.action),
      element("td", { class: "why" }, shown(entry.reason)),
      element("td", {}, shown(entry.kept.join(", "))),
    ),
  );
  const numbers = ["priority", "wanted", "got"];
  const heading = (title) => element("th", { scope: "col", class: numbers.includes(title) ? "number" : null }, title);
  const head = element("tr", {}, titles.map(heading));
  const table = element("table", { class: "ledger" }, element("thead", {}, head), element("tbody", {}, rows));
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ledger of the context" }, table);
  return section("How the tokens of the context were given out", { whole: true }, scroll);
}

function learntSection(detail) {
  const items = detail.learnt.map(learntItem);
  if (detail.remembered.length) {
    items.push(element("li", {}, element("b", {}, "Remembered"), ` the turn itself as ${shown(detail.remembered.join(", "))}`));
  }
  const none = detail.learnt_known ? "Nothing." : "It is not known: the memory cannot be read.";
  const content = items.length ? element("ul", { class: "learnt" }, items) : element("p", { class: "quiet" }, none);
  return section("What was learnt from it", { whole: true }, content);
}

function learntItem(change) {
  const where = [change.id, change.section].filter(Boolean).join(", in ");
  const item = element("li", { dir: "auto" }, element("b", {}, DONE[change.type]), ` ${shown(where)}`);
  const counts = [["helpful", change.helpful], ["harmful", change.harmful]].filter(([, times]) => times);
  if (counts.length) item.append(`, ${counts.map(([name, times]) => `${name} +${times}`).join(", ")}`);
  if (change.absorbed.length) item.append(`, took in ${shown(change.absorbed.join(", "))}`);
  if (change.reason) item.append(`, because: ${shown(change.reason)}`);
  for (const [title, text] of [["before", change.before], ["", change.content], ["taken in", change.taken_in]]) {
    if (text) item.append(element("div", {}, title ? element("span", { class: "quiet" }, `${title}: `) : null, shown(text)));
  }
  return item;
}

function figuresSection(answer, detail) {
  const cost = detail.cost_usd === null ? "not known" : `${detail.cost_complete ? "" : "at least "}$${number(detail.cost_usd)}`;
  const figures = [
    ["Question", answer.question.id],
    ["Place", `${number(answer.position)} in the stream (${answer.run.order})`],
    ["Asked in mode", detail.mode],
    ["Score", number(detail.score)],
    ["Call", detail.outcome],
    ["Shown", `${number(detail.bullets)} bullets, ${number(detail.experiences)} experiences`],
    ["Tokens", `${number(detail.prompt_tokens)} prompt (${number(detail.cached_tokens)} cached), ${number(detail.completion_tokens)} completion`],
    ["Calls", number(detail.model_calls)],
    ["Cost", cost],
    ["Seconds", number(detail.seconds)],
  ].filter(([, value]) => value);
  const items = figures.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, shown(value))]);
  return section("Figures", {}, element("dl", { class: "figures" }, items));
}

function othersSection(others, link) {
  if (!others.length) return null;
  const items = others.map((other) =>
    element(
      "li",
      {},
      element("span", { class: "verdict", "data-verdict": other.verdict }, `${MARKS[other.verdict]} `),
      element("a", { href: link(other) }, shown(`${other.arm}, ${other.run.order}`)),
      element("bdi", {}, `: ${shown(other.error || other.answer || "empty").slice(0, 80)}`),
    ),
  );
  return section("The same question elsewhere", {}, element("ul", { class: "others" }, items));
}
