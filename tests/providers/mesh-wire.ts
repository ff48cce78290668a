/** What the local servers that make meshes have in common: answers as data, an object store with real meshes, calls of ours. */
import type { MediaOffer, QueuedOffer } from "#workers/providers/media.ts";

import type { RawRequest } from "./raw-request.ts";
import { type RawServer, startRawServer, type Wire } from "./raw-server.ts";

/** One answer, or none. */
export type Reply =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "hang"
  | "reset"
  | "cut";

export interface MeshCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON. */
  readonly body: unknown;
}

/** Marker in every vendor message: a client of ours must never see it (SEC, PRO-10). */
export const VENDOR_MARK = "vendor-internal-detail";

export const reply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  body,
  headers,
});

export async function send(answer: Reply, wire: Wire): Promise<void> {
  if (answer === "hang") return void (await wire.wait(Infinity));
  if (answer === "reset") return wire.reset();
  const { status, body, headers = {} } = answer === "cut" ? { status: 200, body: { status: "SUCCEEDED" } } : answer;
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = Object.entries({ "content-type": "application/json", ...headers, "content-length": text.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await wire.write(`HTTP/1.1 ${status} Status\r\n${head}\r\n`);
  await wire.write(answer === "cut" ? text.subarray(0, 5) : text);
  if (answer === "cut") wire.end();
}

export function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return bytes.toString("utf8");
  }
}

/** The smallest GLB that there is: an empty scene. */
export function glb(): Buffer {
  const json = Buffer.from('{"asset":{"version":"2.0"}}'.padEnd(28));
  const head = Buffer.alloc(20);
  head.write("glTF", "latin1");
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(head.length + json.length, 8);
  head.writeUInt32LE(json.length, 12);
  head.write("JSON", 16, "latin1");
  return Buffer.concat([head, json]);
}

/**
 * A public object store: whoever brings credentials has shown them to a stranger.
 * @param isSigned whether the address of a mesh is still good
 */
export function startStore(isSigned: (target: string) => boolean, onFault: (fault: unknown) => void): RawServer {
  const serve = async (raw: RawRequest, wire: Wire): Promise<void> => {
    if (raw.headers["authorization"] !== undefined) return send(reply(400, "no credentials are wanted here"), wire);
    if (!isSigned(raw.target)) return send(reply(403, "<Error><Code>AccessDenied</Code></Error>"), wire);
    const bytes = glb();
    await wire.write(`HTTP/1.1 200 OK\r\ncontent-type: model/gltf-binary\r\ncontent-length: ${bytes.length}\r\n\r\n`);
    await wire.write(bytes);
  };
  return startRawServer(serve, onFault);
}

export function queued<Input, Output>(offer: MediaOffer<Input, Output> | undefined): QueuedOffer<Input, Output> {
  if (offer && "start" in offer) return offer;
  throw new Error("expected an offer that queues");
}
