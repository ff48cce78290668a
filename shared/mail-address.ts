/** Addresses that mail can be sent to: one, plainly written. */

/** No quotes, comments, groups or lists: what a mail server could take for a second address or a header is none. */
const ADDRESS =
  /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/iu;

export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text) && text.isWellFormed();
}

/** Returns the mailbox that an address leads to: in lower case, and without the tag behind a plus sign. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf("@");
  const [name = ""] = address.slice(0, at).split("+");
  return `${name === "" ? address.slice(0, at) : name}${address.slice(at)}`.toLowerCase();
}
