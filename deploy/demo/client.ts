/** The stock OpenAI SDK against Sluice, what each answer says of its price, and the service's books, as any client can ask for them. */
import { setTimeout as delay } from "node:timers/promises";

import OpenAI from "openai";

import type { Key, UsageRequest } from "#schemas/generated/types.ts";
import { parseCredits } from "#shared/money.ts";

/** Longer than the service itself waits for an image: 5 minutes. */
const ANSWER_WITHIN_MS = 6 * 60_000;
/** The last bytes of speech may come before its hold is settled. */
const SETTLED_WITHIN_MS = 10_000;

/** Price of a call, in nano-credits, and the id that names its usage record. */
export interface Receipt {
  readonly id: string;
  readonly credits: bigint;
}

interface Answer<T> {
  readonly body: T;
  readonly receipt: Receipt;
}

export type Client = ReturnType<typeof openClient>;

export function openClient({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }) {
  // Nothing is sent twice: each call is to be priced once.
  const sdk = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0, timeout: ANSWER_WITHIN_MS });
  return {
    sdk,
    /** For the routes that the SDK has no method for. */
    async post<T>(path: string, body: object): Promise<Answer<T>> {
      const { data, response } = await sdk.post<T>(path, { body }).withResponse();
      return { body: data, receipt: receiptOf(response) };
    },
    async download(fileId: string): Promise<Uint8Array> {
      return new Uint8Array(await (await sdk.files.content(fileId)).arrayBuffer());
    },
  };
}

/** @throws Error when the answer names no price */
export function receiptOf({ headers }: Pick<Response, "headers">): Receipt {
  const credits = headers.get("x-credits-used");
  if (credits === null) throw new Error("the answer does not say what it cost (x-credits-used)");
  return { id: headers.get("x-request-id") ?? "", credits: parseCredits(credits) };
}

/** Description of an error in one line, with status and code if the service sent them. */
export function reasonOf(error: unknown): string {
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    // The SDK puts the status before the message.
    return [error.status, error.code, error.message.replace(/^\d+ /, "")].filter(Boolean).join(" ");
  }
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/** Balance in nano-credits, and the address of the usage records. */
export async function readBalance({ sdk }: Client): Promise<{ readonly nano: bigint; readonly records: string }> {
  const { balance, workspace } = await sdk.get<Key>("/key");
  const records = `${sdk.baseURL.replace(/\/v1$/, "")}/workspaces/${workspace.id}/usage/requests`;
  return { nano: parseCredits(String(balance.credits)), records };
}

/** Cost of a call by its usage record; a call has none while it is not settled, nor one that held nothing. */
export async function recordedCost({ sdk }: Client, records: string, { id, credits }: Receipt): Promise<bigint> {
  for (const end = Date.now() + SETTLED_WITHIN_MS; ; await delay(100)) {
    try {
      return parseCredits(String((await sdk.get<UsageRequest>(`${records}/${id}`)).credits));
    } catch (error) {
      if (!(error instanceof OpenAI.NotFoundError)) throw error;
      if (credits === 0n || Date.now() > end) return 0n;
    }
  }
}
