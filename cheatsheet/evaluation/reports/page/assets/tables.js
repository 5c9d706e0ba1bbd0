"use strict";

/** A heading that is a button, and says by `aria-sort` how the table is sorted. */
function sortButton(title, sort) {
  return element("button", { type: "button", click: sort }, title);
}

/** Mark the heading by which a table is sorted, and no other; returns whether it now ascends. */
function turned(heading) {
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  return ascending;
}

/** Whether a key comes before another; numbers by their size, what has no key last, whatever the direction. */
function compared(one, other, ascending) {
  if (one === null || other === null) return (one === null) - (other === null);
  const order = typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true });
  return ascending ? order : -order;
}

{
  /** The number with which a text begins, whatever stands around it: "≥ $1,200.5", "−5.0 to 30.0", "27.5 %". */
  const numberIn = (text) => {
    const found = text.replaceAll("−", "-").replaceAll(",", "").match(/-?\d+(\.\d+)?(e[-+]?\d+)?/);
    return found && Number(found[0]);
  };

  /** What a column is sorted by: its numbers, or its texts where there is no number in it. */
  const keysOf = (rows, place) => {
    const texts = rows.map((row) => row.cells[place].textContent);
    const numbers = texts.map(numberIn);
    return new Map(rows.map((row, at) => [row, place === 0 || numbers.every((one) => one === null) ? texts[at] : numbers[at]]));
  };

  const sortBy = (table, heading) => {
    const ascending = turned(heading);
    const rows = [...table.tBodies[0].rows];
    const keys = keysOf(rows, heading.cellIndex);
    rows.sort((one, other) => compared(keys.get(one), keys.get(other), ascending));
    table.tBodies[0].append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const heading of table.tHead.rows[0].cells) {
      heading.replaceChildren(sortButton(heading.textContent, () => sortBy(table, heading)));
    }
  }
}
