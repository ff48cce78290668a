/** Command palette: jumps to a page, or to the request with a pasted id. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { Dialog } from "./parts/layers.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { hrefOf, openPages } from "./routes.ts";

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

interface Target {
  readonly href: string;
  readonly text: string;
  readonly icon: IconName;
}

export function Palette({
  isOpen,
  setOpen,
}: {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
}): JSX.Element | null {
  useEffect(() => {
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
  const targets = targetsOf(text.trim());
  const go = (target: Target | undefined): void => {
    if (target === undefined) return;
    close();
    navigate(target.href);
  };
  return (
    <Dialog
      title="Go to"
      onClose={close}
      footer={<span class="hint grow">Paste the id of a request, or type the name of a page.</span>}
    >
      <input
        class="input"
        aria-label="Page or id"
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
            href={`/console${target.href}`}
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
          <p class="hint">No page has this name, and the text is not the whole id of a request.</p>
        ) : null}
      </div>
    </Dialog>
  );
}

function targetsOf(text: string): readonly Target[] {
  if (UUID.test(text)) return [{ href: `/requests/${text.toLowerCase()}`, text: `Request ${text}`, icon: "list" }];
  return openPages()
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map((page) => ({ href: hrefOf(page), text: page.name, icon: page.icon }));
}
