/** A bench for meshes: the sandbox's, and models of a queue like fal's that declare few fields or compute for long. */
import { expect } from "bun:test";

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Report, validateBytes } from "gltf-validator";

import { freePort } from "#deploy/embedded/probe.mjs";
import type { MediaResults } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { type FalServer, startFalServer } from "#tests/providers/fal/server.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { type Bench, startBench } from "./bench.ts";

export const MESHES = "/v1/3d/generations";
const FAL_KEY = "key-of-the-local-fal";

/** The queue reports 6.25 seconds of computing for `ample` and `scant`, and none for `silent`. */
const catalogueOf = (url: string): string => `
providers:
  - { id: fal-local, family: fal, base_url: "${url}", api_key_env: LOCAL_FAL_API_KEY }
models:
  - &maker
    slug: declares-all
    modality: object_3d
    owned_by: mock
    created: 1700000000
    pricing: { unit: per_request, request_price: "3" }
    allowed_params: { supported_inputs: [text, image], accepts_input_image: true }
    sources:
      - provider: fal-local
        model: acme/sculptor
        fields: { prompt: prompt, image: image_url, seed: seed }
  - <<: *maker
    slug: declares-words
    allowed_params: { supported_inputs: [text], accepts_input_image: false }
    sources: [{ provider: fal-local, model: acme/sculptor, fields: { prompt: prompt } }]
  - <<: *maker
    slug: transforms
    allowed_params: { supported_inputs: [text], accepts_input_image: false, requires_input_3d: true }
    sources: [{ provider: fal-local, model: acme/sculptor, fields: { mesh: model_url } }]
  - &computes
    slug: ample
    modality: object_3d
    owned_by: mock
    created: 1700000000
    pricing: { unit: per_second, second_price: "0.1" }
    compute_seconds_max: 10
    allowed_params: { supported_inputs: [text, image], accepts_input_image: true }
    sources: [{ provider: fal-local, model: fal-ai/trellis, fields: { image: image_url, seed: seed } }]
  - <<: *computes
    slug: scant
    compute_seconds_max: 5
  - <<: *computes
    slug: silent
    sources: [{ provider: fal-local, model: acme/sculptor, fields: { image: image_url } }]
`;

export interface Made {
  readonly id: string;
  readonly headers: Headers;
  readonly answer: MediaResults;
  readonly bytes: Uint8Array;
}

export interface MeshBench extends Bench {
  readonly fal: FalServer;
  /** Address of a picture that the service may fetch. */
  readonly pictureUrl: string;
  /** The ids of all jobs that were paid for. */
  readonly paid: string[];
  send(body: object): Promise<Response>;
  /** A call that answers, with what its link leads to. */
  make(body: object): Promise<Made>;
  /** A stored file's id. */
  store(bytes: Uint8Array, name: string): Promise<string>;
}

/** @param picture served at `pictureUrl` */
export async function startMeshBench(picture: () => Uint8Array): Promise<MeshBench> {
  const folder = temporaryDirectory();
  const fal = startFalServer({ apiKey: FAL_KEY });
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(new Uint8Array(picture())),
  });
  const catalogue = join(folder.directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueOf(fal.url));
  // Known ahead, so that the service may fetch what its own links lead to.
  const port = String(await freePort());
  const hosts = [new URL(fal.filesUrl).host, `127.0.0.1:${site.port}`, `127.0.0.1:${port}`];
  const bench = await startBench({
    pools: ["3d", "image"],
    env: {
      PORT: port,
      SLUICE_CATALOGUE: catalogue,
      LOCAL_FAL_API_KEY: FAL_KEY,
      SLUICE_OUTBOUND_ALLOW: hosts.join(),
    },
  });
  const paid: string[] = [];
  const send = (body: object): Promise<Response> => bench.call(MESHES, body);
  return {
    ...bench,
    fal,
    pictureUrl: `http://127.0.0.1:${site.port}/picture.png`,
    paid,
    send,
    async make(body) {
      const response = await send(body);
      const answer = (await response.json()) as MediaResults;
      expect({ status: response.status, answer }).toMatchObject({ status: 200 });
      expect([validate("MediaResults", answer), answer.data.length]).toEqual([null, 1]);
      const { headers } = response;
      const id = headers.get("x-request-id") ?? "";
      paid.push(id);
      const linked = await fetch(answer.data[0]?.url ?? "");
      expect([linked.status, linked.headers.get("content-type")]).toEqual([200, "model/gltf-binary"]);
      return { id, headers, answer, bytes: new Uint8Array(await linked.arrayBuffer()) };
    },
    async store(bytes, name) {
      const file = new File([bytes], name);
      return (await bench.client.files.create({ file, purpose: "user_data" })).id;
    },
    async close() {
      await bench.close();
      await site.stop(true);
      expect(fal.faults).toEqual([]);
      fal.close();
      folder.remove();
    },
  };
}

/** Returns the facts that Khronos' validator finds in a file; fails if it finds an error. */
export async function factsOf(bytes: Uint8Array): Promise<Report["info"]> {
  const { mimeType, issues, info } = await validateBytes(bytes);
  const errors = issues.messages.filter(({ severity }) => severity === 0);
  expect([mimeType, issues.numErrors, errors, info.version]).toEqual(["model/gltf-binary", 0, [], "2.0"]);
  return info;
}

interface Scene {
  readonly nodes: readonly { readonly mesh?: number; readonly skin?: number }[];
  readonly skins?: readonly { readonly joints: readonly number[] }[];
}

/** The first chunk of a GLB (glTF 2.0, part 4). */
export function sceneOf(bytes: Uint8Array): Scene {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length))) as Scene;
}
