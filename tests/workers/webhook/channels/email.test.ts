import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";

import type { SMTPServerOptions } from "smtp-server";

import type { AttemptResult } from "#workers/webhook/channel.ts";
import { SENDERS } from "#workers/webhook/channels/index.ts";
import { type Mailer, openMailer } from "#workers/webhook/mailer.ts";

import { channelOf, contextOf, outgoing } from "../receivers.ts";
import { postbox, type Postbox, refusal } from "../smtp.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const FROM = "sluice@mail.example.com";

async function server(options?: SMTPServerOptions): Promise<{ readonly box: Postbox; readonly mailer: Mailer }> {
  const box = await postbox(options);
  const mailer = openMailer({ smtpUrl: box.url(), from: FROM });
  open.push(mailer, box);
  return { box, mailer };
}

const channel = channelOf("email", {}, { recipient: "jo@example.org" });
const send = SENDERS.email;

describe("a notification by mail", () => {
  test("is one message for one address, with a readable text and a stable id", async () => {
    const { box, mailer } = await server();
    for (const attempt of [1, 2]) {
      const result = await send(channel, outgoing({ attempt }), contextOf(mailer));
      expect(result).toEqual({ ok: true, status: 250, responseStart: expect.stringMatching(/^250 /) as string });
    }
    expect(box.letters).toHaveLength(2);
    for (const { from, to, source } of box.letters) {
      expect({ from, to }).toEqual({ from: FROM, to: ["jo@example.org"] });
      const head = source.slice(0, source.indexOf("\r\n\r\n"));
      expect(head).toContain("From: sluice@mail.example.com\r\n");
      expect(head).toContain("To: jo@example.org\r\n");
      expect(head).toContain("Subject: A run succeeded\r\n");
      expect(head).toContain(`Message-ID: <${outgoing().deliveryId}@mail.example.com>\r\n`);
      expect(head).toContain("Auto-Submitted: auto-generated\r\n");
      expect(head).toMatch(/^Content-Type: text\/plain; charset=utf-8/m);
      expect(source).toContain("A run succeeded.");
    }
  });

  test("has a subject of one line, though the workspace's texts have several", async () => {
    const { box, mailer } = await server();
    const error = { code: "x\r\nBcc: evil@example.net\r\n\r\nbody", message: "m\r\n.\r\nMAIL FROM:<evil@example.net>" };
    const failure = outgoing({ event: "run.failed", metadata: { runId: "r1", creditsUsed: 0, error } });
    expect(await send(channel, failure, contextOf(mailer))).toMatchObject({ ok: true });
    expect(box.letters).toHaveLength(1);
    const [{ to, source } = { to: [], source: "" }] = box.letters;
    expect(to).toEqual(["jo@example.org"]);
    expect(source).not.toMatch(/^(?:Bcc|MAIL FROM):/m);
  });

  test.each([
    "",
    "jo",
    "a@example.org, b@example.net",
    "a@example.org,b@example.net",
    "a@example.org; b@example.net",
    "a@example.org b@example.net",
    "group: a@example.org, b@example.net;",
    "group:;",
    "Jo <jo@example.org>",
    "<jo@example.org>",
    '"jo"@example.org',
    "jo@example.org (b@example.net)",
    "jo@example.org\r\nBcc: b@example.net",
    "jo@example.org\nRCPT TO:<b@example.net>",
    "jo@example.org\0",
    "jo@@example.org",
    "a@b@example.org",
    "jo@[127.0.0.1]",
    " jo@example.org",
    "jo@",
    "@example.org",
  ])("is sent to no invalid address: %j", async (recipient) => {
    const { box, mailer } = await server();
    const result = await send(channelOf("email", {}, { recipient }), outgoing(), contextOf(mailer));
    expect(result).toMatchObject({ ok: false, verdict: "final", error: "misconfigured" });
    expect(box.letters).toEqual([]);
  });

  test("is not sent without a mail server, nor without a recipient", async () => {
    expect(await send(channel, outgoing(), contextOf())).toEqual({
      ok: false,
      verdict: "again",
      error: "mail_off",
      status: null,
      responseStart: "",
    });
    const { mailer } = await server();
    expect(await send(channelOf("email", {}), outgoing(), contextOf(mailer))).toMatchObject({ error: "misconfigured" });
  });
});

