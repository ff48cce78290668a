/** Playground: makes calls of every kind, with the price before and the charge after. Prompts stay in memory. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link, useParams } from "wouter-preact";

import { useUrlQuery } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { CapabilityForm } from "./playground/capability.tsx";
import { Chat } from "./playground/chat.tsx";
import { KINDS } from "./playground/kinds.ts";
import { ModelForm } from "./playground/model.tsx";

const TABS = [{ id: "chat", name: "Chat" }, ...KINDS, { id: "capability", name: "Capabilities" }] as const;

export default function Playground(): JSX.Element {
  const { kind: id = "chat" } = useParams<{ kind?: string }>();
  const query = useUrlQuery();
  const kind = KINDS.find((one) => one.id === id);
  const chosen = query.get("model");
  const tabs = useRef<HTMLElement>(null);
  // A phone shows only the first tabs.
  useEffect(() => {
    tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [id]);
  return (
    <Page title="Playground" isWide>
      <nav class="tabs" aria-label="Kind of call" ref={tabs}>
        {TABS.map((tab) => (
          <Link key={tab.id} href={`/playground/${tab.id}`} aria-current={tab.id === id ? "page" : undefined}>
            {tab.name}
          </Link>
        ))}
      </nav>
      {kind !== undefined ? (
        <ModelForm key={kind.id} kind={kind} chosen={chosen} onModel={(model) => query.set({ model })} />
      ) : id === "capability" ? (
        <CapabilityForm
          id={query.get("id") || "image.resize"}
          file={query.get("file")}
          onChoose={(next) => query.set({ id: next })}
        />
      ) : (
        <Chat model={chosen || "sandbox-chat"} onModel={(model) => query.set({ model })} />
      )}
    </Page>
  );
}
