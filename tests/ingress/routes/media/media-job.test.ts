import { expect, test } from "bun:test";

import type { IngressContext } from "#ingress/context.ts";
import { admitMediaJob } from "#ingress/routes/media/media-job.ts";
import type { ReadCall } from "#shared/calls/read.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { CallAdmission } from "#shared/ledger/call-admission.ts";
import { IMAGE_EDITS } from "#shared/calls/kinds/images.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { INLINE_INPUT_BYTES_MAX } from "#shared/calls/offload-inputs.ts";
import { routeCall } from "#tests/ingress/route-call.ts";

const PICTURE = new Uint8Array(INLINE_INPUT_BYTES_MAX + 1);

/** An edit with a large picture. */
function edit(): ReadCall {
  const bound = { holdNano: 7n, outputTokensMax: 0, mayExceed: false, tokensMax: 0 };
  const inline = [{ name: "image", param: "image_base64", bytes: PICTURE, contentType: "image/png" }];
  return {
    kind: IMAGE_EDITS,
    model: { slug: "edits", modality: "image", price: { unit: "per_request", tokenRates: {}, unitRate: 7n } },
    leastNano: bound.holdNano,
    isHeavy: () => true,
    load: () => Promise.resolve({ bound, inline, text: () => "{}" }),
  };
}

test.each(["insufficient_credits", "rate_limit_exceeded", "budget_reached"] as const)(
  "nothing is stored for a rejected call: %s",
  async (code) => {
    const fake = fakeContext();
    const touched: string[] = [];
    const check: CallAdmission["check"] = (_workspaceId, _limit, leastNano) =>
      Promise.reject(leastNano === 7n ? new ApiError(code, "No.") : new Error("another amount"));
    const storage = new Proxy({}, { get: (_target, name) => void touched.push(String(name)) });
    const context = {
      ...fake.context,
      calls: { check },
      storage,
      waiter: { address: (id: string) => `reply.${id}` },
      config: { storageBytesMax: 1_000_000 },
      database: { query: () => Promise.resolve([{ taken: 0n }]) },
    } as unknown as IngressContext;
    const call = routeCall({ requestId: "1", caller: fake.caller });
    try {
      // Not counted yet: whoever answers counts the call, once.
      const refused: unknown = await admitMediaJob(context, call, edit()).catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: "ApiError", code });
      expect(touched).toEqual([]);
    } finally {
      fake.close();
    }
  },
);
