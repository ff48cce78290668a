/**
 * Authenticates a bearer key and returns its workspace, member, role and preset. Results are cached for at most `KEY_CACHE_MS`, measured
 * from before the query was sent. A revoked key is therefore rejected everywhere within a second, with or without a message bus. Used
 * entries are refreshed before they expire, and never used after that.
 */
import { ACTIVE_KEYS_FROM } from "#shared/access/active-keys.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { AccessLists } from "#shared/database/members.ts";
import { KEY_OF_SESSION, NOTE_SESSION_USED } from "#shared/database/console-sessions.ts";
import type { Sticky } from "#shared/database/fallback-chains.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { BodySetting } from "#shared/base/body-setting.ts";
import type { Logger } from "#shared/base/logger.ts";
import { hashKey, isMintedKey, isSessionToken, isWellFormedKey } from "#shared/secrets/api-keys.ts";

import { callableModels, type HeldLists, heldLists } from "./access-lists.ts";
import { type Asking, shared, KEY_CACHE_MS } from "./questions.ts";

export const KEY_CACHE_MAX = 50_000;

export type Role = "owner" | "admin" | "developer" | "billing";

/** Limits of a key. */
export interface Preset {
  readonly name: string;
  /** Maximum number of calls of the whole workspace in any 60 seconds; null means no limit. */
  readonly requests_per_minute: number | null;
  /** Maximum number of tokens in a UTC day; null means no limit. */
  readonly daily_tokens: number | null;
}

/** Draw of the first model of a fallback chain. */
export interface ChainWeights {
  /** Weight of every model of the chain, by slug, including the requested model. */
  readonly weights: Readonly<Record<string, number>>;
  /** Calls with the same value of this part of the request draw the same model; null if each call draws. */
  readonly sticky: Sticky | null;
}

export interface Caller {
  readonly keyId: string;
  readonly workspaceId: string;
  /** Unique name of the workspace, which never looks like an id. */
  readonly workspaceName: string;
  readonly memberId: string;
  readonly role: Role;
  /** Limits of the key, as defined in the current catalogue. */
  readonly preset: Preset;
  /** Capabilities and workflows that the key may use, see `mayUseTool`. Absent if the key is not restricted. */
  readonly tools?: ReadonlySet<string>;
  /** Lists of models, endpoints and IP addresses that limit the key, its own and its member's. Absent if there are none. */
  readonly accessLists?: readonly HeldLists[];
  /** True if the key or its member has a spend limit. Absent if there is none. */
  readonly hasSpendLimit?: true;
  /** Fallback models that the key may call, by requested model, in the order of trying. Absent if the workspace has no fallback chain. */
  readonly fallbackChains?: ReadonlyMap<string, readonly string[]>;
  /** Models whose fallback chains continue interrupted streams. Absent if there are none. */
  readonly continuedChains?: ReadonlySet<string>;
  /** Labels of which a value has a spend limit: `user`, and tags of the workspace. Absent if there are none. */
  readonly limitedLabels?: readonly string[];
  /** Members of a request's metadata that the workspace keeps as labels of its calls. Absent if there are none. */
  readonly tags?: readonly string[];
  /** Calls whose request and response are kept. Absent if none are. */
  readonly bodies?: BodySetting;
  /** Weights of the fallback chains that have them, by requested model. Absent if there are none. */
  readonly chainWeights?: ReadonlyMap<string, ChainWeights>;
}

export interface Authenticator {
  /** Returns and clears the ids of the keys that were used since the previous `takeUsed`, at most KEY_CACHE_MAX. */
  takeUsed(): readonly string[];
  /**
   * Authenticates a request by its API key.
   * @param authorization the unchanged Authorization header
   * @throws ApiError `missing_api_key`, `invalid_api_key`, `permission_denied` if the key's preset no longer exists, `service_unavailable`
   * if the database fails
   */
  authenticate(authorization: string | null): Promise<Caller>;
  /**
   * Authenticates a request by its browser session.
   * @param token token of the session, which acts for a key
   * @throws the errors of `authenticate`
   */
  authenticateSession(token: string): Promise<Caller>;
}

/** Key as stored in the database. It has the name of its preset, which the catalogue defines. */
export type KnownKey = Omit<Caller, "preset"> & { readonly preset: string };

