/** The page on webhooks: its events, limits, calls and test vectors are those in force. */
import { afterAll, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import components from "#schemas/generated/components.json" with { type: "json" };
import type { ChannelCreateRequest } from "#schemas/generated/types.ts";
import { SETTINGS } from "#shared/config/settings.ts";
import { validate } from "#shared/json/contracts.ts";
import { EVENTS } from "#shared/events/events.ts";
import {
  CHANNEL_TYPES,
  type ChannelConfig,
  mergeChannelConfig,
  newChannelConfig,
} from "#shared/notifications/channel-config.ts";
import { envelopeText } from "#shared/notifications/envelope.ts";
import { ATTEMPTS_MAX, RETRY_DELAYS_MS } from "#shared/notifications/schedule.ts";
import { paced } from "#shared/config/pace.ts";
import { signatureHeaders } from "#shared/secrets/signature.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { ATTEMPT_MS } from "#workers/webhook/post.ts";
import { CHANNEL_FAILING_MS, CHANNEL_OPEN_MS } from "#workers/webhook/attempt.ts";
import { PREVIOUS_SECRET_MS, RECOVER_DAYS_MAX, RECOVER_MAX } from "#ingress/routes/settings/notification-channels.ts";

import { blocks, code, PAGE, table } from "./notifications-page.ts";

const text = PAGE.replaceAll("\n", " ");

test("the page lists every event, with its description and the members of its metadata", () => {
  type Form = { title: string; properties: object; required: string[]; oneOf?: { $ref: string }[] };
  const schemas = components.schemas as unknown as Readonly<Record<string, Form>>;
  const form = (name: string): Form => {
    const found = schemas[name];
    if (!found) throw new Error(`there is no schema ${name}`);
    return found;
  };
  const membersOf = ({ properties, required }: Form): string =>
    Object.keys(properties)
      .map((member) => `\`${member}${required.includes(member) ? "" : "?"}\``)
      .join(", ");
  const rows = Object.entries(EVENTS).map(([name, { description, metadata }]) => {
    const { oneOf, ...plain } = form(metadata);
    // `JobFailedOfBatch`: the form of a batch.
    const forms = oneOf?.map(({ $ref }) => form($ref.split("/").at(-1) ?? ""));
    const members = forms?.map((one) => `a ${one.title.split("Of").at(-1)?.toLowerCase()}: ${membersOf(one)}`);
    return [`\`${name}\``, description, members?.join("; ") ?? membersOf(plain)];
  });
  expect(table("Event", "When", "`metadata`")).toEqual(rows);
});

test("its envelope is valid by the schema of the event", () => {
  const [example = ""] = blocks("json");
  const { event, deliveryId, workspaceId, occurredAt, metadata } = JSON.parse(example) as Record<string, string> & {
    metadata: Record<string, unknown>;
  };
  const made = envelopeText({
    event: event ?? "",
    deliveryId: deliveryId ?? "",
    workspaceId: workspaceId ?? "",
    occurredAt: new Date(occurredAt ?? ""),
    metadata,
  });
  expect(made).toBe(JSON.stringify(JSON.parse(example)));
  expect(validate("RunSucceeded", metadata)).toBeNull();
});

test("the page states the limits in force", () => {
  const real = (ms: number): number => (ms * 1_000_000) / paced(1_000_000);
  const delays = RETRY_DELAYS_MS.map((ms) => lengthOf(real(ms)));
  const said = [
    `${ATTEMPTS_MAX === 8 ? "Eight" : ATTEMPTS_MAX} attempts: at once, then ${delays.slice(0, -1).join(", ")} and ${delays.at(-1)} after`,
    `any 2xx within ${lengthOf(real(ATTEMPT_MS))}`,
    `failed for ${CHANNEL_FAILING_MS / 86_400_000 === 5 ? "five" : "?"} days`,
    `nothing goes to the channel for ${lengthOf(real(CHANNEL_OPEN_MS))}`,
    `up ${lengthOf(real(CHANNEL_OPEN_MS) * 20) === "10 min" ? "to ten minutes" : "?"} at most`,
    `of the last ${RECOVER_DAYS_MAX} days`,
    `at most ${RECOVER_MAX.toLocaleString("en")} at once`,
    `for ${SETTINGS.deliveryRetentionDays.usual} days after their end`,
    `of each secret for ${PREVIOUS_SECRET_MS === 86_400_000 ? "a day" : "?"}`,
  ];
  expect(said.filter((one) => !text.includes(one))).toEqual([]);
});

function lengthOf(ms: number): string {
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
}

describe("its test vectors", () => {
  test("are valid with our signatures", () => {
    const rows = table("Secret", "Body", "`x-webhook-signature`").map((row) => row.map(code));
    expect(rows.length).toBeGreaterThan(2);
    for (const [secret = "", body = "", hex] of rows) {
      expect(signatureHeaders({ secret, id: "x", timestamp: 1, body })["x-webhook-signature"]).toBe(hex as string);
    }
  });

  test("are valid Standard Webhooks vectors", () => {
    const titles = ["Secret", "`webhook-id`", "`webhook-timestamp`", "Body", "`webhook-signature`"];
    const rows = table(...titles).map((row) => row.map(code));
    expect(rows.length).toBeGreaterThan(1);
    for (const [secret = "", id = "", timestamp, body = "", signature] of rows) {
      const headers = signatureHeaders({ secret, id, timestamp: Number(timestamp), body });
      expect(headers["webhook-signature"]).toBe(signature as string);
    }
  });
});

describe("its calls", () => {
  const fake = fakeContext();
  const app = createApp(fake.context);
  afterAll(() => fake.close());
  const calls = blocks("sh").filter((block) => block.includes("curl"));

  test("use existing paths, with bodies that are accepted", async () => {
    const sent = await Promise.all(calls.map(made));
    for (const { method, path, body } of sent) {
      // 404 for a path and 405 for a method that there is not.
      const { status } = await app.handle(new Request(`http://localhost${path}`, { method }));
      expect([method, path, status]).toEqual([method, path, 401]);
      expect(validate(schemaOf(method, path), body)).toBeNull();
    }
    expect(
      sent
        .map(({ body }) => body.type)
        .filter(Boolean)
        .toSorted(),
    ).toEqual([...CHANNEL_TYPES]);
  });

  test("and the paths in its sentences exist", async () => {
    const named = [...text.matchAll(/`(GET|POST|PATCH) …(\/[^`]+)`/g)];
    expect(named.length).toBeGreaterThan(6);
    for (const [, method = "", path = ""] of named) {
      const { status } = await app.handle(new Request(`http://localhost/workspaces/one${path}`, { method }));
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });

  test("create channels; a channel with only the URL changed loses its authentication", async () => {
    const sent = await Promise.all(calls.map(made));
    const channels = sent.map(({ body }) => body).filter(({ type }) => type);
    const stored = new Map<string, ChannelConfig>(
      channels.map(({ type, config }) => [type, newChannelConfig(type, config)]),
    );
    const webhook = stored.get("webhook");
    if (webhook === undefined) throw new Error("the page makes no webhook");
    const [alone, meant] = sent
      .filter(({ method }) => method === "PATCH")
      .map(({ body }) => mergeChannelConfig("webhook", webhook, body.config));
    for (const changed of [alone, meant]) {
      expect(changed?.secrets).toEqual({ url: "https://example.com/moved", authToken: "a-token-of-yours" });
    }
    expect([alone?.config["authType"], meant?.config["authType"]]).toEqual([undefined, "bearer"]);
  });
});

function schemaOf(method: string, path: string) {
  if (path.endsWith("/subscriptions")) return "SubscriptionCreateRequest" as const;
  return method === "PATCH" ? ("ChannelUpdateRequest" as const) : ("ChannelCreateRequest" as const);
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: ChannelCreateRequest;
}

/** Runs a call as it stands, but for the address, and returns what it sends. */
async function made(call: string): Promise<Sent> {
  const { promise, resolve } = Promise.withResolvers<Sent>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      expect(request.headers.get("authorization")).toBe("Bearer a-key");
      const body = (await request.json()) as ChannelCreateRequest;
      resolve({ method: request.method, path: new URL(request.url).pathname, body });
      return new Response("");
    },
  });
  try {
    const id = "0193a5b0-7c1e-7000-8000-000000000002";
    const child = Bun.spawn(["bash", "-c", call.replaceAll(":8080", `:${server.port}`)], {
      env: { ...process.env, SLUICE_KEY: "a-key", WORKSPACE: id, CHANNEL: id },
    });
    expect(await child.exited).toBe(0);
    return await promise;
  } finally {
    await server.stop(true);
  }
}
