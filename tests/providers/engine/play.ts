/** Plays a behaviour on a connection: heads, bodies, and the frames of a stream with their pace, silences and cuts. */
import { gzipSync } from "node:zlib";

import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import type { Fault, HugeBehaviour, Reply, ReplyBehaviour, StreamCut, StreamPlay } from "./behaviour.ts";

/** Time for the other side to read what was sent, since a reset may discard it. */
export const BEFORE_RESET_MS = 20;

const HUGE_BLOCK = Buffer.alloc(64 * 1024, "a");
const LAST_CHUNK = "0\r\n\r\n";

export interface Streamed {
  readonly frames: readonly string[];
  readonly play: StreamPlay & { readonly delayMs?: number };
}

type Headers = Readonly<Record<string, string>>;

/** Resolves true when the answer went out whole; false when either side ended the connection first. */
export async function play(
  what: Reply | Streamed,
  request: RawRequest,
  wire: Wire,
  headers: Headers = {},
): Promise<boolean> {
  if (typeof what === "string") return playFault(what, wire, headers);
  if ("frames" in what) return playStream(what, wire, headers);
  if ("status" in what) return playReply(what, wire, headers);
  if (what.kind === "huge") return playHuge(what, request, wire, headers);
  await what.play(request, wire);
  return wire.isOpen;
}

async function playFault(fault: Fault, wire: Wire, headers: Headers): Promise<boolean> {
  if (fault === "cut") return playReply({ status: 200, body: {}, cut: { afterBytes: 1, how: "fin" } }, wire, headers);
  const isAfterHead = fault.endsWith("-after-head");
  if (isAfterHead) await wire.write(streamHead(headers));
  if (fault.startsWith("hang")) return wire.wait(Infinity);
  return stop(wire, "rst", isAfterHead ? BEFORE_RESET_MS : 0);
}

async function playReply(reply: ReplyBehaviour, wire: Wire, headers: Headers): Promise<boolean> {
  if (!(await wire.wait(reply.delayMs ?? 0))) return false;
  const { status, body: given } = reply;
  const isJson = typeof given !== "string" && !(given instanceof Uint8Array);
  const body = Buffer.from(isJson ? JSON.stringify(given) : given);
  const type = reply.headers === undefined && isJson ? { "content-type": "application/json" } : {};
  const head = httpHead(status, { ...headers, ...type, ...reply.headers, "content-length": String(body.length) });
  if (reply.cut === undefined) return wire.write(Buffer.concat([head, body]));
  await wire.write(Buffer.concat([head, body.subarray(0, reply.cut.afterBytes)]));
  return stop(wire, reply.cut.how);
}

/** A JSON string, or the data of one event, that does not end before `bytes`. Written block by block as the client reads. */
async function playHuge(
  { bytes, gzip }: HugeBehaviour,
  request: RawRequest,
  wire: Wire,
  headers: Headers,
): Promise<boolean> {
  const isStream = /"stream": ?true/.test(request.body.toString("latin1"));
  const type = { "content-type": isStream ? "text/event-stream" : "application/json" };
  const prefix = Buffer.from(`${isStream ? "data: " : ""}{"id":"huge","choices":[{"index":0,"message":{"content":"`);
  if (gzip) {
    const body = gzipSync(Buffer.concat([prefix, Buffer.alloc(bytes, "a"), Buffer.from('"}}]}')]));
    return playReply({ status: 200, headers: { ...type, "content-encoding": "gzip" }, body }, wire, headers);
  }
  await wire.write(httpHead(200, { ...headers, ...type, "transfer-encoding": "chunked" }));
  let isOpen = await sendChunk(wire, prefix);
  for (let sent = 0; isOpen && sent < bytes; sent += HUGE_BLOCK.length) {
    isOpen = await sendChunk(wire, HUGE_BLOCK);
    // The other side may live in this process and needs its turns.
    if (sent % (16 * HUGE_BLOCK.length) === 0) await wire.wait(1);
  }
  return isOpen && (await sendChunk(wire, Buffer.from('"}}]}'))) && wire.write(LAST_CHUNK);
}

async function playStream({ frames, play: how }: Streamed, wire: Wire, headers: Headers): Promise<boolean> {
  const { cut, silence, endlessFrame, intervalMs = 0, splitBytes } = how;
  if (!(await wire.wait(how.delayMs ?? 0)) || !(await wire.write(streamHead(headers)))) return false;
  const cutAt = cut === undefined ? -1 : cutFrame(frames, cut);
  for (const [index, frame] of frames.entries()) {
    if (index === silence?.beforeFrame && !(await wire.wait(silence.ms))) return false;
    if (cut !== undefined && index === cutAt) {
      await sendPieces(wire, Buffer.from(frame).subarray(0, cutOffset(frame, cut)), how);
      return stop(wire, cut.how);
    }
    if (!(await sendPieces(wire, Buffer.from(frame), how))) return false;
    // At least one turn of the event loop, or a fast reader would keep the test's own process from running.
    const again = async (): Promise<boolean> =>
      (await wire.wait(Math.max(1, intervalMs))) && sendPieces(wire, Buffer.from(frame), how);
    if (index === endlessFrame) while (await again());
    if (intervalMs > 0 && splitBytes === undefined && !(await wire.wait(intervalMs))) return false;
  }
  return cut === undefined ? wire.write(LAST_CHUNK) : stop(wire, cut.how);
}

async function sendPieces(wire: Wire, bytes: Uint8Array, { splitBytes, intervalMs = 0 }: StreamPlay): Promise<boolean> {
  if (splitBytes === undefined) return sendChunk(wire, bytes);
  for (let at = 0; at < bytes.length; at += splitBytes) {
    if (!(await sendChunk(wire, bytes.subarray(at, at + splitBytes))) || !(await wire.wait(intervalMs))) return false;
  }
  return wire.isOpen;
}

/** One chunk of HTTP's chunked coding, in one write. */
export async function sendChunk(wire: Wire, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length === 0) return wire.isOpen;
  return wire.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]));
}

/** Ends a chunked answer as `how` says; resolves true when it is whole for HTTP. */
export async function stop(wire: Wire, how: StreamCut["how"], waitMs = BEFORE_RESET_MS): Promise<boolean> {
  if (how === "end") return wire.write(LAST_CHUNK);
  if (how === "fin") wire.end();
  else {
    await wire.wait(waitMs);
    wire.reset();
  }
  return false;
}

/** A cut inside UTF-8 needs a frame that has a character of several bytes: the first one from `cut.frame` on. */
function cutFrame(frames: readonly string[], cut: StreamCut): number {
  if (cut.inside !== "utf8") return cut.frame;
  const found = frames.findIndex((frame, index) => index >= cut.frame && multiByte(frame) >= 0);
  if (found < 0) throw new Error("no frame to cut inside UTF-8: the text is ASCII");
  return found;
}

function cutOffset(frame: string, cut: StreamCut): number {
  if (cut.inside === "border") return 0;
  if (cut.inside === "json") return Buffer.byteLength(frame.slice(0, Math.floor(frame.length / 2)));
  return Buffer.byteLength(frame.slice(0, multiByte(frame))) + 1;
}

function multiByte(text: string): number {
  return text.search(/[\u0080-\u{10FFFF}]/u);
}

function streamHead(headers: Headers): Buffer {
  return httpHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
    ...headers,
  });
}

function httpHead(status: number, headers: Headers): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${status < 300 ? "OK" : "Status"}\r\n${lines.join("")}\r\n`);
}
