// Sorts a table by the column whose head is pressed: numbers by their exact values, missing values last.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    const down = head.getAttribute("aria-sort") !== "descending" && (head.className === "number" || head.getAttribute("aria-sort") === "ascending");
    const value = (row) => row.cells[head.cellIndex].dataset.value;
    const compare = (a, b) => {
      if ((a === "N/A") !== (b === "N/A")) return a === "N/A" ? 1 : -1;
      const order = head.className === "number" ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
      return down ? -order : order;
    };
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b))));
  });
}
