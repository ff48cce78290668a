/** Commands for a workspace's fallback chains: the models that serve when another one's provider fails. */
import { type FallbackChain, storeFallbackChain } from "#shared/calls/fallback-chains.ts";
import { deleteFallbackChain, type FallbackChainRow, listFallbackChains } from "#shared/database/fallback-chains.ts";
import { ApiError } from "#shared/errors.ts";

import { findWorkspace } from "./arguments.ts";
import { type Command, type Given, quote, UsageError } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { tableOr } from "./table.ts";

const WORKSPACE = [{ name: "workspace", value: "workspace", isRequired: true }] as const;

export const FALLBACK_CHAIN_COMMANDS: readonly Command[] = [
  {
    name: "fallback-chains list",
    about: "the fallback chains of a workspace",
    arguments: [],
    options: WORKSPACE,
    async run(context, given) {
      const database = await context.database();
      const workspace = await findWorkspace(database, workspaceOf(given));
      const rows = await listFallbackChains(database, workspace.id);
      return {
        json: rows.map((row) => chainJson(workspace.id, row)),
        text: tableOr(
          `the workspace ${workspace.name} has no fallback chain`,
          ["Model", "Fallbacks in order", "Continues streams", "Updated"],
          rows.map((row) => [row.model, row.fallbacks.join(", "), row.continue_streams ? "yes" : "no", row.updated_at]),
        ),
      };
    },
  },
  {
    name: "fallback-chains set",
    about: "gives a model its fallbacks in order, in place of those it had; in force within a second",
    arguments: ["model", "fallback…"],
    options: [...WORKSPACE, { name: "continue-streams", value: "yes|no" }],
    async run(context, given) {
      const [model, fallbacks] = [given.argument("model"), given.rest];
      if (fallbacks.length === 0) throw new UsageError(`expected one or more fallbacks after ${quote(model)}`);
      const continueStreams = continuesStreams(given.option("continue-streams") ?? "no");
      const database = await context.database();
      const workspace = await findWorkspace(database, workspaceOf(given));
      const row = await store(context, workspace.id, { model, fallbacks, continueStreams });
      const more = row.continue_streams ? ", also for streams that break off" : "";
      return {
        json: chainJson(workspace.id, row),
        text: `${row.model} of ${workspace.name} falls back to ${row.fallbacks.join(", ")}${more}`,
      };
    },
  },
  {
    name: "fallback-chains delete",
    about: "takes a model's fallbacks away",
    arguments: ["model"],
    options: WORKSPACE,
    async run(context, given) {
      const model = given.argument("model");
      const database = await context.database();
      const workspace = await findWorkspace(database, workspaceOf(given));
      const row = await deleteFallbackChain(database, workspace.id, { model, actor: ACTOR });
      if (row === undefined) throw new Error(`${quote(model)} has no fallback chain in ${workspace.name}`);
      return {
        json: { workspace_id: workspace.id, model, deleted: true },
        text: `${model} of ${workspace.name} has no fallbacks now`,
      };
    },
  },
];

/** @throws Error naming the word at fault: a command line has no parameters to point at */
async function store(
  context: Context,
  workspaceId: string,
  chain: FallbackChain & { readonly continueStreams: boolean },
): Promise<FallbackChainRow> {
  const { model, fallbacks } = chain;
  const catalogue = await context.catalogue();
  for (const slug of [model, ...fallbacks]) {
    if (catalogue.models.has(slug)) continue;
    const reason = catalogue.unroutable.get(slug);
    throw new Error(
      reason === undefined ? `there is no model ${quote(slug)}` : `the model ${slug} cannot be served: ${reason}`,
    );
  }
  try {
    const change = { ...chain, actor: ACTOR };
    return await storeFallbackChain(await context.database(), catalogue, workspaceId, change);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Error(`the chain of ${model} is refused`, { cause: error });
  }
}

/** @throws UsageError */
function continuesStreams(word: string): boolean {
  if (word !== "yes" && word !== "no")
    throw new UsageError(`expected --continue-streams yes or no, got ${quote(word)}`);
  return word === "yes";
}

function workspaceOf(given: Given): string {
  return given.option("workspace") ?? "";
}

function chainJson(workspaceId: string, row: FallbackChainRow): Record<string, unknown> {
  const { model, fallbacks, continue_streams, updated_at } = row;
  return { workspace_id: workspaceId, model, fallbacks, continue_streams, updated_at };
}
