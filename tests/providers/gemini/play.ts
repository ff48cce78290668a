/** Plays a behaviour on a connection. */
import type { ReplyBehaviour } from "../openai-compatible/behaviour.ts";
import { BEFORE_RESET_MS, sendChunk } from "../openai-compatible/play-stream.ts";
import { encodeFrame } from "../openai-compatible/sse-frames.ts";
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import type { Behaviour, ChatBehaviour } from "./behaviour.ts";
import type { EmbedBody, GenerateBody } from "./check-request.ts";
import { checkSignatures } from "./check-request.ts";
import { errorBody, invalidArgument } from "./errors.ts";
import { imageText, isImageCall } from "./images.ts";
import { answerText, embeddingsText, eventTexts } from "./wire-format.ts";

export interface PlayedCall {
  readonly raw: RawRequest;
  readonly model: string;
  readonly method: "generateContent" | "streamGenerateContent" | "embedContent" | "batchEmbedContents";
  readonly body: unknown;
  readonly sequence: number;
}

const JSON_TYPE = { "content-type": "application/json; charset=UTF-8" };

/** Resolves true when the answer went out whole; false when either side ended the connection first. */
export async function play(behaviour: Behaviour, call: PlayedCall, wire: Wire): Promise<boolean> {
  switch (behaviour.kind) {
    case "reply":
      return playReply(behaviour, wire);
    case "hang":
      if (behaviour.after === "head") await wire.write(streamHead());
      return wire.wait(Infinity);
    case "reset":
      if (behaviour.after === "head") {
        await wire.write(streamHead());
        await wire.wait(BEFORE_RESET_MS);
      }
      wire.reset();
      return false;
    case "custom":
      await behaviour.play(call.raw, wire);
      return wire.isOpen;
    default:
      return playAnswer(behaviour, call, wire);
  }
}

async function playAnswer(behaviour: ChatBehaviour, call: PlayedCall, wire: Wire): Promise<boolean> {
  if (!(await wire.wait(behaviour.delayMs ?? 0))) return false;
  const { method, model, sequence } = call;
  if (method === "embedContent" || method === "batchEmbedContents") {
    const isBatch = method === "batchEmbedContents";
    const requests = isBatch ? (call.body as { requests: EmbedBody[] }).requests : [call.body as EmbedBody];
    const body = embeddingsText(behaviour, requests, isBatch);
    return playReply({ kind: "reply", status: 200, headers: JSON_TYPE, body }, wire);
  }
  const body = call.body as GenerateBody;
  const fault = behaviour.needsSignatures ? checkSignatures(body) : null;
  if (fault !== null) return playReply(invalidArgument(fault), wire);
  if (method === "generateContent") {
    const text = (isImageCall(body) ? imageText : answerText)(behaviour, body, model, sequence);
    return playReply({ kind: "reply", status: 200, headers: JSON_TYPE, body: text }, wire);
  }
  return (await wire.write(streamHead())) && playStream(behaviour, eventTexts(behaviour, body, model, sequence), wire);
}

/** Google ends its lines with CRLF, and the stream with the connection's chunk of no length. */
async function playStream(behaviour: ChatBehaviour, texts: readonly string[], wire: Wire): Promise<boolean> {
  const dialect = { eol: "\r\n", ...behaviour } as const;
  const { cut, silence, errorFrame, malformedFrame, intervalMs = 0 } = behaviour;
  for (const [index, text] of texts.entries()) {
    if (index === silence?.beforeFrame && !(await wire.wait(silence.ms))) return false;
    const frame = encodeFrame(dialect, index === errorFrame ? errorBody("unavailable") : text);
    if (index === cut?.frame) {
      const bytes = Buffer.from(frame);
      if (cut.inside !== "border") await sendChunk(wire, bytes.subarray(0, bytes.length / 2));
      return stop(cut.how, wire);
    }
    if (index === malformedFrame) await sendChunk(wire, Buffer.from('data: {"candidates":[{\r\n\r\n'));
    if (!(await sendPieces(wire, Buffer.from(frame), behaviour))) return false;
    if (index === errorFrame) break;
    if (behaviour.endless && index === 1) return sendForEver(Buffer.from(frame), wire);
    if (intervalMs > 0 && !(await wire.wait(intervalMs))) return false;
  }
  return wire.write("0\r\n\r\n");
}

/** Only the client ends this one. */
async function sendForEver(frame: Buffer, wire: Wire): Promise<boolean> {
  // At least one turn of the event loop, or a fast reader would keep the test's own process from running.
  while ((await sendChunk(wire, frame)) && (await wire.wait(1)));
  return false;
}

async function sendPieces(wire: Wire, bytes: Buffer, { splitBytes = bytes.length }: ChatBehaviour): Promise<boolean> {
  for (let at = 0; at < bytes.length; at += splitBytes) {
    if (!(await sendChunk(wire, bytes.subarray(at, at + splitBytes)))) return false;
  }
  return wire.isOpen;
}

async function stop(how: "end" | "fin" | "rst", wire: Wire): Promise<boolean> {
  if (how === "end") return wire.write("0\r\n\r\n");
  if (how === "fin") wire.end();
  else {
    await wire.wait(BEFORE_RESET_MS);
    wire.reset();
  }
  return false;
}

async function playReply(reply: ReplyBehaviour, wire: Wire): Promise<boolean> {
  if (!(await wire.wait(reply.delayMs ?? 0))) return false;
  const body = Buffer.from(reply.body);
  const head = httpHead(reply.status, { ...reply.headers, "content-length": String(body.length) });
  if (reply.cut === undefined) return wire.write(Buffer.concat([head, body]));
  await wire.write(Buffer.concat([head, body.subarray(0, reply.cut.afterBytes)]));
  return stop(reply.cut.how, wire);
}

function streamHead(): Buffer {
  return httpHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" });
}

function httpHead(status: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries({ vary: "Origin", server: "scaffolding on HTTPServer2", ...headers });
  return Buffer.from(
    `HTTP/1.1 ${status} Status\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
  );
}
