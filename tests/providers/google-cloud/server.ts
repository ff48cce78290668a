/**
 * A local Google Cloud that makes videos with Veo: one server that exchanges statements of a service account for tokens, and
 * another that takes them. Sources: developers.google.com/identity/protocols/oauth2/service-account, "HTTP/REST";
 * docs.cloud.google.com, "Veo video generation API".
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from "node:crypto";

import { jsonReply, type Members, ok, type Reply } from "../engine/behaviour.ts";
import { type JobServer, jobBook, type Script as JobScript, startJobServer } from "../engine/jobs.ts";
import { type RecordedCall, type Recorder, startRecorder } from "../engine/recorder.ts";
import { ERRORS, invalidArgument } from "../gemini/errors.ts";
import { checkVeo } from "../gemini/video-server.ts";
import { mp4Of } from "../video-calls.ts";

type Word = "running" | "done";

export type Script = JobScript<Word>;

/** Script of one exchange: a reply in place of the token, or members laid over its answer. */
export type TokenScript = Reply | { readonly members: Members };

/** Clock of both servers and of their callers. */
export interface Clock {
  /** Milliseconds since 1970. */
  now: number;
}

export interface GoogleCloudServer {
  /** Address as in our catalogue, with the placeholder of the project. */
  readonly url: string;
  /** Account as Google lets it be downloaded. */
  readonly account: Members;
  readonly credentials: string;
  /** Takes tokens. */
  readonly veo: JobServer<number, Word, Script>;
  /** Gives them. */
  readonly identity: Recorder;
  /** In the order in which they were given. */
  readonly tokens: readonly string[];
  readonly clock: Clock;
  nextTokens(...scripts: readonly TokenScript[]): void;
  /** They are taken no longer. */
  revokeTokens(): void;
}

export const PROJECT = "example.com:our-project";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Making them takes long, so all servers share them. */
const KEYS = generateKeyPairSync("rsa", { modulusLength: 2_048 });
export const PRIVATE_KEY = KEYS.privateKey.export({ type: "pkcs8", format: "pem" });

export function startGoogleCloudServer(): GoogleCloudServer {
  const clock: Clock = { now: Date.parse("2026-11-20T10:00:00Z") };
  const identity = startIdentity(clock);
  const place = `/v1/projects/${encodeURIComponent(PROJECT)}/locations/us-central1/publishers/google`;
  // The name of an operation has its model's in it.
  const book = jobBook<number, Word>({ plain: ["running", "done"] });
  const nameOf = (model: string, id: string): string =>
    `projects/${PROJECT}/locations/us-central1/publishers/google/models/${model}/operations/${id}`;

  const poll = (model: string, body: unknown): Reply => {
    const { operationName: name = "", ...rest } = body as Members;
    const job = book.jobs.get(String(name).split("/").at(-1) ?? "");
    if (!job || name !== nameOf(model, job.id) || Object.keys(rest).length > 0) return ERRORS["not-found"];
    const done = doneOperation({ bytesBase64Encoded: base64Of(job.facts) });
    return book.poll(job, (word, more = word === "done" ? done : {}) => ok({ name, ...more }));
  };
  const answer = ({ method, path, headers, body }: RecordedCall): Reply => {
    if (headers["x-goog-api-key"] !== undefined || !identity.isTaken(headers["authorization"])) {
      return ERRORS.unauthenticated;
    }
    const call = path.startsWith(place) ? path.slice(place.length) : "";
    const [, model = "", verb] = /^\/models\/([^/:]+):(\w+)$/.exec(call) ?? [];
    if (method === "POST" && verb === "fetchPredictOperation") return poll(model, body);
    if (method !== "POST" || verb !== "predictLongRunning") return ERRORS["not-found"];
    const seconds = checkVeo(body);
    return book.start(
      () => (typeof seconds === "string" ? invalidArgument(seconds) : { facts: seconds }),
      ({ id, script }) => ok({ name: nameOf(model, id), ...script.receipt }),
    );
  };
  const veo = startJobServer(book, { base: "/v1/projects/{project}/locations/us-central1/publishers/google", answer });
  return { url: veo.url, ...identity, veo, clock };
}

