/**
 * SQL for the fallback chains of a workspace. One statement makes a change and writes its audit row. shared/calls checks the models of a
 * chain.
 */
import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Part of a request that determines the draw among the models of a weighted chain. */
export type Sticky = "user" | "conversation";

export interface FallbackChainRow {
  readonly model: string;
  /** Slugs of the fallback models, in the order of attempts. */
  readonly fallbacks: readonly string[];
  /** Weight of every model of the chain, by slug; null if the requested model is always tried first. */
  readonly weights: Readonly<Record<string, number>> | null;
  /** Calls with the same value of this part draw the same model; null if each call draws. */
  readonly sticky: Sticky | null;
  /** True if the next capable model continues an interrupted stream. */
  readonly continue_streams: boolean;
  readonly updated_at: Date;
}

const COLUMNS = "model, fallbacks, weights, sticky, continue_streams, updated_at";
/** Columns of an audit row. Chains without weights have no members for weights. */
const LOGGED = `jsonb_strip_nulls(jsonb_build_object(
                'fallbacks', fallbacks, 'continue_streams', continue_streams, 'weights', weights, 'sticky', sticky))`;

/** Returns the chains of a workspace, sorted by model. */
export function listFallbackChains(target: Queryable, workspaceId: string): Promise<FallbackChainRow[]> {
  return target.query<FallbackChainRow>(
    `select ${COLUMNS}
     from fallback_chain
     where workspace_id = $1
     order by model`,
    [workspaceId],
  );
}

export async function findFallbackChain(
  target: Queryable,
  workspaceId: string,
  model: string,
): Promise<FallbackChainRow | undefined> {
  const rows = await target.query<FallbackChainRow>(
    `select ${COLUMNS}
     from fallback_chain
     where workspace_id = $1 and model = $2`,
    [workspaceId, model],
  );
  return rows[0];
}

/**
 * Locks the chains of this workspace until the transaction ends. Returns false immediately if another transaction has the lock, because
 * waiting would occupy a connection that calls need.
 */
export async function lockFallbackChains(tx: Queryable, workspaceId: string): Promise<boolean> {
  // A weak lock: other transactions can insert rows that reference the workspace.
  const rows = await tx.query("select id from workspace where id = $1 for no key update skip locked", [workspaceId]);
  return rows.length > 0;
}

/** Stores a chain. Returns undefined if nothing changed. Call `lockFallbackChains` first. */
export async function setFallbackChain(
  tx: Queryable,
  workspaceId: string,
  change: {
    readonly model: string;
    readonly fallbacks: readonly string[];
    readonly weights?: Readonly<Record<string, number>> | undefined;
    readonly sticky?: Sticky | undefined;
    readonly continueStreams?: boolean;
    readonly actor: Actor;
  },
): Promise<FallbackChainRow | undefined> {
  const { model, fallbacks, weights, sticky = null, continueStreams = false, actor } = change;
  const rows = await tx.query<FallbackChainRow>(
    `with before as (
       select ${LOGGED} as logged
       from fallback_chain
       where workspace_id = $1 and model = $2
     ), changed as (
       insert into fallback_chain as c (workspace_id, model, fallbacks, continue_streams, weights, sticky)
       values ($1, $2, $3, $5, $6::jsonb, $7)
       on conflict (workspace_id, model) do update
       set fallbacks = excluded.fallbacks, continue_streams = excluded.continue_streams, weights = excluded.weights,
           sticky = excluded.sticky, updated_at = now()
       where (c.fallbacks, c.continue_streams, c.weights, c.sticky)
             is distinct from (excluded.fallbacks, excluded.continue_streams, excluded.weights, excluded.sticky)
       returning workspace_id, ${COLUMNS}
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, before, after)
       select workspace_id, $4, 'fallback_chain.set', model, (select logged from before), ${LOGGED}
       from changed
     )
     select ${COLUMNS} from changed`,
    [
      workspaceId,
      model,
      fallbacks,
      actorJson(actor),
      continueStreams,
      weights === undefined ? null : JSON.stringify(weights),
      sticky,
    ],
  );
  return rows[0];
}

/** Deletes the chain of a model. Returns undefined if the model has no chain. */
export async function deleteFallbackChain(
  target: Queryable,
  workspaceId: string,
  change: { readonly model: string; readonly actor: Actor },
): Promise<FallbackChainRow | undefined> {
  const rows = await target.query<FallbackChainRow>(
    `with changed as (
       delete from fallback_chain
       where workspace_id = $1 and model = $2
       returning workspace_id, ${COLUMNS}
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, before)
       select workspace_id, $3, 'fallback_chain.delete', model, ${LOGGED}
       from changed
     )
     select ${COLUMNS} from changed`,
    [workspaceId, change.model, actorJson(change.actor)],
  );
  return rows[0];
}
