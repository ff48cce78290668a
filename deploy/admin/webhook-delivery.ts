/** A webhook delivery as received: reads the request, verifies its signature, and formats the delivery as text. */
import { timingSafeEqual } from "node:crypto";

import { ApiError } from "#shared/base/errors.ts";
import { signatureHeaders } from "#shared/secrets/signature.ts";

/**
 * Result of the signature check. previous: `webhook-signature` was made with this secret, but `x-webhook-signature` with the secret that
 * replaces it.
 */
type SignatureVerdict = "right" | "wrong" | "absent" | "previous";

export interface ReceivedDelivery {
  readonly event: string;
  /** Id of the delivery, from the header `webhook-id` and the member `deliveryId`. */
  readonly id: string;
  /** Time of the delivery attempt; null if the header contains no valid time. */
  readonly attemptedAt: Date | null;
  /** Result of the signature check; null when no secret was configured. */
  readonly signature: SignatureVerdict | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Reads a webhook delivery from a request. @throws ApiError `invalid_json` or `invalid_request` for a request that is not a delivery */
export function readDelivery(headers: Headers, body: Uint8Array, secret: string | undefined): ReceivedDelivery {
  const { event, deliveryId, metadata } = envelopeOf(body);
  const id = headers.get("webhook-id");
  if (id !== deliveryId) {
    throw new ApiError("invalid_request", "Expected the header webhook-id to be the deliveryId of the body.");
  }
  return {
    event,
    id,
    attemptedAt: timeOf(headers.get("webhook-timestamp")),
    signature: secret === undefined ? null : verdictOf(headers, body, secret),
    metadata,
  };
}

/**
 * Formats a delivery without control characters.
 * @param cameBefore true if a delivery with this id was already received; the text then says `(repeat)`
 */
export function deliveryText(delivery: ReceivedDelivery, cameBefore: boolean): string {
  const { event, id, attemptedAt, signature, metadata } = delivery;
  const lines = [
    event,
    `  id         ${id}${cameBefore ? " (repeat)" : ""}`,
    `  attempt    ${attemptedAt?.toISOString() ?? "unknown: the header webhook-timestamp contains no time"}`,
    `  signature  ${signature === null ? "not verified: no --secret was given" : VERDICTS[signature]}`,
    ...JSON.stringify(metadata, null, 2)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
  return lines.map((line) => line.replaceAll(/\p{Cc}/gu, "\ufffd")).join("\n");
}

export function deliveryJson(delivery: ReceivedDelivery, cameBefore: boolean): Record<string, unknown> {
  const { event, id, attemptedAt, signature, metadata } = delivery;
  return {
    event,
    delivery_id: id,
    attempted_at: attemptedAt?.toISOString() ?? null,
    signature,
    came_before: cameBefore,
    metadata,
  };
}

const VERDICTS: Readonly<Record<SignatureVerdict, string>> = {
  right: "valid",
  wrong: "invalid: made with another secret or for another body",
  absent: "missing: a receiver must refuse unsigned requests",
  previous: "valid, but this secret was replaced: only webhook-signature still contains it",
};

interface ReceivedEnvelope {
  readonly event: string;
  readonly deliveryId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

function envelopeOf(body: Uint8Array): ReceivedEnvelope {
  const value = parsed(body);
  if (isObject(value)) {
    const { event, deliveryId, metadata } = value;
    if (typeof event === "string" && typeof deliveryId === "string" && isObject(metadata)) {
      return { event, deliveryId, metadata };
    }
  }
  throw new ApiError("invalid_request", "Expected an envelope with event, deliveryId and metadata.");
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    throw new ApiError("invalid_json", "Expected a body that is JSON.", { cause: error });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function timeOf(seconds: string | null): Date | null {
  return seconds !== null && /^\d{1,11}$/.test(seconds) ? new Date(Number(seconds) * 1_000) : null;
}

function verdictOf(headers: Headers, body: Uint8Array, secret: string): SignatureVerdict {
  const signature = headers.get("x-webhook-signature");
  if (signature === null) return "absent";
  const id = headers.get("webhook-id") ?? "";
  const timestamp = Number(headers.get("webhook-timestamp"));
  const expected = signatureHeaders({ secret, id, timestamp, body });
  if (isSame(signature, expected["x-webhook-signature"])) return "right";
  const listed = (headers.get("webhook-signature") ?? "").split(" ");
  return listed.some((each) => isSame(each, expected["webhook-signature"])) ? "previous" : "wrong";
}

function isSame(actual: string, expected = ""): boolean {
  const [one, other] = [Buffer.from(actual), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
