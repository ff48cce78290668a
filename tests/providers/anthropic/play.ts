/** Plays a behaviour on a connection: heads, plain bodies, and the frames of a stream with their pace and their cuts. */
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import type { Behaviour, MessageBehaviour, ReplyBehaviour, StreamCut } from "./behaviour.ts";
import type { MessagesBody } from "./check-request.ts";
import { compose, type Composed } from "./compose.ts";
import { errorBody } from "./errors.ts";

/** Time for the other side to read what was sent, since a reset may discard it. */
const BEFORE_RESET_MS = 20;

const BOM = "\uFEFF";

export interface PlayedCall {
  readonly raw: RawRequest;
  readonly request: MessagesBody;
  /** Makes ids distinct within one server. */
  readonly sequence: number;
}

/** Resolves true when the answer went out whole; false when either side ended the connection first. */
export async function play(behaviour: Behaviour, call: PlayedCall, wire: Wire): Promise<boolean> {
  switch (behaviour.kind) {
    case "reply":
      return playReply(behaviour, call.sequence, wire);
    case "hang":
      if (behaviour.after === "head") await wire.write(streamHead(call.sequence));
      return wire.wait(Infinity);
    case "reset":
      if (behaviour.after === "head") await wire.write(streamHead(call.sequence));
      return stop(wire, "rst");
    case "custom":
      await behaviour.play(call.raw, wire);
      return wire.isOpen;
    default:
      return playMessage(behaviour, call, wire);
  }
}

async function playMessage(behaviour: MessageBehaviour, call: PlayedCall, wire: Wire): Promise<boolean> {
  if (!(await wire.wait(behaviour.delayMs ?? 0))) return false;
  const composed = compose(behaviour, call.request, call.sequence);
  if (call.request.stream === true) {
    return (
      (await wire.write(streamHead(call.sequence))) && playFrames(behaviour, encodeFrames(behaviour, composed), wire)
    );
  }
  const headers = { "content-type": "application/json" };
  return playReply({ kind: "reply", status: 200, headers, body: composed.body }, call.sequence, wire);
}

async function playReply(reply: ReplyBehaviour, sequence: number, wire: Wire): Promise<boolean> {
  if (!(await wire.wait(reply.delayMs ?? 0))) return false;
  const body = Buffer.from(reply.body);
  const head = httpHead(reply.status, sequence, { ...reply.headers, "content-length": String(body.length) });
  if (reply.cutAfterBytes === undefined) return wire.write(Buffer.concat([head, body]));
  await wire.write(Buffer.concat([head, body.subarray(0, reply.cutAfterBytes)]));
  return stop(wire, "fin");
}

/** The frames of a whole stream in sending order. */
export function encodeFrames(behaviour: MessageBehaviour, { events, otherStart }: Composed): string[] {
  const eol = behaviour.eol ?? "\n";
  const { errorFrame, startAgain } = behaviour;
  const whole = behaviour.omitMessageStop ? events.slice(0, -1) : events;
  const texts = errorFrame === undefined ? whole : [...whole.slice(0, errorFrame), errorBody("overloaded")];
  const frames = texts.flatMap((text, index) => {
    const again = startAgain?.as === "other" ? otherStart : (texts[0] ?? "");
    return [
      ...(behaviour.foreignEvents
        ? [`: note${eol}${eol}event: novelty${eol}data: {"type":"novelty"}${eol}${eol}`]
        : []),
      ...(index === behaviour.malformedFrame ? [`event: content_block_delta${eol}data: {"type":"con${eol}${eol}`] : []),
      frameOf(text, eol),
      ...(index === startAgain?.afterFrame ? [frameOf(again, eol)] : []),
    ];
  });
  if (behaviour.bom) frames[0] = BOM + (frames[0] ?? "");
  return frames;
}

/** One event: its name is its type, and its data one line. */
export function frameOf(data: string, eol = "\n"): string {
  const { type } = JSON.parse(data) as { type: string };
  return `event: ${type}${eol}data: ${data}${eol}${eol}`;
}

async function playFrames(behaviour: MessageBehaviour, frames: readonly string[], wire: Wire): Promise<boolean> {
  const { cut, silence, intervalMs = 0 } = behaviour;
  const cutAt = cut === undefined ? -1 : cutFrame(frames, cut);
  for (const [index, frame] of frames.entries()) {
    if (index === silence?.beforeFrame && !(await wire.wait(silence.ms))) return false;
    if (cut !== undefined && index === cutAt) {
      await sendPieces(wire, Buffer.from(frame).subarray(0, cutOffset(frame, cut)), behaviour);
      return stop(wire, cut.how);
    }
    if (!(await sendPieces(wire, Buffer.from(frame), behaviour))) return false;
    if (intervalMs > 0 && behaviour.splitBytes === undefined && !(await wire.wait(intervalMs))) return false;
  }
  return wire.write("0\r\n\r\n");
}

async function sendPieces(
  wire: Wire,
  bytes: Uint8Array,
  { splitBytes, intervalMs = 0 }: MessageBehaviour,
): Promise<boolean> {
  const size = splitBytes ?? Math.max(1, bytes.length);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    const chunk = [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")];
    if (!(await wire.write(Buffer.concat(chunk)))) return false;
    if (splitBytes !== undefined && !(await wire.wait(intervalMs))) return false;
  }
  return wire.isOpen;
}

async function stop(wire: Wire, how: StreamCut["how"]): Promise<boolean> {
  if (how === "end") return wire.write("0\r\n\r\n");
  if (how === "fin") wire.end();
  else {
    await wire.wait(BEFORE_RESET_MS);
    wire.reset();
  }
  return false;
}

/** A cut inside UTF-8 needs a frame that has a character of several bytes: the first one from `cut.frame` on. */
function cutFrame(frames: readonly string[], cut: StreamCut): number {
  if (cut.inside !== "utf8") return cut.frame;
  return frames.findIndex((frame, index) => index >= cut.frame && multiByte(frame) >= 0);
}

function cutOffset(frame: string, cut: StreamCut): number {
  if (cut.inside === "border") return 0;
  if (cut.inside === "json") return Buffer.byteLength(frame.slice(0, Math.floor(frame.length / 2)));
  return Buffer.byteLength(frame.slice(0, multiByte(frame))) + 1;
}

function multiByte(text: string): number {
  return text.search(/[\u0080-\u{10FFFF}]/u);
}

function streamHead(sequence: number): Buffer {
  return httpHead(200, sequence, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
  });
}

function httpHead(status: number, sequence: number, headers: Readonly<Record<string, string>>): Buffer {
  const all = { "request-id": `req_mock${sequence}`, "anthropic-organization-id": "org_mock", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${status < 300 ? "OK" : "Status"}\r\n${lines.join("")}\r\n`);
}
