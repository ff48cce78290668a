/** Labels in queries and answers of usage: the end user, the workspace's tags, and the fallback chain of a call. */
import type { UsageRequest } from "#schemas/generated/types.ts";
import { isLabelValue, isTagName, LABEL_CHARS_MAX, USER_LABEL } from "#shared/calls/labels.ts";

import type { RequestFacts } from "../../core/call.ts";
import { queryOf, unsupported } from "../../core/page.ts";
import type { Route } from "../../core/route.ts";

/** Label with the requested model of a call that a fallback chain served. */
const CHAIN_LABEL = "chain";

const TEXT = { type: "string" } as const;

export const LABEL_QUERY: NonNullable<Route["query"]> = [
  { name: "user", description: "End user of the calls. Default: all.", schema: TEXT },
  {
    name: "tag",
    description: "Tag of the calls as name and value, such as `project:alpha`. Default: all.",
    schema: TEXT,
  },
  {
    name: "chain",
    description: "Requested model of calls whose model a fallback chain chose. Default: all.",
    schema: TEXT,
  },
];

/** Returns the labels by which the query filters. @throws ApiError `unsupported_value` */
export function labelsIn(call: RequestFacts): Readonly<Record<string, string>> {
  const query = queryOf(call);
  const labels: Record<string, string> = {};
  for (const name of [USER_LABEL, CHAIN_LABEL]) {
    const value = query.get(name) || null;
    if (value === null) continue;
    if (!isLabelValue(value)) throw unsupported(name, `at most ${LABEL_CHARS_MAX} characters`, value);
    labels[name] = value;
  }
  for (const tag of query.getAll("tag").filter((text) => text !== "")) {
    const [name = "", ...rest] = tag.split(":");
    const value = rest.join(":");
    if (!isTagName(name) || !isLabelValue(value))
      throw unsupported("tag", "a name and a value, as in project:alpha", tag);
    if (Object.hasOwn(labels, name)) throw unsupported("tag", "one value of each tag", tag);
    labels[name] = value;
  }
  return labels;
}

/** Returns the label of a grouping: `user`, `chain` or `tag:<name>`; undefined for other groupings. */
export function labelOfGroup(group: string): string | undefined {
  if (group === USER_LABEL || group === CHAIN_LABEL) return group;
  const name = /^tag:(.*)$/s.exec(group)?.[1];
  return name !== undefined && isTagName(name) ? name : undefined;
}

/** Returns the name of a label in `group_by` and in the columns of a table. */
export function columnOfLabel(label: string): string {
  return label === USER_LABEL || label === CHAIN_LABEL ? label : `tag:${label}`;
}

type Labelled = Pick<UsageRequest, "user" | "chain" | "tags">;

/** Returns the members that present the labels of a call. */
export function presentLabels(labels: Readonly<Record<string, string>> | null): Labelled {
  const { [USER_LABEL]: user = null, [CHAIN_LABEL]: chain = null, ...tags } = labels ?? {};
  return { user, chain, tags };
}
