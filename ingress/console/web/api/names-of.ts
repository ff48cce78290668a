/** Names of workflows and members by their ids. Each hook reads a list once, and again when its page opens. */
import { useCall } from "./query.ts";

/** Maximum number of entries that are read. Further ones are shown by their ids. */
const NAMES_MAX = 100;

export type Names = ReadonlyMap<string, string>;

export function useWorkflowNames(isNeeded = true): Names {
  const { data } = useCall("GET /v1/workflows", isNeeded ? { query: { limit: NAMES_MAX } } : null);
  return namesIn(data?.items);
}

export function useMemberNames(isNeeded = true): Names {
  const { data } = useCall("GET /workspaces/{workspaceId}/members", isNeeded ? { query: { limit: NAMES_MAX } } : null);
  return namesIn(data?.data);
}

export function namesIn(rows: readonly { readonly id: string; readonly name: string }[] = []): Names {
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns the name of an id, or the end of the id if its name is unknown. */
export function nameIn(names: Names, id: string): string {
  return names.get(id) ?? shortId(id);
}

/** Returns the end of an id. Ids begin with their time, so neighbours have the same start. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}
