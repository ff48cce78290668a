/** No credential of a channel, and no key, leaves the place that it is kept in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import type { ApiKey, Channel, Delivery, SigningSecret } from "#schemas/generated/types.ts";
import { refusal, postbox, type Postbox } from "#tests/workers/webhook/smtp.ts";

import { type NotificationsBench, type Receiver, startNotifications, startReceiver } from "./bench.ts";
import { bucketText, queueText } from "./kept.ts";

/** Letters and digits alone, so that no encoding of a text changes it. */
const mark = (name: string): string => `canary${name}${randomBytes(12).toString("hex")}`;

const MARKS = {
  okPath: mark("OkPath"),
  failPath: mark("FailPath"),
  deadPath: mark("DeadPath"),
  slackPath: mark("SlackPath"),
  query: mark("Query"),
  token: mark("Token"),
  password: mark("Password"),
  apiKey: mark("ApiKey"),
  headerValue: mark("HeaderValue"),
  laterToken: mark("LaterToken"),
  botToken: mark("BotToken"),
  refused: mark("Refused"),
  wrongKey: mark("WrongKey"),
  smtpPassword: mark("SmtpPassword"),
};
/** Not secret, and found where it belongs: the search sees something. */
const SHOWN = mark("Shown");

let bench: NotificationsBench;
let receiver: Receiver;
let dead: string;
let mail: Postbox;
beforeAll(async () => {
  mail = await postbox({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: ({ password = "" }, _session, callback) =>
      callback(password === MARKS.smtpPassword ? null : refusal(`535 5.7.8 ${password} is wrong`), { user: "ada" }),
    onRcptTo: ({ address }, _session, callback) =>
      callback(address.startsWith("nobody") ? refusal("550 5.1.1 there is nobody") : null),
  });
  const gone = await startReceiver();
  dead = gone.url;
  await gone.close();
  [bench, receiver] = await Promise.all([
    startNotifications({
      apart: true,
      pools: ["webhook"],
      env: {
        SLUICE_SMTP_URL: mail.url(`ada:${MARKS.smtpPassword}@`),
        SLUICE_MAIL_FROM: "sluice@example.com",
        SLUICE_LOG_LEVEL: "trace",
      },
    }),
    startReceiver(),
  ]);
  // Whoever is sent something may show it to us.
  receiver.answer = ({ path, headers, body }) => ({
    status: path.includes(MARKS.failPath) ? 500 : 200,
    body: path.includes(MARKS.slackPath) ? "ok" : JSON.stringify({ path, headers, body }),
  });
}, 120_000);
afterAll(async () => {
  await bench.close();
  await Promise.all([receiver.close(), mail.close()]);
});

interface Heard {
  readonly what: string;
  readonly text: string;
}

const heard: Heard[] = [];

