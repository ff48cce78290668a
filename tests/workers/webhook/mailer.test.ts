import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { SMTPServerAuthentication } from "smtp-server";

import { openMailer } from "#workers/webhook/mailer.ts";

import { postbox } from "./smtp.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const from = "sluice@example.com";
const mail = { to: "jo@example.org", subject: "Subject", text: "Text", messageId: "m1" };
const { signal } = new AbortController();

describe("a mailer", () => {
  test("signs in with the user and the password of its URL, decoded", async () => {
    const seen: SMTPServerAuthentication[] = [];
    const box = await postbox({
      authOptional: false,
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth(auth, _session, callback) {
        seen.push(auth);
        callback(null, { user: auth.username });
      },
    });
    const mailer = openMailer({ smtpUrl: box.url("jo%40example.com:p%3Ass%2F%C3%BC@"), from });
    open.push(mailer, box);
    await mailer.send(mail, signal);
    expect(seen).toMatchObject([{ username: "jo@example.com", password: "p:ss/ü" }]);
    expect(box.letters).toHaveLength(1);
  });

  test("sends no password to another machine without encryption, and sends nothing", async () => {
    let connected = 0;
    let asked = 0;
    const box = await postbox({
      disabledCommands: ["STARTTLS"],
      onConnect(_session, callback) {
        connected += 1;
        callback();
      },
      allowInsecureAuth: true,
      onAuth(auth, _session, callback) {
        asked += 1;
        callback(null, { user: auth.username });
      },
    });
    // A name for this machine that does not say so.
    const mailer = openMailer({ smtpUrl: `smtp://jo:s3cret@[::ffff:127.0.0.1]:${box.port}`, from });
    open.push(mailer, box);
    const error = await mailer.send(mail, signal).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "MailError", verdict: "again", fault: "unreachable" });
    expect({ connected, asked }).toEqual({ connected: 1, asked: 0 });
    expect(box.letters).toEqual([]);
  });

  test("reads no file and no address, for any text", async () => {
    const box = await postbox();
    const mailer = openMailer({ smtpUrl: box.url(), from });
    open.push(mailer, box);
    const folder = mkdtempSync(join(tmpdir(), "mailer-"));
    open.push({ close: () => rmSync(folder, { recursive: true }) });
    const path = join(folder, "secret.txt");
    writeFileSync(path, "s3cret");
    // As a cast or a bug would let it through.
    for (const text of [{ path }, { href: box.url().replace("smtp", "http") }] as unknown as string[]) {
      expect(await mailer.send({ ...mail, text }, signal).catch(String)).toContain("MailError");
    }
    expect(box.letters).toEqual([]);
  });

  test("keeps a subject to one line of 150 characters", async () => {
    const box = await postbox();
    const mailer = openMailer({ smtpUrl: box.url(), from });
    open.push(mailer, box);
    await mailer.send({ ...mail, subject: `a\r\nBcc: evil@example.net\0${"x".repeat(1_000)}` }, signal);
    const [letter] = box.letters;
    const head =
      letter?.source
        .split("\r\n\r\n", 1)
        .join("")
        .replaceAll(/\r\n\s+/g, " ") ?? "";
    const [, subject = ""] = /^Subject: (.*)$/m.exec(head) ?? [];
    expect(subject).toStartWith("a Bcc: evil@example.net x");
    expect(subject).toHaveLength(150);
    expect(head).not.toMatch(/^Bcc/m);
    expect(letter?.to).toEqual(["jo@example.org"]);
  });

  test("that is closed sends no further mail", async () => {
    const box = await postbox();
    const mailer = openMailer({ smtpUrl: box.url(), from });
    open.push(box);
    mailer.close();
    expect(await mailer.send(mail, signal).catch(String)).toContain("MailError");
    expect(box.letters).toEqual([]);
  });

  test("reports errors that may be logged: without the address, the host and the server's text", async () => {
    const box = await postbox({
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error("5.1.1 jo@example.org unknown at mx7.internal"), { responseCode: 550 })),
    });
    const mailer = openMailer({ smtpUrl: box.url(), from });
    open.push(mailer, box);
    const error = await mailer.send(mail, signal).catch((error: unknown) => error);
    expect(String(error)).toBe("MailError: mail rejected_recipient: 550");
  });
});
