/** Decoding of text in any charset. */
import { expect, test } from "bun:test";

import { charsetIn, decodeText } from "#workers/capabilities/text.ts";

const latin = (text: string): Uint8Array => Buffer.from(text, "latin1");

test.each<[string, Uint8Array, string | undefined, string, string]>([
  ["the UTF-8 mark, against what is declared", latin("\xef\xbb\xbf\xc3\xa9"), "koi8-r", "é", "utf-8"],
  ["the little-endian mark", latin("\xff\xfea\0\xe9\0"), undefined, "aé", "utf-16le"],
  ["the big-endian mark", latin("\xfe\xff\0a\0\xe9"), "utf-8", "aé", "utf-16be"],
  ["the declared charset", latin("\xc3\xa9"), "windows-1251", "Г©", "windows-1251"],
  ["the declared charset, with bytes that it has not", latin("a\xff"), "utf-8", "a\ufffd", "utf-8"],
  ["a label of another charset", latin("\x93"), "latin1", "“", "windows-1252"],
  ["UTF-8 where the name is unknown", latin("\xc3\xa9"), "klingon", "é", "utf-8"],
  ["Windows where the name is unknown and the bytes are no UTF-8", latin("\x80\xe9"), "klingon", "€é", "windows-1252"],
  ["Windows where a character is cut", latin("\xe8\x8c"), undefined, "èŒ", "windows-1252"],
  ["UTF-8 for no bytes", latin(""), undefined, "", "utf-8"],
])("decodes by %s", (_what, bytes, declared, text, charset) => {
  expect(decodeText(bytes, { declared })).toEqual({ text, charset });
});

test("finds a declaration after a long script, and with a line break in its quotes", () => {
  const head = `<script>${"x".repeat(9_000)}</script><meta charset="\niso-8859-2\n">`;
  expect(charsetIn(latin(head))).toBe("iso-8859-2");
});
