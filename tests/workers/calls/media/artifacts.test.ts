/** Results of jobs as files of the workspace, over real Postgres and S3. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { anyMember } from "#shared/database/viewer.ts";
import { endFile, findFile } from "#shared/database/files.ts";
import { newId } from "#shared/base/ids.ts";
import { allowOutbound } from "#shared/net/allowance.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { type MediaProbes, openMediaProbes } from "#shared/media/media-probes.ts";
import { discardResults } from "#shared/jobs/kept-results.ts";
import { CLIP_SECONDS, fileAt, wavOf } from "#tests/providers/fal/clips.ts";
import { pngOf } from "#tests/support/png.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { type FileBench, log, openFileBench } from "#tests/shared/files/bench.ts";

import { keepArtifacts, RESULT_STEP_BYTES } from "#workers/calls/media/artifacts.ts";
import { MUSIC_OUTPUT, IMAGE_OUTPUT, VIDEO_OUTPUT } from "#workers/calls/media/kinds.ts";
import { ResultBudget } from "#workers/calls/media/result-budget.ts";
import type { Artifact } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

let bench: FileBench;
let workspaceId: string;
const probes = openMediaProbes();

beforeAll(async () => {
  bench = await openFileBench();
  workspaceId = await createWorkspace(bench.db.database);
}, 120_000);
afterAll(async () => {
  expect(await bench.differences()).toEqual([]);
  await probes.close();
  await bench.close();
});

const sound = (seconds: number): Artifact => ({ bytes: new Uint8Array(wavOf(seconds)), contentType: "audio/wav" });
const gone: Artifact = {
  open: () => Promise.reject(new ProviderError("failed", "not there")),
  contentType: "audio/wav",
};

const uploadPlaces = new ResultBudget({ bytesMax: 2, waitMs: 30_000 });
const tools = () => ({
  database: bench.db.database,
  storage: bench.storage,
  uploads: bench.uploads,
  uploadPlaces,
  probes,
  log,
});
/** Opens one job's part of a budget of its own. */
const roomy = () => new ResultBudget({ bytesMax: 1_000_000_000, waitMs: 1_000 }).open(workspaceId);

async function keep(id: string, made: readonly Artifact[], work = "one/m 1", canResume = true): Promise<string[]> {
  const job = { job_id: id, workspace_id: workspaceId };
  const signal = new AbortController().signal;
  const kept = await keepArtifacts(tools(), job, made, MUSIC_OUTPUT, { signal, holding: roomy(), work, canResume });
  return kept.map(({ fileId }) => fileId);
}

const isThere = async (id: string): Promise<boolean> =>
  (await findFile(bench.db.database, anyMember(workspaceId), id)) !== undefined;
const filesOf = async (): Promise<number> =>
  (await bench.db.query("select 1 from file where workspace_id = $1 and state = 'ready'", [workspaceId])).length;

