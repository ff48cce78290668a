/** Command palette: jumps to a page, a key, workflow or member by its name, the documentation or the request with a pasted id, and sets the colours. */
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { type Names, useMemberNames, useWorkflowNames } from "./api/names-of.ts";
import { keyNames } from "./api/names.ts";
import { hasRole } from "./api/session.ts";
import { Dialog } from "./parts/layers.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { setTheme } from "./parts/theme.ts";
import { hrefOf, openPages } from "./routes.ts";

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

interface Target {
  /** Address of the target, below /console unless `isOutside`; for a choice of colours a text that identifies it. */
  readonly href: string;
  readonly text: string;
  readonly icon: IconName;
  readonly isOutside?: true;
  /** Action that replaces the navigation. */
  readonly run?: () => void;
}

/** Targets beside the pages of the console. */
const OTHERS: readonly Target[] = [
  { href: "/docs", text: "Documentation", icon: "info", isOutside: true },
  { href: "/docs/api", text: "API reference", icon: "info", isOutside: true },
  { href: "#system", text: "Colours as the system", icon: "ring", run: () => setTheme("") },
  { href: "#light", text: "Light colours", icon: "ring", run: () => setTheme("light") },
  { href: "#dark", text: "Dark colours", icon: "ring", run: () => setTheme("dark") },
];

export function Palette({
  isOpen,
  setOpen,
}: {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
}): JSX.Element | null {
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
  return isOpen ? <Search close={() => setOpen(false)} /> : null;
}

function Search({ close }: { readonly close: () => void }): JSX.Element {
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const [, navigate] = useLocation();
  const isBuilder = hasRole("owner", "admin", "developer");
  const named: readonly Target[] = [
    ...targetsNamed(keyNames.value, "Key", "/keys", "key"),
    ...targetsNamed(useWorkflowNames(isBuilder), "Workflow", "/workflows", "flow"),
    ...targetsNamed(useMemberNames(isBuilder), "Member", "/members", "people"),
  ];
  const targets = targetsOf(text.trim().toLowerCase(), named);
  const go = (target: Target | undefined): void => {
    if (target === undefined) return;
    close();
    if (target.run !== undefined) target.run();
    else if (target.isOutside === true) location.assign(target.href);
    else navigate(target.href);
  };
  return (
    <Dialog
      title="Go to"
      onClose={close}
      footer={
        <span class="hint grow">Paste the id of a request, or type the name of a page, key, workflow or member.</span>
      }
    >
      <input
        class="input"
        aria-label="Name or id"
        value={text}
        autofocus
        onInput={(event) => {
          setText(event.currentTarget.value);
          setPlace(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") go(targets[place]);
          else if (event.key === "ArrowDown") setPlace(Math.min(place + 1, targets.length - 1));
          else if (event.key === "ArrowUp") setPlace(Math.max(place - 1, 0));
        }}
      />
      <div class="jump">
        {targets.map((target, index) => (
          <a
            key={target.href}
            href={target.isOutside === true ? target.href : `/console${target.href}`}
            class={index === place ? "active" : ""}
            onClick={(event) => {
              event.preventDefault();
              go(target);
            }}
          >
            <Icon name={target.icon} />
            {target.text}
          </a>
        ))}
        {targets.length === 0 ? (
          <p class="hint">Nothing has this name, and the text is not the whole id of a request.</p>
        ) : null}
      </div>
    </Dialog>
  );
}

function targetsNamed(names: Names, kind: string, path: string, icon: IconName): readonly Target[] {
  return Array.from(names, ([id, name]) => ({ href: `${path}/${id}`, text: `${kind} ${name}`, icon }));
}

/** Maximum number of targets in the list. */
const TARGETS_MAX = 50;

/** @param text what the person typed, in lower case; "" lists the pages alone @param named targets with names that people chose */
function targetsOf(text: string, named: readonly Target[]): readonly Target[] {
  if (UUID.test(text)) return [{ href: `/requests/${text}`, text: `Request ${text}`, icon: "list" }];
  const pages: readonly Target[] = openPages().map((page) => ({
    href: hrefOf(page),
    text: page.name,
    icon: page.icon,
  }));
  if (text === "") return pages;
  return [...pages, ...OTHERS, ...named].filter((one) => one.text.toLowerCase().includes(text)).slice(0, TARGETS_MAX);
}
