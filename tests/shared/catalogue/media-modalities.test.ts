import { expect, test } from "bun:test";

import { MEDIA_MODALITIES } from "#shared/catalogue/media-modalities.ts";
import { KINDS } from "#shared/kinds/kinds.ts";

test("the endpoint of each modality is that of a kind, and each kind's endpoint is of a modality or of words", () => {
  const endpoints = Object.values(KINDS).map(({ endpoint }) => endpoint as string);
  const paths = Object.values(MEDIA_MODALITIES).flatMap((row) => (row ? [row.path] : []));
  expect([...paths, "/v1/chat/completions", "/v1/embeddings"].toSorted()).toEqual(endpoints.toSorted());
});
