/** Forms as bodies of calls: what their fields set, and forms that are refused. */
import { describe, expect, test } from "bun:test";

import { filePieces, type FormBody, readFormBody } from "#ingress/routes/files/form-body.ts";
import { ApiError } from "#shared/base/errors.ts";
import { BOUNDARY, END, part } from "#tests/support/raw-form.ts";

const MEMBERS = {
  prompt: { type: "string" },
  n: { type: "integer" },
  strength: { type: "number" },
  stream: { type: "boolean" },
  times: { type: "array" },
  max_credits: { type: "number" },
};
const FILE_BYTES_MAX = 10;

const post = (body: Uint8Array): Request =>
  new Request("http://localhost/", {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    body: new Uint8Array(body),
  });
const field = (name: string, text: string): Buffer => part(`name="${name}"`, text);
const image = (text: string, name = "image"): Buffer => part(`name="${name}"; filename="a.png"`, text);

async function read(parts: readonly Uint8Array[], bounds: Pick<FormBody, "bytesMax"> = {}) {
  let file = "";
  const tooLarge = (): ApiError => new ApiError("unsupported_value", "too large", { param: "image" });
  const members = await readFormBody(post(Buffer.concat(parts)), {
    members: MEMBERS,
    files: {
      async image(head, reader) {
        for await (const piece of filePieces(head, reader, FILE_BYTES_MAX, tooLarge)) file += Buffer.from(piece);
      },
    },
    ...bounds,
  });
  return { members, file };
}

const refusal = (parts: readonly Uint8Array[], bounds?: Pick<FormBody, "bytesMax">): Promise<unknown> =>
  read(parts, bounds).then(
    () => "accepted",
    (error: unknown) => error,
  );

describe("a form", () => {
  test("sets members with the types of the schema, lists by `name[]`, and only those of the schema", async () => {
    const sent = [field("prompt", "a boat"), field("n", "2"), field("strength", "-1.5e1"), field("stream", "True")];
    const others = ["times[]", "times[]", "unknown", "constructor[]", "__proto__", "toString"];
    const { members, file } = await read([...sent, ...others.map((name) => field(name, "x")), image("PNG"), END]);
    expect(members).toEqual({ prompt: "a boat", n: 2, strength: -15, stream: true, times: ["x", "x"] });
    expect(file).toBe("PNG");
  });

  test("with a misspelt max_credits is refused, unless it also has max_credits", async () => {
    for (const name of ["max_credit", "maxCredits", "max_cost"]) {
      expect(await refusal([field(name, "1"), image("PNG"), END])).toMatchObject({
        code: "unknown_parameter",
        param: name,
      });
    }
    const { members } = await read([field("max_credit", "1"), field("max_credits", "2"), END]);
    expect(members).toEqual({ max_credits: 2 });
  });

  test.each(["", " 2", "2 ", "0x2", "02", "+2", "2.", ".5", "1_0", "1e999", "NaN", "Infinity"])(
    "keeps %j as text for a number field, and the schema rejects it",
    async (text) => {
      expect((await read([field("n", text), END])).members).toEqual({ n: text });
    },
  );

  test.each([
    ["a member twice", [field("n", "1"), field("n", "2"), END], "invalid_request", "n"],
    ["a member as text and as list", [field("times", "a"), field("times[]", "b"), END], "invalid_request", "times"],
    ["a file twice", [image("a"), image("b"), END], "invalid_request", "image"],
    ["a file under both of its names", [image("a"), image("b", "image[]"), END], "invalid_request", "image"],
    ["a list of files", [image("a", "image[]"), image("b", "image[]"), END], "invalid_request", "image"],
    ["a file that is a plain field", [field("image", "a"), END], "invalid_request", "image"],
    ["an empty file", [image(""), END], "invalid_request", "image"],
    ["a file beyond its bound", [image("x".repeat(FILE_BYTES_MAX + 1)), END], "unsupported_value", "image"],
    ["no end", [field("n", "1")], "invalid_request", null],
    ["an end within a file", [image("abc").subarray(0, -3)], "invalid_request", null],
  ])("with %s is rejected", async (_what, parts, code, param) => {
    expect(await refusal(parts)).toMatchObject({ code, param });
  });

  test("is read up to its bound and not beyond", async () => {
    const parts = [field("prompt", "x".repeat(1_000)), END];
    const bytesMax = Buffer.concat(parts).length;
    expect((await read(parts, { bytesMax })).members["prompt"]).toHaveLength(1_000);
    expect(await refusal(parts, { bytesMax: bytesMax - 1 })).toMatchObject({ code: "request_too_large" });
  });

  test("whose declared size exceeds the bound is rejected unread", async () => {
    const request = post(Buffer.concat([field("n", "1"), END]));
    request.headers.set("content-length", "101");
    const read = readFormBody(request, { members: MEMBERS, files: {}, bytesMax: 100 });
    expect(await read.catch((error: unknown) => error)).toMatchObject({ code: "request_too_large" });
    expect(request.bodyUsed).toBe(false);
  });
});
