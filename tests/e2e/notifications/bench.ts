/** Shared parts of notification tests: a service with a worker that sends them, receivers, and calls of a workspace's people. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Channel, Delivery } from "#schemas/generated/types.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startStack, type Stack, type StackOptions } from "#tests/support/stack.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Makes its answers from now on. */
  answer: (received: Received) => { status: number; headers?: Record<string, string>; body?: string } | "hang";
  /** The first request that it gets, or has got, of which this is true. */
  wait(is: (received: Received) => boolean): Promise<Received>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(pieces).toString() };
      received.push(one);
      const answer = receiver.answer(one);
      if (answer === "hang") return;
      response.writeHead(answer.status, answer.headers).end(answer.body ?? "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: () => ({ status: 200, body: "ok" }),
    wait: (is) => eventually("the receiver gets it", () => received.find(is)),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}

export interface Answered<T> {
  readonly status: number;
  readonly body: T;
}

export interface NotificationsBench {
  readonly stack: Stack;
  readonly workspaceId: string;
  /** Under the workspace's settings. */
  call<T = Record<string, unknown>>(method: string, path: string, body?: unknown, key?: string): Promise<Answered<T>>;
  /** A webhook channel, and its signing secret. */
  channel(url: string, more?: object): Promise<Channel & { signingSecret: string }>;
  subscribe(channelId: string, event: string, more?: object): Promise<void>;
  /** A test is sent; the delivery as it ended. */
  sendTest(channelId: string): Promise<Delivery>;
  ended(deliveryId: string): Promise<Delivery>;
  close(): Promise<void>;
}

export async function startNotifications(options: StackOptions = {}): Promise<NotificationsBench> {
  const stack = await startStack({
    pools: ["chat", "workflow", "webhook"],
    ...options,
    env: { SLUICE_OUTBOUND_ALLOW: "127.0.0.1", SLUICE_WORKER_SLOTS: "64", ...options.env },
  });
  return notificationsOf(stack);
}

/** A bench of the stack's first workspace. */
export async function notificationsOf(stack: Stack): Promise<NotificationsBench> {
  const [row] = await stack.query<{ id: string }>("select id from workspace where name = 'default'");
  const workspaceId = row?.id ?? "";
  const call: NotificationsBench["call"] = async (method: string, path: string, body?: unknown, key = stack.key) => {
    const answer = await fetch(`${stack.baseUrls[0]}/workspaces/${workspaceId}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };
  let channels = 0;
  const ended = (id: string): Promise<Delivery> =>
    eventually(
      "the delivery ends",
      async () => {
        const { body } = await call<Delivery>("GET", `/deliveries/${id}`);
        return body.status === "pending" ? undefined : body;
      },
      40_000,
    );
  return {
    stack,
    workspaceId,
    call,
    async channel(url, more = {}) {
      channels += 1;
      const asked = { type: "webhook", name: `hook ${channels}`, config: { url }, ...more };
      const { status, body } = await call<Channel & { signingSecret: string }>("POST", "/notification-channels", asked);
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body;
    },
    async subscribe(channelId, event, more = {}) {
      const path = `/notification-channels/${channelId}/subscriptions`;
      const { status, body } = await call("POST", path, { event, ...more });
      if (status !== 201) throw new Error(JSON.stringify(body));
    },
    async sendTest(channelId) {
      const { status, body } = await call<{ deliveryId: string }>("POST", `/notification-channels/${channelId}/test`);
      if (status !== 202) throw new Error(JSON.stringify(body));
      return ended(body.deliveryId);
    },
    ended,
    close: () => stack.stop(),
  };
}
