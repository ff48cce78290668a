import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CatalogueError } from "#shared/calls/catalogue/faults.ts";
import { type CatalogueStore, openCatalogue } from "#shared/calls/catalogue/open.ts";
import { createLogger } from "#shared/base/logger.ts";

let folder: string;
let lines: { level: string; msg: string; file?: string; line?: number; place?: string }[];
let store: CatalogueStore | undefined;
/** Results of reloads that no test has waited for yet, and tests that wait for a result. */
let results: string[];
let waiting: ((result: string) => void)[];

/** Long enough that no test sees a poll it does not ask for. */
const NO_POLL_MS = 3_600_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-catalogue-"));
  lines = [];
  results = [];
  waiting = [];
});

afterEach(() => {
  store?.close();
  store = undefined;
  rmSync(folder, { recursive: true });
});

async function open(
  files: readonly string[],
  options: { pollMs?: number; watch?: boolean } = {},
): Promise<CatalogueStore> {
  store = await openCatalogue({
    files,
    sandbox: true,
    providerKey: () => "key",
    pollMs: NO_POLL_MS,
    log: createLogger({
      level: "info",
      role: "test",
      write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]),
    }),
    onReload(result) {
      const next = waiting.shift();
      if (next === undefined) results.push(result);
      else next(result);
    },
    ...options,
  });
  return store;
}

/** The next result of a reload; one change may cause more than one. */
async function nextReload(): Promise<string> {
  return results.shift() ?? new Promise<string>((resolve) => waiting.push(resolve));
}

/** Waits until the model costs this much: half-written states in between may be refused. */
async function untilPrice(price: string): Promise<void> {
  while (priceOf() !== price) await nextReload();
}

/** Returns the message of a refused catalogue; fails when it is not refused. */
async function refusal(outcome: Promise<unknown>): Promise<string> {
  try {
    await outcome;
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error("the catalogue was accepted");
}

const priceOf = (): string | undefined => store?.current().models.get("gpt-4o")?.pricing.input_per_million;
const file = (price: string): string =>
  `models:\n  - slug: gpt-4o\n    pricing:\n      input_per_million: "${price}"\n`;
const path = (...names: readonly string[]): string => join(folder, ...names);

describe("at start", () => {
  test("operators' files are merged over the shipped ones, folders by name", async () => {
    mkdirSync(path("more"));
    writeFileSync(path("a.yaml"), file("1"));
    writeFileSync(path("more", "2.yml"), file("3"));
    writeFileSync(path("more", "1.yaml"), file("2"));
    writeFileSync(path("more", ".hidden.yaml"), "not: a catalogue");
    writeFileSync(path("more", "notes.txt"), "not a catalogue");
    await open([path("a.yaml"), path("more")]);
    expect(priceOf()).toBe("3");
  });

  test("a wrong file ends the start, with file, line and place in one sentence", async () => {
    writeFileSync(path("a.yaml"), file("-1"));
    expect(await refusal(open([path("a.yaml")]))).toBe(
      `${path("a.yaml")}:4: models[0].pricing.input_per_million: expected a price of 0 or more, got "-1"`,
    );
  });

  test("a missing file ends the start", async () => {
    expect(await refusal(open([path("none.yaml")]))).toStartWith(`${path("none.yaml")}: it cannot be read`);
  });

  test("without operators' files only the shipped ones apply", async () => {
    await open([]);
    expect(store?.current().models.has("sandbox-chat")).toBeTrue();
  });
});

describe("reload on demand", () => {
  test("activates a valid file; users of the old catalogue keep it", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    const opened = await open([path("a.yaml")], { watch: false });
    const held = opened.current();
    writeFileSync(path("a.yaml"), file("2"));
    await opened.reload();
    expect(priceOf()).toBe("2");
    expect(held.models.get("gpt-4o")?.pricing.input_per_million).toBe("1");
    expect(opened.current().version).not.toBe(held.version);
    expect(lines.map((line) => line.msg)).toEqual(["catalogue replaced"]);
  });

  test("rejects a wrong file and keeps the old catalogue", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    const opened = await open([path("a.yaml")], { watch: false });
    const held = opened.current();
    writeFileSync(path("a.yaml"), "models: [\n");
    expect(await refusal(opened.reload())).toStartWith(`${path("a.yaml")}:1: this is not YAML`);
    expect(await nextReload()).toBe("refused");
    expect(opened.current()).toBe(held);
  });

  test("changes nothing when the content is equal", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    const opened = await open([path("a.yaml")], { watch: false });
    const held = opened.current();
    writeFileSync(path("a.yaml"), `# said anew\n${file("1")}`);
    await opened.reload();
    expect(opened.current()).toBe(held);
    expect(lines).toEqual([]);
  });
});

