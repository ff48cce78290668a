/** Playground, jobs, models and capabilities in a browser: the price before a call, the result and its charge, and cancelled work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";
import sharp from "sharp";

import type { ChatCompletionRequest, Credits, ErrorEnvelope, Job, LedgerList } from "#schemas/generated/types.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, type ConsolePage, INSPECTION_LIMIT_MS, openConsoleBench, storeFile } from "./bench.ts";

let bench: ConsoleBench;
let tenant: Tenant;

beforeAll(async () => {
  bench = await openConsoleBench({ pools: ["chat", "image", "audio", "video", "3d", "capability"] });
  tenant = await asNewWorkspace(bench.stack);
}, 90_000);
afterAll(() => bench?.close());

const open = (path: string): Promise<ConsolePage> => bench.open(path, { key: tenant.key });

async function read<Body>(path: string): Promise<Body> {
  const response = await fetch(`${bench.baseUrl}${path}`, { headers: { authorization: `Bearer ${tenant.key}` } });
  return (await response.json()) as Body;
}

/** Waits until an expression is true in the page. The page's policy forbids to evaluate it there, so it is asked from here. */
async function isTrue(page: Page, expression: string): Promise<void> {
  await eventually(expression, () => page.evaluate<boolean>(expression));
}

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((one) => one.ownerDocument.activeElement === one);
}

function picture(background: string): Promise<Buffer> {
  return sharp({ create: { width: 400, height: 200, channels: 3, background } })
    .png()
    .toBuffer();
}

/** Waits for the charge of the result, and returns the id of its request. */
async function requestOf({ page }: ConsolePage): Promise<string> {
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText(/^Charged/).waitFor();
  return (await result.getByRole("link", { name: "Request" }).getAttribute("title")) ?? "";
}

