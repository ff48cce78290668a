/** Command palette: jumps to a page, an object by its name or the request with a pasted id, searches the docs, and changes the colours. */
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import type { ApiKey } from "#schemas/generated/types.ts";
import { useModels } from "./api/catalogue.ts";
import { allRows, call } from "./api/client.ts";
import { NAMES_MAX } from "./api/names.ts";
import { type Names, namesIn, useMemberNames, useWorkflowNames } from "./api/names-of.ts";
import { useQuery } from "./api/query.ts";
import { Dialog } from "./parts/layers.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { setTheme } from "./parts/theme.ts";
import { hrefOf, openPages } from "./routes.ts";

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** True for a text with a word that may be a key, which must not become part of a URL. Names of parameters and error codes are none. */
const mayBeSecret = (text: string): boolean =>
  text.split(/\s+/).some((word) => word.length >= 20 && !/^[a-z]+(?:_[a-z]+)*$/.test(word));

/** Maximum number of objects that are listed. */
const OBJECTS_MAX = 20;

interface Target {
  readonly text: string;
  readonly icon: IconName;
  /** Address below the origin. Absent for an action. */
  readonly href?: string;
  readonly act?: () => void;
}

const FIXED: readonly Target[] = [
  { text: "Documentation", icon: "log", href: "/docs" },
  { text: "API reference", icon: "log", href: "/docs/api" },
  { text: "Light colours", icon: "ring", act: () => setTheme("light") },
  { text: "Dark colours", icon: "ring", act: () => setTheme("dark") },
  { text: "System colours", icon: "ring", act: () => setTheme("") },
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
  const objects = useObjects();
  const targets = targetsOf(text.trim(), objects);
  const go = (target: Target | undefined): void => {
    if (target === undefined) return;
    const { href, act } = target;
    close();
    act?.();
    if (href?.startsWith("/console") === true) navigate(`~${href}`);
    else if (href !== undefined) location.assign(href);
  };
  return (
    <Dialog
      title="Go to"
      onClose={close}
      footer={
        <span class="hint grow">
          Paste the id of a request, or type the name of a page, key, member, workflow or model.
        </span>
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
        {targets.map((target, index) => {
          const { text, icon, href } = target;
          const common = {
            key: href ?? text,
            class: index === place ? "active" : "",
            ref: (element: HTMLElement | null) => {
              if (index === place) element?.scrollIntoView({ block: "nearest" });
            },
            children: (
              <>
                <Icon name={icon} />
                {text}
              </>
            ),
            onClick: (event: Event): void => {
              event.preventDefault();
              go(target);
            },
          };
          return href === undefined ? <button type="button" {...common} /> : <a href={href} {...common} />;
        })}
        {targets.length === 0 ? (
          <p class="hint">No page has this name, and none of the listed keys, members, workflows and models.</p>
        ) : null}
      </div>
    </Dialog>
  );
}

function targetsOf(text: string, objects: readonly Target[]): readonly Target[] {
  if (UUID.test(text)) {
    return [{ text: `Request ${text}`, icon: "list", href: `/console/requests/${text.toLowerCase()}` }];
  }
  const pages = openPages().map((page): Target => ({
    text: page.name,
    icon: page.icon,
    href: `/console${hrefOf(page)}`,
  }));
  const isMatch = (target: Target): boolean => target.text.toLowerCase().includes(text.toLowerCase());
  const listed = [...pages, ...FIXED].filter(isMatch);
  if (text === "") return listed;
  const found = [...listed, ...objects.filter(isMatch).slice(0, OBJECTS_MAX)];
  if (mayBeSecret(text)) return found;
  const href = `/docs/search?${new URLSearchParams({ q: text })}`;
  return [...found, { text: `Search the documentation for “${text}”`, icon: "search", href }];
}

/** Returns the objects that the member may open, by name. They are read when the palette opens. */
function useObjects(): readonly Target[] {
  const open = openPages().map(hrefOf);
  const mayOpen = (path: string): boolean => open.includes(path);
  const keys = useQuery(mayOpen("/keys") ? "keys" : "", (signal) =>
    allRows<ApiKey>(NAMES_MAX, (page) => call("GET /workspaces/{workspaceId}/api-keys", { query: page, signal })),
  );
  const models = useModels().data?.map(({ id }) => ({ id, name: id }));
  const lists: readonly (readonly [path: string, kind: string, icon: IconName, names: Names])[] = [
    ["/keys", "Key", "key", namesIn(keys.data)],
    ["/members", "Member", "people", useMemberNames(mayOpen("/members"))],
    ["/workflows", "Workflow", "flow", useWorkflowNames(mayOpen("/workflows"))],
    ["/models", "Model", "cube", namesIn(models)],
  ];
  return lists.flatMap(([path, kind, icon, names]) =>
    [...names].map(([id, name]) => ({
      text: `${kind} ${name}`,
      icon,
      href: `/console${path}/${encodeURIComponent(id)}`,
    })),
  );
}
