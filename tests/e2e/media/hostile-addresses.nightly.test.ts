/**
 * Addresses that lead inside, away, in circles or to bombs, on the routes that take one: told by name, paid by nobody, and
 * nothing inside is asked. What each spelling and each answer means is proved in tests/shared/net, where a resolver
 * changes its answer between two looks; here, that every address of a media call goes through that one gate.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

import { eventually } from "#tests/faults/wait.ts";
import { hostileFiles, playlistsOf } from "#tests/support/hostile-files/corpus.ts";
import { mp4OfBillions, mp4OfTicks } from "#tests/support/hostile-files/films.ts";
import { hostileMeshes } from "#tests/support/hostile-files/meshes.ts";
import { gzipOfMegabytes, pngOfPixels, svgOf } from "#tests/support/hostile-files/pictures.ts";

import {
  base64,
  expectBounded,
  expectFailedJob,
  expectQuiet,
  expectRefusal,
  type HostileBench,
  invalid,
  MB,
  MESHES,
  PICTURE,
  type Refusal,
  startHostileBench,
  unprocessable,
  unsafe,
  unsupported,
  VIDEOS,
} from "./hostile-bench.ts";

let bench: HostileBench;

beforeAll(async () => {
  bench = await startHostileBench(pagesOf);
}, 90_000);

afterEach(() => bench.expectAlive());

afterAll(() => bench?.close());

const film = (more: object): Promise<Response> =>
  bench.call(VIDEOS, { model: "sandbox-video", prompt: "a lake", duration: 1, resolution: "240p", ...more });

/** Pages that the site serves. */
const pagesOf = ({
  innerUrl,
  siteUrl,
  mesh,
}: Pick<HostileBench, "innerUrl" | "siteUrl" | "mesh">): Readonly<Record<string, RequestListener>> => ({
  "/picture": (_request, response) => void response.end(PICTURE),
  "/to-inner": redirect(() => `${innerUrl}/x.png`),
  "/to-metadata": redirect(() => "http://169.254.169.254/latest/meta-data"),
  "/to-file": redirect(() => "file:///etc/passwd"),
  "/to-data": redirect(() => `data:image/png;base64,${base64(PICTURE)}`),
  "/to-user": redirect(() => siteUrl.replace("//", "//user:password@")),
  "/loop": redirect(() => "/loop"),
  "/called-a-page": (_request, response) => void response.setHeader("content-type", "text/html").end(PICTURE),
  "/svg": (_request, response) => void response.setHeader("content-type", "image/svg+xml").end(svgOf(innerUrl)),
  "/pixels": (_request, response) => void response.end(pngOfPixels()),
  "/inflated": (_request, response) => {
    response.setHeader("content-encoding", "gzip").end(gzipOfMegabytes());
  },
  "/endless": (_request, response) => pour(response),
  "/of-a-terabyte": (_request, response) => {
    response.setHeader("content-length", "999999999999");
    response.write(PICTURE);
  },
  "/cut": (_request, response) => {
    response.setHeader("content-length", "5000");
    response.write(PICTURE, () => response.destroy());
  },
  "/drip": (_request, response) => {
    const timer = setInterval(() => response.write("x"), 50);
    response.on("close", () => clearInterval(timer));
  },
  "/billions.mp4": (_request, response) => void response.end(mp4OfBillions(64, 64)),
  "/list.m3u8": (_request, response) => {
    response.setHeader("content-type", "video/mp4").end(playlistsOf(innerUrl)["a playlist"]);
  },
  "/lying.glb": (_request, response) => {
    const lying = mesh.slice();
    new DataView(lying.buffer).setUint32(12, 0xffff_fff0, true);
    response.end(lying);
  },
  ...Object.fromEntries(
    hostileFiles("film", "disguise").map(([name, make]) => [
      pathOf(name),
      async (_request: IncomingMessage, response: ServerResponse) =>
        void response.setHeader("content-type", "image/png").end(await make()),
    ]),
  ),
});

/** Path of a file of the corpus. */
function pathOf(name: string): string {
  return `/corpus/${encodeURIComponent(name)}`;
}

function redirect(to: () => string): RequestListener {
  return (_request, response) => void response.writeHead(302, { location: to() }).end();
}

/** Writes as fast as the client reads, until it has left. */
function pour(response: ServerResponse): void {
  const piece = Buffer.alloc(MB, PICTURE);
  while (!response.destroyed && response.write(piece));
  if (!response.destroyed) response.once("drain", () => pour(response));
}

