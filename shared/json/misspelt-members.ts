/** Rejects misspelt members of bodies whose unknown members are otherwise ignored, as in OpenAI's API. */
import { nearNames } from "#shared/base/near-names.ts";
import { ApiError } from "#shared/base/errors.ts";

/** Maximum number of members of a request that are compared. */
const COMPARED_MEMBERS_MAX = 64;
/** Maximum difference in length between a name and its misspelling. */
const LENGTH_DIFFERENCE_MAX = 4;

/** Names that other services use for a member, in lower case and without separators. */
const FOREIGN_NAMES: Readonly<Record<string, readonly string[]>> = {
  max_credits: ["maxcost", "maxprice", "maxspend", "maxbudget"],
};

/** Member of every call that is similar to `models`. */
const MODEL = "model";

/**
 * Rejects a request that lacks one of the members and contains a member with a similar name.
 * @param names members that determine the cost, the input or the models of a request
 * @param holder path of the request in the body, with a trailing dot; empty for the body itself
 * @throws ApiError `unknown_parameter` that names the similar member
 */
export function refuseMisspelt<Name extends string>(
  request: { readonly [N in Name]?: unknown },
  names: readonly Name[],
  holder = "",
): void {
  const absent = names.filter((name) => request[name] == null);
  if (absent.length === 0) return;
  for (const sent of Object.keys(request).slice(0, COMPARED_MEMBERS_MAX)) {
    if (sent === MODEL || names.some((name) => name === sent)) continue;
    const meant = absent.filter((name) => isMisspelt(name, sent));
    if (meant.length === 0) continue;
    const param = `${holder}${sent}`;
    const message = `${param} is not a known parameter. Did you mean ${meant.join(" or ")}?`;
    throw new ApiError("unknown_parameter", message, { param });
  }
}

/**
 * Rejects members of a batch line or message that belong into its `body`. Unknown members beside `body` are otherwise ignored.
 * @throws ApiError `unknown_parameter` that names the member
 */
export function refuseBesideBody(line: object): void {
  const param = ["max_credits", "models"].find((name) => name in line);
  if (param === undefined) return;
  throw new ApiError("unknown_parameter", `${param} is not a known parameter here. Did you mean body.${param}?`, {
    param,
  });
}

function isMisspelt(name: string, sent: string): boolean {
  // Most members differ much in length, so that a call costs few comparisons.
  if (Math.abs(name.length - sent.length) > LENGTH_DIFFERENCE_MAX) return false;
  const isForeign = FOREIGN_NAMES[name]?.includes(sent.replaceAll(/[-_]/g, "").toLowerCase()) === true;
  return isForeign || nearNames([name], sent).length > 0;
}