interface Entry {
  /** Cached key; null if the credential belongs to no active key. */
  readonly key: KnownKey | null;
  readonly bornAt: number;
  refreshing: boolean;
}

interface Brought {
  readonly hashes: ReadonlySet<string>;
  readonly bornAt: number;
}

/** Age at which a used cache entry is refreshed in the background, in milliseconds. The remaining time covers one slow query. */
const REFRESH_AFTER_MS = KEY_CACHE_MS / 2;

const ACTIVE_KEYS = `
  select k.id as "keyId", k.workspace_id as "workspaceId", w.name as "workspaceName", k.member_id as "memberId", m.role, k.preset, k.tools,
         k.access_lists as "keyLists", m.access_lists as "memberLists",
         nullif(w.tags, '{}') as tags,
         (select jsonb_object_agg(c.model, c.fallbacks) from fallback_chain c where c.workspace_id = k.workspace_id) as chains,
         (select jsonb_agg(c.model) from fallback_chain c
          where c.workspace_id = k.workspace_id and c.continue_streams) as continued,
         (select jsonb_object_agg(c.model, jsonb_build_object('weights', c.weights, 'sticky', c.sticky)) from fallback_chain c
          where c.workspace_id = k.workspace_id and c.weights is not null) as weighted,
         exists (select from spend_limit l where l.id in (coalesce(k.limit_id, k.id), k.member_id)) as "hasSpendLimit",
         array(select t.label from unnest(w.tags || 'user'::text) t(label)
               where exists (select from spend_limit l where l.workspace_id = k.workspace_id and l.label = t.label)) as "limitedLabels",
         coalesce(k.bodies, w.bodies) as bodies
  ${ACTIVE_KEYS_FROM}`;
const LOOKUP_SQL = `${ACTIVE_KEYS} and k.sha256 = $1`;
/** Statement that finds the key of a session. The condition on the session limits the look-up to one key. */
const SESSION_SQL = `with ${NOTE_SESSION_USED} ${ACTIVE_KEYS} and k.id = ${KEY_OF_SESSION}`;
const BY_ID_SQL = `${ACTIVE_KEYS} and k.workspace_id = $1 and k.id = $2`;

type LookupRow = Omit<
  KnownKey,
  | "bodies"
  | "fallbackChains"
  | "continuedChains"
  | "chainWeights"
  | "tags"
  | "tools"
  | "accessLists"
  | "hasSpendLimit"
  | "limitedLabels"
> & {
  readonly keyLists: AccessLists | null;
  readonly memberLists: AccessLists | null;
  readonly hasSpendLimit: boolean;
  readonly limitedLabels: readonly string[];
  readonly bodies?: BodySetting | null;
  readonly tools: readonly string[] | null;
  readonly chains: Readonly<Record<string, readonly string[]>> | null;
  readonly continued: readonly string[] | null;
  readonly tags: readonly string[] | null;
  readonly weighted: Readonly<Record<string, ChainWeights>> | null;
};

const BROUGHT_SQL = `select encode(sha256, 'hex') as hash from api_key where hint not like 'slk\\_%' and revoked_at is null limit 1000`;

interface Presets {
  current(): { readonly presets: ReadonlyMap<string, Preset> };
}

/** Cache of keys by credential. Entries expire after `KEY_CACHE_MS`. */
interface KeyCache {
  takeUsed(): readonly string[];
  has(credential: string): boolean;
  /** Returns the key of a credential; undefined if there is no active key. @throws the error of the database */
  find(credential: string): Promise<KnownKey | undefined>;
}

/**
 * Creates a cache of keys. The second parameter is the statement that finds a key by the hash of its credential, `$1`, and the statement's
 * name.
 */