interface Identity {
  readonly account: Members;
  readonly credentials: string;
  readonly identity: Recorder;
  readonly tokens: readonly string[];
  isTaken(authorization: string | undefined): boolean;
  nextTokens(...scripts: readonly TokenScript[]): void;
  revokeTokens(): void;
}

function startIdentity(clock: Clock): Identity {
  const scripts: TokenScript[] = [];
  const tokens: string[] = [];
  const takenUntil = new Map<string, number>();
  const identity = startRecorder((call) => {
    const script = scripts.shift();
    if (script !== undefined && (typeof script === "string" || !("members" in script))) return script;
    const wrong = checkExchange(call, { account, keys: createPublicKey(KEYS.privateKey), now: clock.now });
    if (wrong !== undefined) return jsonReply(400, { error: "invalid_grant", error_description: wrong });
    const token = `ya29.c.${tokens.length + 1}-${crypto.randomUUID()}`;
    tokens.push(token);
    takenUntil.set(token, clock.now + 3_599_000);
    return ok({ access_token: token, expires_in: 3_599, token_type: "Bearer", ...script?.members });
  });
  const account = {
    type: "service_account",
    project_id: PROJECT,
    private_key_id: "3f2a",
    private_key: PRIVATE_KEY,
    client_email: "sluice@our-project.iam.gserviceaccount.com",
    client_id: "1034",
    auth_uri: "https://accounts.google.com/o/oauth2/auth",
    token_uri: `${identity.origin}/token`,
    auth_provider_x509_cert_url: "https://www.googleapis.com/oauth2/v1/certs",
    universe_domain: "googleapis.com",
  };
  return {
    account,
    credentials: JSON.stringify(account),
    identity,
    tokens,
    isTaken: (authorization) =>
      clock.now < (takenUntil.get(/^Bearer (\S+)$/.exec(authorization ?? "")?.[1] ?? "") ?? 0),
    nextTokens: (...more) => void scripts.push(...more),
    revokeTokens: () => takenUntil.clear(),
  };
}

interface Expected {
  readonly account: Members;
  readonly keys: KeyObject;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Returns the fault of a request for a token; undefined if there is none. */
function checkExchange(
  { method, path, headers, body }: RecordedCall,
  { account, keys, now }: Expected,
): string | undefined {
  if (method !== "POST" || path !== "/token") return "Not found.";
  if (headers["content-type"] !== "application/x-www-form-urlencoded") return "Not a form.";
  const { grant_type: grant, assertion = "", ...rest } = Object.fromEntries(new URLSearchParams(String(body)));
  if (grant !== "urn:ietf:params:oauth:grant-type:jwt-bearer" || Object.keys(rest).length > 0) return "Not this grant.";
  const [head = "", claims = "", signature = "", ...more] = assertion.split(".");
  const isSigned = verify("sha256", Buffer.from(`${head}.${claims}`), keys, Buffer.from(signature, "base64url"));
  if (more.length > 0 || !/^[\w-]+$/.test(signature) || !isSigned) return "Invalid JWT Signature.";
  const { alg, typ, kid } = decoded(head);
  if (alg !== "RS256" || typ !== "JWT" || kid !== account["private_key_id"]) return "Invalid JWT header.";
  const { iss, scope, aud, iat, exp } = decoded(claims);
  if (iss !== account["client_email"] || scope !== SCOPE || aud !== account["token_uri"]) return "Invalid JWT.";
  const nowS = now / 1_000;
  const isOfNow = Number.isInteger(iat) && Number(iat) <= nowS && Number(exp) > nowS;
  return isOfNow && Number(exp) - Number(iat) <= 3_600 ? undefined : "Token must be a short-lived token (60 minutes).";
}

function decoded(part: string): Members {
  return JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as Members;
}

export function base64Of(seconds: number): string {
  return mp4Of(seconds).toString("base64");
}

/** Members of an operation that ended well, beside its name. */
export function doneOperation(...videos: readonly Members[]): Members {
  return doneWith({ videos: videos.map((video) => ({ mimeType: "video/mp4", ...video })) });
}

export function doneWith(response: Members): Members {
  const type = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";
  return { done: true, response: { "@type": type, raiMediaFilteredCount: 0, ...response } };
}
