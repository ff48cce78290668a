/** The form reader: cuts anywhere, forms of other writers, and whatever is no form. */
import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { readForm } from "#ingress/routes/files/receive.ts";
import type { Incoming } from "#ingress/routes/files/incoming.ts";
import {
  boundaryOf,
  MultipartReader,
  type PartHead,
  MULTIPART_OUTSIDE_BYTES_MAX,
  MULTIPART_FIELDS_BYTES_MAX,
  MULTIPART_PARTS_MAX,
  MULTIPART_HEADER_BYTES_MAX,
  MULTIPART_PASSED_BYTES_MAX,
} from "#ingress/routes/files/multipart.ts";
import { ApiError } from "#shared/base/errors.ts";
import { CountingSink } from "#shared/files/upload.ts";

interface Read extends PartHead {
  readonly content: string;
}

/** The body in pieces of these sizes, over and over. */
function incoming(body: Uint8Array, sizes: readonly number[]): Incoming {
  let at = 0;
  let turn = 0;
  return {
    drop: () => undefined,
    read() {
      const size = sizes[turn++ % sizes.length] ?? 1;
      const piece = body.slice(at, at + size);
      at += piece.length;
      return Promise.resolve(piece.length === 0 ? undefined : piece);
    },
  };
}

async function readAll(
  body: Uint8Array | string,
  boundary: string,
  sizes: readonly number[] = [65_536],
): Promise<Read[]> {
  const reader = new MultipartReader(incoming(Buffer.from(body), sizes), boundary);
  const parts: Read[] = [];
  for (let head = await reader.nextPart(); head !== undefined; head = await reader.nextPart()) {
    const pieces: Buffer[] = [];
    for (let piece = await reader.nextBytes(); piece !== undefined; piece = await reader.nextBytes()) {
      pieces.push(Buffer.from(piece));
    }
    parts.push({ ...head, content: Buffer.concat(pieces).toString("latin1") });
  }
  return parts;
}

const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error("expected a refusal", { cause: error });
};

