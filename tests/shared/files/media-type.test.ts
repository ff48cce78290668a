import { describe, expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import { settleMediaType } from "#shared/files/media-type.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text.padEnd(24, "\u0001"), "latin1");

const PNG = bytes("\u0089PNG\r\n\u001a\n");
const JPEG = bytes("\u00ff\u00d8\u00ff\u00e0");
const PDF = bytes("%PDF-1.7");
const MP4 = bytes("\0\0\0\u0018ftypisom");
const M4A = bytes("\0\0\0\u0018ftypM4A ");
const ZIP = bytes("PK\u0003\u0004");
const WAV = bytes("RIFF1234WAVE");
const TEXT = Buffer.from("plain words, ähm");

describe("a file is stored with the type of its bytes", () => {
  test.each<[string, Uint8Array, string | undefined, string, string]>([
    ["nothing claimed", PNG, undefined, "x", "image/png"],
    ["an empty claim", PNG, "application/octet-stream", "x.bin", "image/png"],
    ["its own type", PNG, "image/png", "x", "image/png"],
    ["a name that objects inherit", PNG, "constructor", "x.__proto__", "image/png"],
    ["another name that objects inherit", PNG, "__proto__", "x.constructor", "image/png"],
    ["another name of it", JPEG, "image/jpg; q=1", "x", "image/jpeg"],
    ["the end of its name", WAV, undefined, "x.WAV", "audio/wav"],
    [
      "a type that shares its beginning",
      ZIP,
      undefined,
      "x.docx",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    ["audio in a video's container", MP4, "audio/mp4", "x", "audio/mp4"],
    ["a container that says audio", M4A, undefined, "x", "audio/mp4"],
    ["text", TEXT, "text/plain; charset=utf-8", "x", "text/plain"],
    ["lines of JSON", TEXT, undefined, "x.jsonl", "application/jsonl"],
    ["a claim that we know nothing of", PDF, "application/x-mystery", "x.png", "application/pdf"],
    ["text of an unknown claim", TEXT, "application/x-mystery", "x", "text/plain"],
    ["bytes of no known format", bytes("\0\u0001\u0002"), "application/x-mystery", "x", "application/octet-stream"],
    ["text in Windows-1252", Buffer.from("plain words, \u00e4hm \u0080", "latin1"), "text/csv", "x", "text/csv"],
    [
      "text in Windows-1252 that nothing is claimed of",
      Buffer.from("\u00e4hm", "latin1"),
      undefined,
      "x",
      "text/plain",
    ],
    ["UTF-16", bytes("\u00ff\u00fea\0b\0"), "text/csv", "x", "text/csv"],
  ])("%s", async (_name, head, claim, filename, expected) => {
    expect(await settleMediaType(head, claim, filename)).toBe(expected);
  });
});

describe("a file that differs from its declared type is rejected", () => {
  test.each<[string, Uint8Array, string | undefined, string]>([
    ["an image that is a document", PDF, "image/png", "x"],
    ["an image that is written in text", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/png", "x"],
    ["by its name alone", PDF, undefined, "x.png"],
    ["text that is an image", PNG, "text/plain", "x"],
    ["text that is bytes", bytes("\0\0\0"), undefined, "x.txt"],
    ["audio that is text", TEXT, "audio/mpeg", "x"],
    ["JSON that is an archive", ZIP, "application/json", "x"],
    ["a video that is an image", bytes("\0\0\0\u0018ftypavif"), "video/mp4", "x"],
  ])("%s", async (_name, head, claim, filename) => {
    const thrown: unknown = await settleMediaType(head, claim, filename).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({ code: "unprocessable_input", param: "file" });
  });
});
