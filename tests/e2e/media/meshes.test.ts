/** Meshes of the sandbox against the running service: every rule of `POST /v1/3d/generations` (spec), and the books. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import { createWorkspace } from "#tests/faults/bed.ts";
import { pngOf } from "#tests/support/png.ts";
import { startRole } from "#tests/support/role-process.ts";

import { CREDIT, errorOf } from "./bench.ts";
import { factsOf, type Made, type MeshBench, MESHES, sceneOf, startMeshBench } from "./mesh-bench.ts";

const MODEL = "sandbox-3d";
const TRANSFORMS = ["remesh", "retexture", "segment", "rig"];
/** A minute of computing at a credit a second. */
const HOLD = 60n * CREDIT;

let bench: MeshBench;
let picture: Uint8Array;
let before: bigint;
/** A mesh to transform. */
let fox: Made;

beforeAll(async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><circle cx="48" cy="48" r="30" fill="#c33"/></svg>`;
  picture = new Uint8Array(await sharp(Buffer.from(svg)).png().toBuffer());
  bench = await startMeshBench(() => picture);
  before = (await balance()).amount;
  fox = await bench.make({ model: MODEL, prompt: "a fox", seed: 1 });
}, 90_000);

afterAll(() => bench?.close());

interface Balance {
  readonly amount: bigint;
  readonly held: bigint;
}

async function balance(workspace?: string): Promise<Balance> {
  const [row] = await bench.stack.query<Balance>(
    `select amount - unbooked_credits(workspace_id) as amount, held - lined_credits(workspace_id) as held
     from balance join workspace on workspace.id = workspace_id
     where name = 'default' and $1::uuid is null or workspace_id = $1`,
    [workspace ?? null],
  );
  if (!row) throw new Error("no balance");
  return row;
}

const nano = (credits: unknown): bigint => BigInt(Math.round(Number(credits) * Number(CREDIT)));
const dataUrl = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;

describe("a mesh", () => {
  test("from a text is a valid GLB, is stored as a file and under its job, and costs its computed seconds", async () => {
    const { id, headers, answer, bytes } = fox;
    expect((await factsOf(bytes)).totalTriangleCount).toBeGreaterThan(0);
    expect(Number.isInteger(answer.created)).toBe(true);
    const [made] = answer.data;
    expect(made?.content_type).toBe("model/gltf-binary");
    const fileId = made?.file_id ?? "";
    expect(await bench.client.files.retrieve(fileId)).toMatchObject({ filename: "mesh-1.glb", bytes: bytes.length });
    const kept = await bench.client.files.content(fileId);
    expect(Buffer.from(await kept.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);

    const job = await bench.endOf(id);
    expect(job).toMatchObject({ id, modality: "object_3d", status: "completed", progress: 1, model: MODEL });
    expect(job.data).toMatchObject([{ file_id: fileId, content_type: "model/gltf-binary" }]);
    const again = await fetch(String(job.data?.[0]?.["url"]));
    expect(Buffer.from(await again.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);

    const [usage, ...others] = await bench.usageOf(id);
    expect(others).toEqual([]);
    const seconds = usage?.units["compute_seconds"] ?? 0;
    const computed = (BigInt(Math.ceil(seconds * 1_000 - 0.001)) * CREDIT) / 1_000n;
    expect(usage).toMatchObject({ status: "succeeded", source: "sandbox/sandbox-3d", is_estimated: false });
    expect(usage?.settled).toBe(computed > HOLD ? HOLD : computed);
    expect(usage?.settled).toBeGreaterThan(0n);
    expect(nano(answer.credits_used)).toBe(usage?.settled ?? 0n);
    expect([headers.get("x-credits-used"), headers.get("x-model-used")]).toEqual([String(answer.credits_used), MODEL]);
    expect(job.credits_used).toBe(answer.credits_used);
  });

  test("is equal for the same seed, and different for another", async () => {
    const [same, other] = await Promise.all([1, 2].map((seed) => bench.make({ model: MODEL, prompt: "a fox", seed })));
    expect(Bun.hash(same?.bytes ?? "")).toBe(Bun.hash(fox.bytes));
    expect(Bun.hash(other?.bytes ?? "")).not.toBe(Bun.hash(fox.bytes));
  }, 60_000);

  test("from an image without a text works inline, from an address or stored", async () => {
    const image_file_id = await bench.store(picture, "picture.png");
    const ways = [{ image_url: dataUrl(picture) }, { image_url: bench.pictureUrl }, { image_file_id }];
    const made = await Promise.all(ways.map((way) => bench.make({ model: MODEL, prompt: "  ", seed: 3, ...way })));
    for (const { bytes } of made) {
      await factsOf(bytes);
      expect(Bun.hash(bytes)).toBe(Bun.hash(made[0]?.bytes ?? ""));
    }
  }, 60_000);

  test("from an image and a text works, with 5,000 characters of any kind", async () => {
    const [both, plain] = await Promise.all(
      [{ image_url: dataUrl(picture) }, {}].map((more) =>
        bench.make({ model: MODEL, prompt: "a box", seed: 4, ...more }),
      ),
    );
    expect(Bun.hash(both?.bytes ?? "")).not.toBe(Bun.hash(plain?.bytes ?? ""));
    await factsOf((await bench.make({ model: MODEL, prompt: "🦊".repeat(5_000) })).bytes);
  }, 60_000);

  test("ignores members that are null or unknown", async () => {
    const absent = {
      image_url: null,
      image_file_id: null,
      mesh_url: null,
      mesh_file_id: null,
      topology: "quad",
      response_format: "b64_json",
    };
    const { bytes } = await bench.make({ model: MODEL, prompt: "a fox", seed: 1, ...absent });
    expect(Bun.hash(bytes)).toBe(Bun.hash(fox.bytes));
  }, 60_000);
});

describe("a transformed mesh", () => {
  const given = { prompt: "blue marble", seed: 5 };
  const made = (what: string, way: object): Promise<Made> =>
    bench.make({ model: `${MODEL}-${what}`, ...given, ...way });
  const stored = (): object => ({ mesh_file_id: fox.answer.data[0]?.file_id });

  /** Checks, by operation, that its mesh is what it is for. */
  const DONE: Readonly<Record<string, (bytes: Uint8Array) => Promise<void>>> = {
    async remesh(bytes) {
      const { totalTriangleCount } = await factsOf(fox.bytes);
      expect((await factsOf(bytes)).totalTriangleCount).toBeLessThan(totalTriangleCount);
    },
    retexture: async (bytes) => expect(Bun.hash(bytes)).not.toBe(Bun.hash(fox.bytes)),
    async segment(bytes) {
      expect(sceneOf(bytes).nodes.filter(({ mesh }) => mesh !== undefined).length).toBeGreaterThan(1);
    },
    async rig(bytes) {
      const { nodes, skins = [] } = sceneOf(bytes);
      expect(skins[0]?.joints.length).toBeGreaterThan(1);
      expect(nodes.some(({ skin }) => skin !== undefined)).toBe(true);
    },
  };

  test.each(TRANSFORMS)(
    "by %s is a valid GLB with the requested change",
    async (what) => {
      const { id, bytes } = await made(what, stored());
      await factsOf(bytes);
      await DONE[what]?.(bytes);
      const [usage] = await bench.usageOf(id);
      expect(usage).toMatchObject({ status: "succeeded", source: `sandbox/${MODEL}-${what}` });
    },
    60_000,
  );

  test("is equal from the link of its call and from the file store", async () => {
    const ways = [{ mesh_url: fox.answer.data[0]?.url }, stored()];
    const [linked, kept] = await Promise.all(ways.map((way) => made("retexture", way)));
    expect(Bun.hash(kept?.bytes ?? "")).toBe(Bun.hash(linked?.bytes ?? ""));
  }, 60_000);
});

describe("a rejected call", () => {
  const remesh = { model: `${MODEL}-remesh` };
  const mesh_url = "https://example.com/mesh.glb";

  test.each([
    ["neither words nor a picture", { prompt: undefined }, "missing_required_parameter", "prompt"],
    ["blank words and no picture", { prompt: " \n\t" }, "missing_required_parameter", "prompt"],
    ["a mesh, but neither words nor a picture", { ...remesh, prompt: undefined, mesh_url }, "missing_required_parameter", "prompt"], // prettier-ignore
    ["too many words", { prompt: "a".repeat(5_001) }, "invalid_request", "prompt"],
    ["no model", { model: undefined }, "missing_required_parameter", "model"],
    ["a model that there is not", { model: "nobody" }, "model_not_found", "model"],
    ["a model that draws", { model: "sandbox-image" }, "model_not_supported", "model"],
    ["a chat model", { model: "sandbox-chat" }, "model_not_supported", "model"],
    ["a mesh for a model that makes one", { mesh_url }, "unsupported_value", "mesh_url"],
    ["a stored mesh for a model that makes one", { mesh_file_id: "file-1" }, "unsupported_value", "mesh_file_id"],
    ["no mesh for a model that transforms one", remesh, "missing_required_parameter", "mesh_url"],
    ["a seed that is no whole number", { seed: 1.5 }, "invalid_request", "seed"],
    ["a picture by two ways", { image_url: "https://example.com/a.png", image_file_id: "file-1" }, "invalid_request", "image_file_id"], // prettier-ignore
    ["a mesh by two ways", { ...remesh, mesh_url, mesh_file_id: "file-1" }, "invalid_request", "mesh_file_id"],
    ["a picture of a private address", { image_url: "http://169.254.169.254/a.png" }, "unsafe_url", "image_url"],
    ["a mesh of a private address", { ...remesh, mesh_url: "http://10.0.0.1/a.glb" }, "unsafe_url", "mesh_url"],
    ["a picture that is no address", { image_url: "a.png" }, "unsafe_url", "image_url"],
  ])("for %s is a 400 that names the parameter, and places no hold", async (_what, body, code, param) => {
    const response = await bench.send({ model: MODEL, prompt: "x", ...body });
    expect(await errorOf(response)).toMatchObject({ status: 400, code, param });
    expect(await bench.usageOf(response)).toEqual([]);
  });

  test.each(["declares-words", "transforms"])(
    "for a mesh depends on the model, not on the provider: %s",
    async (model) => {
      const body = { model, prompt: "x", ...(model === "transforms" ? {} : { mesh_url }) };
      expect(await errorOf(await bench.send(body))).toMatchObject({ status: 400, param: "mesh_url" });
    },
  );

  test("for an image without a text requires the text if the model accepts no image alone", async () => {
    const image_url = dataUrl(pngOf(4, 4));
    const response = await bench.send({ model: "declares-words", image_url });
    expect(await errorOf(response)).toMatchObject({ status: 400, code: "missing_required_parameter", param: "prompt" });
  });

  test("for a damaged image names the image", async () => {
    const damaged = Buffer.from(pngOf(64, 64));
    damaged.fill(0x55, 60);
    const image_url = `data:image/png;base64,${damaged.toString("base64")}`;
    const response = await bench.send({ model: MODEL, prompt: "a painting", image_url });
    expect(await errorOf(response)).toMatchObject({ status: 422, code: "unprocessable_input", param: "image_url" });
    expect(await bench.usageOf(response)).toMatchObject([{ settled: 0n }]);
  });

  test("for media of another kind, or of another workspace, names it", async () => {
    const image = await bench.store(picture, "picture.png");
    const glb = await bench.store(fox.bytes, "fox.glb");
    const nobodys = "file-00000000000000000000000000000000";
    for (const [body, status, code, param] of [
      [{ image_file_id: glb }, 422, "unprocessable_input", "image_file_id"],
      [{ image_file_id: nobodys }, 404, "file_not_found", "image_file_id"],
      [{ image_url: "data:image/png;base64,aGVsbG8=" }, 422, "unprocessable_input", "image_url"],
      [{ ...remesh, mesh_file_id: image }, 422, "unprocessable_input", "mesh_file_id"],
      [{ ...remesh, mesh_file_id: nobodys }, 404, "file_not_found", "mesh_file_id"],
    ] as const) {
      const response = await bench.send({ model: MODEL, prompt: "x", ...body });
      expect(await errorOf(response)).toMatchObject({ status, code, param });
      expect(await bench.usageOf(response)).toEqual([]);
    }
  });

  test("for an address that is not a mesh names it, and costs nothing", async () => {
    const response = await bench.send({ ...remesh, prompt: "x", mesh_url: bench.pictureUrl });
    expect(await errorOf(response)).toMatchObject({ status: 422, code: "unprocessable_input", param: "mesh_url" });
    expect(await bench.usageOf(response)).toMatchObject([{ status: "failed", settled: 0n }]);
  });

  test("for a damaged mesh names it, and costs nothing", async () => {
    const damaged = Uint8Array.from(fox.bytes);
    damaged.fill(0x7b, 20, 200);
    const mesh_file_id = await bench.store(damaged, "damaged.glb");
    const response = await bench.send({ ...remesh, prompt: "x", mesh_file_id });
    expect(await errorOf(response)).toMatchObject({ status: 422, code: "unprocessable_input", param: "mesh_file_id" });
    expect(await bench.usageOf(response)).toMatchObject([{ status: "failed", settled: 0n }]);
  });
});

describe("the request to a source", () => {
  /** Body of the last job that was submitted to it. */
  const submitted = (): unknown => bench.fal.requests.findLast(({ method }) => method === "POST")?.body;
  const call = async (body: object): Promise<unknown> => {
    bench.fal.next({ polls: ["COMPLETED"] });
    await bench.make(body);
    return submitted();
  };

  test("contains the text, the image and the seed, in its declared fields", async () => {
    const body = { model: "declares-all", prompt: "a fox", image_url: dataUrl(pngOf(4, 4)), seed: 7 };
    expect(await call(body)).toEqual({ prompt: "a fox", image_url: body.image_url, seed: 7 });
  });

  test("contains neither an image nor a seed without a declared field", async () => {
    const body = { model: "declares-words", prompt: "a fox", image_url: dataUrl(pngOf(4, 4)), seed: 7 };
    expect(await call(body)).toEqual({ prompt: "a fox" });
  });

  test("contains the mesh to transform, in its declared field", async () => {
    const [made] = fox.answer.data;
    const sent = (await call({ model: "transforms", prompt: "x", mesh_file_id: made?.file_id })) as {
      model_url: string;
    };
    expect(Object.keys(sent)).toEqual(["model_url"]);
    const [head = "", bytes = ""] = sent.model_url.split(",");
    expect(head).toBe("data:model/gltf-binary;base64");
    expect(Buffer.from(bytes, "base64").equals(Buffer.from(fox.bytes))).toBe(true);
  });
});

describe("a price by the second", () => {
  test.each([
    ["ample", "is settled at what was computed", 625n, { units: { compute_seconds: 6.25 }, is_estimated: false }],
    ["scant", "is never settled above the hold", 500n, { units: { compute_seconds: 6.25 }, is_estimated: false }],
    ["silent", "is settled at the hold where nobody tells what was computed", 1_000n, { is_estimated: true }],
  ])("of the model %s %s", async (model, _what, thousandths, usage) => {
    bench.fal.next({ polls: ["COMPLETED"] });
    const { id, answer, headers } = await bench.make({ model, image_url: dataUrl(pngOf(4, 4)) });
    const credits = Number(thousandths) / 1_000;
    expect([answer.credits_used, headers.get("x-credits-used")]).toEqual([credits, String(credits)]);
    expect(await bench.usageOf(id)).toMatchObject([{ settled: (thousandths * CREDIT) / 1_000n, ...usage }]);
  });

  test("is held before the call: a smaller balance is rejected, an exact one is served and pays the used time", async () => {
    const poor = await createWorkspace(bench.stack, { creditsNano: HOLD - 1n });
    const enough = await createWorkspace(bench.stack, { creditsNano: HOLD });
    const send = (key: string): Promise<Response> =>
      fetch(`${bench.stack.baseUrls[0]}${MESHES}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: MODEL, prompt: "a cube" }),
      });
    const refused = await send(poor.key);
    expect(await errorOf(refused)).toMatchObject({ status: 402, code: "insufficient_credits" });
    expect(await bench.usageOf(refused)).toEqual([]);
    expect(await balance(poor.id)).toEqual({ amount: HOLD - 1n, held: 0n });
    const served = await send(enough.key);
    expect(served.status).toBe(200);
    const { credits_used } = (await served.json()) as { credits_used: number };
    expect(await balance(enough.id)).toEqual({ amount: HOLD - nano(credits_used), held: 0n });
  }, 60_000);
});

