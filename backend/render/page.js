"use strict";
// Filters of the digest page. Without this script the page shows everything.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const field = (name) => document.getElementById(name);
  const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const files = Array.from(document.querySelectorAll(".file"), (element) => {
    const [repo, tag] = [element.closest(".repo"), element.closest(".tag")];
    const heading = tag.querySelector("h3").textContent;
    return {
      element,
      id: element.dataset.file,
      repo: repo.dataset.repo,
      tag: tag.dataset.tag,
      authors: element.dataset.authors.split(" "),
      text: fold(`${heading} ${element.textContent}`.replace(/\s+/g, " ")),
    };
  });
  const total = new Set(files.map((file) => file.id)).size;

  const show = () => {
    const words = fold(field("text").value).split(/\s+/).filter(Boolean);
    const [repo, tag, author] = ["repo", "tag", "author"].map((name) => field(name).value);
    const shown = new Set();
    for (const file of files) {
      const fits =
        (!repo || file.repo === repo) &&
        (!tag || file.tag === tag) &&
        (!author || file.authors.includes(author)) &&
        words.every((word) => file.text.includes(word));
      file.element.hidden = !fits;
      if (fits) shown.add(file.id);
    }
    for (const group of document.querySelectorAll(".tag, .repo")) {
      group.hidden = !group.querySelector(".file:not([hidden])");
    }
    field("none").hidden = shown.size > 0;
    const noun = total === 1 ? "file" : "files";
    field("count").textContent =
      shown.size === total ? `${total} ${noun}` : `${shown.size} of ${total} ${noun}`;
  };

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  form.hidden = false;
  show();
})();
