/** Checks mail addresses. Accepts only a single address in plain syntax. */

/** Matches an address without quotes, comments, groups or lists, because a mail server could read these as a second address or a header. */
const ADDRESS =
  /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/iu;

export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text) && text.isWellFormed();
}

/** Returns the mailbox of an address: in lower case and without the tag after a plus sign. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf("@");
  const [name = ""] = address.slice(0, at).split("+");
  return `${name === "" ? address.slice(0, at) : name}${address.slice(at)}`.toLowerCase();
}