function createKeyCache(
  options: { database: Queryable; log: Logger; now: () => number },
  [sql, name]: readonly [sql: string, name: string],
): KeyCache {
  const { now } = options;
  const cache = new Map<string, Entry>();
  let used = new Set<string>();
  const asking = new Map<string, Asking<Entry>>();

  const ask = (credential: string): Promise<Entry> =>
    shared(asking, credential, now(), async (bornAt) => {
      const rows = await options.database.query<LookupRow>(sql, [Buffer.from(hashKey(credential))], name);
      const entry: Entry = { key: rows[0] ? knownKeyOf(rows[0]) : null, bornAt, refreshing: false };
      // A slow response must not replace a newer one.
      if ((cache.get(credential)?.bornAt ?? bornAt) > bornAt) return entry;
      cache.delete(credential);
      if (cache.size >= KEY_CACHE_MAX) evictOldest(cache);
      cache.set(credential, entry);
      return entry;
    });

  const entryFor = async (credential: string): Promise<Entry> => {
    const entry = cache.get(credential);
    const age = entry ? now() - entry.bornAt : Infinity;
    if (entry && age < KEY_CACHE_MS) {
      if (age > REFRESH_AFTER_MS && !entry.refreshing) {
        entry.refreshing = true;
        ask(credential).catch((error: unknown) => options.log.warn({ err: error }, "key refresh failed"));
      }
      return entry;
    }
    return ask(credential);
  };

  return {
    takeUsed() {
      const taken = [...used];
      used = new Set();
      return taken;
    },
    has: (credential) => cache.has(credential),
    async find(credential) {
      const { key } = await entryFor(credential);
      if (key === null) return undefined;
      if (used.size < KEY_CACHE_MAX) used.add(key.keyId);
      return key;
    },
  };
}

export interface Keys {
  /** Returns and clears the ids of the keys that were found since the previous `takeUsed`, at most KEY_CACHE_MAX. */
  takeUsed(): readonly string[];
  /**
   * Returns the active key of an active member of an active workspace; undefined if there is none.
   * @throws the error of the database
   */
  find(key: string): Promise<KnownKey | undefined>;
}

export function openKeys(options: { database: Queryable; log: Logger; now?: () => number }): Keys {
  const { database, log, now = () => performance.now() } = options;
  const cache = createKeyCache({ database, log, now }, [LOOKUP_SQL, "find_key"]);

  // Keys provided by an operator have no checksum. Guesses at them are checked against one small set, without queries.
  let brought: Brought | undefined;
  const asking = new Map<string, Asking<Brought>>();
  const isBrought = async (key: string): Promise<boolean> => {
    let known = brought;
    if (!known || now() - known.bornAt >= KEY_CACHE_MS) {
      known = await shared(asking, "", now(), async (bornAt) => {
        const rows = await database.query<{ hash: string }>(BROUGHT_SQL, [], "find_brought_keys");
        brought = { hashes: new Set(rows.map((row) => row.hash)), bornAt };
        return brought;
      });
    }
    return known.hashes.has(Buffer.from(hashKey(key)).toString("hex"));
  };

  return {
    takeUsed: () => cache.takeUsed(),
    async find(key) {
      if (!isWellFormedKey(key)) return undefined;
      if (!cache.has(key) && !isMintedKey(key) && !(await isBrought(key))) return undefined;
      return cache.find(key);
    },
  };
}

export function createAuthenticator(options: {
  database: Queryable;
  catalogue: Presets;
  log: Logger;
  now?: () => number;
}): Authenticator {
  const { database, catalogue, log, now = () => performance.now() } = options;
  const keys = openKeys({ database, log, now });
  const sessions = createKeyCache({ database, log, now }, [SESSION_SQL, "find_session"]);
  const callerBy = async (asked: Promise<KnownKey | undefined>, otherwise: () => ApiError): Promise<Caller> => {
    const known = await asked.catch((error: unknown) => {
      throw new ApiError("service_unavailable", "The service cannot verify keys right now; try again shortly.", {
        cause: error,
      });
    });
    if (!known) throw otherwise();
    return callerOf(known, catalogue);
  };
  return {
    takeUsed: () => [...new Set([...keys.takeUsed(), ...sessions.takeUsed()])],
    async authenticate(authorization) {
      if (authorization === null || authorization === "") {
        throw new ApiError(
          "missing_api_key",
          "Missing API key. Send it in the header `Authorization: Bearer <API_KEY>` or `x-api-key`.",
        );
      }
      const key = bearer(authorization);
      if (key === undefined) throw invalidKey();
      return callerBy(keys.find(key), invalidKey);
    },
    async authenticateSession(token) {
      if (!isSessionToken(token)) throw sessionOver();
      return callerBy(sessions.find(token), sessionOver);
    },
  };
}

