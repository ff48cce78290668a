/** Pages through the service: the address as a plain string, the worker's fetch, the child that has no network. */
import { beforeAll, expect, test } from "bun:test";

import sharp from "sharp";

import type { Listening } from "#tests/shared/net/servers.ts";

import { eventually } from "#tests/faults/wait.ts";

import { errorOf } from "../media/bench.ts";

import { type SharedBench, sharedBench } from "./shared-bench.ts";

let bench: SharedBench;
let site: Listening;
beforeAll(async () => {
  bench = await sharedBench();
  ({ site } = bench);
}, 60_000);

test("a page is read as Markdown, listed and fetched", async () => {
  const url = site.url("/");
  const text = `## Tea\n\nOf [green](${site.url("/green")}) tea.\n`;
  expect(await bench.made("web.to_markdown", { input: { url } })).toMatchObject({
    output: { text },
    credits_used: 0.1,
  });
  const { output } = await bench.made("web.links", { input: { url }, params: { kinds: ["links"] } });
  expect(output["links"]).toEqual([{ url: site.url("/green"), title: "green" }]);
  const made = await bench.made("web.fetch", { input: { url }, params: { respect_robots: true } });
  expect(made).toMatchObject({ output: { status: 200 }, files: [{ content_type: "text/html", name: "page.html" }] });
  expect(new TextDecoder().decode(await bench.bytes(made))).toStartWith("<h1>Tea</h1>");
}, 30_000);

test("a page is rendered by a browser in a child without a network, with its parts, and printed", async () => {
  await eventually("the worker's browser is offered", async () => (await (await bench.call("/v1/tools")).text()).includes("web.screenshot"), 30_000); // prettier-ignore
  const url = site.url("/styled");
  const shown = await bench.made("web.screenshot", { input: { url }, params: { width: 320, height: 240 } });
  expect(shown).toMatchObject({
    output: { width: 320, height: 240 },
    credits_used: 0.4,
    files: [{ content_type: "image/png" }],
  });
  const { data } = await sharp(await bench.bytes(shown))
    .extract({ left: 300, top: 200, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect([...data]).toEqual([255, 0, 0]);
  const words = await bench.made("web.to_markdown", { input: { url }, params: { scope: "page", render: true } });
  expect(words.output["text"]).toBe("# Tea\n");
  const printed = await bench.made("document.html_to_pdf", { input: { html: { url } } });
  const text = await bench.made("document.extract_text", {
    input: { document: { file_id: printed.files[0]?.file_id } },
  });
  expect(text.output["text"]).toContain("Tea");
}, 60_000);

test.each([
  ["an address inside", "http://127.0.0.1:1/", {}, { status: 400, code: "unsafe_url", param: "input.url" }],
  ["a redirect there", "/inside", {}, { status: 400, code: "unsafe_url", param: "input.url" }],
  ["a header that frames", "/", { headers: { Host: "a" } }, { status: 400, param: "params.headers.Host" }],
  ["what robots may not have", "/private/a", { respect_robots: true }, { status: 422, param: "input.url" }],
])(
  "nothing is fetched or charged for %s",
  async (_what, path, params, expected) => {
    const url = path.startsWith("/") ? site.url(path) : path;
    const answer = await bench.run("web.fetch", { input: { url }, params });
    expect(await errorOf(answer)).toMatchObject(expected);
  },
  30_000,
);

test("an address must be a string", async () => {
  const answer = await bench.run("web.fetch", { input: { url: { url: site.url("/") } } });
  expect(await errorOf(answer)).toMatchObject({ status: 400, param: "input.url" });
});
