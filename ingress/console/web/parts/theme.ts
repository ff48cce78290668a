/** Colours of the console: as the system, light or dark. */
import { effect, signal } from "@preact/signals";

const THEME_KEY = "sluice.theme";

/** Chosen theme: `light` or `dark`; "" follows the system. */
export const theme = signal(localStorage.getItem(THEME_KEY) ?? "");

export function setTheme(name: string): void {
  theme.value = name;
  localStorage.setItem(THEME_KEY, name);
}

/** Applies the chosen theme to the document, now and after each change. */
export function applyTheme(): void {
  effect(() => {
    if (theme.value === "light" || theme.value === "dark") document.documentElement.dataset["theme"] = theme.value;
    else delete document.documentElement.dataset["theme"];
  });
}
