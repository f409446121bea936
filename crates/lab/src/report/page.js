"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const sort = (head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => {
      const cell = row.cells[column];
      const number = Number(cell.dataset.v ?? cell.textContent);
      return Number.isNaN(number) ? cell.textContent : number;
    };
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  };
  for (const [column, head] of heads.entries()) {
    head.tabIndex = 0;
    head.title = "Sort";
    head.addEventListener("click", () => sort(head, column));
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort(head, column);
    });
  }
}
addEventListener("beforeprint", () => {
  // The parts of the claims stand beside the claims already.
  for (const details of document.querySelectorAll("details.table:not(.claims, .long)")) details.open = true;
});
