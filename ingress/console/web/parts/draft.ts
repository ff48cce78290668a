/** Unsaved changes: a question before a page of the console is left, and the browser's own question before the tab is closed. */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/** Leaves the page, as the person has asked to. Undefined while no question is open. */
export const leaving = signal<(() => Promise<void>) | undefined>(undefined);

/** True while a confirmed navigation begins. */
let isConfirmed = false;

/**
 * Asks before unsaved changes are lost by a link, the back button, a reload or the closing of the tab.
 * @param keeps returns true for a path that keeps the changes. Default: the path of the page, whose query may change
 */
export function useDraft(isChanged: boolean, keeps: (path: string) => boolean = isShown): void {
  // An effect after the paint would miss a navigation directly after the first change.
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    const controller = new AbortController();
    const { signal: until } = controller;
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal: until });
    // Without the Navigation API, only the browser's own question remains.
    if ("navigation" in globalThis) {
      navigation.addEventListener("navigate", (event) => ask(event, keeps), { signal: until });
    }
    return () => controller.abort();
  }, [isChanged]);
}

function isShown(path: string): boolean {
  return path === location.pathname;
}

function ask(event: NavigateEvent, keeps: (path: string) => boolean): void {
  const { destination, navigationType, cancelable } = event;
  // The browser asks before it loads another document.
  if (isConfirmed || !cancelable || !destination.sameDocument || keeps(new URL(destination.url).pathname)) return;
  event.preventDefault();
  leaving.value = async () => {
    isConfirmed = true;
    try {
      if (navigationType === "traverse") await navigation.traverseTo(destination.key).finished;
      else history.pushState(null, "", destination.url);
    } finally {
      isConfirmed = false;
    }
  };
}
