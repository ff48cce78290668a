/**
 * A local Google Cloud that makes videos with Veo: one server that exchanges statements of a service account for tokens, and
 * another that takes them. Sources: developers.google.com/identity/protocols/oauth2/service-account, "HTTP/REST";
 * docs.cloud.google.com, "Veo video generation API".
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from "node:crypto";

import { errorReply, invalidArgument, VENDOR_MARK } from "../gemini/errors.ts";
import { checkVeo } from "../gemini/video-server.ts";
import {
  mp4Of,
  ok,
  type Recorder,
  type Reply,
  startRecorder,
  type VideoCall,
} from "../openai-compatible/videos-recorder.ts";
import { jsonReply } from "../vendor-server.ts";

type Members = Readonly<Record<string, unknown>>;

export interface Script {
  /** In place of taking the job; "lost" takes it and resets before the answer. */
  readonly start?: Reply | "lost";
  /** Members of the first answer laid over the true ones; undefined leaves one out. */
  readonly receipt?: Members;
  /** Answers to a poll, in order; the last one stays. Members are laid over the operation's. Unset: it runs once and is done. */
  readonly polls?: readonly (Reply | "running" | "done" | { readonly members: Members })[];
}

/** Of one exchange: in place of the token, or members laid over its answer. */
export type TokenScript = Reply | { readonly members: Members };

/** Of both servers and of whoever calls them. */
export interface Clock {
  /** Milliseconds since 1970. */
  now: number;
}

export interface GoogleCloudServer {
  /** As in our catalogue, with the place of the project. */
  readonly url: string;
  /** As Google lets it be downloaded. */
  readonly account: Members;
  readonly credentials: string;
  /** Takes tokens. */
  readonly veo: Recorder;
  /** Gives them. */
  readonly identity: Recorder;
  readonly charged: number;
  /** In the order in which they were given. */
  readonly tokens: readonly string[];
  readonly clock: Clock;
  next(...scripts: readonly Script[]): void;
  nextTokens(...scripts: readonly TokenScript[]): void;
  /** They are taken no longer. */
  revokeTokens(): void;
}

interface Job {
  readonly seconds: number;
  readonly script: Script;
  polled: number;
}

export const PROJECT = "example.com:our-project";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Making them takes long, so all servers share them. */
const KEYS = generateKeyPairSync("rsa", { modulusLength: 2_048 });
export const PRIVATE_KEY = KEYS.privateKey.export({ type: "pkcs8", format: "pem" });

export function startGoogleCloudServer(): GoogleCloudServer {
  const scripts: Script[] = [];
  const jobs = new Map<string, Job>();
  const clock: Clock = { now: Date.parse("2026-11-20T10:00:00Z") };
  const identity = startIdentity(clock);
  const place = `/v1/projects/${encodeURIComponent(PROJECT)}/locations/us-central1/publishers/google`;

  const create = (model: string, body: unknown): Reply => {
    const script = scripts.shift() ?? {};
    if (script.start !== undefined && script.start !== "lost") return script.start;
    const seconds = checkVeo(body);
    if (typeof seconds === "string") return invalidArgument(`${seconds} (${VENDOR_MARK})`);
    const id = crypto.randomUUID();
    const name = `projects/${PROJECT}/locations/us-central1/publishers/google/models/${model}/operations/${id}`;
    jobs.set(name, { seconds, script, polled: 0 });
    return script.start === "lost" ? { kind: "reset" } : ok({ name, ...script.receipt });
  };

  const poll = (model: string, body: unknown): Reply => {
    const { operationName: name, ...rest } = body as Members;
    const job = jobs.get(String(name));
    if (!job || !String(name).includes(`/models/${model}/`) || Object.keys(rest).length > 0) {
      return errorReply("not-found");
    }
    const answers = job.script.polls ?? ["running", "done"];
    const answer = answers[Math.min(job.polled, answers.length - 1)] ?? "done";
    job.polled += 1;
    if (answer === "running") return ok({ name });
    if (answer === "done") return ok({ name, ...doneOperation({ bytesBase64Encoded: base64Of(job.seconds) }) });
    return "members" in answer ? ok({ name, ...answer.members }) : answer;
  };

  const veo = startRecorder(({ method, path, headers, body }) => {
    if (headers["x-goog-api-key"] !== undefined || !identity.isTaken(headers["authorization"])) {
      return errorReply("unauthenticated");
    }
    const [, model = "", verb] =
      /^\/models\/([^/:]+):(\w+)$/.exec(path.startsWith(place) ? path.slice(place.length) : "") ?? [];
    if (method === "POST" && verb === "predictLongRunning") return create(model, body);
    if (method === "POST" && verb === "fetchPredictOperation") return poll(model, body);
    return errorReply("not-found");
  });
  return {
    url: `${veo.origin}/v1/projects/{project}/locations/us-central1/publishers/google`,
    ...identity,
    veo,
    clock,
    get charged() {
      return jobs.size;
    },
    next: (...more) => void scripts.push(...more),
  };
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
    if (script && !("members" in script)) return script;
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

/** What is wrong with it. */
function checkExchange(
  { method, path, headers, body }: VideoCall,
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

/** What an operation that ended well has beside its name. */
export function doneOperation(...videos: readonly Members[]): Members {
  return doneWith({ videos: videos.map((video) => ({ mimeType: "video/mp4", ...video })) });
}

export function doneWith(response: Members): Members {
  const type = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";
  return { done: true, response: { "@type": type, raiMediaFilteredCount: 0, ...response } };
}
