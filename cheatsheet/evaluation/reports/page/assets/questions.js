"use strict";

/* The list of answers: filtered, sorted, made a screenful at a time. What is filtered stands in the address. */
{
  const BATCH = 50;
  const FILTERS = ["text", "result", "arm", "task", "model", "order", "question", "open"];
  const NOTHING = Object.fromEntries(FILTERS.map((name) => [name, ""]));

  class List {
    constructor(answers) {
      this.answers = answers;
      this.filter = { ...NOTHING };
      this.found = [];
      this.drawn = 0;
      this.sorted = null;
      this.form = document.querySelector("form.filters");
      this.table = document.querySelector("table.questions");
      this.body = this.table.tBodies[0];
      this.more = document.querySelector("button.more");
      this.one = document.querySelector("button.one");
      this.count = document.querySelector(".found output");
      this.columns = this.columnsOf(answers.index);
    }

    columnsOf({ runs }) {
      const several = (name) => new Set(runs.map((run) => run[name])).size > 1;
      return [
        { title: "Result", key: (answer) => answer.verdict, cell: verdictCell },
        { title: "Question", key: (answer) => answer.question.text || answer.question.id, cell: (answer) => this.questionCell(answer) },
        { title: "Answer", key: (answer) => answer.answer, cell: (answer) => shortCell(answer.error || answer.answer) },
        { title: "Target", key: (answer) => answer.question.target, cell: (answer) => shortCell(answer.question.target), name: "target" },
        { title: "Arm", key: (answer) => answer.arm, cell: (answer) => nameCell(answer.arm), name: "arm" },
        several("task") && { title: "Task", key: (answer) => answer.run.task, cell: (answer) => nameCell(answer.run.task), name: "task" },
        several("model") && { title: "Model", key: (answer) => answer.run.model, cell: (answer) => nameCell(answer.run.model), name: "model" },
        several("order") && { title: "Order", key: (answer) => answer.run.order, cell: (answer) => nameCell(answer.run.order), name: "" },
        { title: "Place", key: (answer) => answer.position, cell: (answer) => numberCell(answer.position), name: "place" },
        { title: "Tokens", key: (answer) => answer.tokens, cell: (answer) => numberCell(answer.tokens), name: "tokens" },
      ].filter(Boolean);
    }

    start() {
      this.fillHead();
      this.fillSelects();
      this.form.addEventListener("input", () => this.asked());
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.addEventListener("reset", (event) => {
        event.preventDefault();
        this.use({ ...NOTHING });
      });
      this.one.addEventListener("click", () => this.use({ ...this.filter, question: "", open: "" }));
      this.more.addEventListener("click", () => this.draw());
      new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.draw(), {
        rootMargin: "400px",
      }).observe(this.more);
      addEventListener("hashchange", () => this.followAddress());
      if (!this.followAddress()) this.show();
    }

    fillHead() {
      const row = this.table.tHead.rows[0];
      for (const column of this.columns) {
        const heading = element("th", { scope: "col" });
        heading.append(sortButton(column.title, () => {
          this.sorted = { key: column.key, ascending: turned(heading) };
          this.show();
        }));
        row.append(heading);
      }
    }

    fillSelects() {
      const { runs, arms } = this.answers.index;
      const each = (name) => [...new Set(runs.map((run) => run[name]))].map((value) => [value, value]);
      const results = [["right", "right"], ["wrong", "wrong"], ["error", "error"]];
      if (this.answers.baseline.size < this.answers.all.length) {
        results.push(["gained", "right, the baseline wrong"], ["lost", "wrong, the baseline right"]);
      }
      const choices = { result: results, arm: arms.map((arm) => [arm, arm]), task: each("task"), model: each("model"), order: each("order") };
      for (const [name, options] of Object.entries(choices)) {
        const select = this.form.elements[name];
        select.append(...[["", "all"], ...options].map(([value, text]) => element("option", { value }, shown(text))));
        select.closest("label").hidden = options.length < 2;
      }
    }

    /** Take the filters from the address; false where it names none. */
    followAddress() {
      const [place, wanted] = location.hash.slice(1).split("?");
      if (place !== "questions" || wanted === undefined) return false;
      const asked = new URLSearchParams(wanted);
      this.use(Object.fromEntries(FILTERS.map((name) => [name, asked.get(name) ?? ""])), { go: true });
      return true;
    }

    asked() {
      const values = new FormData(this.form);
      const chosen = Object.fromEntries([...values.entries()].map(([name, value]) => [name, value]));
      this.use({ ...this.filter, ...chosen });
    }

    use(filter, { go = false } = {}) {
      this.filter = filter;
      for (const name of ["text", "result", "arm", "task", "model", "order"]) {
        if (this.form.elements[name].value !== filter[name]) this.form.elements[name].value = filter[name];
      }
      const told = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
      history.replaceState(null, "", `#questions${told.size ? `?${told}` : ""}`);
      this.show();
      if (go) this.goToOpen();
    }

    show() {
      this.found = this.answers.passing(this.filter);
      if (this.sorted) {
        const { key, ascending } = this.sorted;
        this.found.sort((one, other) => compared(key(one), key(other), ascending));
      }
      const right = this.found.filter((answer) => answer.verdict === "right").length;
      const { length } = this.found;
      this.count.textContent = `${number(length)} of ${number(this.answers.all.length)} answers, ${number(right)} right`;
      this.one.hidden = !this.filter.question;
      this.one.textContent = `Only ${shown(this.filter.question)}: show the others too`;
      this.body.replaceChildren();
      this.drawn = 0;
      this.draw();
    }

    /** Append the next rows. */
    draw() {
      const next = this.found.slice(this.drawn, this.drawn + BATCH);
      this.body.append(...next.map((answer) => this.row(answer)));
      this.drawn += next.length;
      this.more.hidden = this.drawn >= this.found.length;
    }

    row(answer) {
      const cells = this.columns.map((column) => {
        const cell = column.cell(answer);
        if (column.name !== undefined) cell.dataset.name = column.name;
        return cell;
      });
      return element("tr", { "data-answer": key(answer) }, cells);
    }

    questionCell(answer) {
      const text = element("span", { dir: "auto" }, shown(answer.question.text.trim() || answer.question.id));
      const button = element("button", { type: "button", "aria-expanded": "false", click: () => this.toggle(answer, button) }, text);
      return element("th", { scope: "row" }, button);
    }

    async toggle(answer, button) {
      const row = button.closest("tr");
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      row.classList.toggle("open", !open);
      if (open) {
        row.nextElementSibling.remove();
        return;
      }
      const cell = element("td", { colspan: String(this.columns.length) }, "…");
      row.after(element("tr", { class: "detail" }, cell));
      cell.replaceChildren(detailOf(answer, await this.answers.detail(answer), this.answers.others(answer), address));
    }

    goToOpen() {
      const row = [...this.body.rows].find((each) => each.dataset.answer === this.filter.open);
      (row ?? document.getElementById("questions")).scrollIntoView({ behavior: "instant" });
      if (row) {
        const button = row.querySelector("button");
        button.click();
        button.focus({ preventScroll: true });
      }
    }
  }

  const key = (answer) => `${answer.run.key}/${answer.arm}/${answer.question.id}`;

  /** Where one answer is shown, with those of other arms to the same question. */
  const address = (answer) =>
    `#questions?${new URLSearchParams({ task: answer.run.task, question: answer.question.id, open: key(answer) })}`;

  const verdictCell = ({ verdict }) =>
    element("td", { class: "verdict", "data-verdict": verdict }, `${MARKS[verdict]} ${verdict}`);
  const nameCell = (text) => element("td", { class: "name" }, element("bdi", {}, shown(text)));
  const shortCell = (text) => element("td", {}, element("span", { class: "short", dir: "auto" }, shown(text.slice(0, 400))));
  const numberCell = (value) => element("td", { class: "number" }, number(value));

  unpacked("index").then((index) => new List(new Answers(index)).start());
}
