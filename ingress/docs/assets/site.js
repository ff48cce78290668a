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
const RANKING = { prefix: true, fuzzy: 0.15, combineWith: "AND", boost: { page: 3, heading: 2 } };

let opened;
/** Loads the library and the index at the first use of the field. */
function openIndex() {
  opened ??= Promise.all([
    import(document.querySelector("script[data-search]").dataset.search),
    fetch("/docs/search.json").then((response) => response.text()),
  ]).then(([{ default: MiniSearch }, text]) =>
    MiniSearch.loadJSON(text, { fields: ["page", "heading", "text"], storeFields: ["page", "heading", "excerpt"] }),
  );
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

function itemOf({ id, page, heading, excerpt }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = id;
  link.textContent = heading === "" ? page : `${page} › ${heading}`;
  const words = document.createElement("small");
  words.textContent = excerpt;
  link.append(words);
  item.append(link);
  return item;
}

async function show() {
  const query = field.value.trim();
  if (query === "") return close();
  const index = await openIndex();
  // A later letter has been typed meanwhile.
  if (query !== field.value.trim()) return undefined;
  const strict = index.search(query, RANKING);
  const found = (strict.length > 0 ? strict : index.search(query, { ...RANKING, combineWith: "OR" })).slice(
    0,
    RESULTS_MAX,
  );
  if (found.length > 0) list.replaceChildren(...found.map(itemOf));
  else {
    const none = document.createElement("li");
    none.className = "none";
    none.textContent = "No page contains these words.";
    list.replaceChildren(none);
  }
  list.hidden = false;
  return undefined;
}

field.addEventListener("focus", openIndex, { once: true });
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
