/** Refusals of an upload before a byte of it is read, and their order. */
import { afterAll, describe, expect, test } from "bun:test";

import { receiveUpload } from "#ingress/routes/files/receive.ts";
import { ApiError } from "#shared/base/errors.ts";
import { fakeContext } from "../../fake-context.ts";
import { routeCall } from "#tests/ingress/route-call.ts";

const FILE_BYTES_MAX = 1_000;
const fake = fakeContext();
afterAll(() => fake.close());

/** The code of the fault that an upload with these headers is told. */
async function faultOf(headers: Readonly<Record<string, string>>): Promise<string> {
  const { config } = fake.context;
  const context = { ...fake.context, config: { ...config, fileBytesMax: FILE_BYTES_MAX } };
  const request = new Request("http://localhost/v1/files", { method: "POST", headers });
  const call = routeCall({ request, caller: fake.caller });
  const error: unknown = await receiveUpload(context, call).catch((thrown: unknown) => thrown);
  if (error instanceof ApiError) return error.code;
  throw new Error("expected a refusal", { cause: error });
}

describe("the earlier of two errors is reported", () => {
  const FORM = "multipart/form-data; boundary=b";
  const LARGE = "1000000000000";

  test.each<[string, Record<string, string>, string]>([
    ["too large, no form", { "content-length": LARGE, "content-type": "text/plain" }, "request_too_large"],
    ["too large, no boundary", { "content-length": LARGE, "content-type": "multipart/form-data" }, "request_too_large"],
    [
      "too large, compressed",
      { "content-length": LARGE, "content-type": FORM, "content-encoding": "gzip" },
      "request_too_large",
    ],
    [
      "too large, a key too long",
      { "content-length": LARGE, "content-type": FORM, "idempotency-key": "k".repeat(300) },
      "request_too_large",
    ],
    [
      "no form, a key too long",
      { "content-length": "10", "content-type": "text/plain", "idempotency-key": "k".repeat(300) },
      "unsupported_media_type",
    ],
    ["no form of unknown length", { "content-type": "text/plain" }, "unsupported_media_type"],
  ])("%s", async (_faults, headers, code) => {
    expect(await faultOf(headers)).toBe(code);
  });
});
