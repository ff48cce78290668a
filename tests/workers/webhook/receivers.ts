/** Receivers on this machine, and what attempts to reach them take. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";

import type { ChannelType } from "#shared/notifications/channel-config.ts";
import type { Resolve } from "#shared/net/fetch.ts";
import { allow, listen } from "#tests/shared/net/servers.ts";
import type { OpenChannel, Outgoing, SendContext } from "#workers/webhook/channel.ts";
import type { Mailer } from "#workers/webhook/mailer.ts";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  /** Those that came whole. */
  readonly requests: readonly Request[];
  url(path?: string, host?: string): string;
  close(): void;
}

/** Answers each request once it has come whole. The process may reach it until `allow()`. */
export async function receive(
  answer: (response: ServerResponse, request: Request) => void,
  host = "127.0.0.1",
  port = 0,
): Promise<Receiver> {
  const requests: Request[] = [];
  const server = await listen(
    (incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const { method = "", url: path = "", headers, rawHeaders } = incoming;
        const request = { method, path, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
        requests.push(request);
        answer(response, request);
      });
    },
    host,
    port,
  );
  allow("127.0.0.1");
  return {
    port: server.port,
    requests,
    url: (path = "/", name = host) => server.url(path, name),
    close: () => server.close(),
  };
}

export function channelOf(
  type: ChannelType,
  secrets: Readonly<Record<string, string>>,
  config: Readonly<Record<string, string>> = {},
): OpenChannel {
  return { id: "c0ffee00-0000-4000-8000-000000000001", type, name: "Operations", config, secrets };
}

export function outgoing(changes: Partial<Outgoing> = {}): Outgoing {
  const { event, deliveryId, workspaceId, occurredAt, metadata } = {
    event: "run.succeeded",
    deliveryId: "de11ce00-0000-4000-8000-000000000002",
    workspaceId: "a1b2c300-0000-4000-8000-000000000003",
    occurredAt: new Date("2026-11-24T09:00:00.000Z"),
    metadata: { runId: "4d1f7000-0000-4000-8000-000000000004", name: "Zürich 🙂" },
    ...changes,
  };
  const body = JSON.stringify({ event, deliveryId, workspaceId, occurredAt, metadata });
  return { event, deliveryId, workspaceId, occurredAt, metadata, body, attempt: changes.attempt ?? 1 };
}

export function contextOf(mailer?: Mailer, signal: AbortSignal = new AbortController().signal): SendContext {
  return { signal, mailer };
}

/** Names that lead where the test says. */
export function names(table: Readonly<Record<string, readonly string[]>>): Resolve {
  return (host) => Promise.resolve((table[host] ?? []).map((address) => ({ address, family: 4 })));
}
