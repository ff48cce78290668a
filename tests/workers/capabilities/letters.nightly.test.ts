/** Every capability that draws text draws it in letters of every script of the table, or refuses it by name: never as boxes. */
import { readFileSync } from "node:fs";

import { describe, expect, test } from "bun:test";

import { fontPath } from "#workers/capabilities/fonts.ts";

import { childOf, drawn, expectDrawn, lineOf, NAMES, NO_LETTER, PAGE_ROWS, type Row, ROWS, SCRIPTS } from "./letters.ts"; // prettier-ignore

describe.each(ROWS)("%s", (_, row) => {
  test.each(row.only ?? NAMES)("renders %s, or rejects it by name", (script) => expectDrawn(row, script));
});

describe.each(PAGE_ROWS)("%s", (_, row) => {
  test("renders every script", async () => {
    const [words, others] = [0, 1].map((at) => NAMES.map((name) => SCRIPTS[name][at]).join(" "));
    const [one, two] = [await drawn(row, words ?? ""), await drawn(row, others ?? "")];
    expect(NAMES.filter((_name, at) => lineOf(row, one, at).equals(lineOf(row, two, at)))).toEqual([]);
  }, 60_000);

  test("renders a box for a letter without a font, on request", async () => {
    const asked: Row = {
      ...row,
      call: async (text) => withParams(await row.call(text), { missing_letters: "draw" }),
    };
    const [one, two] = [await drawn(asked, NO_LETTER), await drawn(asked, "\u{e124}")];
    expect(one.data.equals(two.data)).toBe(true);
  }, 60_000);
});

test("a screenshot lists the letters rendered as boxes, and only visible ones", async () => {
  const font = readFileSync(fontPath("DejaVuSansMono.ttf")).toString("base64");
  const styles = [
    ..."display:none;visibility:hidden;opacity:0;font-size:0;text-indent:-9999px;font-family:icons".split(";"),
    "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)",
  ];
  const unseen = styles.map((style, at) => `<p style="${style}">${String.fromCodePoint(0xe200 + at)}</p>`).join("");
  const face = `<style>@font-face{font-family:icons;src:url(data:font/ttf;base64,${font})}</style>`;
  const more = "<script type=application/json>\ue301</script><noscript>\ue302</noscript><template>\ue303</template>";
  const frame = `<iframe srcdoc="<meta charset=utf-8>\ue124"></iframe>`;
  const html = `<!doctype html><meta charset="utf-8">${face}<title>\ue304</title>${unseen}${more}`;
  const child = childOf("browser");
  const names = async (body: string): Promise<unknown> => {
    const { output } = await child.run("web.screenshot", { url: { address: "https://example.com/", html: body } });
    return output?.["missing_letters"];
  };
  const seen = `${html}<p>a${NO_LETTER}${NO_LETTER}</p>${frame}`;
  expect(await names(seen)).toEqual(["\ue123 (U+E123)", "\ue124 (U+E124)"]);
  expect(await names(html)).toBeUndefined();
}, 60_000);

function withParams<T extends { readonly params?: object }>(call: T, more: object): T {
  return { ...call, params: { ...call.params, ...more } };
}
