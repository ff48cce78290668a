/** Body of a webhook. The order of its members is part of the API contract. */

export interface Envelope {
  readonly event: string;
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly occurredAt: Date;
  /** Metadata of the event, without null members. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Returns the body text of a delivery. The same bytes are sent and signed in every attempt. */
export function envelopeText({ event, deliveryId, workspaceId, occurredAt, metadata }: Envelope): string {
  return JSON.stringify({ event, deliveryId, workspaceId, occurredAt: occurredAt.toISOString(), metadata });
}

/** Name of the event of a test delivery. */
export const TEST_EVENT = "test";
