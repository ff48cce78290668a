import { describe, expect, test } from "bun:test";

import { createLog, type Log } from "#deploy/supervisor/log.mjs";

interface Options {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly colour?: boolean;
}

interface Collected {
  readonly log: Log;
  /** Returns the printed text. */
  readonly text: () => string;
  /** Returns the text of the file. */
  readonly filed: () => string;
  readonly out: Out;
}

function collect({ json = false, verbose = true, colour = false }: Options = {}): Collected {
  const written: string[] = [];
  const lines: string[] = [];
  const out: Out = { writableLength: 0, write: (text) => written.push(text) };
  const file = { write: (text: string) => `/data/sluice.log:${lines.push(text)}` };
  const log = createLog({ json, verbose, colour, out, file });
  return { log, text: () => written.join(""), filed: () => lines.join("\n"), out };
}

interface Out {
  writableLength: number;
  write(text: string): unknown;
}

describe("the readable log", () => {
  test("renders a role's JSON line with its members after the message", () => {
    const { log, text } = collect();
    const time = new Date(2026, 0, 2, 3, 4, 5).toISOString();
    const line = {
      level: "warn",
      time,
      role: "ingress",
      pid: 7,
      msg: "slow",
      ms: 12,
      path: "/v1/x",
      note: "two words",
    };
    log.relay("ingress", JSON.stringify(line), "stdout");
    expect(text()).toBe('03:04:05 ingress  warn  slow ms=12 path=/v1/x note="two words"\n');
  });

  test("puts an error's message in the line and its stack below", () => {
    const { log, text } = collect();
    const err = { type: "Error", message: "no luck", stack: "Error: no luck\n    at f (a.ts:1:1)" };
    log.relay("worker", JSON.stringify({ level: "error", msg: "failed", err }), "stdout");
    expect(text()).toEndWith(' worker   error failed err="no luck"\n    at f (a.ts:1:1)\n');
  });

  test("removes control characters from lines that are not JSON", () => {
    const { log, text } = collect();
    log.relay("nats", "\u001B[2Jcleared", "stderr");
    expect(text()).toEndWith(" nats     warn   [2Jcleared\n");
  });

  test("has colours only on request", () => {
    const plain = collect();
    plain.log.say("info", "x");
    expect(plain.text()).not.toContain("\u001B");
    const bright = collect({ colour: true });
    bright.log.say("info", "x");
    expect(bright.text()).toContain("\u001B[");
  });
});

describe("without --verbose", () => {
  test("lines of roles are only in the file, except errors, which name their position", () => {
    const { log, text, filed } = collect({ verbose: false });
    log.relay("migrate", JSON.stringify({ level: "info", msg: "migration applied" }), "stdout");
    log.relay("worker", JSON.stringify({ level: "warn", msg: "slow" }), "stdout");
    log.relay("worker", JSON.stringify({ level: "error", msg: "broken" }), "stdout");
    log.say("error", "worker ended with code 1");
    expect(text().split("\n")).toEqual([
      expect.stringMatching(/worker   error broken log=\/data\/sluice\.log:3$/),
      expect.stringMatching(/start    error worker ended with code 1 log=\/data\/sluice\.log:4$/),
      "",
    ]);
    expect(
      filed()
        .split("\n")
        .map((line) => line.replace(/^\S+ +/, "")),
    ).toEqual([
      "migrate  info  migration applied",
      "worker   warn  slow",
      "worker   error broken",
      "start    error worker ended with code 1",
    ]);
  });

  test("notices are printed unchanged, and logged", () => {
    const { log, text, filed } = collect({ verbose: false });
    log.notify("installing the dependencies");
    expect(text()).toBe("installing the dependencies\n");
    expect(filed()).toEndWith(" start    info  installing the dependencies");
  });

  test("the position of a message is returned", () => {
    const { log } = collect({ verbose: false });
    log.say("info", "first");
    expect(log.say("warn", "the port is taken")).toBe("/data/sluice.log:2");
  });
});

test("the JSON log passes a role's lines on unchanged and turns everything else into JSON", () => {
  const { log, text } = collect({ json: true });
  const line = '{"level":"info","msg":"as it was","odd":[1, 2]}';
  log.relay("ingress", line, "stdout");
  log.relay("postgres", "FATAL: gone", "stderr");
  log.plain("a text for people");
  const [first, second, ...rest] = text().trimEnd().split("\n");
  expect(first).toBe(line);
  expect(JSON.parse(second ?? "")).toMatchObject({ level: "warn", role: "postgres", msg: "FATAL: gone" });
  expect(rest).toEqual([]);
});

test("lines are dropped and counted while the output is not read", () => {
  const { log, text, out } = collect();
  out.writableLength = 10_000_000;
  log.say("info", "lost");
  log.say("info", "lost too");
  out.writableLength = 0;
  log.say("info", "seen");
  expect(text()).not.toContain("lost\n");
  expect(text()).toContain("2 log lines were not printed");
  expect(text()).toContain("seen");
});
