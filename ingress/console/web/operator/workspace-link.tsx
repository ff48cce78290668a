/** Link to a workspace that shows its name. Each name is read once. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import { call } from "../api/client.ts";
import { type Names, nameIn } from "../api/names-of.ts";

const names = signal<Names>(new Map());
/** Ids whose names were asked for. */
const asked = new Set<string>();

export function WorkspaceLink({ id }: { readonly id: string }): JSX.Element {
  if (!asked.has(id)) {
    asked.add(id);
    // Started after the page was drawn. A failed request is repeated when a page shows the workspace again.
    queueMicrotask(() => void ask(id).catch(() => asked.delete(id)));
  }
  return (
    <Link href={`/operator/workspaces/${id}`} title={id}>
      {nameIn(names.value, id)}
    </Link>
  );
}

async function ask(id: string): Promise<void> {
  const { name } = await call("GET /operator/workspaces/{id}", { path: { id } });
  names.value = new Map([...names.value, [id, name]]);
}
