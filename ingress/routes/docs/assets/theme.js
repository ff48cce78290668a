/**
 * Applies the colours that this browser chose in the console (parts/theme.ts), else those of the system. Pages load this script before their
 * style sheets, so that no page is drawn in other colours first.
 */
function applyTheme() {
  let theme = "";
  try {
    theme = localStorage.getItem("sluice.theme");
  } catch {
    // The browser blocks the storage of pages.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

applyTheme();
// The choice changes in another tab, or on the console before a person returns to a page that the browser has kept.
addEventListener("storage", applyTheme);
addEventListener("pageshow", applyTheme);
