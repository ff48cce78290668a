/** Checks a value in which some values are known only during a run. */
import type { Fault } from "#shared/json/contract-fault.ts";
import type { ApiError } from "#shared/base/errors.ts";

import type { OpenPlace } from "./bindings.ts";

type Members = Readonly<Record<string, unknown>>;

export interface Judged {
  /** First error that occurs for every possible value of the unknown parts; undefined if there is none. */
  readonly fault?: ApiError;
  /** The value, without the expressions that would be invalid as plain text. It passes all checks. Undefined if no such value remains. */
  readonly known?: Members;
}

/**
 * Maximum number of unknown values that are removed one by one from a member. If there are more, the whole member is removed, because
 * removing thousands of values one by one would take too long.
 */
const CUTS_MAX = 3;

export interface Checked {
  /** Returns the first error of each separately checked part of a value. */
  readonly faultsOf: (known: Members) => readonly ApiError[];
  /** Number of path segments that name a member of the checked value; 1 for members at the top level. */
  readonly memberDepth: number;
  /** Sample values for required members that are unknown. */
  readonly usual?: Members;
}

export function judgeKnown(
  value: Members,
  open: readonly OpenPlace[],
  { faultsOf, memberDepth, usual = {} }: Checked,
): Judged {
  const known = structuredClone(value) as Record<string, unknown>;
  const cuts = new Map<string, number>();
  const take = ({ path }: OpenPlace): boolean => {
    const member = path.slice(0, memberDepth);
    const name = member.join(".");
    const count = (cuts.get(name) ?? 0) + 1;
    cuts.set(name, count);
    return cut(known, count > CUTS_MAX ? member : path, usual);
  };
  for (;;) {
    const faults = faultsOf(known);
    if (faults.length === 0) return { known };
    const near = faults.map((fault) => open.find((place) => mayMend(place, fault)));
    const fault = faults[near.indexOf(undefined)];
    if (fault) return { fault };
    // A checker reports only its first fault: the next one shows after the place of the first is removed.
    if (!near.map((place) => place !== undefined && take(place)).includes(true)) return {};
  }
}

/** Returns true if the error may disappear when the expression at this location is resolved during a run. */
export function mayMend(place: OpenPlace, fault: ApiError): boolean {
  const [at, param] = [place.param, fault.param ?? ""];
  // The types of a text, and of the container of a place, do not depend on a run.
  if ((fault.cause as Fault | undefined)?.isOfType === true) return !place.isText && isWithin(param, at);
  return isWithin(param, at) || isWithin(at, param);
}

export function isWithin(inner: string, outer: string): boolean {
  return outer === "" || inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}

/**
 * Removes the value at a path, or the closest removable member around it. A required member at the top level is replaced by its sample
 * value. Returns false if nothing remains to be removed.
 */
function cut(known: Record<string, unknown>, path: OpenPlace["path"], usual: Members): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const holder = path
      .slice(0, length - 1)
      .reduce<unknown>((of, key) => (of as Record<string | number, unknown> | undefined)?.[key], known);
    const key = path[length - 1];
    // Removing an item would shift the indexes of the others.
    if (typeof key !== "string" || typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key))
      continue;
    const members = holder as Record<string, unknown>;
    // A copy, because other places may be removed from it.
    if (length === 1 && Object.hasOwn(usual, key) && !Bun.deepEquals(members[key], usual[key], true)) {
      members[key] = structuredClone(usual[key]);
    } else delete members[key];
    return true;
  }
  return false;
}
