/**
 * Veo adapter for Google Cloud, which authenticates as a service account. `{project}` in the provider's base URL is replaced by the
 * account's project. Source: docs.cloud.google.com, "Veo video generation API".
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
 * Creates the adapters of Google Cloud.
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

/**
 * Adapter for a provider without a configured service account. New jobs fail as misconfigured. Polls of existing jobs return `unknown`, so
 * that these jobs wait for an account.
 */
const WITHOUT_ACCOUNT: Required<MediaAdapters>["video"] = {
  async start() {
    throw new ProviderError("misconfigured", NO_ACCOUNT);
  },
  async poll() {
    return { state: "unknown", detail: NO_ACCOUNT };
  },
};
