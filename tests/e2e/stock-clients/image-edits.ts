/** Edits of images as multipart/form-data: what stock clients send, and forms that no stock client would send. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";
import sharp from "sharp";

import type { MediaResults } from "#schemas/generated/types.ts";
import type { ErrorEnvelope } from "#shared/base/errors.ts";
import { beginUpload, part } from "#tests/support/raw-form.ts";
import type { Stack } from "#tests/support/stack.ts";

import { sharedStack } from "./shared-stack.ts";

const MODEL = "sandbox-image";
const WIDTH = 96;
const HEIGHT = 64;

let stack: Stack;
let client: OpenAI;
let picture: Buffer;
let mask: Buffer;

beforeAll(async () => {
  stack = await sharedStack();
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
  picture = await sharp({ create: { width: WIDTH, height: HEIGHT, channels: 3, background: "#204080" } })
    .png()
    .toBuffer();
  /** Transparent, and so to be repainted, in its left half. */
  const half = Uint8Array.from({ length: WIDTH * HEIGHT * 4 }, (_, at) =>
    at % 4 === 3 && (at >> 2) % WIDTH < WIDTH / 2 ? 0 : 255,
  );
  mask = await sharp(half, { raw: { width: WIDTH, height: HEIGHT, channels: 4 } })
    .png()
    .toBuffer();
});

const send = (type: string, body: string | FormData): Promise<Response> =>
  fetch(`${stack.baseUrls[0]}/v1/images/edits`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, ...(type === "" ? {} : { "content-type": type }) },
    body,
  });

/** A form of texts and files, in order. */
function formOf(fields: readonly (readonly [name: string, value: string | Buffer])[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new File([new Uint8Array(value)], "a.png"));
  }
  return form;
}

const columns = (bytes: Uint8Array, left: number): Promise<Buffer> =>
  sharp(bytes).extract({ left, top: 0, width: 40, height: HEIGHT }).removeAlpha().raw().toBuffer();

describe("an edit of the stock SDK", () => {
  test("repaints only the open area of the mask, once, at the price of an edit in JSON", async () => {
    const { data, response } = await client.images
      .edit({
        model: MODEL,
        prompt: "a yellow sun",
        // A client that does not know the type says none.
        image: await toFile(picture, "a.png", { type: "application/octet-stream" }),
        mask: await toFile(mask, "mask.png", { type: "image/png" }),
        n: 1,
        size: "auto",
        quality: "high",
        background: "opaque",
        response_format: "b64_json",
        output_format: "webp",
        output_compression: 50,
        input_fidelity: "high",
        user: "someone",
      })
      .withResponse();
    const made = Buffer.from(data.data?.[0]?.b64_json ?? "", "base64");
    expect(await sharp(made).metadata()).toMatchObject({ format: "png", width: WIDTH, height: HEIGHT });
    expect((await columns(made, 56)).equals(await columns(picture, 56))).toBe(true);
    expect((await columns(made, 0)).equals(await columns(picture, 0))).toBe(false);
    expect(response.headers.get("x-credits-used")).toBe("2");
  });

  test("accepts a list of one image, which clients send as `image[]`, and rejects a list of two", async () => {
    const image = await toFile(picture, "a.png", { type: "image/png" });
    const { data } = await client.images.edit({ model: MODEL, prompt: "x", image: [image], n: 2 });
    expect(data).toHaveLength(2);
    const fault = await client.images
      .edit({ model: MODEL, prompt: "x", image: [image, image] })
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ status: 400, code: "invalid_request", param: "image" });
  });

  test("accepts an image outside the queue message", async () => {
    const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
    const large = await sharp({ create: { width: 900, height: 600, channels: 3, background: "#000", noise } })
      .png()
      .toBuffer();
    expect(large.length).toBeGreaterThan(512 * 1_024);
    const image = await toFile(large, "a.png", { type: "image/png" });
    const { data } = await client.images.edit({ model: MODEL, prompt: "x", image, size: "256x256" });
    const made = await (await fetch(data?.[0]?.url ?? "")).arrayBuffer();
    expect(await sharp(new Uint8Array(made)).metadata()).toMatchObject({ width: 256, height: 256 });
  });
});

