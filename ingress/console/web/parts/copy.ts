/** Copies a text and reports the result as a toast. */
import { toast } from "./toast.tsx";

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch {
    toast("The browser did not permit copying. Select the text and copy it.", "bad");
  }
}
