/**
 * Applies the colours that were chosen in the console (parts/theme.ts). It runs before the page is drawn. Without a choice, the page follows
 * the system.
 */
try {
  const theme = localStorage.getItem("sluice.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // The browser keeps no data of this site, so no colours were chosen.
}