/** A server of 10,000 bytes, which names no length. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < 10; at++) controller.enqueue(new Uint8Array(1_000));
          controller.close();
        },
      }),
      { headers: { "content-type": "audio/wav" } },
    ),
});

describe("a result above the limit of its kind", () => {
  const quiet = { warn: () => undefined };
  beforeAll(() => allowOutbound([`127.0.0.1:${server.port}`], quiet));
  afterAll(async () => {
    allowOutbound([], quiet);
    await server.stop(true);
  });

  test.each<[string, Artifact]>([
    ["in an answer", sound(1)],
    ["at an address", { url: server.url.href, contentType: "audio/wav" }],
    [
      "at its provider",
      { open: () => Promise.resolve(new Blob([new Uint8Array(10_000)]).stream()), contentType: "audio/wav" },
    ],
  ])(
    "%s is aborted, and nothing is stored",
    async (_where, made) => {
      const before = await filesOf();
      const job = { job_id: newId(), workspace_id: workspaceId };
      const options = {
        signal: new AbortController().signal,
        holding: roomy(),
        work: "one/m 1",
        canResume: true,
      };
      const small = { ...MUSIC_OUTPUT, bytesMax: 5_000 };
      const fault = await keepArtifacts(tools(), job, [made], small, options).catch((error: unknown) => error);
      expect(fault).toMatchObject({ name: "ProviderError", kind: "failed" });
      expect(await filesOf()).toBe(before);
    },
    30_000,
  );
});

describe("a fetched result", () => {
  const job = () => ({ job_id: newId(), workspace_id: workspaceId });
  const options = {
    signal: new AbortController().signal,
    holding: new ResultBudget({ bytesMax: 1_000_000_000, waitMs: 1_000 }).open("any"),
    work: "one/m 1",
    canResume: true,
  };
  const quick = { ...MUSIC_OUTPUT, fetchMs: 50 };
  const never: Artifact = { open: () => new Promise(() => undefined), contentType: "audio/wav" };

  test("that never arrives is fetched again, and stored when it arrives then", async () => {
    const open = () => Promise.resolve(new Blob([new Uint8Array(wavOf(1))]).stream());
    const refresh = () => Promise.resolve([{ open, contentType: "audio/wav" }]);
    const kept = await keepArtifacts(
      tools(),
      job(),
      [never],
      { ...MUSIC_OUTPUT, fetchMs: 500 },
      { ...options, refresh },
    );
    expect(kept).toMatchObject([{ contentType: "audio/wav", seconds: 1 }]);
  }, 30_000);

  test("that is still being generated has the time of its call, not that of a download", async () => {
    const [wave, pieces] = [wavOf(1), 5];
    let at = 0;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(25);
        const length = Math.ceil(wave.length / pieces);
        if (at < wave.length) controller.enqueue(new Uint8Array(wave.subarray(at, (at += length))));
        else controller.close();
      },
    });
    const made: Artifact = { open: () => Promise.resolve(stream), contentType: "audio/wav" };
    const output = { ...MUSIC_OUTPUT, fetchMs: 60, stallMs: 30_000 };
    const kept = await keepArtifacts(tools(), job(), [made], output, { ...options, canResume: false });
    expect(kept).toMatchObject([{ seconds: 1 }]);
  }, 30_000);

  test("that never arrives fails no job whose provider still has it, and blocks no other result", async () => {
    const stuck = Array.from({ length: 20 }, () =>
      keepArtifacts(tools(), job(), [never], quick, options).catch((error: unknown) => error),
    );
    const [other = ""] = await keep(newId(), [sound(1)]);
    expect(await isThere(other)).toBe(true);
    for (const fault of await Promise.all(stuck))
      expect(fault).toMatchObject({ name: "ProviderError", kind: "unknown" });
    expect(options.holding.bytes).toBe(0);
  }, 30_000);

  test("above its memory share waits, without counting as its server's silence", async () => {
    const budget = new ResultBudget({ bytesMax: 2 * RESULT_STEP_BYTES, waitMs: 30_000 });
    const [first, second] = [budget.open("a"), budget.open("a")];
    await first.add(RESULT_STEP_BYTES + 1, options.signal);
    const open = () => Promise.resolve(new Blob([new Uint8Array(wavOf(1))]).stream());
    const made: Artifact = { open, contentType: "audio/wav" };
    const output = { ...MUSIC_OUTPUT, fetchMs: 100, stallMs: 50 };
    const keeping = keepArtifacts(tools(), job(), [made], output, { ...options, holding: second });
    setTimeout(() => first.keep(0), 300);
    await keeping;
    expect([first.bytes, second.bytes, budget.bytes]).toEqual([0, 0, 0]);
  }, 30_000);

  test("that is streamed uses none of the memory budget", async () => {
    let held = 0;
    const budget = new ResultBudget({
      bytesMax: 1,
      waitMs: 1,
      gauge: { set: (bytes) => (held = Math.max(held, bytes)) },
    });
    const open = () => Promise.resolve(new Blob([new Uint8Array(wavOf(1))]).stream());
    let heard = 0;
    await keepArtifacts(tools(), job(), [{ open, contentType: "audio/wav" }], MUSIC_OUTPUT, {
      ...options,
      holding: budget.open("a"),
      onBytes: (bytes) => (heard += bytes.length),
    });
    expect([held, heard]).toEqual([0, wavOf(1).length]);
  }, 30_000);
});

describe("the length of a result", () => {
  const clip = fileAt("/a.mp4")?.body as Buffer<ArrayBuffer>;
  const atProvider: Artifact = { open: () => Promise.resolve(new Blob([clip]).stream()), contentType: "video/mp4" };
  const looks: string[] = [];
  /** Children that end, before one looks. */
  const after = (ends: readonly MediaError[]): Pick<MediaProbes, "audio" | "video"> => {
    let left = ends;
    const look = <T>(real: () => Promise<T>): Promise<T> => {
      const [end, ...rest] = left;
      left = rest;
      return end === undefined ? real() : Promise.reject(end);
    };
    return {
      audio: (source) => look(() => probes.audio(source)),
      video(source) {
        looks.push("path" in source ? "file" : "bytes");
        return look(() => probes.video(source));
      },
    };
  };
  const secondsOf = async (made: Artifact, ends: readonly MediaError[] = []): Promise<number | undefined> => {
    const around = { ...tools(), probes: { ...probes, ...after(ends) } };
    const job = { job_id: newId(), workspace_id: workspaceId };
    const options = { signal: new AbortController().signal, holding: roomy(), work: "one/m 1", canResume: true };
    const output = "open" in made ? VIDEO_OUTPUT : MUSIC_OUTPUT;
    return (await keepArtifacts(around, job, [made], output, options))[0]?.seconds;
  };
  const crash = new MediaError("failed", "the child ended");
  const slow = new MediaError("timeout", "too slow");

  test("is measured by a child process, which reads the file itself", async () => {
    expect(await secondsOf(atProvider)).toBeCloseTo(CLIP_SECONDS, 1);
    expect(looks.splice(0)).toEqual(["file"]);
  });

  test.each([
    ["ends", crash],
    ["takes too long", slow],
  ])("is measured by another child after one that %s", async (_what, end) => {
    expect(await secondsOf(sound(3), [end])).toBe(3);
  });

  test("is unknown if no child survives it, and the result is stored", async () => {
    expect(await secondsOf(atProvider, [crash, slow])).toBeUndefined();
  });

  test("is not awaited once the job has ended", async () => {
    const before = await filesOf();
    const given = new AbortController();
    const busy = openMediaProbes();
    const audio: MediaProbes["audio"] = (source, signal) => {
      const look = busy.audio(source, signal);
      given.abort();
      return look;
    };
    const around = { ...tools(), probes: { ...probes, audio } };
    const options = { signal: given.signal, holding: roomy(), work: "one/m 1", canResume: true };
    const keeping = keepArtifacts(
      around,
      { job_id: newId(), workspace_id: workspaceId },
      [sound(1)],
      MUSIC_OUTPUT,
      options,
    );
    expect(await keeping.catch((error: unknown) => error)).toMatchObject({ name: "ProviderError", kind: "aborted" });
    expect(await filesOf()).toBe(before);
    await busy.close();
  });
});

