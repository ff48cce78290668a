/** Body that a webhook is sent. The order of its members is part of the contract (spec.md "Webhook delivery envelope"). */

export interface Envelope {
  readonly event: string;
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly occurredAt: Date;
  /** Without members that are null. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The text whose bytes are sent, and signed, by every attempt. */
export function envelopeText({ event, deliveryId, workspaceId, occurredAt, metadata }: Envelope): string {
  return JSON.stringify({ event, deliveryId, workspaceId, occurredAt: occurredAt.toISOString(), metadata });
}

/** A test that a person sends to a channel. */
export const TEST_EVENT = "test";