const part = (headers: string, content: string): string => `--b\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, content);

describe("a form", () => {
  test("is read to the end of its body: a short epilogue is allowed, and all of it must arrive", async () => {
    const form = `${field("a", "1")}--b--`;
    const behind = (length: number): string => form + "x".repeat(length);
    expect(await readAll(behind(MULTIPART_OUTSIDE_BYTES_MAX - 100), "b", [997])).toHaveLength(1);
    expect(await refusal(readAll(behind(MULTIPART_OUTSIDE_BYTES_MAX * 2), "b", [997]))).toMatchObject({
      code: "invalid_request",
    });
    const whole = incoming(Buffer.from(form), [65_536]);
    const cut = new ApiError("request_timeout", "cut");
    const reader = new MultipartReader(
      { ...whole, read: async () => (await whole.read()) ?? Promise.reject(cut) },
      "b",
    );
    await reader.nextPart();
    expect(await refusal(reader.nextPart())).toBe(cut);
  });

  const body =
    "preamble\r\n" +
    field("purpose", "batch") +
    part(
      'content-disposition: form-data; name="file"; filename="a b.txt"\r\nContent-Type: text/plain',
      "one\r\n--\r\n-b\r",
    ) +
    "--b  \t\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n--b--\r\nepilogue";
  const expected: Read[] = [
    { name: "purpose", filename: undefined, contentType: undefined, content: "batch" },
    { name: "file", filename: "a b.txt", contentType: "text/plain", content: "one\r\n--\r\n-b\r" },
    { name: "empty", filename: undefined, contentType: undefined, content: "" },
  ];

  test("is equal for every division into pieces", async () => {
    for (let size = 1; size <= body.length; size++) expect(await readAll(body, "b", [size])).toEqual(expected);
  });

  test("of any content is returned as it was written, in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.boolean()), { minLength: 1, maxLength: 10 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
        async (contents, sizes) => {
          const form = new FormData();
          contents.forEach(([bytes, isFile], index) => {
            if (isFile) form.append(`f${index}`, new File([bytes], `näme "${index}".bin`));
            else form.append(`f${index}`, Buffer.from(bytes).toString("hex"));
          });
          const response = new Response(form);
          const boundary = boundaryOf(response.headers);
          const parts = await readAll(new Uint8Array(await response.arrayBuffer()), boundary, sizes);
          expect(parts.map(({ name, filename, content }) => [name, filename, content])).toEqual(
            contents.map(([bytes, isFile], index) => [
              `f${index}`,
              isFile ? `näme "${index}".bin` : undefined,
              Buffer.from(bytes).toString(isFile ? "latin1" : "hex"),
            ]),
          );
        },
      ),
    );
  });

  test("larger than the buffer is returned completely", async () => {
    const content = "\r\n-".repeat(400_000);
    const [read] = await readAll(`${field("file", content)}--b--`, "b", [1_000_003]);
    expect(read?.content).toBe(content);
  });

  test("returns names correctly in every style of quoting", async () => {
    const names: [string, string][] = [
      ['filename="a\\"b.txt"', 'a"b.txt'],
      ['filename="a%22b.txt"', 'a"b.txt'],
      ['filename="C:\\temp\\x.txt"', "C:\\temp\\x.txt"],
      ['filename="päge.txt"', "päge.txt"],
      ["filename=plain.txt", "plain.txt"],
      ["filename=\"old\"; filename*=UTF-8''n%C3%A9w.txt", "néw.txt"],
      ['filename="a;b=c.txt"', "a;b=c.txt"],
    ];
    for (const [sent, meant] of names) {
      const [read] = await readAll(`${part(`Content-Disposition: form-data; name="file"; ${sent}`, "")}--b--`, "b");
      expect(read?.filename).toBe(meant);
    }
  });

  test("keeps text of any script, and bytes of a file that are not text", async () => {
    const text = "\ufeffgr\u00fc\u00df \u6f22 \u{1f600} \u0000";
    const bytes = Buffer.from([0xff, 0xfe, 0xe4]);
    const head = 'Content-Disposition: form-data; name="file"; filename="\u6f22\u{1f600}.bin"';
    const body = Buffer.concat([
      Buffer.from(`${field("a", text)}--b\r\n${head}\r\n\r\n`),
      bytes,
      Buffer.from("\r\n--b--"),
    ]);
    const reader = new MultipartReader(incoming(body, [1]), "b");
    await reader.nextPart();
    expect(await reader.readField("a")).toBe(text);
    expect((await readAll(body, "b"))[1]).toMatchObject({
      filename: "\u6f22\u{1f600}.bin",
      content: bytes.toString("latin1"),
    });
  });

  test("skips the remainder of a part without a reader", async () => {
    const reader = new MultipartReader(
      incoming(Buffer.from(`${field("a", "x".repeat(300_000))}${field("b", "y")}--b--`), [999]),
      "b",
    );
    expect((await reader.nextPart())?.name).toBe("a");
    expect((await reader.nextPart())?.name).toBe("b");
    expect(await reader.readField("b")).toBe("y");
    expect(await reader.nextPart()).toBeUndefined();
  });
});

test("the form of an upload skips unknown fields, for any content", async () => {
  const file = 'Content-Disposition: form-data; name="file"; filename="a.txt"';
  const form = (more: string): Buffer =>
    Buffer.from(`${more}${field("purpose", "user_data")}${part(file, "some text")}--b--`, "latin1");
  const read = (body: Buffer) => readForm(new MultipartReader(incoming(body, [5_000]), "b"), new CountingSink(100));
  const plain = await read(form(""));
  const junk = field("junk", "\u00ff".repeat(MULTIPART_FIELDS_BYTES_MAX + 1));
  expect(await read(form(junk.repeat(3)))).toEqual(plain);
});

describe("a form is rejected", () => {
  test("when it is cut anywhere before its end", async () => {
    const whole = `${field("a", "1")}${field("b", "2")}--b--`;
    for (let length = 0; length < whole.length; length++) {
      const error = await refusal(readAll(whole.slice(0, length), "b"));
      expect([length, error.code]).toEqual([length, "invalid_request"]);
    }
  });

  test.each<[string, string]>([
    ["a part without a disposition", `${part("Content-Type: text/plain", "x")}--b--`],
    ["a part without headers", "--b\r\n\r\nx\r\n--b--"],
    ["a disposition without a name", `${part("Content-Disposition: form-data", "x")}--b--`],
    ["another disposition", `${part('Content-Disposition: attachment; name="a"', "x")}--b--`],
    [
      "an encoded part",
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', "eA==")}--b--`,
    ],
    ["a header without a name", `${part('Content-Disposition: form-data; name="a"\r\n: x', "x")}--b--`],
    ["text behind a boundary", `--b junk\r\n`],
    ["a quote that does not end", `${part('Content-Disposition: form-data; name="a', "x")}--b--`],
  ])("with %s", async (_name, body) => {
    expect((await refusal(readAll(body, "b"))).code).toBe("invalid_request");
  });

  test("with one part too many, one byte of headers too many, one byte of fields too many", async () => {
    const parts = (count: number) => `${Array.from({ length: count }, () => field("a", "x")).join("")}--b--`;
    expect(await readAll(parts(MULTIPART_PARTS_MAX), "b")).toHaveLength(MULTIPART_PARTS_MAX);
    expect((await refusal(readAll(parts(MULTIPART_PARTS_MAX + 1), "b"))).code).toBe("invalid_request");

    const disposition = 'Content-Disposition: form-data; name="a"\r\nx: ';
    const head = (bytes: number) => `${part(disposition + "y".repeat(bytes - disposition.length - 2), "")}--b--`;
    expect(await readAll(head(MULTIPART_HEADER_BYTES_MAX), "b")).toHaveLength(1);
    expect((await refusal(readAll(head(MULTIPART_HEADER_BYTES_MAX + 1), "b"))).code).toBe("invalid_request");

    const values = async (first: number, second: number): Promise<string[]> => {
      const form = `${field("a", "x".repeat(first))}${field("b", "y".repeat(second))}--b--`;
      const reader = new MultipartReader(incoming(Buffer.from(form), [100_000]), "b");
      const read: string[] = [];
      for (let head = await reader.nextPart(); head !== undefined; head = await reader.nextPart()) {
        read.push(await reader.readField(head.name));
      }
      return read;
    };
    const max = MULTIPART_FIELDS_BYTES_MAX;
    expect((await values(max - 9, 9)).map(({ length }) => length)).toEqual([max - 9, 9]);
    const error = await refusal(values(max - 9, 10));
    expect([error.code, error.param]).toEqual(["request_too_large", "b"]);
  });

  test("with one byte too many in skipped parts", async () => {
    const pass = async (first: number, second: number): Promise<void> => {
      const form = `${field("a", "x".repeat(first))}${field("b", "y".repeat(second))}--b--`;
      const reader = new MultipartReader(incoming(Buffer.from(form), [100_000]), "b");
      while ((await reader.nextPart()) !== undefined);
    };
    const max = MULTIPART_PASSED_BYTES_MAX;
    await pass(max - 9, 9);
    expect((await refusal(pass(max - 9, 10))).code).toBe("request_too_large");
  });

  test.each<[string, number[]]>([
    ["Latin-1", [0x70, 0xe4, 0x67, 0x65]],
    ["a character cut short", [0xf0, 0x9f, 0x98]],
    ["half of a pair", [0xed, 0xa0, 0x80]],
    ["a longer form than needed", [0xc0, 0xaf]],
    ["a byte that begins nothing", [0xff]],
  ])("with text that is not UTF-8, without repair: %s", async (_name, bytes) => {
    const bad = Buffer.from(bytes).toString("latin1");
    const form = (text: string): Buffer => Buffer.from(`${text}--b--`, "latin1");
    const inValue = new MultipartReader(incoming(form(field("prompt", `x${bad}y`)), [1]), "b");
    await inValue.nextPart();
    expect(await refusal(inValue.readField("prompt"))).toMatchObject({
      code: "invalid_request",
      param: "prompt",
      message: expect.stringContaining("not UTF-8") as string,
    });
    for (const head of [
      `Content-Disposition: form-data; name="file"; filename="${bad}.txt"`,
      `Content-Disposition: form-data; name="${bad}"`,
      `Content-Disposition: form-data; name="a"\r\nx-note: ${bad}`,
    ]) {
      expect(await refusal(readAll(form(part(head, "x")), "b"))).toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("not UTF-8") as string,
      });
    }
  });

  test("when its content type is not a form, or has no boundary", () => {
    const thrown = (type: string, encoding?: string): unknown => {
      try {
        return boundaryOf(
          new Headers({ "content-type": type, ...(encoding === undefined ? {} : { "content-encoding": encoding }) }),
        );
      } catch (error) {
        return error;
      }
    };
    expect(thrown("multipart/form-data; boundary=abc")).toBe("abc");
    expect(thrown('Multipart/Form-Data; charset=utf-8; Boundary="a b"')).toBe("a b");
    expect(thrown("multipart/mixed; boundary=abc")).toMatchObject({ code: "unsupported_media_type" });
    expect(thrown("multipart/form-data; boundary=abc", "gzip")).toMatchObject({ code: "unsupported_media_type" });
    for (const type of [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      `multipart/form-data; boundary=${"b".repeat(201)}`,
    ]) {
      expect(thrown(type)).toMatchObject({ code: "invalid_request" });
    }
  });
});