describe("one missing image of several", () => {
  const picture: Artifact = { bytes: Uint8Array.from(pngOf(9, 9)), contentType: "image/png" };
  const none: Artifact = { bytes: new Uint8Array(9), contentType: "image/png" };
  const options = () => ({ signal: new AbortController().signal, holding: roomy(), work: "one/m" });
  const pictures = (made: readonly Artifact[]) =>
    keepArtifacts(tools(), { job_id: newId(), workspace_id: workspaceId }, made, IMAGE_OUTPUT, options());

  test("leaves the others, in their order; without any it is the failure", async () => {
    expect(await pictures([none, picture, none, picture])).toHaveLength(2);
    const before = await filesOf();
    expect(await pictures([none, none]).catch((error: unknown) => error)).toMatchObject({ kind: "failed" });
    expect(await filesOf()).toBe(before);
  });

  test("includes one that is a header only: it is not charged", async () => {
    const bare: Artifact = { bytes: Uint8Array.from(pngOf(9, 9).subarray(0, 33)), contentType: "image/png" };
    expect(await pictures([bare, picture])).toHaveLength(1);
    const before = await filesOf();
    expect(await pictures([bare]).catch((error: unknown) => error)).toMatchObject({ kind: "failed" });
    const silent: Artifact = { bytes: new Uint8Array(wavOf(1).subarray(0, 44)), contentType: "audio/wav" };
    expect(await keep(newId(), [silent]).catch((error: unknown) => error)).toMatchObject({ kind: "failed" });
    expect(await filesOf()).toBe(before);
  });

  test("leaves none if the store is unavailable", async () => {
    const away = { ...tools(), uploads: { run: () => Promise.reject(new Error("away")) } } as never;
    const job = { job_id: newId(), workspace_id: workspaceId };
    const fault = await keepArtifacts(away, job, [picture, picture], IMAGE_OUTPUT, options()).catch(
      (error: unknown) => error,
    );
    expect(fault).toMatchObject({ message: "away" });
  });
});

describe("a job's result", () => {
  test("is stored once, for any number of collections", async () => {
    const id = newId();
    const first = await keep(id, [sound(1), sound(2)]);
    expect(new Set(first).size).toBe(2);
    expect(await keep(id, [sound(1), sound(2)])).toEqual(first);
  });

  test("is another file when another provider generated it instead", async () => {
    const id = newId();
    const [first = ""] = await keep(id, [sound(1)], "one/m 1");
    const [second = ""] = await keep(id, [sound(2)], "two/m 9");
    expect(second).not.toBe(first);
    expect((await findFile(bench.db.database, anyMember(workspaceId), second))?.bytes).toBe(32_044n);
  });

  test("stays while other parts may still arrive, and is deleted when the job fails", async () => {
    const [id, before] = [newId(), await filesOf()];
    expect(await keep(id, [sound(1), gone]).catch((error: unknown) => error)).toMatchObject({
      name: "ProviderError",
      kind: "unknown",
    });
    expect(await filesOf()).toBe(before + 1);
    await discardResults(tools(), { id, workspaceId });
    expect(await filesOf()).toBe(before);
    // Nothing of it is taken for what is made later.
    const [again = ""] = await keep(id, [sound(1)]);
    expect(await isThere(again)).toBe(true);
  }, 30_000);

  test("is deleted immediately if the other parts cannot be fetched", async () => {
    const [id, before] = [newId(), await filesOf()];
    const fault = await keep(id, [sound(1), gone], "one/m", false).catch((error: unknown) => error);
    expect([fault, await filesOf()]).toEqual([expect.any(ProviderError), before]);
  }, 30_000);

  test("that its owner deleted before its charge is stored again", async () => {
    const id = newId();
    const [first = ""] = await keep(id, [sound(1)]);
    await endFile(bench.db.database, workspaceId, first, "deleted");
    const [second = ""] = await keep(id, [sound(1)]);
    expect([second === first, await isThere(second)]).toEqual([false, true]);
  });
});
