/** Names of keys and members by their ids, so that pages show names. */
import { computed, signal } from "@preact/signals";

import type { ApiKey } from "#schemas/generated/types.ts";
import { allRows, call } from "./client.ts";
import { nameIn, type Names, namesIn } from "./names-of.ts";
import { hasRole, session } from "./session.ts";

/** Maximum number of keys that are listed in advance. Others are read when a page names them. */
export const NAMES_MAX = 500;

const keys = signal<Names>(new Map());
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
  const isAllowed = hasRole("owner", "admin", "developer");
  const rows = isAllowed
    ? await allRows<ApiKey>(NAMES_MAX, (page) => call("GET /workspaces/{workspaceId}/api-keys", { query: page }))
    : [];
  keys.value = namesIn(rows);
  asked.clear();
  isLoaded.value = isAllowed;
}

/** Ids whose names were asked for one by one. */
const asked = new Set<string>();

/** Returns the name of a key, or the start of its id until the name is known. */
export function keyName(id: string): string {
  if (!keyNames.value.has(id) && isLoaded.value && !asked.has(id)) {
    asked.add(id);
    queueMicrotask(() => void ask(id).catch(() => undefined));
  }
  return nameIn(keyNames.value, id);
}

/** Reads the name of a key that was created after the list was read, or is beyond it. */
async function ask(id: string): Promise<void> {
  const { name } = await call("GET /workspaces/{workspaceId}/api-keys/{keyId}", { path: { keyId: id } });
  keys.value = new Map([...keys.value, [id, name]]);
}
