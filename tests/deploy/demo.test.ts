/** `npm run demo`, as a person runs it: with and without a stack that runs already. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import sharp from "sharp";

import { readWishes } from "#deploy/demo/stack.mjs";
import { openTerminal } from "#deploy/demo/terminal.ts";
import { launch, launchUntil, run } from "#deploy/embedded/process.mjs";
import { keepAddress, runningStack } from "#deploy/supervisor/address.mjs";
import { probeVideo } from "#shared/media/probe/video.ts";
import { parseCredits } from "#shared/money.ts";
import { decoders } from "#tests/support/decoded-sound.ts";
import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { readGlb } from "#tests/support/meshes.ts";

const ALL = [
  "chat",
  "messages",
  "embeddings",
  "file",
  "image",
  "image-edit",
  "speech",
  "transcription",
  "music",
  "video",
  "3d",
  "3d-transform",
  "video-tool",
  "audio-tool",
  "image-tool",
  "document-tool",
  "archive-tool",
  "web-tool",
  "code-tool",
  "workflow",
];
const STARTED_WITHIN_MS = 60_000;
/** Twenty calls and a start, on a machine that does something else too. */
const DONE_WITHIN_MS = 180_000;

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
}, STARTED_WITHIN_MS);

function folder(): string {
  const { directory, remove } = temporaryDirectory();
  closing.push(remove);
  return directory;
}

/** The environment of a machine with Node, npm, a nats-server and a data directory for this test. */
async function bareEnvironment(dataDir: string): Promise<Record<string, string>> {
  const tools = folder();
  symlinkSync(await natsServerBinary(), join(tools, "nats-server"));
  const node = dirname(Bun.which("node") ?? "/usr/bin/node");
  return {
    PATH: [tools, node, "/usr/bin", "/bin"].join(":"),
    HOME: process.env["HOME"] ?? "/",
    SLUICE_DATA_DIR: dataDir,
  };
}

interface Line {
  readonly name: string;
  readonly model: string;
  readonly seconds: number;
  /** Credits as printed; `-` for a call that failed. */
  readonly credits: string;
  readonly rest: string;
}

interface Shown {
  readonly code: number | null;
  readonly text: string;
  readonly stderr: string;
  /** In the order they were printed. */
  readonly calls: readonly Line[];
  readonly total: string;
  readonly balance: { readonly before: string; readonly after: string; readonly difference: string };
}

async function demo(env: Record<string, string>, ...args: string[]): Promise<Shown> {
  const command = { name: "demo", command: "node", args: ["deploy/demo.mjs", ...args], cwd: PROJECT_ROOT, env };
  const { code, stdout: text, stderr } = await run(command);
  const lines = Array.from(
    text.matchAll(/^(\S+) +(\S+) +(\d+\.\d) +([\d.]+|-)(?: +(.*))?$/gm),
    ([, name = "", model = "", seconds = "", credits = "", rest = ""]) => ({
      name,
      model,
      seconds: Number(seconds),
      credits,
      rest,
    }),
  );
  const total = /^total +\d+\.\d +([\d.]+)$/m.exec(text)?.[1] ?? "";
  const [, before = "", after = "", difference = ""] =
    /^Balance before ([\d.]+), after ([\d.]+): ([\d.]+) credits\.$/m.exec(text) ?? [];
  return { code, text, stderr, calls: lines, total, balance: { before, after, difference } };
}

/** Checks that the printed amounts add up, in nano-credits. */
function expectSum({ calls, total, balance }: Shown): void {
  const sum = calls.reduce((all, { credits }) => all + (credits === "-" ? 0n : parseCredits(credits)), 0n);
  expect(sum).toBe(parseCredits(total));
  expect(sum).toBe(parseCredits(balance.difference));
  expect(parseCredits(balance.before) - parseCredits(balance.after)).toBe(sum);
}

