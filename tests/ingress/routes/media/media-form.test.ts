/** Errors of media calls that come as forms. */
import { expect, test } from "bun:test";

import { inFormTerms } from "#ingress/routes/media/media-form.ts";
import { withParam } from "#ingress/core/with-param.ts";
import { ApiError } from "#shared/base/errors.ts";

const FORM = { members: {}, files: { image: { member: "image_base64" } } };
const JOB_ID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4051";
const FINAL = { shouldRetry: false, jobId: JOB_ID, headers: { "retry-after": "3" } };

test("an error in form parameter names keeps its retry hint and its paid work", async () => {
  const error = new ApiError("model_unavailable", "Expected image_base64.", { ...FINAL, param: "image_base64" });
  const refused = await inFormTerms(FORM, {}, () => Promise.reject(error)).catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ ...FINAL, code: "model_unavailable", message: "Expected image.", param: "image" });
});

test("an error about another parameter keeps them too", () => {
  const error = new ApiError("model_unavailable", "Not set up.", { ...FINAL, param: "model" });
  expect(withParam(error, (param) => `body.${param}`)).toMatchObject({ ...FINAL, param: "body.model" });
});
