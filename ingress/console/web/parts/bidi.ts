/**
 * Shows control characters of bidirectional text, such as U+202E, by their number. A name that contains one would otherwise reorder the text
 * around it. The styles isolate inline elements, so that a name in a right-to-left script does not reorder its neighbours either.
 */
import { options, type VNode } from "preact";

/** Embeddings, overrides and isolates, with the characters that end them. */
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Attributes that browsers show or read out. */
const SHOWN = ["title", "aria-label", "alt", "data-label"] as const;

/** Returns the text with `[U+202E]` in place of the character. */
export function visibleText(text: string): string {
  return text.replaceAll(CONTROLS, (one) => `[U+${one.charCodeAt(0).toString(16).toUpperCase()}]`);
}

/** Applies `visibleText` to every text and shown attribute that is rendered from now on. Values of fields stay as they are. */
export function showBidiControls(): void {
  const next = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    change(vnode);
    next?.(vnode);
  };
}

/** Vnodes of texts have no type, and the text in place of their properties. */
type AnyNode = { type: unknown; props: unknown };

function change(vnode: VNode): void {
  const node = vnode as unknown as AnyNode;
  if (node.type === null) {
    if (typeof node.props === "string") node.props = visibleText(node.props);
  } else if (typeof node.type === "string") {
    const props = node.props as Record<string, unknown>;
    for (const name of SHOWN) {
      const value = props[name];
      if (typeof value === "string") props[name] = visibleText(value);
    }
  }
}