describe("npm run demo", () => {
  /** Data of the stack that a demonstration starts, and then of one that runs: its database is made once. */
  const { directory: dataDir, remove } = temporaryDirectory();
  afterAll(remove);

  test(
    "without a stack starts one, saves what every kind of model makes, and leaves nothing running",
    async () => {
      const out = folder();
      const shown = await demo(await bareEnvironment(dataDir), "--out", out);
      expect([shown.code, shown.stderr]).toEqual([0, ""]);
      expect(shown.text).toContain("started for this demonstration");
      expect(shown.calls.map(({ name }) => name)).toEqual(ALL);
      // There may be no way to the web from here: then that is what is said of it, and nothing is paid.
      const web = shown.calls.find(({ name }) => name === "web-tool");
      const isCutOff = web?.credits === "-";
      if (isCutOff) expect(web?.rest).toMatch(/^SKIPPED: no way to the web from there \(422 /);
      const told = "1 of 20 calls show nothing, for want of a way to the web: web-tool.";
      expect(shown.text.includes(told)).toBe(isCutOff);
      const paid = shown.calls.filter(({ credits }) => credits !== "-");
      expect(paid).toHaveLength(ALL.length - (isCutOff ? 1 : 0));
      for (const { credits } of paid) expect(parseCredits(credits)).toBeGreaterThan(0n);
      expectSum(shown);
      expect(shown.text).toContain("to the last fraction");
      expect(shown.text).toContain(`\nTo look at: ${join(out, "index.html")}`);
      expect(runningStack(dataDir)).toBeNull();
      expect(existsSync(join(dataDir, "lock"))).toBe(false);

      const bytes = (name: string): Uint8Array => new Uint8Array(readFileSync(join(out, name)));
      const text = (name: string): string => readFileSync(join(out, name), "utf8");
      expect(text("chat.txt").length).toBeGreaterThan(20);
      expect(text("messages.txt").length).toBeGreaterThan(20);
      expect(text("file-answer.txt")).toContain("keepers-log.txt");
      const { vectors } = JSON.parse(text("embeddings.json")) as { vectors: number[][] };
      expect(vectors.map((vector) => vector.length)).toEqual([256, 256, 256]);
      await expectPictures(bytes);
      const spoken = await decoders.mp3(bytes("speech.mp3"));
      expect(spoken.samples.length / spoken.sampleRate).toBeGreaterThan(3);
      expect(text("transcription.txt")).toMatch(/^Good evening\. The lamp is lit, .* home tonight\.\n$/);
      const played = await decoders.mp3(bytes("music.mp3"));
      expect(played.samples.length / played.sampleRate).toBeCloseTo(15, 0);
      expect(played.samples.some((sample) => Math.abs(sample) > 0.1)).toBe(true);
      expect(probeVideo(bytes("video.mp4"))).toMatchObject({
        format: "mp4",
        width: 1_280,
        height: 720,
        hasAudio: true,
      });
      const [made, changed] = [await readGlb(bytes("3d.glb")), await readGlb(bytes("3d-transform.glb"))];
      expect([made.getRoot().listMeshes().length > 0, made.getRoot().listSkins().length]).toEqual([true, 0]);
      expect(changed.getRoot().listSkins().length).toBeGreaterThan(0);

      expect(probeVideo(bytes("clip.webm"))).toMatchObject({ format: "webm", width: 320, height: 180 });
      expect(await sharp(bytes("waveform.png")).metadata()).toMatchObject({ format: "png", width: 1_200, height: 200 });
      expect(await sharp(bytes("watermark.jpg")).metadata()).toMatchObject({ format: "jpeg", width: 1_200 });
      expect(Buffer.from(bytes("log.pdf")).toString("latin1")).toStartWith("%PDF-");
      expect(text("archive-list.txt")).toContain("notes/tea.txt");
      expect(text("code-format.txt")).toContain('greet("home");');
      expect(probeVideo(bytes("narrated.mp4"))).toMatchObject({
        format: "mp4",
        width: 640,
        height: 360,
        hasAudio: true,
      });

      const page = text("index.html");
      const named = Array.from(page.matchAll(/(?:src|href)="([^"#]+)/g), ([, name = ""]) => decodeURIComponent(name));
      expect(named.length).toBeGreaterThanOrEqual(paid.length);
      expect(named.filter((name) => !existsSync(join(out, name)))).toEqual([]);
      for (const caption of ["edited: add a red hot air balloon", "The mask: what is grey stays"]) {
        expect(page).toMatch(new RegExp(`<figure><img [^>]*><figcaption>[^<]*${caption}`));
      }
      expect(page).toMatch(/<details><summary>The answer, as JSON<\/summary><pre>[{[]/);
      expect(page).not.toMatch(/<\/small>\n<pre>[{[]/);
      expect(page.includes("Not shown: no way to the web")).toBe(isCutOff);
      for (const { rest } of paid) {
        for (const [, name = ""] of rest.matchAll(/(\S+) \(/g)) expect(named).toContain(name);
      }
    },
    DONE_WITHIN_MS,
  );

  test(
    "calls a stack that runs, goes on past failures, names them, and ends with 1",
    async () => {
      const out = folder();
      const env = await bareEnvironment(dataDir);
      await launchUntil(
        (onLine) => {
          const start = { name: "start", command: "node", args: ["deploy/start.mjs"], cwd: PROJECT_ROOT };
          const running = launch({ ...start, env: { ...env, PORT: "0", SLUICE_ADMIN_PORT: "0" }, onLine });
          closing.push(() => running.stop("SIGTERM", STARTED_WITHIN_MS));
          return running;
        },
        (line) => (line.includes("Ctrl-C stops everything") ? true : null),
        STARTED_WITHIN_MS,
      );
      const { baseUrl = "" } = runningStack(dataDir) ?? {};
      // A stack that is not named is found.
      const stranger = await demo(env, "--key", "nobody", "--out", out);
      expect([stranger.code, stranger.calls]).toEqual([1, []]);
      expect(stranger.text).toContain(`Sluice at ${baseUrl}\n`);
      expect(stranger.text).toContain("cannot be called");
      // One that is named tells its balance too.
      const { key = "" } = runningStack(dataDir) ?? {};
      const named = ["--base-url", baseUrl, "--key", key, "--out", out];
      // All that take long; they are made above.
      const failing = [
        "image=sandbox-image-error",
        "speech=nobody",
        "music=nobody",
        "video=sandbox-video-refuse",
        "3d=nobody",
        "video-tool=video.nothing",
        "document-tool=document.nothing",
        "workflow=nobody",
      ];
      const shown = await demo(env, ...named, ...failing.flatMap((model) => ["--model", model]));
      expect([shown.code, shown.stderr]).toEqual([1, ""]);
      expect(shown.text).toContain(`Sluice at ${baseUrl}\n`);
      const faults = shown.calls.filter(({ rest }) => rest?.startsWith("FAILED"));
      expect(faults.map(({ name, rest }) => [name, rest])).toEqual([
        ["image", expect.stringMatching(/^FAILED: 502 upstream_error /)],
        ["image-edit", 'FAILED: needs what "image" makes, and that failed'],
        ["speech", expect.stringMatching(/^FAILED: 400 model_not_found /)],
        ["transcription", 'FAILED: needs what "speech" makes, and that failed'],
        ["music", expect.stringMatching(/^FAILED: 400 model_not_found /)],
        ["video", expect.stringContaining("upstream_refused")],
        ["3d", expect.stringMatching(/^FAILED: 400 model_not_found /)],
        ["3d-transform", 'FAILED: needs what "3d" makes, and that failed'],
        ["video-tool", expect.stringMatching(/^FAILED: 404 capability_not_found /)],
        ["document-tool", expect.stringMatching(/^FAILED: 404 capability_not_found /)],
        ["workflow", 'FAILED: the service has no template "nobody"'],
      ]);
      expect(shown.calls.map(({ name }) => name)).toEqual(ALL);
      const names = faults.map(({ name }) => name).join(", ");
      expect(shown.text).toContain(`${faults.length} of 20 calls failed: ${names}.`);
      expectSum(shown);
      expect(shown.text).toContain("to the last fraction");
      expect(existsSync(join(out, "waveform.png"))).toBe(true);
      expect(existsSync(join(out, "image.png"))).toBe(false);
      expect(readFileSync(join(out, "index.html"), "utf8")).toContain("upstream_error");
    },
    2 * DONE_WITHIN_MS,
  );

  test.each([
    ["an option there is not", ["--nobody"], /^sluice: .*--nobody[\s\S]*usage: npm run demo/],
    ["an address that is none", ["--base-url", "8080"], /^sluice: "8080" is no address/],
    ["an address without a key", ["--base-url", "http://127.0.0.1:9"], /^sluice: A key for .* is needed/],
    ["half a model", ["--model", "image"], /^sluice: --model takes a call and a model/],
  ])("refuses %s in a sentence", async (_what, args, sentence) => {
    const { code, stderr } = await demo(await bareEnvironment(folder()), ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
  });

  test("says that nobody answers instead of nineteen failures", async () => {
    const args = ["--base-url", "http://127.0.0.1:9", "--key", "k"];
    const { code, text, calls } = await demo(await bareEnvironment(folder()), ...args);
    expect([code, calls]).toEqual([1, []]);
    expect(text).toContain("Sluice cannot be called at http://127.0.0.1:9/v1: Connection error.");
  });

  test("refuses another model for a call that there is not, before any call", async () => {
    const args = ["--base-url", "http://127.0.0.1:9", "--key", "k", "--model", "dance=sandbox-chat"];
    const { code, text, calls } = await demo(await bareEnvironment(folder()), ...args);
    expect([code, calls]).toEqual([1, []]);
    expect(text).toContain('There is no call "dance"');
  });
});

async function expectPictures(bytes: (name: string) => Uint8Array): Promise<void> {
  const raw = (name: string) => sharp(bytes(name)).raw().toBuffer({ resolveWithObject: true });
  const [before, after, mask] = await Promise.all([
    raw("image.png"),
    raw("image-edit.png"),
    raw("image-edit-mask.png"),
  ]);
  for (const { info } of [before, after, mask]) expect([info.width, info.height]).toEqual([1_024, 1_024]);
  // It is looked at on a light or a dark page.
  const kept = mask.data.subarray(-4);
  expect([kept[0]! > 64 && kept[0]! < 192, kept[3]]).toEqual([true, 255]);
  // Repainted where the mask is transparent, and nowhere else.
  const isChanged = (x: number, y: number): boolean =>
    [0, 1, 2].some((channel) => {
      const at = (picture: typeof before): number =>
        picture.data[(y * 1_024 + x) * picture.info.channels + channel] ?? 0;
      return at(before) !== at(after);
    });
  let [inside, outside] = [0, 0];
  for (let y = 0; y < 1_024; y += 4) {
    for (let x = 0; x < 1_024; x += 4) {
      if (!isChanged(x, y)) continue;
      if (mask.data[(y * 1_024 + x) * mask.info.channels + 3] === 0) inside += 1;
      else outside += 1;
    }
  }
  expect(inside).toBeGreaterThan(100);
  expect(outside).toBe(0);
}

test("an address may come with or without its version, and the environment may give it", () => {
  const wish = (args: string[], environment = {}) => readWishes(args, environment, "/tmp/here");
  for (const address of ["http://a:1", "http://a:1/", "http://a:1/v1", "http://a:1/v1/"]) {
    expect(wish(["--base-url", address]).baseUrl).toBe("http://a:1/v1");
    expect(wish([], { SLUICE_BASE_URL: address, SLUICE_KEY: "k" })).toMatchObject({
      baseUrl: "http://a:1/v1",
      key: "k",
    });
  }
  expect(wish([])).toMatchObject({ baseUrl: undefined, key: undefined, out: "/tmp/here/demo-output", models: {} });
  expect(wish(["--out", "there"]).out).toBe("/tmp/here/there");
});

describe("the address of a stack", () => {
  test("of a process that is gone, or of another program, is none", () => {
    const dataDir = folder();
    expect(runningStack(dataDir)).toBeNull();
    const forget = keepAddress(dataDir, { baseUrl: "http://a/v1", key: "k", databaseUrl: null });
    // This is a test runner, not a start.
    expect(runningStack(dataDir)).toBeNull();
    forget();
    expect(existsSync(join(dataDir, "address.json"))).toBe(false);
  });
});

describe("the terminal", () => {
  test("moves the line that is waited for, within its width, and leaves the last one", () => {
    const written: string[] = [];
    const waiting = openTerminal({ write: (text: string) => written.push(text), isTTY: true, columns: 40 }).wait(
      "video",
    );
    waiting.tell(`40 %\n${"x".repeat(100)}`);
    waiting.end("video done");
    expect(written[0]).toContain("video");
    expect(written.every((text) => !text.slice(0, -1).includes("\n"))).toBe(true);
    expect(written.at(-1)).toEndWith("video done\n");
  });

  test("writes plain lines where nobody watches", () => {
    const written: string[] = [];
    const terminal = openTerminal({ write: (text: string) => written.push(text) });
    const waiting = terminal.wait("video");
    waiting.tell("40 %");
    waiting.end("video done");
    expect(written).toEqual(["video done\n"]);
  });
});
