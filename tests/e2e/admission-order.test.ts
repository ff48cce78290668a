/** Design part 5: when several checks would refuse a call, the first gate's code is told. Every pair of gates is tried. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { ERROR_CODES } from "#shared/base/errors.ts";

import { audit } from "../faults/audit.ts";
import { type Bed, createWorkspace, FLAT_NANO, startBed } from "../faults/bed.ts";

const IP_LIMIT = 5;
const BODY_BYTES_MAX = 4_096;

/** One call, to be spoilt by gates. */
interface Draft {
  /** The client's address, as a trusted proxy tells it. */
  address: string;
  key: "good" | "wrong" | "none";
  isWindowFull: boolean;
  hasDailyTokens: boolean;
  hasFunds: boolean;
  contentType: string;
  padding: number;
  body: Record<string, unknown>;
  isBroken: boolean;
}

/** In the order of the gates: what makes a call fail there, and the code that tells it. */
const GATES: readonly { readonly code: keyof typeof ERROR_CODES; spoil(draft: Draft): void }[] = [
  { code: "ip_rate_limit_exceeded", spoil: (draft) => void (draft.address = "203.0.113.1") },
  { code: "invalid_api_key", spoil: (draft) => void (draft.key = "wrong") },
  { code: "rate_limit_exceeded", spoil: (draft) => void (draft.isWindowFull = true) },
  { code: "request_too_large", spoil: (draft) => void (draft.padding = BODY_BYTES_MAX) },
  { code: "unsupported_media_type", spoil: (draft) => void (draft.contentType = "text/plain") },
  { code: "invalid_json", spoil: (draft) => void (draft.isBroken = true) },
  { code: "missing_required_parameter", spoil: (draft) => void delete draft.body["messages"] },
  { code: "model_not_found", spoil: (draft) => void (draft.body["model"] = "no-such-model") },
  { code: "image_not_supported_by_model", spoil: (draft) => void (draft.body["messages"] = PICTURE) },
  { code: "daily_tokens_exceeded", spoil: (draft) => void (draft.hasDailyTokens = false) },
  { code: "insufficient_credits", spoil: (draft) => void (draft.hasFunds = false) },
];

const PICTURE = [
  { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] },
];

/** Two gates that the same member of the body would have to fail cannot fail together. */
const EXCLUSIVE = new Set(["missing_required_parameter+image_not_supported_by_model"]);

let bed: Bed;
const keys = new Map<string, string>();
let addresses = 0;

beforeAll(async () => {
  bed = await startBed({
    apart: false,
    presets: { open: [null, null], full: [1, null], dry: [null, 1], "full-dry": [1, 1] },
    env: {
      SLUICE_IP_LIMIT: String(IP_LIMIT),
      SLUICE_TRUSTED_PROXIES: "127.0.0.1",
      SLUICE_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    },
  });
  for (const preset of ["open", "full", "dry", "full-dry"]) {
    for (const hasFunds of [true, false]) {
      const isDry = preset.endsWith("dry");
      const creditsNano = (hasFunds ? 100n : 0n) * FLAT_NANO + (isDry ? FLAT_NANO : 0n);
      const workspace = await createWorkspace(bed.stack, { creditsNano, preset });
      keys.set(`${preset} ${hasFunds}`, workspace.key);
      // Each preset admits one call: it fills the window, or uses the tokens of the day.
      if (isDry)
        expect(
          await send({ ...draft(), isWindowFull: preset.startsWith("full"), hasDailyTokens: false, hasFunds }),
        ).toMatchObject({ status: 200 });
      else if (preset.startsWith("full")) await send({ ...draft(), isWindowFull: true, hasFunds, isBroken: true });
    }
  }
  await bed.stack.settled();
  for (let count = 0; count < IP_LIMIT; count += 1) await list(bed.stack.key, "203.0.113.1");
});
afterAll(() => bed?.stop());

function freshAddress(): string {
  addresses += 1;
  return `198.51.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`;
}

async function list(key: string, address: string): Promise<void> {
  const answer = await fetch(`${bed.target().url}/v1/models`, {
    headers: { authorization: `Bearer ${key}`, "x-forwarded-for": address },
  });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
}

async function send(draft: Draft): Promise<{ status: number; code: string | undefined }> {
  const preset = `${draft.isWindowFull ? "full" : ""}${draft.isWindowFull && !draft.hasDailyTokens ? "-" : ""}${draft.hasDailyTokens ? "" : "dry"}`;
  const key = keys.get(`${preset || "open"} ${draft.hasFunds}`) ?? "";
  const headers: Record<string, string> = { "x-forwarded-for": draft.address, "content-type": draft.contentType };
  if (draft.key !== "none") headers["authorization"] = `Bearer ${draft.key === "good" ? key : "slk_wrong"}`;
  const body = `${JSON.stringify(draft.body)}${draft.isBroken ? "}" : ""}${" ".repeat(draft.padding)}`;
  const answer = await fetch(`${bed.target().url}/v1/chat/completions`, { method: "POST", headers, body });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return { status: answer.status, code: error?.code };
}

function draft(): Draft {
  return {
    address: freshAddress(),
    key: "good",
    isWindowFull: false,
    hasDailyTokens: true,
    hasFunds: true,
    contentType: "application/json",
    padding: 0,
    body: { model: "flat", messages: [{ role: "user", content: "hello" }] },
    isBroken: false,
  };
}

test("a call that no gate refuses is served", async () => {
  expect(await send(draft())).toEqual({ status: 200, code: undefined });
});

describe("the earlier gate speaks", () => {
  for (const [first, earlier] of GATES.entries()) {
    test(`${earlier.code} comes before every later check`, async () => {
      const told: string[] = [];
      for (const later of GATES.slice(first)) {
        if (EXCLUSIVE.has(`${earlier.code}+${later.code}`)) continue;
        const call = draft();
        later.spoil(call);
        earlier.spoil(call);
        const { status, code } = await send(call);
        if (code !== earlier.code || status !== ERROR_CODES[earlier.code].status) {
          told.push(`with ${later.code}: ${status} ${code}`);
        }
      }
      expect(told).toEqual([]);
    });
  }
});

test("a missing key is rejected before the rate window is counted", async () => {
  const call = { ...draft(), key: "none" as const, isWindowFull: true };
  expect(await send(call)).toEqual({ status: 401, code: "missing_api_key" });
});

test("no rejection left a hold or a charge", () => audit(bed));
