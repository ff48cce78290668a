/**
 * Recognizes errors that name a fault in our own setup: the key, its rights, the model, the account behind it, or where we
 * call from. Such an error takes the source out of use for everybody, so neither a status alone nor a caller's own words may suffice.
 */
interface Told {
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

export function namesOurFault({ code, type, message }: Told): boolean {
  const said = withoutQuotations(message);
  if (CALLERS_OWN.test(said)) return false;
  return CODE.test(code) || CODE.test(type) || MESSAGES.some((pattern) => pattern.test(said));
}

/** Words and ids alike: `permission-denied`, Azure's `DeploymentNotFound`, xAI's "The caller does not have permission …". */
const CODE =
  /api_?key|permission|access_?denied|model|deployment|account|organi[sz]ation|project|billing|country|region/i;

/** Things that a call brings along: missing rights to them, or their absence, concern that call alone. */
const CALLERS_OWN =
  /\b(?:files?|images?|images?|audio|videos?|documents?|attachments?|uploads?|urls?)\b(?!\s+(?:model|generation))/i;

/** Narrow on purpose: what is missed here is an ordinary failure, and the breaker counts those. */
const MESSAGES: readonly RegExp[] = [
  /\bapi[ _-]?keys?\b|\bcredentials\b/i,
  /\b(?:have|lacks?|no|insufficient|missing) (?:the |any |required |necessary |sufficient )*permissions?\b/i,
  /\bpermissions? (?:(?:is|was) )?(?:denied|required|missing)\b|\bnot authori[sz]ed to\b/i,
  // A name may stand between, and nothing else: "the model cannot call a tool that was not found" is the caller's.
  /\b(?:model|deployment)s?\b[:,]?(?:\s+(?:id|name))?(?:\s+[\w./:@-]+)?(?:\s+(?:is|are|was|has|have|been|currently))*\s+(?:not found|(?:does not|doesn't|do not) exist|not (?:available|accessible|deployed|active|enabled)|inaccessible|unavailable|deprecated|decommissioned|retired|removed|disabled|blocked|no longer|reached its end)\b/i,
  /\b(?:no such|unknown|invalid|unsupported|not a valid|access(?: to)?|sample from) (?:(?:the|this|that|requested) )*(?:model|deployment)\b/i,
  /(?<!\b(?:in|of|from) (?:your|this|the) )\b(?:account|organi[sz]ation|project|team)s?\b(?:\s+[\w./:@-]+)?\s+(?:not found\b|must\b|(?:does|do|is|has|was)(?:n't| not)\b|has (?:either|used|run|reached|exceeded)\b|(?:is|was|has been) (?:disabled|deactivated|suspended|blocked|terminated|restricted|deleted|archived)\b)/i,
  /\b(?:no such|invalid|member of an) (?:account|organi[sz]ation|project|team)\b/i,
  /\bbilling\b|\bpayment (?:required|method)\b|\bspending limit\b|\bcredit balance\b/i,
  /\b(?:no|any|insufficient|out of|enough|available) (?:credits|balance|funds)\b/i,
  /\b(?:country|region|territory|location)\b(?:\s+is)?\s+(?:not |un)(?:supported|available|allowed|permitted)\b/i,
  /\b(?:not |un)(?:supported|available|allowed|permitted) in (?:your|this) (?:country|region|territory|location)\b/i,
];

/** Removes quotations, which may come from the call, and links. An apostrophe inside a word begins no quotation. */
function withoutQuotations(message: string): string {
  return message
    .slice(0, MESSAGE_MAX)
    .replaceAll(/https?:\/\/\S+/g, "")
    .replaceAll(/`[^`]*`|"[^"]*"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)/g, "")
    .replaceAll(/\s+/g, " ");
}

/** Vendors are shorter; a message that echoes a prompt is not searched through. */
const MESSAGE_MAX = 2_000;