/** Asks, and keeps status line, headers and body of the answer. */
async function ask<T>(method: string, path: string, body?: unknown, key = bench.stack.key): Promise<T> {
  const answer = await fetch(`${bench.stack.baseUrls[0]}/workspaces/${bench.workspaceId}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const what = `${method} ${path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")}`;
  heard.push({ what, text: `${answer.status} ${JSON.stringify([...answer.headers])} ${text}` });
  return JSON.parse(text) as T;
}

const HOOKS = "/notification-channels";

async function makeChannel(type: string, config: object): Promise<Channel> {
  const made = await ask<Channel>("POST", HOOKS, { type, name: `${SHOWN} ${randomBytes(6).toString("hex")}`, config });
  expect(made).toHaveProperty("id");
  return made;
}

async function sendTest({ id }: Channel): Promise<Delivery> {
  const { deliveryId } = await ask<{ deliveryId: string }>("POST", `${HOOKS}/${id}/test`);
  await bench.ended(deliveryId);
  return ask<Delivery>("GET", `/deliveries/${deliveryId}`);
}

const auths = (): readonly (readonly [secret: string, config: object])[] => [
  [MARKS.token, { authType: "bearer", authToken: MARKS.token }],
  [MARKS.password, { authType: "basic", authUsername: "ada", authPassword: MARKS.password }],
  [MARKS.apiKey, { authType: "api_key", authApiKey: MARKS.apiKey }],
  [MARKS.headerValue, { authType: "custom_header", authHeaderName: "X-Own", authHeaderValue: MARKS.headerValue }],
];

/** Every form that a secret may take on its way. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("hex"), bytes.toString("base64").replace(/.{1,3}$/, "")];
}

const found = (texts: readonly Heard[], secrets: readonly string[]): readonly (readonly [string, string])[] =>
  texts.flatMap(({ what, text }) =>
    secrets
      .filter((secret) => formsOf(secret).some((form) => text.includes(form)))
      .map((secret) => [what, secret] as const),
  );

async function databaseText(): Promise<Heard[]> {
  const tables = await bench.stack.query<{ name: string }>(
    "select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'm') and c.relnamespace = 'public'::regnamespace",
  );
  const rows = await Promise.all(
    tables.map(async ({ name }) => {
      const texts = await bench.stack.query<{ text: string }>(`select t::text as text from ${name} t`);
      return texts.map(({ text }) => ({ what: name, text }));
    }),
  );
  return rows.flat();
}

test("marked credentials appear only in sent messages, and in responses that create or reveal a secret", async () => {
  const endings: [string, Delivery["status"]][] = [];
  const note = (what: string, { status }: Delivery) => endings.push([what, status]);
  const made: Channel[] = [];
  const signing: string[] = [];
  for (const [secret, config] of auths()) {
    for (const path of [MARKS.okPath, MARKS.failPath]) {
      const url = `${receiver.url}/${path}/hook?key=${MARKS.query}&end=tail`;
      const channel = await makeChannel("webhook", { url, ...config });
      made.push(channel);
      const delivery = await sendTest(channel);
      note(path, delivery);
      const got = receiver.received.find(({ headers }) => headers["webhook-id"] === delivery.id);
      expect(JSON.stringify(got?.headers)).toContain(secret === MARKS.password ? btoa(`ada:${secret}`) : secret);
      expect(delivery.attempts?.[0]?.responseStart).toBeString();
      await ask("POST", `/deliveries/${delivery.id}/retry`);
      await bench.ended(delivery.id);
      await ask("GET", `/deliveries/${delivery.id}`);
    }
  }
  const gone = await makeChannel("webhook", { url: `${dead}/${MARKS.deadPath}/tail` });
  note("dead", await sendTest(gone));
  const slack = await makeChannel("slack", { url: `${receiver.url}/services/${MARKS.slackPath}/tail` });
  note("slack", await sendTest(slack));
  for (const name of ["ops", "nobody"]) {
    const box = await makeChannel("email", { recipient: `${name}@example.com` });
    note(name, await sendTest(box));
  }
  // Nothing is sent: Telegram's own host would be asked.
  const telegram = await makeChannel("telegram", { botToken: `12345678:${MARKS.botToken}`, chatId: "-1001" });
  made.push(gone, slack, telegram);
  expect(new Set(endings.map(([what, status]) => `${what} ${status}`))).toEqual(
    new Set([
      `${MARKS.okPath} succeeded`,
      `${MARKS.failPath} failed`,
      "dead failed",
      "slack succeeded",
      "ops succeeded",
      "nobody failed",
    ]),
  );

  for (const channel of made) {
    if (channel.signingSecret !== undefined) signing.push(channel.signingSecret);
    await ask("GET", `${HOOKS}/${channel.id}`);
    await ask("PATCH", `${HOOKS}/${channel.id}`, { enabled: false });
    await ask("PATCH", `${HOOKS}/${channel.id}`, {
      enabled: true,
      config: { authType: "digest", authToken: MARKS.refused },
    });
    await ask("PATCH", `${HOOKS}/${channel.id}`, { config: { url: `http://10.0.0.1/${MARKS.refused}` } });
    await ask("PATCH", `${HOOKS}/${channel.id}`, {
      config: { botToken: `${MARKS.refused}\n`, authToken: MARKS.refused },
    });
    await ask("PATCH", `${HOOKS}/${channel.id}`, `{"config": {"authToken": "${MARKS.refused}"`);
  }
  const [first] = made;
  if (first === undefined) throw new Error("there is no channel");
  const later = { url: first.config["url"], authType: "bearer", authToken: MARKS.laterToken };
  await ask("PATCH", `${HOOKS}/${first.id}`, { enabled: true, config: later });
  for (const act of ["rotate", "reveal", "rotate", "reveal"]) {
    signing.push((await ask<SigningSecret>("POST", `${HOOKS}/${first.id}/signing-secret/${act}`)).signingSecret);
  }
  await sendTest(first);
  await ask("POST", `${HOOKS}/${first.id}/recover`, { since: new Date(Date.now() - 3_600_000).toISOString() });
  const key = await ask<ApiKey & { key: string }>("POST", "/api-keys", { name: "canary of a key" });
  const next = await ask<ApiKey & { key: string }>("POST", `/api-keys/${key.id}/rotate`, { overlap_seconds: 60 });
  for (const path of ["", "/members", "/api-keys", HOOKS, "/deliveries", `${HOOKS}/${first.id}/subscriptions`]) {
    await ask("GET", path, undefined, next.key);
    await ask("GET", path, undefined, MARKS.wrongKey);
    await ask("GET", `${path}?key=${MARKS.wrongKey}`);
  }
  await ask("DELETE", `${HOOKS}/${gone.id}`);

  // Something for the queue and the object store to hold: no worker takes the run.
  const post = async (path: string, body: string | FormData, headers = {}): Promise<Response> =>
    fetch(`${bench.stack.baseUrls[0]}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.stack.key}`, ...headers },
      body,
    });
  const form = new FormData();
  form.append("file", new File([SHOWN], "shown.txt"));
  form.append("purpose", "user_data");
  expect((await post("/v1/files", form)).status).toBe(200);
  const definition = {
    steps: [{ id: "a", type: "model", model: "sandbox-chat", params: { messages: [{ role: "user", content: "hi" }] } }],
  };
  const asked = JSON.stringify({ mode: "async", definition });
  const run = (await (await post("/v1/pipelines/runs", asked, { "content-type": "application/json" })).json()) as {
    id: string;
  };
  expect(run).toHaveProperty("id");

  const secrets = Object.values(MARKS);
  const keys = [key.key, next.key, bench.stack.key];
  expect(signing.length).toBeGreaterThan(8);
  const showing = heard.filter(({ what }) =>
    [`POST ${HOOKS}`, `POST ${HOOKS}/…/signing-secret/reveal`, `POST ${HOOKS}/…/signing-secret/rotate`].includes(what),
  );
  const makingKeys = heard.filter(({ what }) => ["POST /api-keys", "POST /api-keys/…/rotate"].includes(what));
  expect([showing.length, makingKeys.length]).toEqual([17, 2]);
  const silent = heard.filter((one) => !showing.includes(one) && !makingKeys.includes(one));
  expect(found(silent, [...secrets, ...signing, ...keys])).toEqual([]);
  expect(found(showing, [...secrets, ...keys])).toEqual([]);
  expect(found(makingKeys, [...secrets, ...signing, bench.stack.key])).toEqual([]);
  expect(found(silent, [SHOWN])).not.toEqual([]);

  const rows = await databaseText();
  expect(found(rows, [SHOWN]).map(([table]) => table)).toContain("audit_log");
  expect(found(rows, [...secrets, ...signing, ...keys])).toEqual([]);
  const sealed = await bench.stack.query<{ names: string[] }>(
    "select array_agg(distinct field) as names from notification_channel, jsonb_object_keys(sealed) as field",
  );
  expect(sealed[0]?.names.toSorted()).toEqual([
    "authApiKey",
    "authHeaderValue",
    "authPassword",
    "authToken",
    "botToken",
    "previousSigningSecret",
    "signingSecret",
    "url",
  ]);

  const stored = await bucketText(bench.stack);
  expect(found(stored, [SHOWN])).not.toEqual([]);
  expect(found(stored, [...secrets, ...signing, ...keys])).toEqual([]);
  const queued = await queueText(bench.stack);
  expect(queued.filter(({ text }) => text.includes(run.id))).not.toEqual([]);
  expect(found(queued, [...secrets, ...signing, ...keys])).toEqual([]);

  const roles = [...bench.stack.ingresses, ...bench.stack.workers, ...bench.stack.janitors];
  const pages = await Promise.all(
    roles.map(async ({ name, adminUrl }) => ({
      what: `metrics of ${name}`,
      text: await (await fetch(`${adminUrl}/metrics`)).text(),
    })),
  );
  expect(found(pages, [...secrets, ...signing, ...keys, SHOWN])).toEqual([]);
  const lines = roles.flatMap((role) => role.logs().map((text) => ({ what: `log of ${role.name}`, text })));
  expect(lines.length).toBeGreaterThan(heard.length);
  expect(found(lines, [...secrets, ...signing, ...keys])).toEqual([]);
}, 180_000);
