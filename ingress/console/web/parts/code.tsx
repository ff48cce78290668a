/** Code with a copy button, and JSON as nested details. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import { copyText } from "./copy.ts";
import { Button } from "./form.tsx";

/** Code in one or several variants, of which one is visible. */
export function Code({
  variants,
  title,
  isWrapped,
}: {
  /** Texts by the name of the variant. */
  readonly variants: Readonly<Record<string, string>>;
  /** Heading when there is only one variant. */
  readonly title?: string;
  /** True if long lines wrap instead of scrolling. */
  readonly isWrapped?: boolean;
}): JSX.Element {
  const names = Object.keys(variants);
  const [chosen, setChosen] = useState(names[0] ?? "");
  const name = chosen in variants ? chosen : (names[0] ?? "");
  const text = variants[name] ?? "";
  return (
    <div class="code">
      <header>
        {names.length > 1 ? (
          <div class="tabs" role="tablist" aria-label="Variant">
            {names.map((one) => (
              <button key={one} type="button" role="tab" aria-selected={one === name} onClick={() => setChosen(one)}>
                {one}
              </button>
            ))}
          </div>
        ) : (
          <span class="grow">{title ?? name}</span>
        )}
        <Button kind="quiet" small icon="copy" onClick={() => copyText(text)}>
          Copy
        </Button>
      </header>
      <pre class={isWrapped === true ? "wrap" : ""} tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

/** Returns JSON with indentation. A text that is not JSON, such as a cut body, stays as it is. */
export function prettyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Maximum number of members of a JSON value that are drawn at once. */
const MEMBERS_MAX = 200;

/** JSON value whose objects and arrays fold. */
export function Json({ value }: { readonly value: unknown }): JSX.Element {
  return (
    <div class="json" tabIndex={0} role="region" aria-label="JSON">
      <JsonNode value={value} depth={0} />
    </div>
  );
}

function JsonNode({
  name,
  value,
  depth,
}: {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}): JSX.Element {
  const label: ComponentChildren = name === undefined ? null : <span class="c-key">{name}: </span>;
  const [isOpen, setOpen] = useState(depth < 3);
  if (typeof value !== "object" || value === null) {
    return (
      <div class="leaf">
        {label}
        <span class={typeof value === "string" ? "c-str" : "c-num"}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="c-dim">{size}</span>
      </summary>
      <div>
        {isOpen
          ? entries
              .slice(0, MEMBERS_MAX)
              .map(([key, one]) => <JsonNode key={key} name={key} value={one} depth={depth + 1} />)
          : null}
        {entries.length > MEMBERS_MAX ? <div class="leaf c-dim">{entries.length - MEMBERS_MAX} more</div> : null}
      </div>
    </details>
  );
}
