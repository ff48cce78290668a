/** The console with hostile names, addresses and amounts, with many rows, and with a slow or failing service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { ApiKey } from "#schemas/generated/types.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;
let tenant: Tenant;

const NAMES = ["<img src=x onerror=alert(1)><b>bold</b>", "مفتاح الخدمة للفوترة", "W".repeat(64), 'a & b " c'];

beforeAll(async () => {
  bench = await openConsoleBench();
  tenant = await asNewWorkspace(bench.stack);
  for (const name of NAMES) {
    await create("/api-keys", { name });
    await create("/members", { name, role: "developer" });
    await create("/budget-alerts", { name, threshold_credits: 1e9, period: "daily" });
  }
}, 90_000);
afterAll(() => bench?.close());

async function create<Row = unknown>(path: string, body: object): Promise<Row> {
  const response = await fetch(`${bench.baseUrl}/workspaces/${tenant.workspace.id}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`expected ${path} to be created, got ${response.status} ${await response.text()}`);
  return (await response.json()) as Row;
}

const open = (path: string, width = 1280) =>
  bench.open(path, { key: tenant.key, browser: { viewport: { width, height: 800 } } });

describe("names", () => {
  test.each([1280, 390])("names with HTML, of 64 characters and from right to left fit at %d px", async (width) => {
    for (const path of ["/keys", "/members", "/budgets", "/audit"]) {
      const { page, faults } = await open(path, width);
      await page
        .getByText(NAMES[0] ?? "")
        .first()
        .waitFor();
      const excess = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect([path, excess, ...faults]).toEqual([path, 0]);
      expect(await page.locator("main img").count()).toBe(0);
    }
  });
});

describe("bidirectional control characters", () => {
  /** In a page that follows it, the part after U+202E reads `exe.txt`, and the text after the name is reversed as well. */
  const HIDDEN = "invoice\u202etxt.exe\u2066";
  const SHOWN = "invoice[U+202E]txt.exe[U+2066]";
  /** Returns the texts and attributes of the page that contain such a character, without the values of fields. */
  const FIND_HIDDEN = `(() => {
    const hidden = /[\\u202a-\\u202e\\u2066-\\u2069]/;
    const texts = [document.title, document.body.innerText];
    for (const one of document.querySelectorAll("*")) {
      for (const name of ["title", "aria-label", "alt", "data-label"]) texts.push(one.getAttribute(name) ?? "");
      if (one.tagName === "OPTION") texts.push(one.textContent);
    }
    return texts.filter((text) => hidden.test(text));
  })()`;
  let hostile: Tenant;
  let ids: Record<"key" | "channel" | "workflow", string>;

  async function send(path: string, body: object, method = "POST"): Promise<string> {
    const isForm = body instanceof FormData;
    const response = await fetch(`${bench.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${hostile.key}`,
        ...(isForm ? {} : { "content-type": "application/json" }),
      },
      body: isForm ? body : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`expected ${path} to be accepted, got ${response.status} ${text}`);
    return (JSON.parse(text) as { readonly id?: string }).id ?? "";
  }

  beforeAll(async () => {
    hostile = await asNewWorkspace(bench.stack);
    const within = `/workspaces/${hostile.workspace.id}`;
    await send(within, { name: HIDDEN, tags: ["project"] }, "PATCH");
    await send(`${within}/members`, { name: HIDDEN, role: "developer" });
    await send(`${within}/budget-alerts`, { name: HIDDEN, threshold_credits: 1e-9, period: "daily" });
    await send(`${within}/end-users/${encodeURIComponent(HIDDEN)}/limits`, { credits: { day: 1 } }, "PUT");
    await send(`${within}/tags/project/${encodeURIComponent(HIDDEN)}/limits`, { credits: { day: 1 } }, "PUT");
    const channel = { type: "webhook", name: HIDDEN, config: { url: "https://example.com/" } };
    const step = {
      id: "a",
      type: "model",
      model: "sandbox-chat",
      params: { messages: [{ role: "user", content: HIDDEN }] },
    };
    ids = {
      key: await send(`${within}/api-keys`, { name: HIDDEN, limits: { credits: { day: 1 } } }),
      channel: await send(`${within}/notification-channels`, channel),
      workflow: await send("/v1/workflows", { name: HIDDEN, definition: { steps: [step] } }),
    };
    const file = new FormData();
    file.set("purpose", "user_data");
    file.set("file", new File(["text"], `${HIDDEN}.txt`));
    await send("/v1/files", file);
    const metadata = { project: HIDDEN };
    await send("/v1/chat/completions", {
      model: "sandbox-chat",
      user: HIDDEN,
      metadata,
      messages: step.params.messages,
    });
    await bench.stack.settled();
  }, 60_000);

  test("are visible on every page, and in the dialogs that name an object", async () => {
    const paths = [
      "/",
      "/keys",
      `/keys/${ids.key}`,
      "/members",
      "/budgets",
      "/notifications",
      `/notifications/${ids.channel}`,
      "/workflows",
      `/workflows/${ids.workflow}`,
      "/files",
      "/audit",
      "/settings",
      "/usage?by=user",
      "/usage?by=tag:project",
      "/usage?by=key",
      `/requests?key_id=${ids.key}`,
    ];
    const { page } = await bench.open("/", { key: hostile.key });
    for (const path of paths) {
      await page.goto(`${bench.baseUrl}/console${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("[aria-busy]").first().waitFor({ state: "detached" });
      await page.waitForLoadState("networkidle");
      expect([path, await page.evaluate<string[]>(FIND_HIDDEN)]).toEqual([path, []]);
      expect([path, await page.evaluate<string>("document.body.innerText")]).toEqual([
        path,
        expect.stringContaining(SHOWN),
      ]);
      expect(await page.title()).toContain(SHOWN);
    }
    await page.goto(`${bench.baseUrl}/console/keys/${ids.key}`);
    for (const action of ["Change key", "Rotate key", "Revoke key"]) {
      await page.getByRole("complementary").getByRole("button", { name: action }).click();
      await page.getByRole("dialog").getByRole("heading", { name: SHOWN }).waitFor();
      expect(await page.evaluate<string[]>(FIND_HIDDEN)).toEqual([]);
      await page.keyboard.press("Escape");
    }
  });

  test("stay in the value of a field, so that saving does not change the name", async () => {
    const { page } = await bench.open(`/keys/${ids.key}`, { key: hostile.key });
    await page.getByRole("button", { name: "Change key" }).click();
    expect(await page.getByRole("dialog").getByLabel("Name").inputValue()).toBe(HIDDEN);
  });

  test("a right-to-left name is isolated from the texts beside it", async () => {
    const { page } = await open("/keys");
    await page.getByRole("link", { name: NAMES[1] ?? "" }).waitFor();
    const isolation = await page.evaluate<string>(
      `getComputedStyle([...document.links].find((link) => link.textContent === ${JSON.stringify(NAMES[1])})).unicodeBidi`,
    );
    expect(isolation).toBe("isolate");
  });
});

describe("addresses", () => {
  test.each([
    "/usage?metric=constructor",
    "/usage?days=1e9&by=toString",
    "/usage?days=-5",
    "/requests?span=constructor",
  ])("%s shows the page with its default", async (path) => {
    const { page, faults } = await open(path);
    await page.locator("main .panel").first().waitFor();
    expect(faults).toEqual([]);
  });

  test("a filter by a value that is no choice is shown and can be removed", async () => {
    const { page } = await open("/requests?status=unheard");
    await page.getByText("Expected status to be one of").waitFor();
    expect(await page.getByLabel("Status", { exact: true }).inputValue()).toBe("unheard");
    await page.getByRole("button", { name: "Remove filter Status" }).click();
    await page.getByText("Expected status to be one of").waitFor({ state: "detached" });
  });

  test("the usage of one key shows the filter by the key", async () => {
    const { id } = await create<ApiKey>("/api-keys", { name: "filtered" });
    const { page } = await open(`/usage?key_id=${id}`);
    await page.getByRole("button", { name: "Remove filter Key" }).waitFor();
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe(id);
  });
});

describe("amounts", () => {
  test("a limit of a billionth of a credit is shown, and stays when the key is renamed", async () => {
    const { id } = await create<ApiKey>("/api-keys", { name: "tiny", limits: { credits: { day: 1e-9 } } });
    const { page } = await open(`/keys/${id}`);
    await page.getByRole("complementary").getByText("of < 0.00001").waitFor();
    await page.getByRole("button", { name: "Change key" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Per day").inputValue()).toBe("0.000000001");
    await dialog.getByLabel("Name").fill("tiny, renamed");
    await dialog.getByRole("button", { name: "Save key" }).click();
    await page.getByRole("complementary", { name: "tiny, renamed" }).waitFor();
  });

  test("a decimal comma is refused instead of a limit ten times as high", async () => {
    const { page } = await open("/keys");
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("comma");
    await dialog.getByLabel("Per day").fill("0,5");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("Expected a number of credits for the day").waitFor();
    await dialog.getByLabel("Per day").fill("1,500.5");
    const request = page.waitForRequest((one) => one.method() === "POST");
    await dialog.getByLabel("Name").press("Enter");
    expect((await request).postDataJSON()).toMatchObject({ limits: { credits: { day: 1500.5 } } });
  });
});

test.each([
  [1280, 800],
  [390, 640],
])("a long dialog covers the page and shows its buttons at %d × %d px", async (width, height) => {
  const view = await bench.open("/keys", {
    key: tenant.key,
    browser: { viewport: { width, height } },
  });
  const { page } = view;
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  const {
    x = 0,
    y = 0,
    width: length = 0,
  } = (await dialog.getByRole("button", { name: "Create key" }).boundingBox()) ?? {};
  const isOnTop = await page.evaluate<boolean>(
    `document.elementFromPoint(${x + length / 2}, ${y + 8})?.closest("dialog footer") != null`,
  );
  expect(isOnTop).toBe(true);
  expect(await page.evaluate<string>("getComputedStyle(document.querySelector('dialog')).backgroundColor")).toStartWith(
    "rgb(",
  );
  expect(await view.findBarriers()).toEqual([]);
});

test("the secret of a new key stays until it is confirmed, however often Escape is pressed", async () => {
  const { page } = await open("/keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("kept");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("I have stored the key").waitFor();
  for (let press = 0; press < 4; press += 1) await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Key “kept”" }).waitFor();
  expect(await page.getByRole("button", { name: "Close", disabled: true }).count()).toBe(2);
  await page.getByLabel("I have stored the key").check();
  await page.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("after a rotation the sheet shows the new key", async () => {
  const { id } = await create<ApiKey>("/api-keys", { name: "rotated" });
  const { page } = await open(`/keys/${id}`);
  await page.getByRole("button", { name: "Rotate key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate key" }).click();
  await page.getByLabel("I have stored the key").check();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(page.url()).not.toContain(id);
  await page.getByRole("complementary", { name: "rotated" }).waitFor();
});

test("a second click on a used sign-in link opens the console of the signed-in member", async () => {
  const { page } = await open("/#code=used-before");
  await page.getByRole("navigation", { name: "Console" }).waitFor();
});

test("a figure of the overview opens its page without loading the document again", async () => {
  const call = await fetch(`${bench.baseUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hi" }] }),
  });
  expect(call.status).toBe(200);
  await bench.stack.settled();
  const { page } = await open("/");
  await page.evaluate("window.isKept = true");
  await page.getByRole("link", { name: /^Calls today/ }).click();
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  expect(await page.evaluate<boolean>("window.isKept")).toBe(true);
});

describe("refused calls", () => {
  test("more refused calls than a page lists are named, and all of them can be shown", async () => {
    const refused = await asNewWorkspace(bench.stack);
    for (let batch = 0; batch < 6; batch += 1) {
      await Promise.all(
        Array.from({ length: 20 }, () =>
          fetch(`${bench.baseUrl}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${refused.key}`, "content-type": "application/json" },
            body: JSON.stringify({ model: "no-such-model", messages: [] }),
          }).then((response) => response.text()),
        ),
      );
    }
    const { page } = await bench.open("/requests", { key: refused.key });
    await page.getByText("Only 100 of the refused calls in this time are listed.").waitFor();
    await page.getByRole("button", { name: "Show all refused calls" }).click();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("button", { name: "Older" }).click();
    await page.locator("tbody tr").nth(19).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(20);
  });
});

