/**
 * Toasts: results of actions that leave no trace on the page. A success closes after four seconds, but not while the pointer is on it. An
 * error stays until it is closed.
 */
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Icon } from "./icon.tsx";

interface Notice {
  readonly id: number;
  readonly text: ComponentChildren;
  readonly tone: "ok" | "bad";
}

const SHOWN_MS = 4_000;
/** Maximum number of toasts on the page. The oldest success closes, or else the oldest error. */
const NOTICES_MAX = 3;

const notices = signal<readonly Notice[]>([]);
let count = 0;

export function toast(text: ComponentChildren, tone: Notice["tone"] = "ok"): void {
  count += 1;
  const before = notices.value;
  const oldest = before.find((one) => one.tone === "ok") ?? before[0];
  const kept = before.length < NOTICES_MAX ? before : before.filter((one) => one !== oldest);
  notices.value = [...kept, { id: count, text, tone }];
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {notices.value.map((notice) => (
        <Toast key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function Toast({ notice: { id, text, tone } }: { readonly notice: Notice }): JSX.Element {
  const [isHovered, setHovered] = useState(false);
  const close = (): void => {
    notices.value = notices.value.filter((one) => one.id !== id);
  };
  useEffect(() => {
    if (isHovered || tone === "bad") return undefined;
    const timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHovered]);
  return (
    <div
      class="toast"
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocusIn={() => setHovered(true)}
      onFocusOut={() => setHovered(false)}
    >
      <Icon name={tone === "ok" ? "check" : "cross"} tone={tone} />
      <div>{text}</div>
      <button type="button" class="btn quiet only small" aria-label="Close" onClick={close}>
        <Icon name="x" small />
      </button>
    </div>
  );
}