describe("a mail server that rejects", () => {
  const attempt = async (options: SMTPServerOptions): Promise<AttemptResult> => {
    const { box, mailer } = await server(options);
    const result = await send(channel, outgoing(), contextOf(mailer));
    expect(box.letters).toEqual([]);
    return result;
  };

  test.each([
    ["550 5.1.1 no such user", "gone"],
    ["550 no such user here", "gone"],
    ["553 5.1.3 bad address syntax", "gone"],
    ["550 5.2.1 mailbox disabled", "gone"],
    ["552 5.2.2 mailbox full", "final"],
    ["550 5.7.1 relaying denied", "final"],
    ["554 5.1.8 bad sender", "final"],
  ] as const)("the recipient permanently, with %j: %s", async (reply, verdict) => {
    const result = await attempt({ onRcptTo: (_address, _session, callback) => callback(refusal(reply)) });
    const status = Number(reply.slice(0, 3));
    expect(result).toEqual({ ok: false, verdict, error: "rejected_recipient", status, responseStart: reply });
  });

  test("the recipient temporarily is retried", async () => {
    const reply = "451 4.7.1 greylisted, come back later";
    const result = await attempt({ onRcptTo: (_address, _session, callback) => callback(refusal(reply)) });
    expect(result).toEqual({ ok: false, verdict: "again", error: "status", status: 451, responseStart: reply });
  });

  test.each([
    ["552 5.3.4 message too big", "final", "refused"],
    ["452 4.3.1 insufficient storage", "again", "status"],
    ["421 4.3.2 shutting down", "again", "status"],
  ] as const)("the message itself, with %j: %s", async (reply, verdict, error) => {
    const result = await attempt({
      onData(stream, _session, callback) {
        stream.resume().on("end", () => callback(refusal(reply)));
      },
    });
    expect(result).toMatchObject({ ok: false, verdict, error, status: Number(reply.slice(0, 3)) });
  });

  test.each([
    ["550 5.1.0 sender rejected", "final", "refused"],
    ["530 5.7.0 authentication required", "again", "misconfigured"],
    ["450 4.1.8 try later", "again", "status"],
  ] as const)("the sender, with %j: %s", async (reply, verdict, error) => {
    const result = await attempt({ onMailFrom: (_address, _session, callback) => callback(refusal(reply)) });
    expect(result).toMatchObject({ ok: false, verdict, error, status: Number(reply.slice(0, 3)) });
  });

  test("the password is retried, since an operator fixes it, and its text is hidden from the workspace", async () => {
    const box = await postbox({
      authOptional: false,
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => callback(refusal("535 5.7.8 wrong password of internal-user")),
    });
    const mailer = openMailer({ smtpUrl: box.url("internal-user:s3cret@"), from: FROM });
    open.push(mailer, box);
    expect(await send(channel, outgoing(), contextOf(mailer))).toEqual({
      ok: false,
      verdict: "again",
      error: "misconfigured",
      status: 535,
      responseStart: "",
    });
  });
});

describe("an unavailable or slow mail server", () => {
  /** Speaks these bytes and then nothing, or one line over and over once it is spoken to. */
  async function mute(greeting: string, line = ""): Promise<{ readonly url: string; readonly closed: Promise<void> }> {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const sockets = new Set<Socket>();
    const listening = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => resolve());
      socket.write(greeting);
      socket.once("data", () => {
        const timer = line === "" ? undefined : setInterval(() => socket.write(line), 20);
        socket.on("close", () => clearInterval(timer)).resume();
      });
    });
    await new Promise<void>((resolve) => {
      listening.listen(0, "127.0.0.1", resolve);
    });
    open.push({
      close() {
        for (const socket of sockets) socket.destroy();
        listening.close();
      },
    });
    return { url: `smtp://127.0.0.1:${(listening.address() as { port: number }).port}`, closed };
  }

  const mailerFor = (smtpUrl: string): Mailer => {
    const mailer = openMailer({ smtpUrl, from: FROM });
    open.push(mailer);
    return mailer;
  };

  test("is unreachable when no server listens, or when it hangs up", async () => {
    const { box } = await server();
    await box.close();
    const failure = { ok: false, verdict: "again", error: "unreachable", responseStart: "" };
    expect(await send(channel, outgoing(), contextOf(mailerFor(box.url())))).toEqual({
      ok: false,
      verdict: "again",
      error: "unreachable",
      status: null,
      responseStart: "",
    });
    const rude = await mute("554 go away\r\n");
    expect(await send(channel, outgoing(), contextOf(mailerFor(rude.url)))).toMatchObject(failure);
  });

  test("is aborted when it stalls before or after its greeting, when it drips without end, and when the mailer never finishes", async () => {
    const before = await mute("");
    const after = await mute("220 mail\r\n");
    const dripping = await mute("220 mail\r\n", "250-and more\r\n");
    const endless: Mailer = { send: () => new Promise(() => undefined), close: () => undefined };
    const mailers = [...[before, after, dripping].map(({ url }) => mailerFor(url)), endless];
    const results = await Promise.all(mailers.map((mailer) => send(channel, outgoing(), contextOf(mailer))));
    for (const result of results) {
      expect(result).toEqual({ ok: false, verdict: "again", error: "timeout", status: null, responseStart: "" });
    }
    await Promise.all([before.closed, after.closed, dripping.closed]);
  });

  test("does not delay the end of an attempt, whose reason is thrown", async () => {
    const controller = new AbortController();
    const { box, mailer } = await server({
      onRcptTo: () => controller.abort(new Error("shutting down")),
    });
    const context = contextOf(mailer, controller.signal);
    expect(await send(channel, outgoing(), context).catch(String)).toBe("Error: shutting down");
    expect(await send(channel, outgoing(), context).catch(String)).toBe("Error: shutting down");
    expect(box.letters).toEqual([]);
  });

  test("does not delay a mailer that closes", async () => {
    const { mailer } = await server({ onRcptTo: () => mailer.close() });
    expect(await send(channel, outgoing(), contextOf(mailer))).toMatchObject({
      verdict: "again",
      error: "unreachable",
    });
  });
});

test("an internal error is not the receiver's: it is thrown", async () => {
  const broken: Mailer = { send: () => Promise.reject(new TypeError("a bug")), close: () => undefined };
  expect(await send(channel, outgoing(), contextOf(broken)).catch(String)).toBe("TypeError: a bug");
});
