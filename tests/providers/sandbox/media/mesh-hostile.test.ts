import { afterAll, expect, test } from "bun:test";

import { hostileMeshes } from "#tests/support/hostile-files/meshes.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { transformMesh } from "#workers/providers/sandbox/media/mesh/transform.ts";

import { blocks, edited, refusalOf } from "#tests/support/meshes.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const good = await blocks(2);

const remesh = (mesh: Uint8Array) => transformMesh({ operation: "remesh", prompt: "", seed: 1 }, mesh);

test.each(hostileMeshes())("a mesh is rejected: %s as %s", async (_name, fault, make) => {
  expect(await refusalOf(remesh(make()))).toMatchObject({ fault });
});

test("a rejected extension is named", async () => {
  const mesh = edited(good, (json) => Object.assign(json, { extensionsRequired: ["KHR_draco_mesh_compression"] }));
  expect(await refusalOf(remesh(mesh))).toHaveProperty(
    "message",
    expect.stringContaining("needs the extension KHR_draco_mesh_compression"),
  );
});

test("children continue after damaged meshes, and a call can be cancelled", async () => {
  const run = (mesh: Uint8Array, signal?: AbortSignal) =>
    media.transformMesh({ mesh, operation: "segment", prompt: "", seed: 1 }, signal);
  expect(await refusalOf(run(good.subarray(0, 100)))).toMatchObject({ fault: "corrupt" });
  const stop = new AbortController();
  const ended = run(good, stop.signal);
  stop.abort();
  expect(await refusalOf(ended)).toMatchObject({ fault: "aborted" });
  expect((await run(good)).bytes.byteLength).toBeGreaterThan(1_000);
});
