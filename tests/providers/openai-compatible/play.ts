/** Plays a behaviour on a connection: picks the kind and writes heads and plain bodies. */
import { gzipSync } from "node:zlib";

import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import type { Behaviour, ChatBehaviour, HugeBehaviour, ReplyBehaviour, ResetBehaviour } from "./behaviour.ts";
import type { ChatRequestBody } from "./check-request.ts";
import { BEFORE_RESET_MS, playStream, sendChunk } from "./play-stream.ts";
import { completionText, composeAnswer } from "./wire-format.ts";

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  302: "Found",
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
const HUGE_BLOCK = Buffer.alloc(64 * 1024, "a");

export interface PlayedCall {
  readonly raw: RawRequest;
  readonly request: ChatRequestBody;
  /** Makes ids distinct within one server. */
  readonly sequence: number;
}

/** Resolves true when the answer went out whole; false when either side ended the connection first. */
export async function play(behaviour: Behaviour, call: PlayedCall, wire: Wire): Promise<boolean> {
  switch (behaviour.kind) {
    case "reply":
      return playReply(behaviour, call.sequence, wire);
    case "huge":
      return playHuge(behaviour, call, wire);
    case "hang":
      if (behaviour.after === "head") await wire.write(streamHead(call.sequence));
      return wire.wait(Infinity);
    case "reset":
      return playReset(behaviour, call.sequence, wire);
    case "custom":
      await behaviour.play(call.raw, wire);
      return wire.isOpen;
    default:
      return playChat(behaviour, call, wire);
  }
}

async function playReset({ after }: ResetBehaviour, sequence: number, wire: Wire): Promise<boolean> {
  if (after === "head") {
    await wire.write(streamHead(sequence));
    await wire.wait(BEFORE_RESET_MS);
  }
  wire.reset();
  return false;
}

async function playChat(behaviour: ChatBehaviour, { request, sequence }: PlayedCall, wire: Wire): Promise<boolean> {
  if (!(await wire.wait(behaviour.delayMs ?? 0))) return false;
  const answer = composeAnswer(behaviour, request, sequence);
  if (request.stream === true) {
    return (await wire.write(streamHead(sequence))) && playStream(behaviour, request, answer, wire);
  }
  const reply = {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: completionText(behaviour, request, answer),
  } as const;
  return playReply(reply, sequence, wire);
}

async function playReply(reply: ReplyBehaviour, sequence: number, wire: Wire): Promise<boolean> {
  if (!(await wire.wait(reply.delayMs ?? 0))) return false;
  const body = Buffer.from(reply.body);
  const head = httpHead(reply.status, sequence, { ...reply.headers, "content-length": String(body.length) });
  if (reply.cut === undefined) return wire.write(Buffer.concat([head, body]));
  await wire.write(Buffer.concat([head, body.subarray(0, reply.cut.afterBytes)]));
  if (reply.cut.how === "fin") wire.end();
  else {
    await wire.wait(BEFORE_RESET_MS);
    wire.reset();
  }
  return false;
}

/** A JSON string, or the data of one event, that does not end before `bytes`. Written block by block as the client reads. */
async function playHuge(
  { bytes, gzip }: HugeBehaviour,
  { request, sequence }: PlayedCall,
  wire: Wire,
): Promise<boolean> {
  const type = request.stream === true ? "text/event-stream; charset=utf-8" : "application/json";
  const prefix = `${request.stream === true ? "data: " : ""}{"id":"chatcmpl-huge","choices":[{"index":0,"message":{"role":"assistant","content":"`;
  if (gzip) {
    const body = gzipSync(Buffer.concat([Buffer.from(prefix), Buffer.alloc(bytes, "a"), Buffer.from('"}}]}')]));
    const headers = { "content-type": type, "content-encoding": "gzip", "content-length": String(body.length) };
    return (await wire.write(httpHead(200, sequence, headers))) && wire.write(body);
  }
  await wire.write(httpHead(200, sequence, { "content-type": type, "transfer-encoding": "chunked" }));
  let open = await sendChunk(wire, Buffer.from(prefix));
  for (let sent = 0; open && sent < bytes; sent += HUGE_BLOCK.length) {
    open = await sendChunk(wire, HUGE_BLOCK);
    // The other side may live in this process and needs its turns.
    if (sent % (16 * HUGE_BLOCK.length) === 0) await wire.wait(1);
  }
  return open && (await sendChunk(wire, Buffer.from('"}}]}'))) && wire.write("0\r\n\r\n");
}

function streamHead(sequence: number): Buffer {
  return httpHead(200, sequence, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
  });
}

function httpHead(status: number, sequence: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries({ "x-request-id": `req_mock${sequence}`, "openai-processing-ms": "1", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(`HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}\r\n${lines.join("")}\r\n`);
}
