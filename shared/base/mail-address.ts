/** Checks of mail addresses: a single address in plain syntax. */

/** No quotes, comments, groups or lists: a mail server could read them as a second address or a header. */
const ADDRESS =
  /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/iu;

export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text) && text.isWellFormed();
}

/** Returns the mailbox of an address: in lower case, without the tag after a plus sign. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf("@");
  const [name = ""] = address.slice(0, at).split("+");
  return `${name === "" ? address.slice(0, at) : name}${address.slice(at)}`.toLowerCase();
}
