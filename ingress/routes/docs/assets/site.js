/** Copy buttons and search results while typing. Every page can be read, and searched by its form, without this script. */

for (const pre of document.querySelectorAll(".code pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent ?? "");
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1_500);
  });
  pre.parentElement.append(button);
}

// The entry of the page may lie below the edge of the navigation.
const nav = document.querySelector(".nav");
const entry = nav.querySelector('[aria-current="page"]');
if (entry && entry.offsetTop > nav.clientHeight - 100) nav.scrollTop = entry.offsetTop - nav.clientHeight / 2;

const field = document.querySelector(".search input");
const form = document.querySelector(".search");
const RESULTS_MAX = 8;
const { search: library, ranking } = document.querySelector("script[data-search]").dataset;

let opened;
/** Loads the libraries and the index at the first use of the field. */
function openIndex() {
  opened ??= Promise.all([
    import(library),
    import(ranking),
    fetch("/docs/search.json").then((response) => response.text()),
  ]).then(([{ default: MiniSearch }, { OPTIONS, search }, text]) => {
    const index = MiniSearch.loadJSON(text, OPTIONS);
    return (query) => search(index, query, RESULTS_MAX);
  });
  // The next letter tries again: the server may be busy or restarting.
  opened.catch(() => (opened = undefined));
  return opened;
}

const list = document.createElement("ul");
list.className = "found";
list.setAttribute("aria-label", "Results");
list.hidden = true;
form.append(list);

function close() {
  list.hidden = true;
}

function itemOf({ address, page, heading, snippet }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = address;
  link.textContent = heading === "" ? page : `${page} › ${heading}`;
  const words = document.createElement("small");
  for (const { text, isMatch } of snippet) {
    if (!isMatch) words.append(text);
    else {
      const mark = document.createElement("mark");
      mark.textContent = text;
      words.append(mark);
    }
  }
  link.append(words);
  item.append(link);
  return item;
}

/** Replaces the list by one sentence. */
function say(sentence) {
  const item = document.createElement("li");
  item.className = "none";
  item.textContent = sentence;
  list.replaceChildren(item);
  list.hidden = false;
}

/** Last line of the list: the number of results, as a link to all of them. */
function countOf(total, query) {
  const item = document.createElement("li");
  item.className = "all";
  const link = document.createElement("a");
  link.href = `/docs/search?q=${encodeURIComponent(query)}`;
  link.textContent = total === 1 ? "1 result" : `${total} results`;
  item.append(link);
  return item;
}

async function show() {
  const query = field.value.trim();
  if (query === "") return close();
  const find = await openIndex().catch(() => undefined);
  // A later letter has been typed meanwhile.
  if (query !== field.value.trim()) return undefined;
  if (!find) return say("The index could not be loaded. Press Enter to search on the server.");
  const { total, results } = find(query);
  if (total === 0) return say("No page contains these words.");
  list.replaceChildren(...results.map(itemOf), countOf(total, query));
  list.hidden = false;
  return undefined;
}

field.addEventListener("focus", () => openIndex().catch(() => undefined), { once: true });
field.addEventListener("input", show);
form.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  if (event.key === "Escape") {
    close();
    field.focus();
  }
  if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || list.hidden || links.length === 0) return;
  event.preventDefault();
  const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  (links[at] ?? field).focus();
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) close();
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || isTyping) return;
  event.preventDefault();
  field.focus();
});
