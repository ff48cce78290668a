/** `npm run demo` as a user runs it, against real stacks: its own and a running one. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import OpenAI from "openai";
import sharp from "sharp";

import { launch, launchUntil, run } from "#deploy/embedded/process.mjs";
import { runningStack } from "#deploy/supervisor/address.mjs";
import { probeVideo } from "#shared/media/probe/video.ts";
import { parseCredits } from "#shared/base/money.ts";
import { decoders } from "#tests/support/decoded-sound.ts";
import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { readGlb } from "#tests/support/meshes.ts";

/** Files of each call, in the order of the calls. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  chat: ["chat.txt"],
  messages: ["messages.txt"],
  embeddings: ["embeddings.json"],
  file: ["file-answer.txt", "keepers-log.txt"],
  image: ["image.png"],
  "image-edit": ["image-edit.png", "image-edit-mask.png"],
  speech: ["speech.mp3"],
  transcription: ["transcription.txt"],
  music: ["music.mp3"],
  video: ["video.mp4"],
  "3d": ["3d.glb"],
  "3d-transform": ["3d-transform.glb"],
  "video-tool": ["clip.webm"],
  "audio-tool": ["waveform.png"],
  "image-tool": ["watermark.jpg"],
  "document-tool": ["log.pdf"],
  "archive-tool": ["archive.json"],
  "web-tool": ["page.json"],
  "code-tool": ["code.json"],
  workflow: ["narrated.mp4"],
};
const STARTED_WITHIN_MS = 60_000;
/** Twenty calls and a start on a busy machine. */
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

/** Environment of a machine that has Node, npm, a nats-server and a data directory for this test. */
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

interface Row {
  readonly name: string;
  readonly model: string;
  /** Printed amount; `-` for a call that was skipped or failed. */
  readonly credits: string;
  /** File names, or why the call was skipped or failed. */
  readonly saved: string;
}

interface Output {
  readonly code: number | null;
  readonly text: string;
  readonly stderr: string;
  readonly rows: readonly Row[];
  /** Nano-credits. */
  readonly sum: bigint;
  /** Nano-credits by which the balance fell. */
  readonly spent: bigint;
}

async function demo(
  env: Record<string, string>,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): Promise<Output> {
  const command = { name: "demo", command: "node", args: ["deploy/demo.mjs", ...args], cwd: PROJECT_ROOT, env };
  const { code, stdout: text, stderr } = await run({ ...command, onLine });
  const rows = Array.from(
    text.matchAll(/^(\S+) +(\S+) +\d+\.\d +([\d.]+|-) +(.*)$/gm),
    ([, name = "", model = "", credits = "", saved = ""]) => ({ name, model, credits, saved }),
  );
  const sum = rows.reduce((all, { credits }) => all + (credits === "-" ? 0n : parseCredits(credits)), 0n);
  const total = /^total +\d+\.\d +([\d.]+)$/m.exec(text)?.[1];
  const balance = /^Balance before ([\d.]+), after ([\d.]+): ([\d.]+) credits spent\.$/m.exec(text);
  const [before = 0n, after = 0n, spent = 0n] = (balance ?? []).slice(1).map(parseCredits);
  if (total !== undefined) expect(parseCredits(total)).toBe(sum);
  expect(spent).toBe(before - after);
  return { code, text, stderr, rows, sum, spent };
}

/** Starts `npm start` until the end of the test. Returns its address. */
async function startStack(env: Record<string, string>, dataDir: string): Promise<{ baseUrl: string; key: string }> {
  await launchUntil(
    (onLine) => {
      const start = { name: "start", command: "node", args: ["deploy/start.mjs"], cwd: PROJECT_ROOT };
      const running = launch({ ...start, env: { ...env, PORT: "0", SLUICE_ADMIN_PORT: "0" }, onLine });
      closing.push(() => running.stop("SIGTERM", STARTED_WITHIN_MS));
      return running;
    },
    () => runningStack(dataDir),
    STARTED_WITHIN_MS,
  );
  const stack = runningStack(dataDir);
  if (stack === null) throw new Error("the stack has no address");
  return stack;
}

