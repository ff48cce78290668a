/** Names of keys and members by their ids, so that pages show names. */
import { computed, signal } from "@preact/signals";

import { call } from "./client.ts";
import { hasRole, session } from "./session.ts";

/** Maximum number of pages of keys that are read. Keys beyond them are shown by their ids. */
const PAGES_MAX = 5;

interface KeyName {
  readonly name: string;
  readonly member: string;
}

const keys = signal<ReadonlyMap<string, KeyName>>(new Map());
let loadedFor = "";

/** Names of the workspace's keys by id. Empty for roles that may not list keys. */
export const keyNames = computed(() => {
  const id = session.value?.workspace.id ?? "";
  if (id !== loadedFor) {
    loadedFor = id;
    // Started after the signals have settled.
    queueMicrotask(() => void load().catch(() => undefined));
  }
  return keys.value;
});

async function load(): Promise<void> {
  const found = new Map<string, KeyName>();
  if (hasRole("owner", "admin", "developer")) {
    let after: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const list: Awaited<ReturnType<typeof pageAfter>> = await pageAfter(after);
      for (const { id, name, member } of list.data) found.set(id, { name, member: member.name });
      after = list.last_id;
      if (!list.has_more) break;
    }
  }
  keys.value = found;
}

const pageAfter = (after: string | null) =>
  call("GET /workspaces/{workspaceId}/api-keys", { query: { limit: 100, after } });

/** Returns the name of a key, or the start of its id if the name is unknown. */
export function keyName(id: string): string {
  return keyNames.value.get(id)?.name ?? `${id.slice(0, 8)}…`;
}