describe("a mesh that exceeds its caller's wait", () => {
  test("is collected once, under its job", async () => {
    const impatient = await startRole(["ingress"], { ...bench.stack.env, PORT: "0", SLUICE_MEDIA_WAIT_MS: "200" });
    const response = await fetch(`${impatient.baseUrl}${MESHES}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-3d-slow", prompt: "a cube" }),
    });
    await impatient.stop();
    const id = response.headers.get("x-request-id") ?? "";
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await errorOf(response)).toMatchObject({ status: 504, code: "job_timeout", job_id: id });
    const job = await bench.endOf(id);
    expect(job).toMatchObject({ modality: "object_3d", status: "completed" });
    bench.paid.push(id);
    const linked = await fetch(String(job.data?.[0]?.["url"]));
    await factsOf(new Uint8Array(await linked.arrayBuffer()));
    const usage = await bench.usageOf(id);
    expect(usage).toMatchObject([{ status: "succeeded", settled: nano(job.credits_used) }]);
  }, 60_000);
});

describe("afterwards", () => {
  test("the balance is reduced by exactly the reported costs", async () => {
    const jobs = await Promise.all(bench.paid.map((id) => bench.jobOf(id)));
    const told = jobs.reduce((sum, { credits_used }) => sum + nano(credits_used), 0n);
    expect(await balance()).toEqual({ amount: before - told, held: 0n });
    expect(await bench.stack.query("select * from audit_ledger()")).toEqual([]);
  });
});