describe("an address of an image, a video or a mesh", () => {
  const remesh = (mesh_url: string): Promise<Response> =>
    bench.call(MESHES, { model: "sandbox-3d-remesh", prompt: "a block", mesh_url });
  const meshOf = (image_url: string): Promise<Response> => bench.call(MESHES, { model: "sandbox-3d", image_url });

  test.each([
    "http://127.0.0.1/x",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://localhost:5432/",
    "http://example.com:25/",
    "http://user:password@example.com/x",
    "http://example.com\\@127.0.0.1/",
    "file:///etc/passwd",
    "ftp://example.com/x",
    "gopher://example.com/x",
    "javascript:alert(1)",
    "blob:http://example.com/x",
    "//example.com/x",
    "../../etc/passwd",
    "\0",
  ])("that is %p is rejected by the ingress", async (url) => {
    await expectRefusal(bench, await film({ image_url: url }), unsafe("image_url"));
    await expectRefusal(bench, await film({ video_url: url }), unsafe("video_url"));
    await expectRefusal(bench, await meshOf(url), unsafe("image_url"));
    await expectRefusal(bench, await remesh(url), unsafe("mesh_url"));
  });

  test("that is longer than the limit is rejected before it is parsed", async () => {
    const long = (characters: number): string => "https://example.com/".padEnd(characters, "a");
    await expectRefusal(bench, await film({ image_url: long(8_001) }), unsafe("image_url"));
    await expectRefusal(bench, await meshOf(long(16 * MB)), unsafe("image_url"));
    await expectRefusal(bench, await film({ video_url: long(8_001) }), invalid("video_url"));
    await expectRefusal(bench, await remesh(long(16 * MB)), invalid("mesh_url"));
  });

  test.each<[string, Refusal]>([
    ["data:text/html,hello", unprocessable("image_url")],
    ["data:text/html;base64,aGVsbG8=", unsupported("image_url")],
    ["data:image/svg+xml;base64,PHN2Zz4=", unsupported("image_url")],
    ["data:image/png;base64,", unprocessable("image_url")],
    ["data:image/png,%89PNG", unprocessable("image_url")],
    ["data:image/png;base64,-_-_", unprocessable("image_url")],
    ["data:image/png;base64,aGVsbG8=", unprocessable("image_url")],
    [`data:image/jpeg;base64,${base64(PICTURE)}`, unprocessable("image_url")],
    ["data:", unprocessable("image_url")],
  ])("that is a data URL, as %p, is rejected unless it is an image in base64", async (image_url, expected) => {
    await expectRefusal(bench, await film({ image_url }), expected);
    await expectRefusal(bench, await meshOf(image_url), expected);
  });

  test("that is a data URL with millions of parameters is rejected, and not kept in memory", async () => {
    for (const words of [";".repeat(8 * MB), ";a=b".repeat(2 * MB), "a".repeat(8 * MB)]) {
      for (const image_url of [`data:${words}`, `data:${words};base64,${base64(PICTURE)}`]) {
        await expectRefusal(bench, await film({ image_url }), unprocessable("image_url"));
      }
    }
  });

  test.each<[string, Refusal["code"]]>([
    ["/to-inner", "unsafe_url"],
    ["/to-metadata", "unsafe_url"],
    ["/to-file", "unsafe_url"],
    ["/to-data", "unsafe_url"],
    ["/to-user", "unsafe_url"],
    ["/loop", "unprocessable_input"],
    ["/nowhere", "unprocessable_input"],
    ["/svg", "unprocessable_input"],
    ["/pixels", "unprocessable_input"],
    ["/inflated", "unprocessable_input"],
    ["/endless", "unprocessable_input"],
    ["/of-a-terabyte", "unprocessable_input"],
    ["/cut", "input_unavailable"],
    ["/billions.mp4", "unprocessable_input"],
  ])("that returns %s fails the job by name", async (path, code) => {
    const url = bench.siteUrl + path;
    await expectFailedJob(bench, await film({ image_url: url }), { code, param: "image_url" });
    await expectFailedJob(bench, await film({ video_url: url }), { code, param: "video_url" });
    const status = code === "unsafe_url" ? 400 : 422;
    await expectRefusal(bench, await remesh(url), { status, code, param: "mesh_url" });
    expect(bench.askedInside).toEqual([]);
  });

  test.each(["/list.m3u8", "/picture", ...hostileFiles("film").map(([name]) => pathOf(name))])(
    "that returns %s is not a video",
    async (path) => {
      const code = "unprocessable_input";
      await expectFailedJob(bench, await film({ video_url: bench.siteUrl + path }), { code, param: "video_url" });
      expect(bench.askedInside).toEqual([]);
    },
  );

  test.each(hostileFiles("disguise"))(
    "that returns %s, declared as an image, is rejected by each call",
    async (name) => {
      const [url, code] = [bench.siteUrl + pathOf(name), "unprocessable_input"] as const;
      await expectFailedJob(bench, await film({ image_url: url }), { code, param: "image_url" });
      await expectFailedJob(bench, await film({ video_url: url }), { code, param: "video_url" });
      await expectRefusal(bench, await remesh(url), unprocessable("mesh_url"));
    },
  );

  test("whose server sends a wrong type is judged by its bytes", async () => {
    const response = await film({ image_url: `${bench.siteUrl}/called-a-page` });
    const { id } = (await response.json()) as { id: string };
    expect(await bench.endOf(id)).toMatchObject({ status: "completed" });
  });

  test("that drips without end is aborted when its job ends", async () => {
    const { id } = (await (await film({ image_url: `${bench.siteUrl}/drip` })).json()) as { id: string };
    await eventually("it is read", async () => (await bench.jobOf(id)).status === "processing");
    expect((await bench.call(`${VIDEOS}/${id}/cancel`, {})).status).toBe(200);
    const connections = (): Promise<number> =>
      new Promise((resolve) => bench.site.getConnections((_error, count) => resolve(count)));
    expect(await bench.endOf(id)).toMatchObject({ status: "cancelled", credits_used: 0 });
    await eventually("the connection is closed", async () => (await connections()) === 0);
  });

  test("of an already stored video is not fetched: the stored file is checked alike", async () => {
    const code = "unprocessable_input";
    const pixels = await bench.store(pngOfPixels(), "a.png");
    await expectFailedJob(bench, await film({ image_file_id: pixels }), { code, param: "image_file_id" });
    await expectRefusal(bench, await film({ video_file_id: pixels }), unprocessable("video_file_id"));
  });
});