describe("a watched file", () => {
  test("that is written in place becomes active", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    await open([path("a.yaml")]);
    writeFileSync(path("a.yaml"), file("2"));
    await untilPrice("2");
    writeFileSync(path("a.yaml"), file("3"));
    await untilPrice("3");
  });

  test("that an editor replaces by renaming becomes active, repeatedly", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    await open([path("a.yaml")]);
    for (const price of ["2", "3", "4"]) {
      writeFileSync(path("a.yaml.swp"), file(price));
      renameSync(path("a.yaml.swp"), path("a.yaml"));
      await untilPrice(price);
    }
  });

  test("behind the links of a Kubernetes volume becomes active when the volume is replaced", async () => {
    mkdirSync(path("..1"));
    writeFileSync(path("..1", "a.yaml"), file("1"));
    symlinkSync("..1", path("..data"));
    symlinkSync("..data/a.yaml", path("a.yaml"));
    await open([path("a.yaml")]);
    for (const [version, price] of [
      ["..2", "2"],
      ["..3", "3"],
    ] as const) {
      mkdirSync(path(version));
      writeFileSync(path(version, "a.yaml"), file(price));
      symlinkSync(version, path("..data_tmp"));
      renameSync(path("..data_tmp"), path("..data"));
      await untilPrice(price);
    }
  });

  test("in a watched folder becomes active when it is created, and inactive when it is deleted", async () => {
    mkdirSync(path("conf"));
    await open([path("conf")]);
    const shipped = priceOf() ?? "";
    writeFileSync(path("conf", "a.yaml"), file("7"));
    await untilPrice("7");
    rmSync(path("conf", "a.yaml"));
    await untilPrice(shipped);
    expect(shipped).toBe("250");
  });

  test("without change events is found by its time and size", async () => {
    mkdirSync(path("conf"));
    mkdirSync(path("elsewhere"));
    writeFileSync(path("elsewhere", "a.yaml"), file("1"));
    symlinkSync("../elsewhere/a.yaml", path("conf", "a.yaml"));
    await open([path("conf")], { pollMs: 10 });
    writeFileSync(path("elsewhere", "a.yaml"), file("22"));
    await untilPrice("22");
  });

  test("that is wrong is rejected with one line naming file and path; a valid one is accepted again", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    await open([path("a.yaml")]);
    const held = store?.current();
    // replaced, not written in place: nobody can read half of it
    const replace = (text: string): void => {
      writeFileSync(path("next"), text);
      renameSync(path("next"), path("a.yaml"));
    };
    replace(file("cheap"));
    expect(await nextReload()).toBe("refused");
    expect(store?.current()).toBe(held as NonNullable<typeof held>);
    // the same fault once more: told once
    replace(`${file("cheap")}# still\n`);
    expect(await nextReload()).toBe("refused");
    expect(lines).toMatchObject([
      { level: "error", file: path("a.yaml"), line: 4, place: "models[0].pricing.input_per_million" },
    ]);
    expect(lines[0]?.msg).toStartWith("catalogue rejected; the previous one remains active: ");
    replace(file("5"));
    await untilPrice("5");
    expect(lines.map((line) => line.level)).toEqual(["error", "info"]);
  });

  test("that is deleted keeps the old catalogue active", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    await open([path("a.yaml")]);
    rmSync(path("a.yaml"));
    expect(await nextReload()).toBe("refused");
    expect(priceOf()).toBe("1");
    writeFileSync(path("a.yaml"), file("2"));
    await untilPrice("2");
  });

  test("is no longer watched after close", async () => {
    writeFileSync(path("a.yaml"), file("1"));
    const closed = await open([path("a.yaml")]);
    closed.close();
    // a second store sees the change, the closed one would have seen it as well
    const other = await open([path("a.yaml")]);
    writeFileSync(path("a.yaml"), file("2"));
    while (other.current().models.get("gpt-4o")?.pricing.input_per_million !== "2") await nextReload();
    expect(closed.current().models.get("gpt-4o")?.pricing.input_per_million).toBe("1");
  });
});
