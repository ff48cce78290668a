/** Names of workflows and members by their ids. Each hook reads a list once, and again when its page opens. */
import { call } from "./client.ts";
import { useQuery } from "./query.ts";

/** Maximum number of entries that are read. Further ones are shown by their ids. */
const NAMES_MAX = 100;

export type Names = ReadonlyMap<string, string>;

const NONE: Names = new Map();

export function useWorkflowNames(isNeeded = true): Names {
  const query = useQuery(isNeeded ? "names of workflows" : "", async (signal) => {
    const { items } = await call("GET /v1/workflows", { query: { limit: NAMES_MAX }, signal });
    return new Map(items.map(({ id, name }) => [id, name]));
  });
  return query.data ?? NONE;
}

export function useMemberNames(isNeeded = true): Names {
  const query = useQuery(isNeeded ? "names of members" : "", async (signal) => {
    const { data } = await call("GET /workspaces/{workspaceId}/members", { query: { limit: NAMES_MAX }, signal });
    return new Map(data.map(({ id, name }) => [id, name]));
  });
  return query.data ?? NONE;
}

/** Returns the name of an id, or the start of the id if its name is unknown. */
export function nameIn(names: Names, id: string): string {
  return names.get(id) ?? `${id.slice(0, 8)}…`;
}
