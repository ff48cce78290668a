/** What is wrong with a value of which some places are known only when a run resolves them. */
import { type Fault, memberParam } from "#shared/contract-fault.ts";
import type { ApiError } from "#shared/errors.ts";

import type { OpenPlace } from "./bindings.ts";

type Members = Readonly<Record<string, unknown>>;

export interface Judged {
  /** The first that stays whatever comes into the open places. */
  readonly fault?: ApiError;
  /** The value without the places that do not fit as they are written; undefined where too little is known of it. */
  readonly known?: Members;
}

/**
 * @param faultsOf the first faults of a value, of each of its parts that is checked apart
 * @param usual what stands in for members that must be there
 */
export function judgeKnown(
  value: Members,
  open: readonly OpenPlace[],
  faultsOf: (known: Members) => readonly ApiError[],
  usual: Members = {},
): Judged {
  const known = structuredClone(value) as Record<string, unknown>;
  for (;;) {
    const faults = faultsOf(known);
    if (faults.length === 0) return { known };
    const near = faults.map((fault) => open.find((place) => mayMend(place, fault)));
    const fault = faults[near.indexOf(undefined)];
    if (fault) return { fault };
    // A checker tells its first fault: others show once the place of that one is gone.
    const isCut = near.map((place) => place !== undefined && cut(known, place, usual));
    if (!isCut.includes(true)) return {};
  }
}

/** Whether what comes into the place may mend the fault. */
export function mayMend(place: OpenPlace, fault: ApiError): boolean {
  const [at, param] = [paramOf(place), fault.param ?? ""];
  // Neither the type of text, nor that of what holds the place, depends on a run.
  if ((fault.cause as Fault | undefined)?.isOfType === true) return !place.isText && isWithin(param, at);
  return isWithin(param, at) || isWithin(at, param);
}

/** As faults name it. */
export function paramOf({ path }: OpenPlace): string {
  return path.reduce<string>(
    (param, key) => memberParam(param === "" ? null : param, String(key), typeof key === "number"),
    "",
  );
}

export function isWithin(inner: string, outer: string): boolean {
  return outer === "" || inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}

/** Takes the member of the place away, or the next one around it. False where nothing is left to be taken. */
function cut(known: Record<string, unknown>, { path }: OpenPlace, usual: Members): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const holder = path
      .slice(0, length - 1)
      .reduce<unknown>((of, key) => (of as Record<string | number, unknown> | undefined)?.[key], known);
    const key = path[length - 1];
    // An item's neighbours would get its index.
    if (typeof key !== "string" || typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key))
      continue;
    const members = holder as Record<string, unknown>;
    if (length === 1 && Object.hasOwn(usual, key) && members[key] !== usual[key]) members[key] = usual[key];
    else delete members[key];
    return true;
  }
  return false;
}