describe("chat", () => {
  test("an answer is streamed over two turns, with its charge and request", async () => {
    const { page, faults } = await open("/playground");
    await page.getByLabel("System prompt").fill("Answer briefly.");
    const message = page.getByLabel("Message", { exact: true });
    await message.fill("Say exactly: one");
    await page.getByText(/^estimate/).waitFor();
    await page.getByText("No output limit is set: the hold is for 8,192 output tokens.").waitFor();
    await page.getByLabel("Max completion tokens").fill("100");
    await page.getByText("No output limit is set").waitFor({ state: "detached" });
    await message.press("Enter");
    await page.getByText("Charged").waitFor();
    await message.fill("Say exactly: two");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Charged").nth(1).waitFor();
    const turns = page.getByRole("region", { name: "Conversation" }).getByRole("listitem");
    expect(await turns.allTextContents()).toEqual([expect.stringContaining("one"), expect.stringContaining("two")]);
    expect(page.url()).not.toContain("exactly");
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain("exactly");

    await turns.last().getByRole("link", { name: "Request" }).click();
    await page.getByRole("complementary", { name: "sandbox-chat" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("another model answers the last message again, and the two answers are compared by word", async () => {
    const view = await open("/playground");
    const { page, faults } = view;
    await page.getByLabel("Message", { exact: true }).fill("Say exactly: one two three four five six");
    await page.keyboard.press("Enter");
    await page.getByText("Charged").waitFor();
    await page.getByRole("button", { name: "Answer again with sandbox-chat" }).click();
    await page.getByText("Compare with the answer before: sandbox-chat → sandbox-chat").click();
    await page.getByText("The answers are equal.").waitFor();

    await page.getByLabel("Model", { exact: true }).fill("sandbox-backup");
    await page.getByLabel("Max completion tokens").fill("3");
    const request = page.waitForRequest((one) => one.url().endsWith("/v1/chat/completions"));
    await page.getByRole("button", { name: "Answer again with sandbox-backup" }).click();
    const sent = (await request).postDataJSON() as ChatCompletionRequest;
    expect(sent.messages.map(({ role }) => role)).toEqual(["user"]);
    await page.getByText("Compare with the answer before: sandbox-chat → sandbox-backup").waitFor();
    const changes = page.locator(".diff.words");
    if (!(await changes.isVisible())) await page.getByText("Compare with the answer before").click();
    expect(await changes.textContent()).toBe("one two three four five six");
    expect((await changes.locator("del").allTextContents()).join("")).toEndWith("four five six");
    expect(await changes.locator("ins").count()).toBe(0);
    expect(await view.findBarriers()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("a stopped answer keeps its text and is cancelled", async () => {
    const { page, faults } = await open("/playground?model=sandbox-silent");
    await page.getByLabel("Message", { exact: true }).fill("Hello");
    await page.keyboard.press("Enter");
    const answer = page.locator(".turn .answer");
    await answer.getByText("You wrote").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await answer.getByText("Cancelled").waitFor();
    await answer.getByText("You wrote").waitFor();
    const link = answer.getByRole("link", { name: "Request" });
    const id = (await link.getAttribute("title")) ?? "";
    await bench.stack.settled();
    const [usage] = await bench.stack.query<{ status: string }>("select status from usage_record where job_id = $1", [
      id,
    ]);
    expect(usage?.status).toBe("cancelled");
    expect(faults).toEqual([]);
  });

  test("an attached picture is part of the message", async () => {
    const { page } = await open("/playground");
    const buffer = await picture("#c33");
    await page.getByLabel("Attach file").setInputFiles({ name: "red.png", mimeType: "image/png", buffer });
    await page.getByRole("button", { name: "Remove red.png" }).waitFor();
    await page.getByLabel("Message", { exact: true }).fill("What is this?");
    const request = page.waitForRequest((one) => one.url().endsWith("/v1/chat/completions"));
    await page.keyboard.press("Enter");
    const { messages } = (await request).postDataJSON() as { messages: [{ content: [object, object] }] };
    expect(messages[0].content[0]).toMatchObject({ type: "file", file: { file_id: expect.stringMatching(/^file-/) } });
    await page.getByText("Charged").waitFor();
  });

  test("an error shows the sentence of the API", async () => {
    const { page } = await open("/playground?model=no-such-model");
    await page.getByLabel("Message", { exact: true }).fill("Hello");
    const answer = page.waitForResponse((one) => one.url().endsWith("/v1/chat/completions"));
    await page.keyboard.press("Enter");
    const { error } = (await (await answer).json()) as ErrorEnvelope;
    await page.getByRole("region", { name: "Conversation" }).getByText(error.message).waitFor();
  });
});

describe("media", () => {
  test("two images are made at the estimated price, which the ledger contains", async () => {
    const view = await open("/playground/image");
    const { page, faults } = view;
    await page.getByLabel("Prompt", { exact: true }).fill("Hills at the edge of a lake");
    await page.getByRole("radiogroup", { name: "Results" }).getByText("2").click();
    await page.getByLabel("Size").selectOption("256x256");
    await page.getByRole("form", { name: "Request" }).getByText("4.00000").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    const id = await requestOf(view);
    const pictures = page.getByRole("region", { name: "Result" }).locator("img");
    expect(await pictures.count()).toBe(2);
    await isTrue(page, "[...document.querySelectorAll('.media img')].every((one) => one.naturalWidth === 256)");
    await bench.stack.settled();
    const { data } = await read<LedgerList>(`/workspaces/${tenant.workspace.id}/credits/ledger`);
    expect(data.find((entry) => entry.kind === "settle" && JSON.stringify(entry).includes(id))?.credits).toBe(-4);
    const { available } = await read<Credits>(`/workspaces/${tenant.workspace.id}/credits`);
    await page.getByTitle(`${available} credits are available, 0 are held for calls in progress.`).waitFor();
    expect(faults).toEqual([]);
  });

  test("speech becomes a recording that plays", async () => {
    const view = await open("/playground/speech");
    await view.page.getByLabel("Input").fill("It works.");
    await view.page.getByRole("button", { name: "Run" }).click();
    await requestOf(view);
    await isTrue(view.page, "document.querySelector('.media audio')?.readyState >= 1");
    expect(view.faults).toEqual([]);
  });

  test("a mesh is drawn", async () => {
    const view = await open("/playground/3d");
    await view.page.getByLabel("Prompt").fill("a vase");
    await view.page.getByRole("button", { name: "Run" }).click();
    await requestOf(view);
    const drawn = view.page.locator("canvas[data-drawn=true]");
    await drawn.or(view.page.getByText("The 3D view is not available")).waitFor();
    expect(view.faults.filter((fault) => !fault.includes("WebGL"))).toEqual([]);
  });

  test("a video shows its progress, is found under its job after a reload, and is cancelled", async () => {
    const { page, faults } = await open("/playground/video?model=sandbox-video-hang");
    await page.getByLabel("Prompt", { exact: true }).fill("A harbour in fog");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("progressbar", { name: "Progress" }).waitFor();
    await page.reload();
    await page.goto(`${bench.baseUrl}/console/jobs`);
    await page.getByRole("link", { name: "sandbox-video-hang" }).click();
    const sheet = page.getByRole("complementary", { name: "sandbox-video-hang" });
    await sheet.getByRole("button", { name: "Cancel job" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel the job?" });
    await dialog.getByText("Work done until then is delivered and charged").waitFor();
    await dialog.getByRole("button", { name: "Cancel job" }).click();
    await sheet.getByRole("status").getByText("Cancelled", { exact: true }).waitFor();
    const id = page.url().split("/").at(-1) ?? "";
    expect(await read<Job>(`/v1/images/jobs/${id}`)).toMatchObject({ status: "cancelled" });
    expect(faults).toEqual([]);
  });

  test("a video is cancelled in the playground", async () => {
    const { page } = await open("/playground/video?model=sandbox-video-hang");
    await page.getByLabel("Prompt", { exact: true }).fill("A harbour in fog");
    await page.getByRole("button", { name: "Run" }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByRole("progressbar").waitFor();
    await result.getByRole("button", { name: "Cancel" }).click();
    await result.getByText("The job was cancelled.").waitFor();
  });
});

describe("capabilities", () => {
  test("an uploaded picture is resized, from the list of capabilities on", async () => {
    const view = await open("/capabilities?q=resize+image");
    const { page, faults } = view;
    await page.getByRole("link", { name: "Resize image" }).click();
    const sheet = page.getByRole("complementary", { name: "Resize image" });
    await sheet.getByText(/ per megapixel, at least 0\.5 megapixels$/).waitFor();
    await sheet.getByRole("link", { name: "Try it" }).click();
    const buffer = await picture("#36c");
    await page.getByLabel("Upload").setInputFiles({ name: "blue.png", mimeType: "image/png", buffer });
    await page.getByText("blue.png").waitFor();
    await page.getByLabel("Width").fill("100");
    await page.getByText(/^estimate/).waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await requestOf(view);
    await isTrue(page, "document.querySelector('.media img')?.naturalWidth === 100");
    expect(faults).toEqual([]);
  });

  test("a stored picture is chosen with the keyboard among the files that the field accepts", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const id = await storeFile(bench, key, "Blue.png", await picture("#36c"));
    const other = await storeFile(bench, key, "red.png", await picture("#c33"));
    await storeFile(bench, key, "notes.txt", "the lamp is lit");
    const view = await bench.open("/playground/capability?id=image.resize", { key });
    const { page, faults } = view;
    await page.getByText("photo.jpg, ").waitFor();
    const opener = page.getByRole("button", { name: "Choose", exact: true });
    await opener.click();
    const dialog = page.getByRole("dialog", { name: "Choose a file" });
    await dialog.getByText("2 files").waitFor();
    expect(await dialog.locator("td.main").allTextContents()).toEqual(["red.png", "Blue.png"]);
    expect(await view.findBarriers()).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await isFocused(opener)).toBeTrue();

    await page.keyboard.press("Enter");
    await dialog.getByRole("searchbox", { name: "Name" }).waitFor();
    await page.keyboard.type("blu");
    // Before the list is loaded, Tab would go to "Cancel".
    await dialog.getByText("1 file", { exact: true }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Blue.png, ").waitFor();
    const field = page.getByLabel("Image", { exact: true });
    expect(await field.inputValue()).toBe(id);
    expect(await isFocused(opener)).toBeTrue();
    await field.fill(other);
    await field.blur();
    await page.getByText("red.png, ").waitFor();
    expect(faults).toEqual([]);
  });

  test("a file is used in a capability that accepts it, and so is the result, whose download names the capability", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const id = await storeFile(bench, key, "logo.png", await picture("#36c"));
    const view = await bench.open("/files", { key });
    const { page, faults } = view;
    const tryCapability = async (name: string): Promise<void> => {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("complementary", { name }).getByRole("link", { name: "Try it" }).click();
    };
    await page.getByRole("button", { name: "Actions of logo.png" }).click();
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("combobox", { name: "Accepts" }).getByText("logo.png").waitFor({ state: "attached" });
    await page.getByRole("link", { name: "Resize image", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Trim video", exact: true }).count()).toBe(0);
    // The picture is the second input, and the example keeps the first one.
    await tryCapability("Watermark video");
    await page.getByText("logo.png, ").waitFor();
    expect(await page.getByLabel("Logo", { exact: true }).inputValue()).toBe(id);
    expect(await page.getByLabel("Video", { exact: true }).inputValue()).toBe("file-sample-clip");

    await page.goBack();
    await page.goBack();
    await tryCapability("Resize image");
    expect(await page.getByLabel("Image", { exact: true }).inputValue()).toBe(id);
    await page.getByRole("button", { name: "Run" }).click();
    await requestOf(view);
    const result = page.getByRole("region", { name: "Result" });
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      result.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toMatch(/^image\.resize-[0-9a-f]{8}\.png$/);
    await result.getByRole("link", { name: "Use in…" }).click();
    await page.getByRole("combobox", { name: "Accepts" }).getByText("image.png").waitFor({ state: "attached" });
    expect(faults).toEqual([]);
  });

  test("a text is typed instead of a file, and its result is shown as JSON", async () => {
    const viewport = { width: 390, height: 800 };
    const view = await bench.open("/playground/capability?id=code.regex", { key: tenant.key, browser: { viewport } });
    const { page } = view;
    await page.getByLabel("Text as text").fill("ab ab");
    await page.getByLabel("Pattern").fill("b");
    await page.getByRole("button", { name: "Run" }).click();
    await requestOf(view);
    await page.getByRole("region", { name: "JSON" }).first().waitFor();
    // The heading of the result is below the header of the page, in the upper half of the window.
    const heading = page.getByRole("heading", { name: "Result" });
    expect(await isFocused(heading)).toBeTrue();
    const top = async (): Promise<number> => (await heading.boundingBox())?.y ?? -1;
    expect(await top()).toBeGreaterThan(52);
    expect(await top()).toBeLessThan(viewport.height / 2);

    // A person who types during the run keeps the focus.
    const typed = Promise.withResolvers<void>();
    await page.route("**/v1/capabilities/**/run", async (route) => {
      await typed.promise;
      await route.continue();
    });
    const pattern = page.getByLabel("Pattern");
    await page.getByRole("button", { name: "Run" }).click();
    await pattern.fill("a");
    typed.resolve();
    await requestOf(view);
    await heading.waitFor();
    expect(await isFocused(heading)).toBeFalse();
    expect(await isFocused(pattern)).toBeTrue();
  });
});

test("a model is found by name, and its sheet opens the playground with it", async () => {
  const { page, faults } = await open("/models?q=sandbox-image-meg");
  await page.getByRole("link", { name: "sandbox-image-megapixels" }).click();
  const sheet = page.getByRole("complementary", { name: "sandbox-image-megapixels" });
  await sheet.getByText("megapixel", { exact: true }).waitFor();
  await sheet.getByRole("link", { name: "Try it" }).click();
  expect(await page.getByLabel("Model").inputValue()).toBe("sandbox-image-megapixels");
  expect(faults).toEqual([]);
});

test("without credits the refusal says what is left", async () => {
  const poor = await createWorkspace(bench.stack, { creditsNano: 10n ** 9n });
  const { page } = await bench.open("/playground/image", { key: poor.key });
  await page.getByLabel("Prompt", { exact: true }).fill("Hills");
  await page.getByRole("button", { name: "Run" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("credits are left.").waitFor();
  // The refusal is stored after the response, and may be read earlier.
  const absent = { error: { code: "not_found", message: "The call has not ended yet, or is unknown." } };
  await page.route("**/usage/requests/*", (route) => route.fulfill({ status: 404, json: absent }), { times: 1 });
  await result.getByRole("link", { name: "Request" }).click();
  const sheet = page.getByRole("complementary");
  await sheet.getByText(absent.error.message).waitFor();
  await sheet.getByText(absent.error.message).waitFor({ state: "detached" });
  await sheet.getByText("The call was refused before any provider was called.").waitFor();
  await page.getByRole("row").getByText("insufficient_credits").waitFor();
});

test("refused calls of a capability and a chat are called refused, and named by capability and model", async () => {
  const poor = await createWorkspace(bench.stack, { creditsNano: 1n });
  const { page } = await bench.open("/playground/capability?id=image.resize", { key: poor.key });
  await page.getByRole("button", { name: "Run" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText(/^Refused\s*402$/).waitFor();
  await result.getByText(/^Charged 0\.0+ credits$/).waitFor();
  await result.getByRole("link", { name: "Request" }).click();
  await page.getByRole("complementary", { name: "image.resize" }).waitFor();

  await page.goto(`${bench.baseUrl}/console/playground`);
  await page.getByLabel("Message", { exact: true }).fill("Hello");
  await page.keyboard.press("Enter");
  await page
    .getByRole("region", { name: "Conversation" })
    .getByText(/^Refused\s*402$/)
    .waitFor();
});

describe("accessibility", () => {
  const KINDS = ["image", "edit", "speech", "transcription", "video", "music", "3d", "embedding", "capability"];
  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)(
    "forms of every kind in %s at %d px",
    async (colorScheme, width) => {
      const view = await bench.open("/playground", {
        key: tenant.key,
        browser: { colorScheme, viewport: { width, height: 800 } },
      });
      const findings: string[] = [];
      for (const kind of ["chat", ...KINDS]) {
        await view.page.goto(`${bench.baseUrl}/console/playground/${kind}`);
        await view.page.getByRole("form").first().waitFor();
        for (const summary of await view.page.locator("form summary").all()) await summary.click();
        const excess = await view.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        if (excess > 0) findings.push(`${kind}: scrolls sideways by ${excess} px`);
        findings.push(...(await view.findBarriers()).map((barrier) => `${kind}: ${barrier}`));
      }
      expect([...findings, ...view.faults]).toEqual([]);
    },
    INSPECTION_LIMIT_MS,
  );
});