function sessionOver(): ApiError {
  return new ApiError("invalid_api_key", "The session has expired; sign in again.");
}

/** Adds the limits of its preset to a key. @throws ApiError `permission_denied` if the catalogue no longer has the preset */
function callerOf({ preset: name, ...key }: KnownKey, catalogue: Presets): Caller {
  const preset = catalogue.current().presets.get(name);
  if (preset) return { ...key, preset };
  throw new ApiError(
    "permission_denied",
    "The quota preset of this key no longer exists; ask an admin of the workspace to set another preset.",
  );
}

function knownKeyOf(row: LookupRow): KnownKey {
  const { bodies, chains, continued, weighted, tags, tools, keyLists, memberLists, ...rest } = row;
  const { hasSpendLimit, limitedLabels, ...key } = rest;
  const lists = heldLists(keyLists, memberLists);
  return {
    ...key,
    ...lists,
    ...(hasSpendLimit ? { hasSpendLimit } : {}),
    ...(limitedLabels.length > 0 ? { limitedLabels } : {}),
    ...(chains === null ? {} : { fallbackChains: chainsOf(lists, chains) }),
    ...(tools === null ? {} : { tools: new Set(tools) }),
    ...(tags === null ? {} : { tags }),
    ...(continued === null ? {} : { continuedChains: new Set(continued) }),
    ...(bodies == null || bodies.keep === "none" ? {} : { bodies }),
    ...(weighted === null ? {} : { chainWeights: new Map(Object.entries(weighted)) }),
  };
}

/** Returns the fallback chains without the models that the key may not call. */
function chainsOf(
  lists: Pick<Caller, "accessLists">,
  chains: NonNullable<LookupRow["chains"]>,
): NonNullable<Caller["fallbackChains"]> {
  return new Map(Object.entries(chains).map(([model, fallbacks]) => [model, callableModels(lists, fallbacks)]));
}

export interface Publishers {
  /**
   * Returns the caller of a job without a credential; undefined if the workspace has no such active key. Such jobs come from a batch
   * message whose publisher logged in with this key, from a batch line, or from a step of a run. The key is cached for `KEY_CACHE_MS`.
   * @throws ApiError `permission_denied` if the key's preset no longer exists
   */
  find(workspaceId: string, keyId: string): Promise<Caller | undefined>;
}

export function openPublishers({
  database,
  catalogue,
  now = () => performance.now(),
}: {
  readonly database: Queryable;
  readonly catalogue: Presets;
  readonly now?: () => number;
}): Publishers {
  const asking = new Map<string, Asking<Entry>>();
  // Ordered by last use, oldest first.
  const cache = new Map<string, Entry>();
  return {
    async find(workspaceId, keyId) {
      const name = `${workspaceId}/${keyId}`;
      let entry = cache.get(name);
      if (!entry || now() - entry.bornAt >= KEY_CACHE_MS) {
        entry = await shared(asking, name, now(), async (bornAt) => {
          const [row] = await database.query<LookupRow>(BY_ID_SQL, [workspaceId, keyId], "find_key_by_id");
          const found: Entry = { key: row ? knownKeyOf(row) : null, bornAt, refreshing: false };
          // A rejected message is not sent again, so the absence of a key is not cached.
          cache.delete(name);
          if (cache.size >= KEY_CACHE_MAX) evictOldest(cache);
          if (row) cache.set(name, found);
          return found;
        });
      }
      return entry.key === null ? undefined : callerOf(entry.key, catalogue);
    },
  };
}

function bearer(header: string): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}

function invalidKey(): ApiError {
  return new ApiError("invalid_api_key", "The API key is unknown, revoked or expired; use an active key.");
}

/**
 * Removes the oldest tenth of the cache. The oldest entries come first, because maps keep insertion order and every refresh inserts the
 * entry again.
 */
function evictOldest(cache: Map<string, Entry>): void {
  let surplus = Math.ceil(KEY_CACHE_MAX / 10);
  for (const key of cache.keys()) {
    if (surplus-- <= 0) return;
    cache.delete(key);
  }
}