describe("the file store", () => {
  test.each(hostileFiles("film"))("may contain %s, of which no video is generated", async (name, make) => {
    const isMp4 = name.startsWith("a film");
    const response = await film({ video_file_id: await bench.store(await make(), isMp4 ? "a.mp4" : "a") });
    if (!isMp4) await expectRefusal(bench, response, unprocessable("video_file_id"));
    else await expectFailedJob(bench, response, { code: "unprocessable_input", param: "video_file_id" });
  });

  test.each(hostileFiles("disguise"))("stores %s under no other type, and no call accepts it", async (name, make) => {
    const bytes = await make();
    const status = name === "nothing" ? 400 : 422;
    expect(await bench.store(bytes, "a.mp4").catch((error: unknown) => error)).toMatchObject({ status, param: "file" });
    if (name === "nothing") return;
    const id = await bench.store(bytes, "a");
    await expectRefusal(bench, await film({ video_file_id: id }), unprocessable("video_file_id"));
    await expectRefusal(bench, await film({ image_file_id: id }), unprocessable("image_file_id"));
    const mesh = { model: "sandbox-3d-remesh", prompt: "a block", mesh_file_id: id };
    await expectRefusal(bench, await bench.call(MESHES, mesh), unprocessable("mesh_file_id"));
  });
});

describe("an invalid video request", () => {
  let whole: Uint8Array;

  beforeAll(async () => {
    const { id } = (await (await film({ seed: 1 })).json()) as { id: string };
    const made = await fetch(String((await bench.endOf(id)).data?.[0]?.["url"]));
    whole = new Uint8Array(await made.arrayBuffer());
  });

  test.each<[string, (video: Uint8Array) => Uint8Array]>([
    ["of images that last for years", (video) => mp4OfTicks(video, () => 0x7fff_ffff)],
    ["of images that last below nothing", (video) => mp4OfTicks(video, () => 0xffff_ffff)],
    ["of images that last no time", (video) => mp4OfTicks(video, () => 0)],
    ["cut off in its middle", (video) => video.subarray(0, video.length / 2)],
  ])("%s is rejected, and costs nothing", async (_what, spoil) => {
    const video_file_id = await bench.store(spoil(whole), "a.mp4");
    const response = await film({ video_file_id });
    await expectFailedJob(bench, response, { code: "unprocessable_input", param: "video_file_id" });
  });
});

describe("a mesh", () => {
  // A child ends of each, which takes its time: all others are tried in tests/providers/sandbox/media/mesh-hostile.test.ts.
  test.each([
    "an address for its points",
    "a file of the machine",
    "an address for an image",
    "a billion points",
    "points that are no numbers",
    "a node in itself",
  ])("with %s is rejected, and nothing is fetched", async (name) => {
    const make = hostileMeshes(bench.innerUrl).find(([other]) => other === name)?.[2];
    if (make === undefined) throw new Error(`there is no mesh with ${name}`);
    const mesh_file_id = await bench.store(make(), "a.glb");
    const response = await bench.call(MESHES, { model: "sandbox-3d-rig", prompt: "a block", mesh_file_id });
    await expectRefusal(bench, response, unprocessable("mesh_file_id"));
    expect(bench.askedInside).toEqual([]);
  });

  test("that declares more than it contains, from an address, is rejected", async () => {
    const body = { model: "sandbox-3d-segment", prompt: "a block", mesh_url: `${bench.siteUrl}/lying.glb` };
    await expectRefusal(bench, await bench.call(MESHES, body), unprocessable("mesh_url"));
  });

  test("with an invalid image beside it reports the image", async () => {
    const mesh_file_id = await bench.store(bench.mesh, "a.glb");
    const body = { model: "sandbox-3d-retexture", mesh_file_id, image_url: `${bench.siteUrl}/pixels` };
    await expectRefusal(bench, await bench.call(MESHES, body), unprocessable("image_url"));
  });
});

describe("after all of it", () => {
  test("every route serves, and nothing was lost, fetched or leaked", async () => {
    await bench.expectService();
    expectBounded(bench.memory);
    await expectQuiet(bench);
  }, 60_000);
});
