/** html5lib-tests: character references of HTML, and the encoding of a page by its bytes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { DebianSource } from "#tests/support/debian-source.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, testCorpus } from "./corpus.ts";

const HTML5LIB: DebianSource = {
  name: "html5lib",
  version: "1.2",
  release: "trixie",
  folder: "html5lib/tests/testdata",
};

// Wrong: declarations in a meta element of another kind, or with a wrong quote, which browsers ignore and we take.
await testCorpus("character references", HTML5LIB, { right: 4556, refused: 0, wrong: 0 }, references);
await testCorpus("encodings of pages", HTML5LIB, { right: 64, refused: 0, wrong: 18 }, encodings);

interface TokenTests {
  readonly tests: readonly {
    readonly input: string;
    readonly output: readonly (readonly [kind: string, text: string])[];
  }[];
}

/** References in text, read as a paragraph by document.extract_text. */
function* references(folder: string): Iterable<Case> {
  for (const name of ["namedEntities.test", "numericEntities.test", "entities.test"]) {
    const { tests } = JSON.parse(readFileSync(join(folder, "tokenizer", name), "utf8")) as TokenTests;
    for (const { input, output } of tests) {
      const expected = output.map(([, text]) => text).join("");
      // Markup, and what text cannot hold: no control character, and no space at an end.
      if (output.some(([kind]) => kind !== "Character") || /\p{Cc}|^\s|\s$/u.test(expected)) continue;
      yield {
        name: `${input} is ${JSON.stringify(expected)}`,
        isRight: async () => {
          const text = `<!doctype html><p>${input}</p>`;
          const { output: own } = await runCapability("document.extract_text", { document: { text } });
          if (own?.["text"] !== expected) throw new Error(JSON.stringify(own?.["text"]));
          return true;
        },
      };
    }
  }
}

function* encodings(folder: string): Iterable<Case> {
  for (const name of ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"]) {
    const data = readFileSync(join(folder, "encoding", name), "latin1");
    for (const [at, part] of data
      .split(/^#data\n/m)
      .slice(1)
      .entries()) {
      const [bytes = "", encoding = ""] = part.split(/\n?#encoding\n/);
      const html = Buffer.from(bytes, "latin1");
      yield {
        name: `${name} ${at}: ${encoding.trim()}`,
        isRight: async () => {
          const url = { address: "https://example.org/", html, contentType: "text/html" };
          const { output } = await runCapability("web.links", { url }, { kinds: ["meta"] });
          const charset = String(output?.["charset"]);
          // A page of ASCII is the same text in both.
          const isAscii = charset === "utf-8" && encoding.trim().toLowerCase() === "windows-1252" && html.every((byte) => byte < 0x80); // prettier-ignore
          if (!isAscii && charset !== encoding.trim().toLowerCase()) throw new Error(charset);
          return true;
        },
      };
    }
  }
}
