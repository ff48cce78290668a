/**
 * `bun generate.ts <openapi.json> <folder>` writes clients of two generators. Both build TypeScript with its own compiler, of a version
 * that is still written in JavaScript: a process of its own gives them that one.
 */
import { join } from "node:path";

import { plugin } from "bun";
import ts from "typescript-5";

plugin({
  name: "the compiler that generators use",
  setup: (build) => void build.module("typescript", () => ({ exports: { ...ts, default: ts }, loader: "object" })),
});

const [document = "", folder = ""] = process.argv.slice(2);

const { astToString, default: openapiTypescript } = await import("openapi-typescript");
const types = await openapiTypescript((await Bun.file(document).json()) as Parameters<typeof openapiTypescript>[0]);
await Bun.write(join(folder, "api.d.ts"), astToString(types));

const { createClient } = await import("@hey-api/openapi-ts");
await createClient({
  input: document,
  output: join(folder, "sdk"),
  logs: { level: "silent" },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
});
