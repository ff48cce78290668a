/** README's examples, run as they stand against a running stack: only the address, the key and the workspace are replaced. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { catalogueOf, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { listModels } from "#shared/calls/present-model.ts";
import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import manifest from "../../package.json" with { type: "json" };

import { type Block, blocksIn, type Page, readPage } from "./page.ts";
import { type Bench, type Ran, runModules, runPython, runShell, writePrograms } from "./run-page.ts";
import { sharedStack } from "./shared-stack.ts";

const LINES_MAX = 180;
const CHARACTERS_MAX = 120;
const RECIPE_LINES_MAX = 10;

const README = readFileSync(join(PROJECT_ROOT, "README.md"), "utf8");
const BLOCKS = blocksIn(README);
const hasPython = Bun.which("python3") !== null;

/** Starts of the service, which tests/deploy tries. */
const isStart = ({ text }: Block): boolean => text.startsWith("git clone");

function blocksOf(language: string): readonly Block[] {
  return BLOCKS.filter((block) => block.language === language && !isStart(block));
}

describe("README", () => {
  const ran = new Map<Block, Ran>();
  let folder: string;

  beforeAll(async () => {
    const stack = await asNewWorkspace(await sharedStack());
    // Inside the project, so that the examples find the packages they import.
    folder = mkdtempSync(join(PROJECT_ROOT, "node_modules", ".readme-"));
    writePrograms(folder);
    const bench: Bench = { baseUrl: stack.baseUrls[0] ?? "", key: stack.key, natsUrl: stack.natsUrl, folder };
    const page: Page = {
      path: "README.md",
      head: {},
      body: README,
      lines: README.split("\n").length - 1,
      blocks: BLOCKS,
    };
    const shell = blocksOf("sh");
    const inWorkspace = new Map(
      shell.map((block) => {
        const text = block.text.replaceAll("/workspaces/default/", `/workspaces/${stack.workspace.id}/`);
        return [{ ...block, text }, block] as const;
      }),
    );
    const results = [
      ...(await runShell(bench, page, [...inWorkspace.keys()])),
      ...(await runModules(bench, blocksOf("js"))),
      ...(hasPython ? await runPython(bench, blocksOf("python")) : []),
    ];
    for (const [block, result] of results) ran.set(inWorkspace.get(block) ?? block, result);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Output of the block that contains a text. */
  function outputOf(part: string): string {
    const block = BLOCKS.find(({ text, language }) => language !== "yaml" && text.includes(part));
    const result = block && ran.get(block);
    expect([part, result?.fault]).toEqual([part, null]);
    return result?.output ?? "";
  }

  test("runs every block that a reader runs", () => {
    const all = ["sh", "js", ...(hasPython ? ["python"] : [])].flatMap(blocksOf);
    expect(all.length).toBeGreaterThan(6);
    for (const block of all) expect([block.line, ran.get(block)?.fault]).toEqual([block.line, null]);
  });

  test("gets a completion with curl, JavaScript and Python", () => {
    const answer = JSON.parse(outputOf("Say exactly: it works\"}]}'")) as {
      choices: { message: { content: string } }[];
    };
    expect(answer.choices[0]?.message.content).toBe("it works");
    expect(outputOf('from "openai"')).toBe("streamed");
    if (hasPython) expect(outputOf("from openai")).toBe("it works\n");
  });

  test("gets from each recipe the result in its title", () => {
    const tools = outputOf("get_weather");
    expect(tools).toContain('"tool_calls"');
    expect(tools).toEndWith("data: [DONE]\n\n");
    const media = outputOf("sandbox-tts");
    expect(media).toContain('"file_id"');
    expect(media).toContain('"text":"The lamp is lit.');
    const files = outputOf("/v1/files");
    expect(files).toContain('"object":"file"');
    expect(files).toMatch(/"file_id":"file-[0-9a-f-]+"/);
    const served = outputOf("fallback-chains");
    expect(served.toLowerCase()).toContain("x-fallback-from: sandbox-error");
    expect(served.toLowerCase()).toContain("x-cache: miss");
    expect(served).toContain('"content":"served"');
    const key = JSON.parse(outputOf("/api-keys")) as Record<string, unknown>;
    expect(key).toMatchObject({
      object: "api_key",
      key: expect.stringMatching(/^slk_/),
      preset: "free",
      tools: ["web.*"],
    });
  });

  test("has a catalogue file that makes its model callable", async () => {
    const [yaml] = blocksOf("yaml");
    const surroundings = { sandbox: false, providerKey: () => undefined };
    const catalogue = catalogueOf(await loadOurLayers(), [{ name: "mine.yaml", text: yaml?.text ?? "" }], surroundings);
    expect([...catalogue.models.keys()]).toEqual(["qwen3-8b"]);
    expect(README).toContain("SLUICE_CATALOGUE=mine.yaml");
  });

  test("states correct numbers", async () => {
    const catalogue = catalogueOf(await loadOurLayers(), [], { sandbox: true, providerKey: () => "set" });
    const { data } = listModels(catalogue, { includeTools: false });
    const tests = data.filter((model) => model.owned_by === "sandbox").length;
    const providers = [...catalogue.providers.values()].filter(({ family }) => family !== "sandbox").length;
    for (const count of [
      `${data.length - tests} models for`,
      `${tests} [test models]`,
      `[${CAPABILITIES.length} tools]`,
      `models of ${providers} providers and ${CAPABILITIES.length} media, document and data\ntools behind`,
      `| ${providers}, Azure only at \`/openai/v1\`, **not Bedrock** |`,
    ]) {
      expect(README).toContain(count);
    }
    expect(manifest.description).toContain(`${CAPABILITIES.length} media, document and data tools`);
    expect(readPage("index.md").head["summary"]).toContain(`any model of ${providers} providers and of`);
    expect(readPage("index.md").head["summary"]).toContain(
      `${CAPABILITIES.length} media, document and data tools behind`,
    );
    const faults = await Bun.file(join(PROJECT_ROOT, "tests/faults/RESULTS.md")).text();
    expect(README).toContain(`[${faults.match(/^\| \d+ \|/gm)?.length ?? 0} faults]`);
    const load = (await Bun.file(join(PROJECT_ROOT, "tests/load/RESULTS.md")).text()).replaceAll(
      /(\d)(\d{3})\b/g,
      "$1,$2",
    );
    for (const figure of ["3,993 calls per second", "230,509 calls"]) {
      expect(README).toContain(figure);
      expect(load).toContain(figure.split(" ")[0] ?? "none");
    }
  });

  test("names only existing models", async () => {
    const catalogue = catalogueOf(await loadOurLayers(), [], { sandbox: true, providerKey: () => "set" });
    const named = Array.from(
      README.matchAll(/(?:`|"model":"|model="|model: ")((?:sandbox|gpt)-[a-z0-9.-]+)/g),
      ([, name = ""]) => name,
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !catalogue.models.has(name))).toEqual([]);
  });

  test("is short enough to be read", () => {
    const lines = README.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
    expect(lines.filter((line) => line.length > CHARACTERS_MAX)).toEqual([]);
    expect(BLOCKS.filter(({ text }) => text.split("\n").length - 1 > RECIPE_LINES_MAX).map(({ line }) => line)).toEqual(
      [],
    );
  });

  test("links to files and headings that exist", () => {
    const links = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => link.startsWith("schemas/docs/")).length).toBeGreaterThan(15);
    const broken = links.filter((link) => {
      const [path = "", anchor] = link.split("#");
      const file = join(PROJECT_ROOT, path);
      if (!existsSync(file)) return true;
      if (anchor === undefined) return false;
      const headings = readFileSync(file, "utf8").match(/^#{2,4} .+$/gm) ?? [];
      return !headings.some((heading) => heading.replace(/^#+ /, "").toLowerCase().replaceAll(" ", "-") === anchor);
    });
    expect(broken).toEqual([]);
  });
});
