/**
 * The cheapest upstream of the load runs: constant OpenAI answers over a raw socket after a fixed delay, in a process
 * of its own. `POST /control` changes its pace, so that one process serves every round. With the files of a key and a
 * certificate as arguments it serves TLS.
 */
import { readFileSync } from "node:fs";

import type { RawRequest } from "../providers/raw-request.ts";
import type { RawServer, RawServerOptions, Wire } from "../providers/raw-server.ts";
import { startRawServer } from "../providers/raw-server.ts";

export interface Pace {
  /** Before the answer, or before its first content. */
  readonly delayMs: number;
  /** Content chunks of a stream. */
  readonly chunks: number;
  /** Between two chunks. */
  readonly intervalMs: number;
}

export const UPSTREAM_USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 } as const;

const HEAD = { id: "chatcmpl-load", created: 1_770_933_892, model: "load-upstream" };
const WORDS = "The quick brown fox jumps over the lazy dog while the five boxing wizards watch it from the old gate ";

const PLAIN = JSON.stringify({
  ...HEAD,
  object: "chat.completion",
  choices: [
    { index: 0, message: { role: "assistant", content: WORDS, refusal: null }, logprobs: null, finish_reason: "stop" },
  ],
  usage: UPSTREAM_USAGE,
});
const PLAIN_ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_load\r\ncontent-length: ${PLAIN.length}\r\n\r\n${PLAIN}`,
);
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_load\r\ntransfer-encoding: chunked\r\n\r\n";
const FIRST = Buffer.from(STREAM_HEAD + frame({ role: "assistant", content: "" }) + frame({ content: "The" }));
const NEXT = Buffer.from(frame({ content: " quick" }));
const LAST = Buffer.from(
  frame({}, "stop") +
    event({ ...chunk(), choices: [], usage: UPSTREAM_USAGE }) +
    encode("data: [DONE]\n\n") +
    "0\r\n\r\n",
);

/** Serves on a free port of 127.0.0.1: HTTPS with `tls`, else plain HTTP. */
export function startUpstream({ tls }: Pick<RawServerOptions, "tls"> = {}): Pick<RawServer, "port" | "close"> {
  let pace: Pace = { delayMs: 0, chunks: 20, intervalMs: 0 };
  const handle = async (request: RawRequest, wire: Wire): Promise<void> => {
    if (request.target === "/control") {
      pace = JSON.parse(request.body.toString()) as Pace;
      await wire.write("HTTP/1.1 204 No Content\r\n\r\n");
    } else if (request.body.includes('"stream":true')) await stream(wire, pace);
    else {
      if (pace.delayMs > 0) await wire.wait(pace.delayMs);
      await wire.write(PLAIN_ANSWER);
    }
  };
  return startRawServer(handle, (fault) => process.stderr.write(`upstream: ${String(fault)}\n`), { tls });
}

async function stream(wire: Wire, { delayMs, chunks, intervalMs }: Pace): Promise<void> {
  if (delayMs > 0) await wire.wait(delayMs);
  await wire.write(FIRST);
  if (intervalMs === 0) {
    // Two writes in all: without a pace the packets of a real provider would arrive joined as well.
    await wire.write(Buffer.concat([...Array.from({ length: chunks - 1 }, () => NEXT), LAST]));
    return;
  }
  for (let sent = 1; sent < chunks; sent += 1) {
    if (!(await wire.wait(intervalMs))) return;
    await wire.write(NEXT);
  }
  await wire.write(LAST);
}

function chunk(): Record<string, unknown> {
  return { ...HEAD, object: "chat.completion.chunk" };
}

function frame(delta: Record<string, unknown>, finish_reason: string | null = null): string {
  return event({ ...chunk(), choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
}

function event(value: Record<string, unknown>): string {
  return encode(`data: ${JSON.stringify(value)}\n\n`);
}

function encode(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

if (import.meta.main) {
  const [, , keyFile, certFile] = process.argv;
  const hasTls = keyFile !== undefined && certFile !== undefined;
  const tls = hasTls ? { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") } : undefined;
  const { port } = startUpstream({ tls });
  process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`);
}