test("a form may name a stored file as JSON does", async () => {
  const { id } = await client.files.create({ purpose: "user_data", file: await toFile(picture, "a.png") });
  const response = await send("", formOf([["model", MODEL], ["prompt", "x"], ["image_file_id", id]])); // prettier-ignore
  expect([response.status, ((await response.json()) as MediaResults).data.length]).toEqual([200, 1]);
});

describe("a form", () => {
  const usual = (): [string, string | Buffer][] => [
    ["model", MODEL],
    ["prompt", "x"],
    ["image", picture],
  ];
  const cases: Readonly<Record<string, readonly [() => [string, string | Buffer][], string, string | null, number?]>> =
    {
      "without an image": [() => usual().slice(0, 2), "missing_required_parameter", "image"],
      "without a prompt": [() => usual().filter(([name]) => name !== "prompt"), "missing_required_parameter", "prompt"],
      "with a prompt twice": [() => [...usual(), ["prompt", "y"]], "invalid_request", "prompt"],
      "with an image and its file": [
        () => [...usual(), ["image_file_id", "file-1"]],
        "invalid_request",
        "image_file_id",
      ],
      "with a number that is none": [() => [...usual(), ["n", "0x1"]], "invalid_request", "n"],
      "with half an image": [() => [...usual(), ["n", "1.5"]], "invalid_request", "n"],
      "with more images than the model makes": [() => [...usual(), ["n", "5"]], "unsupported_value", "n"],
      "with an image that is none": [
        () => [...usual().slice(0, 2), ["image", Buffer.from("hello")]],
        "unprocessable_input",
        "image",
        422,
      ],
      "with an image beyond the bound": [
        () => [...usual().slice(0, 2), ["image", Buffer.alloc(20 * 1_048_576 + 1)]],
        "unsupported_value",
        "image",
      ],
      "with an image that is a text": [() => [...usual().slice(0, 2), ["image", "x"]], "invalid_request", "image"],
      "with a mask for a model without masks": [
        () => [["model", "upstream-maskless"], ...usual().slice(1), ["mask", mask]],
        "unsupported_value",
        "mask",
      ],
      "larger than any body": [
        () => [...usual(), ["mask", Buffer.alloc(33 * 1_048_576)]],
        "request_too_large",
        null,
        413,
      ],
      "of too many parts": [
        () => Array.from({ length: 40 }, (_, at): [string, string] => [`part${at}`, "x"]),
        "invalid_request",
        null,
      ],
    };

  test.each(Object.keys(cases))("%s is rejected by name and places no hold", async (what) => {
    const [fields, code, param, status = 400] = cases[what] ?? [];
    if (!fields) throw new Error(what);
    const response = await send("", formOf(fields()));
    const { error } = (await response.json()) as ErrorEnvelope;
    expect([response.status, error]).toEqual([status, expect.objectContaining({ code, param })]);
    expect(error.message).not.toContain("_base64");
    const id = response.headers.get("x-request-id");
    expect(await stack.query("select 1 from usage_record where job_id = $1", [id])).toEqual([]);
  });

  test("without its closing boundary is rejected", async () => {
    const upload = beginUpload(stack.baseUrls[0] ?? "", stack.key, {}, "/v1/images/edits");
    await upload.send(part('name="model"', MODEL));
    await upload.send(part('name="image"; filename="a.png"', picture).subarray(0, 60));
    upload.end();
    const answer = await upload.answered;
    upload.socket.destroy();
    expect(answer).toContain("HTTP/1.1 400");
    expect(answer).toContain("ended before its closing boundary");
  });

  test("in chunks is rejected as soon as an image exceeds the limit, and not read to its end", async () => {
    const upload = beginUpload(stack.baseUrls[0] ?? "", stack.key, {}, "/v1/images/edits");
    const block = Buffer.alloc(1_048_576);
    await upload.send(part('name="image"; filename="a.png"', block).subarray(0, -2));
    // What the server does not take closes the connection, and `send` then returns at once.
    for (let sent = 1; sent < 64 && !upload.socket.destroyed; sent += 1) await upload.send(block);
    expect(await upload.answered).toContain("HTTP/1.1 400");
    upload.socket.destroy();
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/mixed; boundary=b"])(
    "of the type %s is rejected with 415",
    async (type) => {
      const response = await send(type, "--b--");
      const { error } = (await response.json()) as ErrorEnvelope;
      expect([response.status, error.code]).toEqual([415, "unsupported_media_type"]);
    },
  );
});
