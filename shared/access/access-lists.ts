/** Checks the lists of models, endpoints and IP addresses that limit a key. A key must satisfy its own lists and the lists of its member. */
import type { BlockList } from "node:net";

import { ApiError } from "#shared/base/errors.ts";
import type { AccessLists } from "#shared/database/members.ts";

import type { Caller } from "./authenticate.ts";
import { endpointNameOf } from "./endpoints.ts";
import { addressList, isAddressListed } from "./ip-net.ts";

const LIST_NAMES = ["models", "endpoints", "ips"] as const satisfies readonly (keyof AccessLists)[];

/** Lists of one holder, prepared for checks. */
export interface HeldLists extends AccessLists {
  readonly holder: "key" | "member";
  readonly addresses?: BlockList;
}

type Limited = Pick<Caller, "accessLists">;

/** Prepares the lists of a key and of its member; undefined if neither has lists. */
export function heldLists(
  key: AccessLists | null,
  member: AccessLists | null,
): { readonly accessLists?: readonly HeldLists[] } {
  if (key === null && member === null) return {};
  return { accessLists: [...held("key", key), ...held("member", member)] };
}

function held(holder: HeldLists["holder"], lists: AccessLists | null): readonly HeldLists[] {
  if (lists === null) return [];
  return [{ ...lists, holder, ...(lists.ips === undefined ? {} : { addresses: addressList(lists.ips) }) }];
}

/** True if the key may call the model. */
export function mayCallModel({ accessLists = [] }: Limited, slug: string): boolean {
  return accessLists.every(({ models }) => isListedModel(models, slug));
}

/**
 * Checks that the key may call the model. @param param member of the request that contains the slug. @throws ApiError `permission_denied`
 */
export function checkModel({ accessLists = [] }: Limited, slug: string, param = "model"): void {
  for (const { holder, models } of accessLists) {
    if (isListedModel(models, slug)) continue;
    throw new ApiError("permission_denied", refusal(`call the model ${slug}`, holder, "models", models), { param });
  }
}

/** Returns the models that the key may call, in the given order. A key without a list of models gets the same array. */
export function callableModels(limited: Limited, slugs: readonly string[]): readonly string[] {
  return limited.accessLists === undefined ? slugs : slugs.filter((slug) => mayCallModel(limited, slug));
}

/** Checks that the key may call the API of a path. @throws ApiError `permission_denied` */
export function checkEndpoint({ accessLists }: Limited, path: string): void {
  if (accessLists === undefined) return;
  const name = endpointNameOf(path);
  if (name === undefined) return;
  for (const { holder, endpoints } of accessLists) {
    if (endpoints === undefined || endpoints.includes(name)) continue;
    throw new ApiError("permission_denied", refusal(`call the endpoint ${name}`, holder, "endpoints", endpoints));
  }
}

/**
 * Checks that the key may be used from an IP address.
 * @param address address of the client; "" if unknown
 * @throws ApiError `permission_denied`
 */
export function checkAddress({ accessLists = [] }: Limited, address: string): void {
  for (const { holder, ips, addresses } of accessLists) {
    if (addresses === undefined || isAddressListed(addresses, address)) continue;
    const from = address === "" ? "an unknown IP address" : `the IP address ${address}`;
    throw new ApiError("permission_denied", refusal(`be used from ${from}`, holder, "ips", ips));
  }
}

/** Maximum number of entries of a list that an error message repeats. */
const REPEATED_ENTRIES_MAX = 10;

function refusal(
  action: string,
  holder: HeldLists["holder"],
  list: keyof AccessLists,
  entries: readonly string[] = [],
): string {
  const more = entries.length > REPEATED_ENTRIES_MAX ? ` and ${entries.length - REPEATED_ENTRIES_MAX} more` : "";
  const whose = holder === "key" ? "its" : "its member's";
  return `This key may not ${action}: ${whose} limits.${list} contains ${entries.slice(0, REPEATED_ENTRIES_MAX).join(", ")}${more}.`;
}

function isListedModel(patterns: readonly string[] | undefined, slug: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesPattern(pattern, slug));
}

/** True if a name matches a pattern, in which `*` matches any characters. Takes linear time, because clients choose both texts. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [head = "", ...parts] = pattern.split("*");
  const tail = parts.pop();
  if (tail === undefined) return pattern === name;
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let from = head.length;
  for (const part of parts) {
    const at = name.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/**
 * Returns the name of the first list that allows more than the same list of `wide`; undefined if none does. An entry is inside a list if the
 * list contains the entry, a pattern that matches every name of the entry, or a range around it.
 */
export function firstWider(narrow: AccessLists | null, wide: AccessLists | null): keyof AccessLists | undefined {
  return LIST_NAMES.find((name) => {
    const [own, limit] = [narrow?.[name], wide?.[name]];
    if (limit === undefined) return false;
    return own === undefined || !own.every((entry) => limit.some((one) => isEntryWithin(name, entry, one)));
  });
}

function isEntryWithin(name: keyof AccessLists, entry: string, limit: string): boolean {
  if (entry === limit) return true;
  if (name === "models") return isPatternWithin(entry, limit);
  return name === "ips" && isRangeWithin(entry, limit);
}

/** A pattern as a name: each `*` becomes a character that no pattern contains, which only a `*` of the wider pattern matches. */
function isPatternWithin(entry: string, limit: string): boolean {
  return matchesPattern(limit, entry.replaceAll("*", "\u0000"));
}

function isRangeWithin(entry: string, limit: string): boolean {
  const [address = "", prefix] = entry.split("/");
  const [limitAddress = "", limitPrefix] = limit.split("/");
  const bits = address.includes(":") ? 128 : 32;
  if (limitAddress.includes(":") !== address.includes(":")) return false;
  if (Number(prefix ?? bits) < Number(limitPrefix ?? bits)) return false;
  return isAddressListed(addressList([limit]), address);
}
