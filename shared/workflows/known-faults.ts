/** Faults of a value of which some places are known only when a run resolves them. */
import type { Fault } from "#shared/contract-fault.ts";
import type { ApiError } from "#shared/errors.ts";

import type { OpenPlace } from "./bindings.ts";

type Members = Readonly<Record<string, unknown>>;

export interface Judged {
  /** The first that stays whatever comes into the open places. */
  readonly fault?: ApiError;
  /** The value without the places that do not fit as they are written; undefined where too little is known of it. */
  readonly known?: Members;
}

/** Places of one member that are taken away one by one; then the member goes whole, as there may be thousands of them. */
const CUTS_MAX = 3;

export interface Checked {
  /** The first faults of a value, of each of its parts that is checked apart. */
  readonly faultsOf: (known: Members) => readonly ApiError[];
  /** Depth at which its members stand. */
  readonly memberDepth: number;
  /** Values that stand in for members that must be there. */
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
    // A checker tells its first fault: others show once the place of that one is gone.
    if (!near.map((place) => place !== undefined && take(place)).includes(true)) return {};
  }
}

/** True if what comes into the place may mend the fault. */
export function mayMend(place: OpenPlace, fault: ApiError): boolean {
  const [at, param] = [place.param, fault.param ?? ""];
  // Neither the type of text, nor that of what holds the place, depends on a run.
  if ((fault.cause as Fault | undefined)?.isOfType === true) return !place.isText && isWithin(param, at);
  return isWithin(param, at) || isWithin(at, param);
}

export function isWithin(inner: string, outer: string): boolean {
  return outer === "" || inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}

/** Takes the member of the place away, or the next one around it. False where nothing is left to be taken. */
function cut(known: Record<string, unknown>, path: OpenPlace["path"], usual: Members): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const holder = path
      .slice(0, length - 1)
      .reduce<unknown>((of, key) => (of as Record<string | number, unknown> | undefined)?.[key], known);
    const key = path[length - 1];
    // An item's neighbours would get its index.
    if (typeof key !== "string" || typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key))
      continue;
    const members = holder as Record<string, unknown>;
    // A copy, of which other places may be taken.
    if (length === 1 && Object.hasOwn(usual, key) && !Bun.deepEquals(members[key], usual[key], true)) {
      members[key] = structuredClone(usual[key]);
    } else delete members[key];
    return true;
  }
  return false;
}
