/**
 * Veo on Google Cloud, called by a service account. Source: docs.cloud.google.com, "Veo video generation API". `{project}` in the
 * provider's address is replaced by the account's project.
 */
import { commonNow } from "#shared/base/clock.ts";
import type { FairLimit } from "#shared/limits/fair-limit.ts";

import type { Endpoint } from "../http.ts";
import type { MediaAdapters } from "../media.ts";
import { ProviderError } from "../provider.ts";

import { readAccount } from "./account.ts";
import { createTokens } from "./tokens.ts";
import { createVeo } from "./veo.ts";

/**
 * @param credentials JSON of a service account for access tokens; undefined without an account
 * @param now Unix milliseconds
 * @param budget as `createVeo`
 */
export function createGoogleCloud(
  endpoint: Endpoint,
  credentials: string | undefined,
  now: () => number = commonNow,
  budget?: FairLimit,
): Required<Pick<MediaAdapters, "video">> {
  const account = readAccount(credentials);
  if (!account) return { video: WITHOUT_ACCOUNT };
  const baseUrl = endpoint.baseUrl.replaceAll("{project}", encodeURIComponent(account.project));
  return { video: createVeo({ ...endpoint, baseUrl }, createTokens(account, now), budget) };
}

const NO_ACCOUNT = "the provider's key is not the JSON of a service account";

/** Adapter without an account: starts fail, and existing jobs wait until an account is configured again. */
const WITHOUT_ACCOUNT: Required<MediaAdapters>["video"] = {
  async start() {
    throw new ProviderError("misconfigured", NO_ACCOUNT);
  },
  async poll() {
    return { state: "unknown", detail: NO_ACCOUNT };
  },
};
