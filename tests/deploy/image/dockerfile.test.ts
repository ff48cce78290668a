/** Rules that the Dockerfile keeps, read from it as a builder reads it. */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";

import * as here from "#shared/base/command-lines.ts";
import { BUN_MEMORY } from "#deploy/embedded/bun.mjs";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

import packageJson from "../../../package.json" with { type: "json" };

import { copiedPaths, readStages, settingsOf } from "./dockerfile.ts";

const stages = readStages();
const last = stages.at(-1);
if (last === undefined) throw new Error("the Dockerfile has no stage");
const settings = settingsOf(last);
const dockerfile = await Bun.file(join(PROJECT_ROOT, "deploy/Dockerfile")).text();
const ignored = (await Bun.file(join(PROJECT_ROOT, ".dockerignore")).text()).split("\n");

describe("deploy/Dockerfile", () => {
  test("configures Bun's allocator like every other start", () => {
    expect(settings.environment).toMatchObject(BUN_MEMORY);
  });

  test("builds on the Bun that package.json pins, by an exact tag", () => {
    const version = packageJson.packageManager.replace("bun@", "");
    expect(new Set(stages.map(({ base }) => base))).toEqual(new Set([`oven/bun:${version}-slim`]));
  });

  test("runs as a numeric user other than root, so that a cluster can check it", () => {
    expect(settings.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  test("starts with an init process, so that no orphaned process remains", () => {
    expect(settings.entrypoint).toEqual(["tini", "--", "bun", "deploy/sluice.ts"]);
  });

  test("has the labels that image tools read", () => {
    const { "org.opencontainers.image.description": description, ...labels } = settings.labels;
    expect(description).toMatch(/^.{20,}$/);
    expect(labels).toEqual({
      "org.opencontainers.image.title": "Sluice",
      "org.opencontainers.image.licenses": packageJson.license,
      "org.opencontainers.image.version": packageJson.version,
      "org.opencontainers.image.source": "${SOURCE}",
      "org.opencontainers.image.revision": "${REVISION}",
      "org.opencontainers.image.created": "${CREATED}",
    });
    for (const fact of ["SOURCE", "REVISION", "CREATED"])
      expect(dockerfile).toMatch(new RegExp(`^ARG ${fact}=unknown$`, "m"));
  });

  test("copies existing files only, and its entry point runs the build", () => {
    const paths = copiedPaths();
    expect(paths).toContain("workers");
    for (const path of paths) {
      expect([path, existsSync(join(PROJECT_ROOT, path))]).toEqual([path, true]);
      expect([path, ignored.includes(`!${path}`)]).toEqual([path, true]);
    }
    // Nothing else does.
    expect(new Set(ignored.flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : [])))).toEqual(new Set(paths));
  });

  test("contains the scripts by which messages choose the valid command lines", async () => {
    for (const name of ["sluice", "admin"] as const) expect(packageJson.scripts[name]).toContain("deploy/bun.mjs");
    expect(copiedPaths()).not.toContain("deploy/bun.mjs");
    const { directory, remove } = temporaryDirectory();
    const path = join(directory, "command-lines.ts");
    copyFileSync(join(PROJECT_ROOT, "shared/base/command-lines.ts"), path);
    const image = (await import(path)) as typeof here;
    remove();
    expect([image.SLUICE, image.ADMIN]).toEqual(["bun deploy/sluice.ts", "bun deploy/sluice.ts admin"]);
    expect([here.SLUICE, here.ADMIN]).toEqual(["npm run sluice --", "npm run admin --"]);
  });

  test("excludes every file beside compose.yaml from the build", () => {
    // A folder of the project that is copied whole holds sources alone.
    expect(copiedPaths()).not.toContain("deploy");
    expect(ignored.slice(ignored.indexOf("!workers"))).toContain("**/.env*");
  });
});
