/** Body of a webhook. The order of its members is part of the contract. */

export interface Envelope {
  readonly event: string;
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly occurredAt: Date;
  /** Without null members. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Returns the text whose bytes are sent and signed in every attempt. */
export function envelopeText({ event, deliveryId, workspaceId, occurredAt, metadata }: Envelope): string {
  return JSON.stringify({ event, deliveryId, workspaceId, occurredAt: occurredAt.toISOString(), metadata });
}

/** Event of a test delivery. */
export const TEST_EVENT = "test";
