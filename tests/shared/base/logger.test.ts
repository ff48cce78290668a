import { describe, expect, test } from "bun:test";

import { createLogger } from "#shared/base/logger.ts";
import { one } from "#tests/support/log-lines.ts";

describe("a line", () => {
  test("has an ISO time, the level's name, the role and the message", () => {
    const line = one((log) => log.warn({ pool: "chat", free: 3 }, "slots low"));
    expect(line).toMatchObject({ level: "warn", role: "test", pool: "chat", free: 3, msg: "slots low" });
    expect(new Date(String(line["time"])).toISOString()).toBe(String(line["time"]));
  });

  test("contains the bindings of its child logger", () => {
    const line = one((log) => log.child({ request_id: "r-1" }).child({ job_id: "j-1" }).info("claimed"));
    expect(line).toMatchObject({ request_id: "r-1", job_id: "j-1", msg: "claimed" });
  });

  test("below the level is not written", () => {
    const lines: string[] = [];
    const log = createLogger({ level: "warn", role: "test", write: (line) => lines.push(line) });
    log.info("quiet");
    log.error("loud");
    expect(lines).toHaveLength(1);
  });

  test("survives values that JSON cannot hold", () => {
    const circular: Record<string, unknown> = { amount: 10n };
    circular["self"] = circular;
    const hostile = {
      get broken(): string {
        throw new Error("getter");
      },
    };
    const line = one((log) => log.info({ circular, bytes: new Uint8Array(7), when: new Date(0), act: () => 1 }, "x"));
    expect(line).toMatchObject({ circular: { amount: "10" }, bytes: "[7 bytes]", when: "1970-01-01T00:00:00.000Z" });
    expect(one((log) => log.info({ hostile, b: 1 }, "x"))).toMatchObject({ hostile: { broken: "[unreadable]" }, b: 1 });
  });

  test("truncates long strings and states their length", () => {
    const line = one((log) => log.info({ answer: "a".repeat(10_000) }, "b".repeat(700)));
    expect(line["answer"]).toBe(`${"a".repeat(500)}… (10000 characters)`);
    expect(line["msg"]).toBe(`${"b".repeat(500)}… (700 characters)`);
  });

  test("stays small for any input", () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`m${index}`, { a: [1, 2, 3] }]));
    const line = one((log) => log.info({ wide, list: Array.from({ length: 5_000 }, () => wide) }, "x"));
    expect(JSON.stringify(line).length).toBeLessThan(200_000);
  });
});

describe("an error in a line", () => {
  test("contains type, message, stack, code and its causes", () => {
    const cause = Object.assign(new TypeError("inner"), { code: "ECONNREFUSED" });
    const { err } = one((log) => log.error({ err: new Error("outer", { cause }) }, "failed"));
    expect(err).toMatchObject({
      type: "Error",
      message: "outer",
      cause: { type: "TypeError", message: "inner", code: "ECONNREFUSED" },
    });
    expect(String(err?.["stack"])).toContain("logger.test.ts");
  });

  test("alone provides the message of the line", () => {
    const line = one((log) => log.error(new RangeError("too far")));
    expect(line).toMatchObject({ msg: "too far", err: { type: "RangeError", message: "too far" } });
  });

  test("omits its other members, since a database error quotes rows there", () => {
    const error = Object.assign(new Error("duplicate"), { code: "23505", detail: "Key (email)=(a@b.c) exists" });
    expect(JSON.stringify(one((log) => log.error({ err: error }, "x")))).not.toContain("a@b.c");
  });

  test("follows a cycle of causes only a few steps", () => {
    const error = new Error("loop");
    error.cause = error;
    expect(one((log) => log.error({ err: error }, "x")).err).toMatchObject({ cause: { cause: { message: "loop" } } });
  });
});

describe("a process that exits immediately", () => {
  const source = `
    import { createLogger } from "#shared/base/logger.ts";
    const log = createLogger({ level: "info", role: "test" });
    for (let index = 0; index < 1000; index += 1) log.info({ index }, "line");
  `;

  test.each([
    ["by itself", ""],
    ["by process.exit", "process.exit(0);"],
    ["by an uncaught error", "throw new Error('ended');"],
  ])("%s has written every line", async (_how, ending) => {
    const child = Bun.spawn([process.execPath, "-e", source + ending], {
      cwd: `${import.meta.dir}/../../..`,
      stdout: "pipe",
      stderr: "ignore",
    });
    const lines = (await child.stdout.text()).trimEnd().split("\n");
    await child.exited;
    expect(lines).toHaveLength(1_000);
    expect(JSON.parse(lines.at(-1) ?? "{}")).toMatchObject({ index: 999 });
  });
});
