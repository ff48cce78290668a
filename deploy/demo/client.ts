/** The stock OpenAI SDK against Sluice, and what each answer says of its price. */
import OpenAI from "openai";

import { parseCredits } from "#shared/money.ts";

/** Longer than the service itself waits for anything (spec, image wait budget: 5 minutes). */
const ANSWER_WITHIN_MS = 6 * 60_000;

export interface Receipt {
  /** Names the call's usage record. */
  readonly id: string;
  /** Nano-credits. */
  readonly credits: bigint;
}

export interface Answer<T> {
  readonly body: T;
  readonly receipt: Receipt;
}

export interface Client {
  readonly sdk: OpenAI;
  /** For the routes that the SDK has no method for. */
  post<T>(path: string, body: object): Promise<Answer<T>>;
  /** The bytes of a stored file. */
  download(fileId: string): Promise<Uint8Array>;
}

export function openClient({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }): Client {
  // Nothing is sent twice: each call is to be priced once.
  const sdk = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0, timeout: ANSWER_WITHIN_MS });
  return {
    sdk,
    async post<T>(path: string, body: object): Promise<Answer<T>> {
      const { data, response } = await sdk.post<T>(path, { body }).withResponse();
      return { body: data, receipt: receiptOf(response) };
    },
    async download(fileId) {
      return new Uint8Array(await (await sdk.files.content(fileId)).arrayBuffer());
    },
  };
}

/** @throws Error when the answer names no price */
export function receiptOf({ headers }: Pick<Response, "headers">): Receipt {
  const credits = headers.get("x-credits-used");
  if (credits === null) throw new Error("the answer does not say what it cost (x-credits-used)");
  return { id: requestIdOf({ headers }), credits: parseCredits(credits) };
}

export function requestIdOf({ headers }: Pick<Response, "headers">): string {
  return headers.get("x-request-id") ?? "";
}

/** Description of an error in one line, with status and code if the service sent them. */
export function reasonOf(error: unknown): string {
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    // The SDK puts the status before the message.
    return [error.status, error.code, error.message.replace(/^\d+ /, "")].filter(Boolean).join(" ");
  }
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