describe("service", () => {
  test("a service that is slower than the interval of the list shows the rows", async () => {
    const { page } = await open("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.clock.install();
    const held = Promise.withResolvers<void>();
    await page.route("**/usage/requests?*", async (route) => {
      await held.promise;
      await route.continue();
    });
    const asked = page.waitForRequest("**/usage/requests?*");
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Requests" }).click();
    const first = await asked;
    const failures: string[] = [];
    page.on("requestfailed", (request) => failures.push(request.url()));
    await page.clock.runFor(6_000);
    held.resolve();
    expect((await first.response())?.status()).toBe(200);
    await page.locator("tbody tr").first().waitFor();
    expect(failures).toEqual([]);
  });

  test("a success closes itself, and an error stays until it is closed", async () => {
    const { page } = await open("/credits");
    await page.route("**/credits/ledger", (route) => route.fulfill({ status: 500, body: "<h1>bad gateway</h1>" }));
    await page.clock.install();
    await page.getByRole("button", { name: "Export CSV" }).click();
    const toasts = page.locator(".toasts");
    await toasts.getByText("The service returned status 500").waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Save settings" }).click();
    await toasts.getByText("Settings are saved").waitFor();
    await page.clock.runFor(10_000);
    await toasts.getByText("Settings are saved").waitFor({ state: "detached" });
    await toasts.getByText("The service returned status 500").waitFor();
    await toasts.getByRole("button", { name: "Close" }).click();
    expect(await toasts.textContent()).toBe("");
  });

  test.each(["/", "/requests", "/usage", "/keys", "/members", "/budgets", "/credits", "/audit", "/settings"])(
    "%s names the failure of the service and recovers",
    async (path) => {
      const { page } = await open("/no-such-page");
      await page.route("**/workspaces/**", (route) => route.fulfill({ status: 500, body: "<h1>bad gateway</h1>" }));
      await page.goto(`${bench.baseUrl}/console${path}`);
      await page.getByText("The service returned status 500").first().waitFor();
      await page.unroute("**/workspaces/**");
      const again = page.getByRole("button", { name: "Try again" });
      while ((await again.count()) > 0) {
        const rest = await again.count();
        await again.first().click();
        await again.nth(rest - 1).waitFor({ state: "detached" });
      }
    },
  );

  test("a session that ends in one tab ends in the other at its next request", async () => {
    const other = await asNewWorkspace(bench.stack);
    const { page } = await bench.open("/keys", { key: other.key });
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    const second = await page.context().newPage();
    await second.goto(`${bench.baseUrl}/console/members`);
    await second.getByRole("button", { name: /^Account of/ }).click();
    await second.getByRole("button", { name: "Sign out" }).click();
    await second.getByRole("heading", { name: "Sign in to Sluice" }).waitFor();
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByRole("heading", { name: "Sign in to Sluice" }).waitFor();
  });
});
