/** The documentation of the project, opened once for the tests of this folder. */
import { afterAll } from "bun:test";

import { routesOf } from "#ingress/app.ts";
import type { OpenApiDocument } from "#ingress/routes/docs/api/document.ts";
import { factsOf } from "#ingress/routes/docs/api/roles.ts";
import { openSite, type Site } from "#ingress/routes/docs/site.ts";
import { buildOpenApi } from "#ingress/openapi/document.ts";
import { EXAMPLES } from "#ingress/openapi/examples.ts";
import components from "#schemas/generated/components.json";
import { fakeContext } from "#tests/ingress/fake-context.ts";

const fake = fakeContext();
afterAll(() => fake.close());

const routes = routesOf(fake.context);
/** The OpenAPI document as plain JSON. */
export const DOCUMENT = JSON.parse(JSON.stringify(buildOpenApi(routes, components, EXAMPLES))) as OpenApiDocument;
export const FACTS = factsOf(routes);
/** Paths of all routes, also of those that the document does not contain. */
export const PATHS: readonly string[] = routes.map(({ path }) => path);

let opened: Promise<Site> | undefined;
export function site(): Promise<Site> {
  return (opened ??= openSite({ document: DOCUMENT, facts: FACTS }));
}