describe("npm run demo", () => {
  /** Data directory of all stacks here, so that the database is created once. */
  const { directory: dataDir, remove } = temporaryDirectory();
  afterAll(remove);

  test(
    "starts a stack if none runs, saves the result of every call, accounts for every credit and stops the stack",
    async () => {
      const out = folder();
      const { code, text, stderr, rows, sum, spent } = await demo(await bareEnvironment(dataDir), ["--out", out]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(text).toStartWith("Starting Sluice for this demo.");
      expect(rows.map(({ name }) => name)).toEqual(Object.keys(FILES));
      // This machine may have no internet access.
      const isOffline = rows.some(({ name, credits }) => name === "web-tool" && credits === "-");
      expect(text.includes("\n1 skipped: no internet access")).toBe(isOffline);
      for (const { name, credits, saved } of rows) {
        if (isOffline && name === "web-tool") {
          expect(saved).toStartWith("skipped: 422 ");
          continue;
        }
        expect([name, saved]).toEqual([name, FILES[name]?.join(", ") ?? ""]);
        expect([name, parseCredits(credits) > 0n]).toEqual([name, true]);
      }
      expect(spent).toBe(sum);
      expect(text).toContain("\nThis is exactly the sum of the costs.\n");
      expect(text).toContain(`\nResults: ${out}`);
      expect(runningStack(dataDir)).toBeNull();
      expect(existsSync(join(dataDir, "lock"))).toBe(false);
      const expected = Object.entries(FILES).flatMap(([name, files]) =>
        isOffline && name === "web-tool" ? [] : files,
      );
      expect(readdirSync(out).toSorted()).toEqual(expected.toSorted());
      await expectContents(out);
    },
    DONE_WITHIN_MS,
  );

  test(
    "calls a running stack, continues after failures, names them and exits with 1",
    async () => {
      const out = folder();
      const env = await bareEnvironment(dataDir);
      const { baseUrl, key } = await startStack(env, dataDir);
      // A stack that no option names is found by its data directory.
      const stranger = await demo(env, ["--key", "nobody", "--out", out]);
      expect([stranger.code, stranger.rows]).toEqual([1, []]);
      expect(stranger.text).toContain(`Sluice at ${baseUrl}\n`);
      expect(stranger.stderr).toStartWith(`sluice: Sluice cannot be called at ${baseUrl}: 401 `);
      // The slow calls are replaced by failures; the first test covers their success.
      const models = [
        "image=sandbox-image-error",
        "speech=nobody",
        "music=nobody",
        "video=sandbox-video-refuse",
        "3d=nobody",
        "video-tool=video.nothing",
        "document-tool=document.nothing",
        "workflow=nobody",
      ];
      const failing = models.flatMap((model) => ["--model", model]);
      const shown = await demo(env, ["--base-url", baseUrl, "--key", key, "--out", out, ...failing]);
      expect([shown.code, shown.stderr]).toEqual([1, ""]);
      expect(shown.text).toStartWith(`Sluice at ${baseUrl}\n`);
      const failed = shown.rows.filter(({ saved }) => saved.startsWith("FAILED"));
      expect(failed.map(({ name, saved }) => [name, saved])).toEqual([
        ["image", expect.stringMatching(/^FAILED: 502 upstream_error /)],
        ["image-edit", 'FAILED: needs the result of "image", which failed'],
        ["speech", expect.stringMatching(/^FAILED: 400 model_not_found /)],
        ["transcription", 'FAILED: needs the result of "speech", which failed'],
        ["music", expect.stringMatching(/^FAILED: 400 model_not_found /)],
        ["video", expect.stringContaining("upstream_refused")],
        ["3d", expect.stringMatching(/^FAILED: 400 model_not_found /)],
        ["3d-transform", 'FAILED: needs the result of "3d", which failed'],
        ["video-tool", expect.stringMatching(/^FAILED: 404 capability_not_found /)],
        ["document-tool", expect.stringMatching(/^FAILED: 404 capability_not_found /)],
        ["workflow", 'FAILED: There is no workflow template "nobody".'],
      ]);
      expect(shown.rows.map(({ name }) => name)).toEqual(Object.keys(FILES));
      expect(shown.text).toContain(`\n${failed.length} failed: ${failed.map(({ name }) => name).join(", ")}`);
      expect(shown.spent).toBe(shown.sum);
      expect(shown.text).toContain("\nThis is exactly the sum of the costs.\n");
      expect([existsSync(join(out, "waveform.png")), existsSync(join(out, "image.png"))]).toEqual([true, false]);
      expect(runningStack(dataDir)).not.toBeNull();
    },
    DONE_WITHIN_MS,
  );

  test(
    "exits with 1 if the balance fell by more than the sum of the costs, although no call failed",
    async () => {
      const env = await bareEnvironment(dataDir);
      const { baseUrl, key } = await startStack(env, dataDir);
      const other = new OpenAI({ baseURL: baseUrl, apiKey: key });
      let extra: Promise<string | null> | undefined;
      const shown = await demo(env, ["--out", folder()], (line) => {
        if (!line.startsWith("image ")) return;
        const request = {
          model: "sandbox-embed",
          input: "a call of another client",
          encoding_format: "float",
        } as const;
        extra ??= other.embeddings
          .create(request)
          .withResponse()
          .then(({ response }) => response.headers.get("x-credits-used"));
      });
      const cost = parseCredits((await extra) ?? "0");
      expect(cost).toBeGreaterThan(0n);
      expect([shown.code, shown.stderr, shown.spent - shown.sum]).toEqual([1, "", cost]);
      expect(shown.text).not.toContain("failed");
      expect(shown.text).toContain("Did another client use this workspace during the demo?");
    },
    DONE_WITHIN_MS,
  );

  test(
    "stops the stack that it started when a signal ends it",
    async () => {
      const env = await bareEnvironment(dataDir);
      const args = ["deploy/demo.mjs", "--out", folder()];
      const { running } = await launchUntil(
        (onLine) => launch({ name: "demo", command: "node", args, cwd: PROJECT_ROOT, env, onLine }),
        (line) => (line.startsWith("chat ") ? true : null),
        STARTED_WITHIN_MS,
      );
      expect(runningStack(dataDir)).not.toBeNull();
      expect((await running.stop("SIGTERM", STARTED_WITHIN_MS)).code).toBe(130);
      expect(running.lines().filter((line) => /FAILED|sluice: /.test(line))).toEqual([]);
      expect(runningStack(dataDir)).toBeNull();
      expect(existsSync(join(dataDir, "lock"))).toBe(false);
    },
    DONE_WITHIN_MS,
  );

  test.each([
    [
      "nothing answers at the address",
      [],
      /^sluice: Sluice cannot be called at http:\/\/127\.0\.0\.1:9\/v1: Connection/,
    ],
    [
      "--model names an unknown call",
      ["--model", "dance=sandbox-chat"],
      /^sluice: --model names an unknown call "dance"/,
    ],
    ["an option is unknown", ["--nobody"], /^sluice: .*--nobody[\s\S]*usage: npm run demo/],
  ])("makes no call and prints one error if %s", async (_case, more, message) => {
    const args = ["--base-url", "http://127.0.0.1:9", "--key", "k", ...more];
    const { code, stderr, rows } = await demo(await bareEnvironment(folder()), args);
    expect([code, stderr, rows]).toEqual([1, expect.stringMatching(message), []]);
  });
});

async function expectContents(out: string): Promise<void> {
  const bytes = (name: string): Uint8Array => new Uint8Array(readFileSync(join(out, name)));
  const text = (name: string): string => readFileSync(join(out, name), "utf8");
  expect(text("chat.txt")).toContain("lighthouse");
  expect(text("messages.txt").length).toBeGreaterThan(20);
  expect(text("file-answer.txt")).toContain("keepers-log.txt");
  // Downloaded from the file store.
  expect(text("keepers-log.txt")).toBe(
    "Keeper's log: lamp lit at nine, wind from the north at midnight, two ships passed.\n",
  );
  const { vectors } = JSON.parse(text("embeddings.json")) as { vectors: number[][] };
  expect(vectors.map((vector) => vector.length)).toEqual([256, 256, 256]);
  await expectPictures(bytes);
  const spoken = await decoders.mp3(bytes("speech.mp3"));
  expect(spoken.samples.length / spoken.sampleRate).toBeGreaterThan(3);
  expect(text("transcription.txt")).toMatch(/^Good evening\. The lamp is lit, .* home tonight\.$/);
  const played = await decoders.mp3(bytes("music.mp3"));
  expect(played.samples.length / played.sampleRate).toBeCloseTo(15, 0);
  expect(played.samples.some((sample) => Math.abs(sample) > 0.1)).toBe(true);
  const film = { format: "mp4", width: 1_280, height: 720, hasAudio: true };
  expect(probeVideo(bytes("video.mp4"))).toMatchObject(film);
  const [mesh, rigged] = [await readGlb(bytes("3d.glb")), await readGlb(bytes("3d-transform.glb"))];
  expect([mesh.getRoot().listMeshes().length > 0, mesh.getRoot().listSkins().length]).toEqual([true, 0]);
  expect(rigged.getRoot().listSkins().length).toBeGreaterThan(0);
  expect(probeVideo(bytes("clip.webm"))).toMatchObject({ format: "webm", width: 320, height: 180 });
  expect(await sharp(bytes("waveform.png")).metadata()).toMatchObject({ format: "png", width: 1_200, height: 200 });
  expect(await sharp(bytes("watermark.jpg")).metadata()).toMatchObject({ format: "jpeg", width: 1_200 });
  expect(Buffer.from(bytes("log.pdf")).toString("latin1")).toStartWith("%PDF-");
  expect(JSON.parse(text("archive.json"))).toMatchObject({ format: "zip", count: 3 });
  expect(text("archive.json")).toContain("notes/tea.txt");
  expect((JSON.parse(text("code.json")) as { text: string }).text).toContain('greet("home");');
  const narrated = { format: "mp4", width: 640, height: 360, hasAudio: true };
  expect(probeVideo(bytes("narrated.mp4"))).toMatchObject(narrated);
}

async function expectPictures(bytes: (name: string) => Uint8Array): Promise<void> {
  const raw = async (name: string) => {
    expect((await sharp(bytes(name)).metadata()).format).toBe("png");
    return sharp(bytes(name)).raw().toBuffer({ resolveWithObject: true });
  };
  const [before, after, mask] = await Promise.all(["image.png", "image-edit.png", "image-edit-mask.png"].map(raw));
  if (!before || !after || !mask) throw new Error("a picture is missing");
  for (const { info } of [before, after, mask]) expect([info.width, info.height]).toEqual([1_024, 1_024]);
  // The edit changes pixels where the mask is transparent, and no others.
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
