"use strict";

const VERDICTS = ["wrong", "right", "error"];
const MARKS = { right: "✓", wrong: "✗", error: "!" };

/** The answers of all runs, as they were packed, made into objects that know their run and their question. */
class Answers {
  constructor(index) {
    this.index = index;
    this.all = index.answers.map((values, place) => {
      const answer = Object.fromEntries(index.fields.map((field, number) => [field, values[number]]));
      answer.place = place;
      answer.run = index.runs[answer.run];
      answer.question = index.questions[answer.question];
      answer.arm = index.arms[answer.arm];
      answer.verdict = VERDICTS[answer.verdict];
      return answer;
    });
    this.baseline = new Map(
      this.all.filter((answer) => answer.arm === answer.run.baseline).map((answer) => [this.pair(answer), answer]),
    );
    this.chunks = new Map();
  }

  /** What two answers to the same question in the same run have in common. */
  pair(answer) {
    return `${answer.run.key}/${answer.question.id}`;
  }

  /** 1 where the answer is right and the baseline's is wrong, -1 the other way round, else 0. */
  gain(answer) {
    const other = this.baseline.get(this.pair(answer));
    if (!other || other.verdict === "error" || answer.verdict === "error") return 0;
    return (answer.verdict === "right") - (other.verdict === "right");
  }

  /** What other arms and orders made of the same question. */
  others(answer) {
    return this.all.filter(
      (other) => other !== answer && other.question.id === answer.question.id && other.run.task === answer.run.task,
    );
  }

  /** All that is known of an answer; its part of the page is unpacked when it is first asked for. */
  async detail(answer) {
    const size = this.index.chunk;
    const chunk = Math.floor(answer.place / size);
    if (!this.chunks.has(chunk)) this.chunks.set(chunk, unpacked(`details-${chunk}`));
    return (await this.chunks.get(chunk))[answer.place % size];
  }

  /** The answers that pass a filter: a text, and the value of each property that is not empty. */
  passing(filter) {
    const wanted = filter.text.toLowerCase();
    return this.all.filter(
      (answer) =>
        this.resulted(answer, filter.result) &&
        [[answer.arm, filter.arm], [answer.run.task, filter.task], [answer.run.model, filter.model],
         [answer.run.order, filter.order], [answer.question.id, filter.question]]
          .every(([value, asked]) => !asked || value === asked) &&
        (!wanted || this.text(answer).includes(wanted)),
    );
  }

  resulted(answer, result) {
    if (result === "gained") return this.gain(answer) > 0;
    if (result === "lost") return this.gain(answer) < 0;
    return !result || answer.verdict === result;
  }

  text(answer) {
    const { id, text, target } = answer.question;
    answer.searched ??= [id, text, target, answer.answer, answer.error].join("\n").toLowerCase();
    return answer.searched;
  }
}
