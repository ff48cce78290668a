/**
 * The part of a local upstream that is the same for every vendor of sound: it records calls, refuses what the vendor
 * would refuse, and plays faults. What it does with a call is decided, in this order, by the model name
 * (`mock-<behaviour>`), the queue filled by `next`, and a flawless answer.
 */
import type { Behaviour, ReplyBehaviour } from "./openai-compatible/behaviour.ts";
import { behaviourOfModel } from "./openai-compatible/named.ts";
import { play } from "./openai-compatible/play.ts";
import type { RawRequest } from "./raw-request.ts";
import { startRawServer, type Wire } from "./raw-server.ts";

export interface VendorCall {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export interface Vendor {
  /** The answer of a vendor that does not accept this call; null when it does. */
  refuse(call: VendorCall): ReplyBehaviour | null;
  modelOf(call: VendorCall): string;
  /** The whole answers of the vendor's errors, by name. */
  readonly errors: Readonly<Record<string, ReplyBehaviour>>;
  answer(call: VendorCall): ReplyBehaviour;
}

export interface RecordedVendorCall extends VendorCall {
  /** Resolves with who ended the connection. */
  readonly closed: Promise<"client" | "server">;
}

export interface VendorServer {
  /** Base URL, ends with /v1. */
  readonly url: string;
  readonly requests: readonly RecordedVendorCall[];
  /** Faults of the server itself; a test may assert that it is empty. */
  readonly faults: readonly unknown[];
  /** Queues behaviours for the next calls, in order. */
  next(...behaviours: readonly Behaviour[]): void;
  /** Resolves with call number `count` (from 1) once it has arrived. */
  received(count: number): Promise<RecordedVendorCall>;
  close(): void;
}

export function startVendorServer(vendor: Vendor): VendorServer {
  const requests: RecordedVendorCall[] = [];
  const faults: unknown[] = [];
  const queue: Behaviour[] = [];
  const waiters: { count: number; resolve: (call: RecordedVendorCall) => void }[] = [];

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const call = { ...readCall(raw), closed: wire.closed.then(({ by }) => by) };
    requests.push(call);
    for (const { count, resolve } of waiters) if (requests.length >= count) resolve(requests[count - 1] ?? call);
    const behaviour = vendor.refuse(call) ?? named(vendor, call) ?? queue.shift() ?? {};
    // The behaviours of a chat are none here: they stand for a flawless answer.
    const isFlawless = behaviour.kind === undefined || behaviour.kind === "chat";
    const played = isFlawless ? vendor.answer(call) : behaviour;
    await play(played, { raw, request: { model: "", messages: [] }, sequence: requests.length }, wire);
  };
  const server = startRawServer(handle, (fault) => faults.push(fault));
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    requests,
    faults,
    next: (...behaviours) => void queue.push(...behaviours),
    received: (count) => {
      const known = requests[count - 1];
      return known ? Promise.resolve(known) : new Promise((resolve) => waiters.push({ count, resolve }));
    },
    close: () => server.close(),
  };
}

function readCall(raw: RawRequest): VendorCall {
  const { pathname, searchParams } = new URL(raw.target, "http://local");
  const { method, headers, body } = raw;
  return { method, path: pathname, query: Object.fromEntries(searchParams), headers, bytes: body };
}

function named(vendor: Vendor, call: VendorCall): Behaviour | null {
  const model = vendor.modelOf(call);
  const name = model.replace(/^mock-/, "");
  return name !== model && Object.hasOwn(vendor.errors, name) ? (vendor.errors[name] ?? null) : behaviourOfModel(model);
}

/** One whole JSON answer. */
export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ReplyBehaviour {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { kind: "reply", status, headers: { "content-type": "application/json", ...headers }, body: text };
}

export function soundReply(contentType: string, body: Uint8Array): ReplyBehaviour {
  return { kind: "reply", status: 200, headers: { "content-type": contentType }, body };
}

/** The JSON object of a body; undefined when it is none. */
export function jsonOf({ bytes }: VendorCall): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
