/** Pages in the browser: what it shows, what it prints, and what it never reaches. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { runCapability, tools } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { openSites, type Sites } from "./web-site.ts";

let sites: Sites;
let hasBrowser: boolean;
beforeAll(async () => {
  sites = openSites();
  hasBrowser = (await tools()).chromium !== undefined;
  // A machine of another kind has none packaged; this one's kind does.
  if (process.arch === "x64" && process.platform === "linux") expect(hasBrowser).toBe(true);
}, 60_000);
afterAll(() => {
  sites.close();
  expect(browsers()).toEqual([]);
});

/** Browsers of this test that still run. */
function browsers(): string[] {
  if (!existsSync("/proc/self")) return [];
  return readdirSync("/proc").filter((name) => {
    try {
      return (
        readFileSync(`/proc/${name}/cmdline`, "utf8").includes("chromium") &&
        readFileSync(`/proc/${name}/status`, "utf8").includes(`PPid:\t${process.pid}`)
      );
    } catch {
      return false;
    }
  });
}

/** Red, green, blue at a place of a picture. */
async function colourAt(picture: Uint8Array, left: number, top: number): Promise<number[]> {
  const { data } = await sharp(picture)
    .removeAlpha()
    .extract({ left, top, width: 1, height: 1 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
}

const page = (body: string, head = ""): string =>
  `<!doctype html><html><head><title>Tea</title>${head}<style>body{margin:0;background:white}</style></head><body>${body}</body></html>`;
const block = (colour: string, height: number, more = ""): string =>
  `<div ${more} style="background:${colour};width:100%;height:${height}px"></div>`;

describe("web.screenshot", () => {
  test("captures the window in its size, or the whole page, or one element", async () => {
    const site = await sites.open({
      "/": page(block("rgb(255,0,0)", 500) + block("rgb(0,0,255)", 1_500, "id=low")),
    });
    const size = { width: 400, height: 300 };
    const window_ = await sites.visit("web.screenshot", site.url("/"), size);
    expect(window_.output).toMatchObject({ width: 400, height: 300, title: "Tea", format: "png" });
    expect(await colourAt(window_.bytes(), 10, 10)).toEqual([255, 0, 0]);
    const whole = await sites.visit("web.screenshot", site.url("/"), { ...size, full_page: true, device_scale: 2 });
    expect(whole.output).toMatchObject({ width: 800, height: 4_000 });
    expect(await colourAt(whole.bytes(), 10, 3_000)).toEqual([0, 0, 255]);
    const low = await sites.visit("web.screenshot", site.url("/"), { ...size, selector: "#low", format: "webp" });
    expect(low.output).toMatchObject({ width: 400, height: 1_500, format: "webp" });
    expect(await refused(sites.visit("web.screenshot", site.url("/"), { selector: "#none" }))).toBe(
      "invalid: Expected params.selector to match a visible element, got none for #none.",
    );
  }, 30_000);

  test("runs scripts unless disabled, waits, and requests dark colours", async () => {
    const style = "<style>@media (prefers-color-scheme: dark){body{background:rgb(0,0,0) !important}}</style>";
    const script = "<script>setTimeout(() => document.body.style.background = 'rgb(0,255,0)', 300)</script>";
    const site = await sites.open({
      "/": page("", style + script.replace("document.body", "document.documentElement")),
      "/js": page("<script>document.body.style.background='rgb(0,255,0)'</script>"),
    });
    const size = { width: 320, height: 240 };
    const of = async (path: string, params: object) =>
      colourAt((await sites.visit("web.screenshot", site.url(`/${path}`), { ...size, ...params })).bytes(), 9, 9);
    expect(await of("js", {})).toEqual([0, 255, 0]);
    expect(await of("js", { javascript: false })).toEqual([255, 255, 255]);
    expect(await of("", { dark: true, javascript: false })).toEqual([0, 0, 0]);
    expect(await of("", { javascript: false })).toEqual([255, 255, 255]);
  }, 30_000);

  test("includes parts of its own site, with their own redirects", async () => {
    const picture = await sharp({ create: { width: 50, height: 50, channels: 3, background: "rgb(255,0,0)" } })
      .png()
      .toBuffer();
    const site = await sites.open((request, response) => {
      const path = request.url ?? "";
      if (path === "/style.css")
        response.setHeader("content-type", "text/css").end("p{background:rgb(0,0,255);height:50px;margin:0}");
      else if (path === "/moved.png") response.writeHead(302, { location: "/red.png" }).end();
      else if (path === "/red.png") response.setHeader("content-type", "image/png").end(picture);
      else
        response
          .setHeader("content-type", "text/html")
          .end(page("<img src=moved.png style='display:block'><p></p>", "<link rel=stylesheet href=style.css>"));
    });
    const shown = await sites.visit("web.screenshot", site.url("/"), { width: 320, height: 240 });
    expect(await colourAt(shown.bytes(), 10, 10)).toEqual([255, 0, 0]);
    expect(await colourAt(shown.bytes(), 10, 70)).toEqual([0, 0, 255]);
  }, 30_000);

  test("captures a page that opens windows, and none of them", async () => {
    const opens = "<script>window.open('/other'); window.open('about:blank'); prompt('tea?')</script>";
    const site = await sites.open({ "/": page(block("rgb(255,0,0)", 100) + opens), "/other": "other" });
    const shown = await sites.visit("web.screenshot", site.url("/"), { width: 320, height: 240 });
    expect(await colourAt(shown.bytes(), 10, 10)).toEqual([255, 0, 0]);
    expect(site.asked).toEqual(["GET /"]);
  }, 30_000);

  test("reaches no private address, by any method of a page, and opens no dialogs", async () => {
    const inside = await sites.openInside();
    const there = inside.url("/");
    const tries = `<img src="${there}a.png"><iframe src="${there}b"></iframe><link rel=stylesheet href="${there}c.css"><img src="file:///etc/passwd">
      <img src="http://169.254.169.254/latest/meta-data/"><img src="/redirect"><object data="${there}d"></object>
      <script>
        fetch("${there}e").catch(() => 0); navigator.sendBeacon("${there}f", "x");
        try { new WebSocket("${there.replace("http", "ws")}g") } catch {}
        try { new EventSource("${there}h") } catch {}
        fetch("/post", { method: "POST", body: "x" }).catch(() => 0);
        setTimeout(() => { location = "${there}i" }, 50);
        alert("tea?"); confirm("sure?");
        const link = document.createElement("a"); link.href = "/file"; link.download = "x"; link.click();
      </script>`;
    const posted: string[] = [];
    const site = await sites.open((request, response) => {
      if (request.method !== "GET") posted.push(request.url ?? "");
      if (request.url === "/redirect") response.writeHead(302, { location: `${there}j.png` }).end();
      else response.setHeader("content-type", "text/html").end(page(block("rgb(255,0,0)", 100) + tries));
    });
    const shown = await sites.visit("web.screenshot", site.url("/"), { width: 320, height: 240, wait: 1 });
    expect(await colourAt(shown.bytes(), 10, 10)).toEqual([255, 0, 0]);
    expect([inside.asked, posted]).toEqual([[], []]);
    expect(await refused(sites.visit("web.screenshot", there))).toContain("unsafe_url");
  }, 30_000);
});

test("web.to_markdown reads the output of scripts on request", async () => {
  const site = await sites.open({ "/": page("<p>Plain</p><script>document.body.append('by script')</script>") });
  const of = async (render: boolean) =>
    (await sites.visit("web.to_markdown", site.url("/"), { scope: "page", render })).output["text"];
  expect(await of(false)).toBe("Plain\n");
  expect(await of(true)).toBe("Plain\n\nby script\n");
}, 30_000);

test("web.to_markdown reads the frames of a page, and no noscript element, after its scripts have run", async () => {
  const site = await sites.open({
    "/": page(`<p>Page</p><noscript>none</noscript><iframe src="/f/one" title="Frame"></iframe>`),
    "/f/one": page(`<p>One <a href="x">link</a></p><iframe src="two"></iframe>`),
    "/f/two": page(`<p>Two</p><script>document.body.append("by script")</script>`),
  });
  const { output } = await sites.visit("web.to_markdown", site.url("/"), { scope: "page", render: true });
  expect(output["text"]).toBe(`Page\n\nOne [link](${site.url("/f/x")})\n\nTwo\n\nby script\n`);
}, 30_000);

test("web.to_markdown links to a frame whose content is inaccessible", async () => {
  const policy = `<meta http-equiv="Content-Security-Policy" content="require-trusted-types-for 'script'">`;
  const site = await sites.open({
    "/": page(`<p>Page</p><iframe src="/f" title="Map"></iframe>`, policy),
    "/f": page("in it"),
  });
  const { output } = await sites.visit("web.to_markdown", site.url("/"), { scope: "page", render: true });
  expect(output["text"]).toBe(`Page\n\n[Map](${site.url("/f")})\n`);
}, 30_000);

describe("a page whose scripts fetch its content after it has loaded", () => {
  /** A site whose pages fetch `/data`, which answers after `answerMs`, and `/more` when that has answered. */
  const fetching = (answerMs: number, script = "") =>
    sites.open(({ url }, response) => {
      if (url === "/data" || url === "/more") {
        setTimeout(() => response.setHeader("content-type", "text/plain").end(`answer of ${url}`), answerMs);
        return;
      }
      const load = `onload = async () => {
        const get = async (path) => (document.querySelector("p").textContent += " " + (await (await fetch(path)).text()));
        document.querySelector("p").textContent = ""; await get("/data"); await get("/more"); ${script}
      }`;
      response.setHeader("content-type", "text/html").end(page(`<p>Loading</p><script>${load}</script>`));
    });
  const markdown = async (url: string, params: object = {}) =>
    (await sites.visit("web.to_markdown", url, { scope: "page", render: true, ...params })).output["text"];

  test.each([50, 400])(
    "is read when both answers have arrived, after %d ms each",
    async (answerMs) => {
      const site = await fetching(answerMs);
      expect(await markdown(site.url("/"))).toBe("answer of /data answer of /more\n");
      const size = { width: 320, height: 240, selector: "p" };
      const late = page(
        "<p>Loading</p><script>onload = async () => { await fetch('/data'); document.querySelector('p').style.height = '77px' }</script>",
      );
      const shown = await sites.open(({ url }, response) => {
        if (url === "/data") setTimeout(() => response.end("x"), answerMs);
        else response.setHeader("content-type", "text/html").end(late);
      });
      expect((await sites.visit("web.screenshot", shown.url("/"), size)).output["height"]).toBe(77);
    },
    30_000,
  );

  test("is read after a bounded wait if it never stops requesting", async () => {
    const site = await fetching(20, "setInterval(() => fetch('/data'), 100)");
    expect(await markdown(site.url("/"))).toBe("answer of /data answer of /more\n");
  }, 30_000);

  test("is read after the requested wait", async () => {
    const site = await fetching(20, "setTimeout(() => (document.querySelector('p').textContent = 'later'), 1_500)");
    expect(await markdown(site.url("/"), { wait: 3 })).toBe("later\n");
    expect(await refused(markdown(site.url("/"), { wait: 3, render: false }))).toBe(
      "invalid: Expected params.render to be true where params.wait is given.",
    );
  }, 30_000);
});

describe("document.html_to_pdf", () => {
  const textOf = async (pdf: Uint8Array) =>
    (await runCapability("document.extract_text", { document: pdf })).output?.["text"];

  test("prints its text on pages of the requested size", async () => {
    const html = { text: `<h1>Tea</h1><p>Grüße, 茶.</p><p style="page-break-before:always">Second page</p>` };
    const made = await runCapability("document.html_to_pdf", { html }, { page_size: "a5", landscape: true });
    expect(made.output).toMatchObject({ pages: 2 });
    expect(await textOf(made.bytes())).toContain("Grüße");
    const { output: info = {} } = await runCapability("document.info", { document: made.bytes() });
    const [size] = info["page_sizes"] as { width: number; height: number }[];
    // Browsers count in pixels of their own.
    expect(Math.abs((size?.width ?? 0) - 595.28)).toBeLessThan(1);
    expect(Math.abs((size?.height ?? 0) - 419.53)).toBeLessThan(1);
  }, 30_000);

  test("reads a page in its declared encoding", async () => {
    const head = `<meta charset="iso-8859-1"><!--${"tea ".repeat(2_000)}-->`;
    const made = await runCapability("document.html_to_pdf", { html: Buffer.from(`${head}<p>Grüße</p>`, "latin1") });
    expect(await textOf(made.bytes())).toContain("Grüße");
    // What the browser keeps goes with its run.
    expect(existsSync(join(dirname(made.files?.[0]?.path ?? ""), "browser", "profile"))).toBe(true);
  }, 30_000);

  test("runs no scripts unless enabled, and an inline page loads nothing", async () => {
    const site = await sites.open({ "/style.css": "h1{display:none}" });
    const html = {
      text: `<link rel=stylesheet href="${site.url("/style.css")}"><h1>Shown</h1><script>document.body.append("by script")</script>`,
    };
    const plain = await textOf((await runCapability("document.html_to_pdf", { html })).bytes());
    expect(plain).toContain("Shown");
    expect(plain).not.toContain("by script");
    const run = await textOf((await runCapability("document.html_to_pdf", { html }, { javascript: true })).bytes());
    expect(run).toContain("by script");
  }, 30_000);
});
