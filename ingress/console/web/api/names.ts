/** Names of keys and members by their ids, so that pages show names. */
import { computed, signal } from "@preact/signals";

import { call } from "./client.ts";
import { hasRole, session } from "./session.ts";

/** Maximum number of keys that are listed in advance. Others are read when a page names them. */
export const NAMES_MAX = 500;
const PAGE = 100;

interface KeyName {
  readonly name: string;
  readonly member: string;
}

const keys = signal<ReadonlyMap<string, KeyName>>(new Map());
const isLoaded = signal(false);
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
    while (found.size < NAMES_MAX) {
      const list: Awaited<ReturnType<typeof pageAfter>> = await pageAfter(after);
      for (const { id, name, member } of list.data) found.set(id, { name, member: member.name });
      after = list.last_id;
      if (!list.has_more) break;
    }
  }
  keys.value = found;
  asked.clear();
  isLoaded.value = hasRole("owner", "admin", "developer");
}

const pageAfter = (after: string | null) =>
  call("GET /workspaces/{workspaceId}/api-keys", { query: { limit: PAGE, after } });

/** Ids whose names were asked for one by one. */
const asked = new Set<string>();

/** Returns the name of a key, or the start of its id until the name is known. */
export function keyName(id: string): string {
  const name = keyNames.value.get(id)?.name;
  if (name === undefined && isLoaded.value && !asked.has(id)) {
    asked.add(id);
    queueMicrotask(() => void ask(id).catch(() => undefined));
  }
  return name ?? `${id.slice(0, 8)}…`;
}

/** Reads the name of a key that was created after the list was read, or is beyond it. */
async function ask(id: string): Promise<void> {
  const { name, member } = await call("GET /workspaces/{workspaceId}/api-keys/{keyId}", { path: { keyId: id } });
  keys.value = new Map([...keys.value, [id, { name, member: member.name }]]);
}
