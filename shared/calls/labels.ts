/**
 * Labels of a call: its end user and its tags. They are kept with the hold and the usage record, so that spend can be grouped and filtered
 * by them. A workspace names its tags in its settings; no other member of a request's metadata is kept.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import { reservedIdOf } from "#shared/base/ids.ts";

/** Values by the name of the label: `user` for the end user, otherwise the name of a tag. */
export type CallLabels = Readonly<Record<string, string>>;

/** Maximum number of tags of a workspace. Each tag adds a row to the hourly sums for each of its values. */
const TAGS_MAX = 3;
/** Maximum length of a label's value, in characters. */
export const LABEL_CHARS_MAX = 128;
/** Request header with the end user and the tags, for calls whose body cannot contain them. */
export const TAGS_HEADER = "x-tags";
/** Name of the label that contains the end user. */
export const USER_LABEL = "user";
/** Names of labels that the service writes itself. No tag can have them. */
export const RESERVED_LABELS: readonly string[] = [USER_LABEL, "chain"];

const TAG_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export function isTagName(name: string): boolean {
  return TAG_NAME.test(name) && !RESERVED_LABELS.includes(name);
}

/** Returns true if the text can be the value of a label. Postgres accepts neither NUL nor lone surrogates. */
export function isLabelValue(value: unknown): value is string {
  if (typeof value !== "string" || value === "" || value.length > LABEL_CHARS_MAX) return false;
  return !value.includes("\u0000") && value.isWellFormed();
}

type Tagged = Pick<Caller, "tags">;

/**
 * Reads the header `x-tags`, such as `user=alice, project=alpha`. Values may be percent-encoded. Returns undefined if the header is absent
 * or empty.
 * @throws ApiError `unsupported_value`
 */
export function labelsInHeader({ tags = [] }: Tagged, header: string | null): CallLabels | undefined {
  if (header === null || header.trim() === "") return undefined;
  const labels: Record<string, string> = {};
  for (const pair of header.split(",", TAGS_MAX + 2)) {
    const [name = "", encoded, ...more] = pair.trim().split("=");
    if (encoded === undefined || more.length > 0) throw refused("pairs such as project=alpha, separated by commas");
    if (name !== USER_LABEL && !tags.includes(name)) {
      const known = [USER_LABEL, ...tags].join(", ");
      throw refused(`one of the names ${known} in each pair; owners and admins add tags in the workspace's settings`);
    }
    if (Object.hasOwn(labels, name)) throw refused(`each name once, and ${name} is repeated`);
    const value = decoded(encoded.trim());
    if (!isLabelValue(value)) throw refused(`percent-encoded values of 1 to ${LABEL_CHARS_MAX} characters`);
    labels[name] = value;
  }
  return labels;
}

function refused(expected: string): ApiError {
  return new ApiError("unsupported_value", `Expected the header ${TAGS_HEADER} to have ${expected}.`, {
    param: TAGS_HEADER,
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the labels of a call; undefined if it has none. Members of the body take precedence over `outer`. Values that cannot be labels
 * are ignored, because APIs accept any text there.
 * @param body request body: the end user is `user`, `safety_identifier` or `metadata.user_id`, the first of them that is usable
 * @param outer labels of the header, or of the call or run that makes this call
 */
export function labelsOf({ tags }: Tagged, body: unknown, outer?: CallLabels): CallLabels | undefined {
  const { user, safety_identifier: identifier, metadata } = membersOf(body);
  // Reads no metadata of a workspace without tags, except for Anthropic's place of the end user.
  const named = membersOf(metadata);
  const own: Record<string, string> = {};
  const endUser = [user, identifier, named[USER_ID]].find(isLabelValue);
  if (endUser !== undefined) own[USER_LABEL] = endUser;
  for (const tag of tags ?? []) {
    const value = Object.hasOwn(named, tag) ? named[tag] : undefined;
    if (isLabelValue(value)) own[tag] = value;
  }
  return Object.keys(own).length === 0 ? outer : { ...outer, ...own };
}

/** Place of the end user in the metadata of Anthropic's Messages API. */
const USER_ID = "user_id";

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Returns the id under which the spend of the calls with this label is limited. */
export function labelIdOf(workspaceId: string, name: string, value: string): string {
  return reservedIdOf(workspaceId, `label:${name}=${value}`);
}

/** Returns the ids under which the spend of a call is limited by its labels; undefined if no label has limits. */
export function limitedIdsOf(
  { workspaceId, limitedLabels = [] }: Pick<Caller, "workspaceId" | "limitedLabels">,
  labels: CallLabels = {},
): readonly string[] | undefined {
  const ids = limitedLabels.flatMap((name) => {
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
    return value === undefined ? [] : [labelIdOf(workspaceId, name, value)];
  });
  return ids.length === 0 ? undefined : ids;
}
