/** Puts the frames of one streamed answer on the wire: pace, silence, cuts, drips, streams without end. */
import type { Wire } from "../raw-server.ts";
import type { ChatBehaviour, StreamCut } from "./behaviour.ts";
import type { ChatRequestBody } from "./check-request.ts";
import { encodeFrame, encodeFrames } from "./sse-frames.ts";
import type { Answer } from "./wire-format.ts";
import { chunkTexts, contentChunk } from "./wire-format.ts";

/** Time for the other side to read what was sent, since a reset may discard it. */
export const BEFORE_RESET_MS = 20;

/** Resolves true when the answer went out whole, as the behaviour means it; the head was sent before. */
export async function playStream(
  behaviour: ChatBehaviour,
  request: ChatRequestBody,
  answer: Answer,
  wire: Wire,
): Promise<boolean> {
  const frames = encodeFrames(behaviour, chunkTexts(behaviour, request, answer));
  const { cut, silence, intervalMs = 0 } = behaviour;
  const cutAt = cut === undefined ? -1 : cutFrame(frames, cut);
  for (const [index, frame] of frames.entries()) {
    if (index === silence?.beforeFrame && !(await wire.wait(silence.ms))) return false;
    if (cut !== undefined && index === cutAt) {
      await sendPieces(wire, Buffer.from(frame).subarray(0, cutOffset(frame, cut)), behaviour);
      return stop(wire, cut.how);
    }
    if (behaviour.endless && index === 2) await sendForEver(behaviour, answer, wire);
    if (!(await sendPieces(wire, Buffer.from(frame), behaviour))) return false;
    if (intervalMs > 0 && behaviour.splitBytes === undefined && !(await wire.wait(intervalMs))) return false;
  }
  if (cut !== undefined) return stop(wire, cut.how);
  return wire.write("0\r\n\r\n");
}

/** Only the client ends this one. */
async function sendForEver(behaviour: ChatBehaviour, answer: Answer, wire: Wire): Promise<void> {
  const frame = Buffer.from(encodeFrame(behaviour, contentChunk(answer, " more")));
  while (await sendPieces(wire, frame, behaviour)) {
    // At least one turn of the event loop, or a fast reader would keep the test's own process from running.
    await wire.wait(Math.max(1, behaviour.intervalMs ?? 0));
  }
}

async function sendPieces(
  wire: Wire,
  bytes: Uint8Array,
  { splitBytes, intervalMs = 0 }: ChatBehaviour,
): Promise<boolean> {
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
