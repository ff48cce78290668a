import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { probeAudio } from "#shared/media/probe/probe.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { written } from "#tests/providers/sandbox/media/video-footage.ts";
import { decodePictures, decodeSound } from "#tests/providers/sandbox/media/video-reading.ts";
import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import { AAC, filterText, H264, MP4, runFilterGraph } from "#workers/children/filter-graph.ts";

const plan = {
  graph: "testsrc2=s=64x48:r=25:d=2[v];sine=440:d=1.5[a]",
  streams: [
    { label: "v", ...H264 },
    { label: "a", ...AAC },
  ],
  output: MP4,
  secondsMax: 2,
} as const;

describe("a filter graph", () => {
  test("with two outputs becomes one file of two streams, each of its own length", async () => {
    const progress: number[] = [];
    const bytes = await written({ ...plan, onSeconds: (seconds) => progress.push(seconds) });
    expect(probeVideo(bytes)).toMatchObject({ format: "mp4", seconds: 2, width: 64, height: 48, hasAudio: true });
    expect((await decodePictures(bytes)).length).toBe(50);
    expect((await decodeSound(bytes)).length).toBe(1.5 * 44_100);
    expect(progress.toSorted((one, other) => one - other)).toEqual(progress);
    expect(progress.at(-1)).toBe(2);
  });

  test("returns equal bytes each time", async () => {
    const [one, other] = [await written(plan), await written(plan)];
    expect(Bun.hash(one)).toBe(Bun.hash(other));
  });

  // glibc fills fresh memory with the complement of this byte; 1 is what x264's macroblock tree was found by.
  test("returns equal bytes for any content of fresh memory", async () => {
    const script = fileURLToPath(new URL("graph-child.ts", import.meta.url));
    const hashes = await Promise.all(
      ["0", "1", "85"].map((fill) =>
        Bun.$`${process.execPath} ${script}`.env({ ...process.env, MALLOC_PERTURB_: fill }).text(),
      ),
    );
    expect(new Set(hashes).size).toBe(1);
  });

  test.each([
    ["libmp3lame", "mp3", "mp3"],
    ["libopus", "ogg", "ogg"],
    ["flac", "flac", "flac"],
    ["aac", "adts", "aac"],
    ["pcm_s16le", "wav", "wav"],
  ] as const)("returns %s with supported frames and rates, in %s", async (encoder, muxer, format) => {
    const graph = "sine=440:r=44100:d=1.3[a]";
    const bytes = await written({ graph, streams: [{ label: "a", encoder }], output: { muxer }, secondsMax: 2 });
    const facts = probeAudio(bytes);
    expect(facts.format).toBe(format);
    expect(facts.seconds).toBeCloseTo(1.3, 1);
  });

  test.each([
    ["a filter there is not", { graph: "testsrc2=s=64x48:d=1,sharpest[v];sine=d=1[a]" }, /refuses.*sharpest/],
    ["a label that leads nowhere", { graph: "testsrc2=s=64x48:d=1[w];sine=d=1[a]" }, /refuses/],
    ["an encoder there is not", { streams: [{ label: "v", encoder: "h999" }] }, /no encoder h999/],
    [
      "an option the encoder has not",
      { streams: [{ label: "v", ...H264, options: { sharpness: "9" } }, plan.streams[1]] },
      /the option sharpness/,
    ],
    ["a result that is too long", { secondsMax: 1.9 }, /longer than the limit of 1.9 seconds/],
    ["no frame at an end", { graph: "testsrc2=s=64x48:d=1,trim=end_frame=0[v];sine=d=1[a]" }, /v has no frame/],
  ])("with %s is a clear error", async (_name, change, message) => {
    const error: unknown = await written({ ...plan, ...change }).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(message);
  });

  test("receives all output of its filters, also if the thread is busy right after", async () => {
    const lines: string[] = [];
    let isBlocked = false;
    // Timers that are due then run before the tasks that bring the lines.
    const block = (): void => {
      for (const end = performance.now() + 50; performance.now() < end;);
    };
    await loadFfmpeg();
    await setImmediate();
    await runFilterGraph({
      graph: "sine=d=1,loudnorm=print_format=json[a]",
      streams: [{ label: "a", encoder: "pcm_s16le" }],
      output: { path: "/dev/null", muxer: "null" },
      secondsMax: 2,
      onLog: (line) => void lines.push(line),
      onSeconds() {
        if (!isBlocked) queueMicrotask(block);
        isBlocked = true;
      },
    });
    expect(lines.join("")).toContain('"input_i"');
  });

  test("accepts settings with any characters", async () => {
    const value = `it's 5%, [v];"{n}": \\' \\`;
    const metadata = filterText("metadata", { mode: "add", key: "title", value });
    const bytes = await written({ ...plan, graph: `testsrc2=s=64x48:r=25:d=1,${metadata}[v];sine=d=1[a]` });
    expect(probeVideo(bytes).seconds).toBe(1);
  });
});
